"""Marian translators: stages and translations equal those of transformers."""

import io
import json
import random
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file

from model import CheckpointError
from model.checkpoints import load_folder
from model.checkpoints.families.marian import halves
from model.checkpoints.sentence_piece import NotUnigramError, tokenizer_json
from model.checkpoints.trial import SENTENCES as TRIALS
from model.examples import SENTENCES
from model.translator import Task, Translator
from tests.refusals import refused
from tests.translators import changed, pieces_of, theirs_of, written

TOLERANCE = 1e-4

BENDS = ("swish", "relu", "gelu", "gelu_new", "silu")
#: Rare settings.
RARE: tuple[dict[str, object], ...] = (
    {}, {"codes": (">>cmn<<", ">>yue<<")}, {"vocab_size": 300}, {"max_position_embeddings": 700},
    {"decoder_start_token_id": 7}, {"eos_token_id": 9}, {"never": [[3], [5, 6], [0], [8, 9, 10]]},
)  # fmt: skip


def odd_settings(seed: int) -> dict[str, object]:
    """Unusual sizes for both sides, with one vocabulary or two; seed 0 is like opus-mt."""
    if seed == 0:
        return {}
    dice = np.random.default_rng(seed)
    d_model = 2 * int(dice.integers(1, 13) if seed % 5 else dice.integers(1, 50))
    sizes: dict[str, object] = {"d_model": d_model, "activation_function": BENDS[seed % len(BENDS)]}
    for side in ("encoder", "decoder"):
        sizes[f"{side}_attention_heads"] = int(dice.choice([n for n in range(1, d_model + 1) if d_model % n == 0]))
        sizes |= {f"{side}_layers": int(dice.integers(1, 5)), f"{side}_ffn_dim": int(dice.integers(1, 200))}
    return sizes | RARE[seed % 7] | {
        "apart": not RARE[seed % 7], "scale_embedding": bool(seed % 3), "init_std": (0.15, 0.6)[seed % 4 == 3],
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_every_stage_is_what_transformers_computes_and_so_is_what_is_written(seed: int, tmp_path: Path) -> None:
    folder = written(tmp_path / "opus", seed, **odd_settings(seed))
    ours, theirs = load_folder(folder), theirs_of(folder)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    order = halves(ours.config.d_model)
    for sentence in ("i love you .", "she is reading a book .", "日 the dog"):
        read = tokenizer(sentence, return_tensors="pt")
        trace = ours(sentence, beams=1)
        assert trace.ids == read["input_ids"][0].tolist()
        with torch.no_grad():
            found = theirs(
                **read,
                decoder_input_ids=torch.tensor([trace.target_ids]),
                output_attentions=True,
                output_hidden_states=True,
            )
            longest = {"max_length": ours.config.max_len, "num_beams": 1, "do_sample": False}
            generated = theirs.generate(**read, **longest)[0].tolist()
        assert generated == [trace.target_ids[0], *trace.greedy.ids]
        for side, states in (("", found.encoder_hidden_states), ("decoder.", found.decoder_hidden_states)):
            for theirs_here, ours_here in zip(states, trace.states(side), strict=True):
                np.testing.assert_allclose(ours_here[:, order], theirs_here[0], atol=TOLERANCE)
        for key, weights in (
            ("layers.{}.attention.weights", found.encoder_attentions),
            ("decoder.layers.{}.attention.weights", found.decoder_attentions),
            ("decoder.layers.{}.cross.weights", found.cross_attentions),
        ):
            for layer, of_layer in enumerate(weights):
                np.testing.assert_allclose(trace[key.format(layer)], of_layer[0], atol=TOLERANCE)
        np.testing.assert_allclose(trace["logits"], found.logits[0], atol=TOLERANCE)


# -- the pieces ----------------------------------------------------------------------------------------------------


def test_the_pieces_of_a_spm_file_are_those_of_sentencepiece() -> None:
    texts = [sentence for pair in SENTENCES for sentence in pair]
    texts += [*TRIALS, "  two  spaces ", "tab\tnew\nline", "日本 語 x", "a 日本日本 b", "</s> <unk> <s>", "▁▁ x"]
    for language in (0, 1):
        spm = pieces_of(language)
        theirs = sentencepiece.SentencePieceProcessor(model_proto=spm)
        ours = tokenizers.Tokenizer.from_str(tokenizer_json(spm))
        for text in texts:
            assert ours.encode(text).tokens == theirs.encode(text, out_type=str), text


def test_what_is_written_is_spelled_as_their_tokenizer_spells_it(tmp_path: Path) -> None:
    for apart in (False, True):
        folder = written(tmp_path / f"{apart}", apart=apart)
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
        translator = load_folder(folder)
        for one in range(3, translator.writes[-1] - 8):
            ids = [*range(one, one + 5), 0]
            said = tokenizer.decode(ids, skip_special_tokens=True)
            if tokenizer.pad_token_id in ids:  # from the source's vocabulary; transformers omits it everywhere
                continue
            assert translator.spelled(ids[:-1]) == " ".join(said.split())
        cut = translator("the dog chased the cat . " * 9, beams=1)
        assert cut.notes[0].reason == "truncated" and len(cut.ids) == translator.config.max_len


def test_a_language_that_is_asked_for_is_one_piece(tmp_path: Path) -> None:
    translator = load_folder(written(tmp_path / "opus", codes=(">>cmn<<",)))
    assert translator(">>cmn<< i love you .").tokens[:2] == [">>cmn<<", "i"]
    assert translator(">>unknown<< i love you .").tokens[:2] == ["[UNK]", "i"]
    assert translator("i love you .", beams=1)["logits"].shape[1] == translator.writes[-1] + 1


def test_the_encoder_alone_computes_the_same_from_the_same_weights(tmp_path: Path) -> None:
    translator = load_folder(written(tmp_path / "opus"))
    trace, alone = translator("i love you ."), translator.encoder("i love you .")
    assert set(alone.keys()) < set(trace.keys()) and not alone.answer
    for key in alone:
        np.testing.assert_array_equal(alone[key], trace[key])
    for name, weight in translator.encoder.network.named_parameters():
        assert weight.data_ptr() == translator.network.get_parameter(name).data_ptr()


def test_what_may_not_be_written_is_not_even_forced(tmp_path: Path) -> None:
    translator = load_folder(written(tmp_path / "opus"))
    ((pad,),) = translator.reader.target.never
    free = translator("i love you .")
    assert translator(Task("i love you .", forced=(pad,))).beams == free.beams
    assert all(pad not in beam.ids for beam in free.beams)


# -- folders that are otherwise ------------------------------------------------------------------------------------


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model.safetensors")


def test_old_files_hold_sines_and_copies_of_e_which_are_read_if_they_are_that(tmp_path: Path) -> None:
    folder = written(tmp_path / "opus")
    before = load_folder(folder)("i love you .").translation
    found, theirs = tensors(folder), theirs_of(folder)
    for side in ("encoder", "decoder"):
        part = theirs.get_submodule(f"model.{side}")
        found[f"model.{side}.embed_positions.weight"] = part.embed_positions.weight.clone()
        found[f"model.{side}.embed_tokens.weight"] = found["model.shared.weight"].clone()
    found["lm_head.weight"] = found["model.shared.weight"].clone()
    save_file(found, folder / "model.safetensors")
    assert load_folder(folder)("i love you .").translation == before
    found["lm_head.weight"][3, 5] += 1
    save_file(found, folder / "model.safetensors")
    encoder = load_folder(folder)
    assert encoder.unanswered.reason == "tensor_untied" and not isinstance(encoder, Translator)
    assert encoder("i love you .").Z.shape == (8, 24)
    found["model.encoder.embed_positions.weight"][2, 2] += 0.1
    save_file(found, folder / "model.safetensors")
    with refused("no_sines", "embed_positions"):
        load_folder(folder)


#: Case -> file, its change, reason of the refusal, and what the refusal names.
REFUSED = {
    "an odd d_model": ("config.json", {"d_model": 23, "encoder_attention_heads": 1}, "setting", "d_model"),
    "heads that do not divide": ("config.json", {"encoder_attention_heads": 5}, "not_divided", "encoder_attention"),
    "an activation": ("config.json", {"activation_function": "mish"}, "setting", "activation_function"),
    "no length": ("config.json", {"max_position_embeddings": "many"}, "size", "max_position_embeddings"),
    "an end beyond": ("generation_config.json", {"eos_token_id": 10**6}, "size", "eos_token_id"),
    "a switch": ("config.json", {"scale_embedding": []}, "setting", "scale_embedding"),
    "much that is forbidden": ("generation_config.json", {"bad_words_ids": [[1, 2]] * 100_000}, "setting", "bad_words"),
    "a piece beyond": ("vocab.json", {"new": 10**6}, "vocabulary", "opus"),
    "no end of a sentence": ("vocab.json", {"</s>": None}, "damaged", "vocab.json"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_in_a_sentence_that_names_it(case: str, tmp_path: Path) -> None:
    folder, (file, values, reason, named) = written(tmp_path / "opus"), REFUSED[case]
    changed(folder, file, **values)
    with pytest.raises(CheckpointError, match=named) as raised:
        load_folder(folder)
    assert raised.value.reason == reason


@pytest.mark.parametrize(
    "values", [{"tie_word_embeddings": False}, {"forced_bos_token_id": 7}, {"architectures": ["MarianForCausalLM"]}]
)
def test_of_an_answer_that_is_not_computed_the_stages_are_shown(values: dict[str, object], tmp_path: Path) -> None:
    folder = written(tmp_path / "opus")
    whole = load_folder(folder)("i love you .")
    changed(folder, "config.json", **values)
    encoder = load_folder(folder)
    assert str(next(iter(values))) in str(encoder.unanswered) or "MarianForCausalLM" in str(encoder.unanswered)
    np.testing.assert_array_equal(encoder("i love you .").Z, whole.Z)


def test_pieces_that_another_algorithm_cuts_are_refused_unless_a_tokenizer_lies_beside(tmp_path: Path) -> None:
    folder, model = written(tmp_path / "opus"), io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([pair[0] for pair in SENTENCES]), model_writer=model, vocab_size=60, model_type="bpe",
        hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    (folder / "source.spm").write_bytes(model.getvalue())
    with pytest.raises(NotUnigramError):
        tokenizer_json(model.getvalue())
    with refused("not_unigram", "a tokenizer"):
        load_folder(folder)
    words = json.loads((folder / "vocab.json").read_text())
    beside = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    beside.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    beside.post_processor = tokenizers.processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 0)])
    beside.save(str(folder / "tokenizer.json"))
    assert load_folder(folder)("i love you .").tokens[-1] == "[SEP]"
    for missing in ("tokenizer.json", "source.spm"):
        (folder / missing).unlink()
    with pytest.raises(CheckpointError, match=r"source\.spm"):
        load_folder(folder)


def test_a_spm_file_that_was_cut_short_or_changed_is_damaged_and_nothing_else(tmp_path: Path) -> None:
    folder, whole, dice = written(tmp_path / "opus"), pieces_of(0), random.Random(0)
    for number in range(100):
        data = bytearray(whole[: dice.randrange(len(whole))] if number % 2 else whole)
        for _ in range(dice.randrange(1, 5)):
            if data:
                data[dice.randrange(len(data))] = dice.randrange(256)
        with suppress(ValueError):
            json.loads(tokenizer_json(bytes(data)))
    for data in (b"", whole[:5000], b"\xff" * 100):
        (folder / "source.spm").write_bytes(data)
        with pytest.raises(CheckpointError, match=r"source\.spm"):
            load_folder(folder)


def test_what_takes_long_to_read_is_read_where_it_can_be_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "opus")
    whole = (folder / "source.spm").read_bytes()
    (folder / "source.spm").write_bytes(b"\x0a\x03\x0a\x01a" * 1_000_000 + whole)
    monkeypatch.setattr("model.checkpoints.folder.SECONDS", 1)
    began = time.monotonic()
    with refused("tokenizer_slow"):
        load_folder(folder)
    assert time.monotonic() - began < 5
