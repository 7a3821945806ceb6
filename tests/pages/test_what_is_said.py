"""Texts on pages: for each input and place what must be said and what must not."""

import pytest

from pages.drawing.text import catalogue
from tests.pages.inputs import OURS, bring
from tests.pages.opening import open_page, said, stands

PLACE = {"layer": "2", "head": "3", "token": "3"}
#: Input, page, link values, what must be on the page (catalogue keys or words), and what must not.
SAID = [
    ("words", "layers", "tab=out&layer=6", "layers.read.Z", "layers.read.final"),
    ("words", "add_and_norm", "tab=arrows", "", "add_and_norm.read_arrows_none"),
    (
        "words",
        "add_and_norm",
        "tab=arrows&edits=layers.1.attention.output~zero&layer=2",
        "add_and_norm.read_arrows_none",
        "",
    ),
    ("words", "tokens", "edits=embedding.positions~zero", "change.no_law", "tokens.read.twice"),
    ("words", "tokens", "s=hello&token=2", "2 of 6 nearest rows", ""),
    ("paper", "translation", "", "translation.trained_here", "untrained.banner"),
    ("words", "attention", "edits=layers.0.attention.weights~even", "attention.read.even", "attention.read.weights"),
    (
        "words",
        "tokens",
        "tab=waves&edits=embedding.positions~shift~value.10",
        "tokens.read.periods",
        "tokens.read.band",
    ),
    (
        "words",
        "attention",
        "stage=scaled&layer=2&edits=layers.{l}.attention.masked~causal&token=2",
        "attention.read.scaled",
        "attention.read.masked",
    ),
    ("words", "add_and_norm", "tab=arrows&layer=1&edits=embedding.sum~zero", "add_and_norm.read_arrows_none", ""),
    ("words", "what_if", "hidden=none&token=2&s=狗吓了猫。", "words.read.seen", "words.read.seen_other"),
    ("words", "answer", "s=hello world .&token=2", "words.read.seen_piece", "words.read.seen_other"),
    ("words", "answer", "s=hello world .", "words.read.seen | words.hide", ""),
    ("words", "layers", "s=hello world .", "layers.read.copied | words.hide", ""),
    ("words", "layers", "s=hello world .&class=ABCDEF", "layers.read.copied", "words.hide"),
    ("words", "answer", "s=hello world .&hidden=2", "", "words.hide"),
    ("words", "answer", "s=hello .&hidden=2.3&token=2", "words.read.wrong_piece", "words.read.wrong"),
    ("words", "answer", "token=3&edits=embedding.sum~remove~token.3", "words.read.altered", "words.read.seen"),
    ("words", "answer", "token=2&edits=embedding.tokens~zero", "words.read.altered", "words.read.seen"),
    (
        "words",
        "answer",
        "s=i love you .&token=5&edits=embedding.sum~patch~token.5~source.text.i love you [MASK]",
        "words.read.altered",
        "words.read.seen",
    ),
    (
        "words",
        "layers",
        "tab=lens&token=3&edits=embedding.sum~remove~token.3",
        "layers.read.guess",
        "layers.read.copied",
    ),
    ("words", "layers", "tab=lens&s=[MASK]&token=2&edits=logits~scale~value.0.1", "37 of 12,000 answers", ""),
    (
        "words",
        "layers",
        "tab=by_layers&s=love&other=the dog saw the small dog .&shown=other&token=6",
        "layers.no_counterpart",
        "",
    ),
    (
        "words",
        "what_if",
        "s=i love you .&edits=layers.{l}.attention.masked~causal~~layers.2.attention.Q~zero~token.1",
        "what_if.idle_alone",
        "",
    ),
    (
        "words",
        "what_if",
        "s=i love you .&other=i love you .&tab=input&block=patching&measure=lead",
        "what_if.read_no_effect",
        "",
    ),
    (
        "words",
        "answer",
        "s=i love you .&token=3&stage=heads&edits=layers.2.norm_2~noise~value.1.0",
        "wrote.read_sum_changed",
        "",
    ),
    ("words", "answer", "s=i love you .&token=3&stage=heads", "wrote.read_sum", "wrote.read_sum_changed"),
    (
        "digit",
        "attention",
        "tab=map&why=true&layer=2&head=3&token=1&key=1",
        "because “[CLS]” is this token",
        "what is drawn in “[CLS]”",
    ),
    ("flat", "queries_keys_values", "tab=pair", "of the value of “image”.", "other keys"),
    ("flat", "heads", "edits=layers.0.attention.weights~zero", "heads.one_token", "weight 1"),
    (
        "words",
        "attention",
        "s=the cat sat [SEP] the dog slept .&between=AA&token=7&layer=3&head=2",
        "attention.no_row",
        "attends most to",
    ),
    ("words", "lesson", "s=hello", "hello (hell + ##o)", ""),
    ("words", "class", "s=hello world .", "hello (hell + ##o) [MASK]", ""),
    ("digit", "what_if", "tab=patching", "what_if.other_missing_picture", "what_if.other_missing"),
    ("paper", "answer", "", "untrained.no_answer", ""),
    ("flat", "attention", "", "exactly 1", ""),
    ("words", "heads", "big=true", "attends most to “", ""),
    ("words", "tokens", "big=true", "tokens.purpose", ""),
    ("words", "what_if", "measure=lead", "on the lead of “", ""),
    ("words", "layers", "", "layers.lens_script", ""),
    ("words", "layers", "s=今天天气很好，我们去公园玩吧。&hidden=11&token=11", "layers.lens", "layers.lens_script"),
    ("words", "layers", "tab=path", "its own weights | layers.norms_after", "the same set"),
    ("words", "attention", "stage=masked", "An attention mask is no word", ""),
    (
        "words",
        "attention",
        "stage=masked&tab=steps&edits=layers.{l}.attention.masked~causal",
        "a row that hides something would sum to less",
        "",
    ),
    (
        "words",
        "attention",
        "why=true&edits=layers.{l}.attention.scaled~unscaled",
        "The changed score of",
        "The scaled score of",
    ),
    ("words", "translation", "hidden=3", "translation.all_read", ""),
    ("words", "translation", "step=6", "[SEP] ends it", ""),
    (
        "words",
        "translation",
        "step=1&forced=661",
        "“吓” has rank | “[ZH]” names the target language",
        "translation.all_read",
    ),
    (
        "words",
        "feed_forward",
        "tab=without&edits=layers.2.attention.heads~zero~head.2&shown=difference",
        "change.only_difference",
        "",
    ),
    (
        "words",
        "queries_keys_values",
        "tab=weights&edits=layers.2.attention.heads~zero~head.2&shown=difference",
        "",
        "change.only_difference",
    ),
    ("words", "heads", "edits=layers.5.ffn.output~zero&shown=difference", "change.read_same", ""),
    ("words", "add_and_norm", "tab=maps&layer=3&head=3&edits=layers.2.norm_1~bypass", "change.no_law", ""),
    (
        "words",
        "feed_forward",
        "tab=loudest&layer=3&head=3&edits=layers.{l}.ffn.activation~set~value.-50.0~neuron.10",
        "change.no_law",
        "",
    ),
    ("words", "layers", "tab=origin&layer=4&edits=layers.4.attention.weights~zero", "layers.read.rollout", ""),
    ("words", "tokens", "tab=order&edits=layers.{l}.attention.masked~causal", "order.unchanged", ""),
    (
        "words",
        "queries_keys_values",
        "tab=pair&token=1&key=2&edits=layers.{l}.attention.masked~causal",
        "Softmax reads -∞ here | a weight of 0.",
        "change.no_law",
    ),
    (
        "digit",
        "attention",
        "tab=layers&edits=layers.{l}.attention.output~scale~value.0",
        "change.no_law",
        "overlay.read_rollout | overlay.read_rollout_cls",
    ),
    ("words", "layers", "tab=path&edits=layers.{l}.norm_2~bypass", "", "layers.norms_after"),
    # With edits.
    (
        "words",
        "feed_forward",
        "tab=neuron&edits=layers.{l}.ffn.output~zero",
        "feed_forward.read_up",
        "feed_forward.memory",
    ),
    (
        "words",
        "add_and_norm",
        "tab=ablation&edits=layers.{l}.norm_1~bypass~~layers.{l}.norm_2~bypass",
        "change.no_law",
        "why_add_and_norm.read_lengths",
    ),
    (
        "digit",
        "answer",
        "edits=layers.2.norm_2~patch~token.3~source.text.the cat sat on the mat .",
        "sidebar.verdict",
        "sidebar.verdict_before",
    ),
    ("digit", "flat", "input=flat&edits=logits~zero", "flat.read_unchanged", ""),
    ("digit", "flat", "input=flat", "sidebar.verdict", "flat.read_unchanged | sidebar.verdict_before"),
    ("digit", "flat", "input=flat&tab=noise&stage=V", "sidebar.verdict_before", "sidebar.verdict"),
    ("digit", "attention", "tab=layers&token=25&edits=layers.{l}.attention.weights~even", "All 48 patches", "of 49"),
    ("digit", "attention", "edits=layers.1.attention.heads~zero", "sidebar.verdict_before", "sidebar.verdict"),
    ("digit", "answer", "tab=learned&edits=layers.1.attention.heads~zero", "learned.changed", ""),
    ("digit", "attention", "tab=map&token=0&edits=layers.{l}.attention.masked~causal", "would give them 0%", ""),
    (
        "words",
        "answer",
        "s=no&edits=layers.1.attention.heads~zero~head.2",
        "words.read.hardly_changed",
        "words.read.changed",
    ),
    (
        "words",
        "heads",
        "tab=contribution&layer=2&head=3&edits=layers.1.attention.heads~zero",
        "contribution.read_silent",
        "contribution.read_count | As it is",
    ),
    # Numbers that add up as written.
    (
        "words",
        "shapes_and_cost",
        "tab=notes&s=i 爱 you 我 love .&edits=layers.1.attention.heads~zero~head.2",
        "by up to 0.998",
        "e-0",
    ),
    (
        "words",
        "feed_forward",
        "tab=maps&s=i 爱 you .&layer=2&token=2&neuron=1",
        "feed_forward.read_fires",
        "without neuron",
    ),
    # Repeated tokens, and tokens without effect.
    (
        "words",
        "attention",
        "s=我我我我&tab=steps&stage=scores",
        "In the row of “我 (1)”, “我 (4)” has the highest score: -12.93.",
        "",
    ),
    (
        "words",
        "heads",
        "tab=contribution&layer=3&edits=layers.2.attention.output~zero",
        "change.no_law",
        "writes most",
    ),
    ("words", "attention", "layer=2&head=3&token=3", "“dog” attends most to | “dog” → ", ""),
    ("words", "attention", "layer=2&head=3&token=6", "“the (5)” attends most to | “the (5)” → ", ""),
    # Families of encoders that differ from the paper.
    ("T5", "tokens", "", "tokens.purpose_unplaced", "tokens.purpose"),
    (
        "ModernBert",
        "attention",
        "tab=steps&stage=masked&layer=2",
        "no further than 2 positions to either side: 132 of 196 pairs",
        "",
    ),
    ("Deberta", "attention", "stage=scaled", "√(3 · 8) = 4.899", "attention.tab_root"),
    ("T5", "attention", "tab=steps&stage=biased", "attention.by_distance_undivided", r"÷ √dₖ | \sqrt{d_k}"),
    (
        "T5",
        "add_and_norm",
        "tab=maps&stage=norm_1",
        "add_and_norm.simpler | RMSNorm | root mean square",
        "mean 0 | BatchNorm",
    ),
    ("T5", "answer", "", "sentence_vector.no_head_no_cls", "[CLS] alone"),
    ("Esm", "tokens", "tab=pieces", "tokens.proteins", ""),
    ("registers", "tokens", "tab=pieces", "tokens.read.front | [CLS] [REG1] [REG2] [REG3] [REG4]", ""),
    ("CLIP", "answer", "", "sentence_vector.one_projection", ""),
    ("SigLIP", "answer", "", "sentence_vector.one_probe", ""),
    ("Dinov2", "add_and_norm", "tab=maps&stage=scale_1", "LayerScale", ""),
    ("MAE", "tokens", "tab=positions", "tokens.made_patch_waves", "tokens.made_learned"),
    ("MAE", "answer", "", "sentence_vector.hidden_in_training | 75%", ""),
    ("ViTModel", "feed_forward", "tab=neuron", "neuron.not_measured_yet", ""),
    ("ViTModel", "answer", "tab=alike", "sentence_vector.ask_picture", "sentence_vector.ask"),
    ("ViTModel", "tokens", "tab=pieces", "tokens.read.front", "tokens.read.inked"),
    ("span", "what_if", "", "what_if.watched", ""),
    ("span", "answer", "output=2&token=5", "(ends at “[SEP] (4)”)", "begins at “[SEP]"),
    ("digit", "answer", "tab=learned", "From step 85 on, each column says", ""),
    ("translator", "answer", "", "sentence_vector.of_translator", ""),
    (
        "translator",
        "translation",
        "step=1",
        "after “[PAD]” the decoder writes",
        "target language | translation.trained_here",
    ),
]


@pytest.mark.parametrize(("input_", "page", "link", "told", "not_"), SAID)
def test_page_says_what_the_run_holds(
    input_: str, page: str, link: str, told: str, not_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {} if input_ in OURS else PLACE
    chosen = dict(one.split("=") for one in link.split("&") if one)
    app = open_page(page, **{**place, **bring(monkeypatch, input_), **chosen})

    def is_said(text: str) -> bool:
        return stands(app, text) if text in catalogue("en") else text in said(app)

    assert [text for text in told.split(" | ") if text and not is_said(text)] == []
    assert [text for text in not_.split(" | ") if text and is_said(text)] == []
