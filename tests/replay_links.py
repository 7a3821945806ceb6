"""The links of the replay: every page in every language and kind of input; changed, compared, chosen, large.

A link is written plainly: "attention?lang=en&s=i love you .". A drawing is named by the digit of an
example. `do` is what is done there: "downloads", "upload", or the text key of a button that is clicked.
"""

from collections.abc import Iterator
from itertools import product

from pages.ui.frame import contents
from pages.ui.text import catalogue

PAGES = [row.name for row in contents.PAGES]
#: The tabs of each page, by the words that they have.
PANELS = {
    name: [key.rpartition("panel_")[2] for key in catalogue("en") if key.startswith(f"{name}.panel_")] or [""]
    for name in PAGES
}
TIRED, WEATHER = "the animal did not cross the street because it was too tired .", "今天天气很好，我们去公园玩吧。"
CAT, DOG = "the cat [MASK] the dog .", "the dog [MASK] the small cat ."
PAIR = "the cat sat on a mat [SEP] the dog slept"
PLACE = "layer=3&head=2"
CHOSEN = f"{PLACE}&token=3&key=2&component=6&part=4&neuron=8"
IN_TWO_LAYERS = "layer=2&head=3&token=3&key=2&component=6&part=4&neuron=8"
FOUR = "input=digit&ink=4"
#: Parts that pages have only of drawings.
OF_DRAWINGS = {"tokens": ("pieces", "positions"), "attention": ("heads", "layers")}
#: Each operation on a run, at least once.
EDITS = (
    "layers.2.attention.heads~zero~head.2",
    "layers.{l}.attention.output~scale~value.2.0",
    "layers.2.ffn.activation~set~value.-3.5~neuron.8",
    "embedding.sum~noise~value.0.5~seed.3",
    "layers.1.attention.heads~mean~head.5",
    f"layers.1.norm_2~patch~token.3~source.text.{DOG}~from_token.3",
    "embedding.tokens~swap~token.3~from_token.6",
    "embedding.sum~remove~token.3",
    "layers.{l}.attention.scaled~unscaled",
    "layers.{l}.attention.output~unmixed",
    "layers.2.attention.scaled~temperature~value.0.3",
    "layers.2.attention.weights~hard~head.2",
    "layers.2.attention.weights~even",
    "layers.{l}.attention.masked~causal",
    "layers.2.attention.masked~window~value.1.0",
    "layers.2.attention.masked~special",
    "layers.{l}.attention.masked~hide~token.6~looked_at.3",
    "embedding.positions~shuffle~seed.1",
    "embedding.positions~shift~value.3.0",
    "layers.2.add_1~without",
    "layers.2.norm_1~bypass",
)
IN_PICTURES = "layers.1.attention.heads~zero~head.2"
IN_DIGITS = ("embedding.positions~sinusoidal", "embedding.sum~remove~token.25")
IN_DECODER = (
    "decoder.layers.{l}.attention.masked~unmasked",
    "decoder.layers.1.cross.heads~zero~head.2",
    "decoder.layers.{l}.cross.scaled~set~value.10000.0~looked_at.3",
)
COSTS = (
    "panel=walk&walk=5&base=004", "panel=walk&walk=9&n=50", "panel=cost&N=3&h=4&d_model=64",
    "panel=cost&n=300&batch=8", "panel=parameters&norm=before&activation=gelu", "panel=properties&base=vit-b-16",
    "panel=claims&base=text",
)  # fmt: skip
INSIDE = {
    "embedding": ("tokens", "positions", "sum"), "attention": ("Q", "scores", "masked", "weights", "add_1"),
    "cross": ("K", "weights", "heads", "output", "norm_2"), "ffn": ("hidden", "activation", "output", "norm_3"),
    "next": ("answer", "logits"),
}  # fmt: skip
DAMAGED = (
    "s=", "s=龘靐齉爩", f"s={'word ' * 90}", "ink=eNrt-not-a-drawing&input=digit", "layer=99&head=0",
    "model=nobody", "edits=layers.9.norm_1~zero", "edits=nonsense", "shown=purple&panel=nowhere",
    f"s={'very ' * 70}old",
    "input=digit&ink=5&edits=layers.6.attention.heads~zero~head.2",
)  # fmt: skip


def links() -> list[str]:
    """All of them, each once."""
    return list(dict.fromkeys(_all()))


def _all() -> Iterator[str]:
    for page in PAGES:
        yield from (f"{page}?{query}" for query in (*_every_input(), *_two_runs(), *_what_is_done(page)))
        for panel in PANELS[page]:
            yield f"{page}?lang=en&panel={panel}&s={TIRED}&{CHOSEN}"
            yield f"{page}?lang=zh&panel={panel}&s={CAT}&{CHOSEN}&edits={EDITS[0]}&shown=difference"
            yield f"{page}?lang=en&panel={panel}&s={CAT}&{CHOSEN}&other={DOG}&shown=beside"
        if page != "translation":
            for panel in (*PANELS[page], *OF_DRAWINGS.get(page, ())):
                yield f"{page}?lang=en&panel={panel}&{FOUR}&{CHOSEN}"
    yield from (f"{page}?lang=zh&s={TIRED}&edits={'~~'.join(EDITS[1:5])}" for page in PAGES)
    yield from (f"attention?lang=zh&{damaged}" for damaged in DAMAGED)
    yield from (f"shapes_and_cost?lang=zh&s={TIRED}&{cost}" for cost in COSTS)
    yield from (f"{page}?lang=en&{more}" for page, more in _of_one_page())


def _every_input() -> Iterator[str]:
    for lang, sentence in (("en", TIRED), ("zh", WEATHER)):
        for given in (f"s={sentence}&{PLACE}", f"{FOUR}&{PLACE}", "input=flat&ink=4", f"model=paper&s={CAT}&{PLACE}"):
            yield f"lang={lang}&{given}"
        yield f"lang={lang}&s={CAT}&{CHOSEN}&big=true"
        yield f"lang={lang}&model=words&s={PAIR}&{IN_TWO_LAYERS}"
        yield f"lang={lang}&model=pictures&picture=scene&{IN_TWO_LAYERS}"
    yield f"lang=en&{FOUR}&{CHOSEN}&big=true&theme=dark"


def _two_runs() -> Iterator[str]:
    for shown in ("beside", "other", "against"):
        yield f"lang=en&s={CAT}&other={DOG}&{PLACE}&token=3&shown={shown}"
        yield f"lang=en&input=digit&ink=5&other_ink=3&{PLACE}&shown={shown}"
    for shown in ("changed", "original", "difference"):
        yield f"lang=en&s={CAT}&edits={EDITS[0]}&{PLACE}&token=3&shown={shown}"
    yield f"lang=zh&s={CAT}&other={DOG}&{PLACE}&shown=beside&theme=dark"
    yield f"lang=en&s={CAT}&other={DOG}&edits={EDITS[0]}&{PLACE}&shown=against&theme=dark"
    yield f"lang=en&{FOUR}&edits={EDITS[0]}&{PLACE}&shown=difference"
    yield f"lang=zh&model=pictures&other_picture=card&edits={IN_PICTURES}&shown=against"


def _what_is_done(page: str) -> Iterator[str]:
    inputs = f"lang=en&s={TIRED}", f"lang=en&{FOUR}", f"lang=zh&s={CAT}&edits={EDITS[0]}&shown=difference"
    if page not in ("class", "lesson"):  # which hand over a report, or nothing
        yield from (f"{given}&{PLACE}&do=downloads" for given in inputs)
    yield from (f"lang=zh&s={CAT}&{PLACE}&do={button}" for button in ("glossary.title", "share.title"))


def _of_one_page() -> Iterator[tuple[str, str]]:
    """Pages, and what is chosen there beside language."""
    for page in ("attention", "answer"):
        for shown in ("changed", "difference"):
            yield from ((page, f"s={CAT}&{PLACE}&token=4&edits={edit}&shown={shown}") for edit in EDITS)
            yield from ((page, f"{FOUR}&{PLACE}&token=3&edits={edit}&shown={shown}") for edit in IN_DIGITS)
    for edit, panel in product(IN_DECODER, ("changes", "writing")):
        yield "translation", f"s={TIRED}&{PLACE}&step=3&edits={edit}&panel={panel}"
    for stage in ("scores", "scaled", "masked", "weights", "heads"):
        yield "attention", f"s={TIRED}&{CHOSEN}&stage={stage}"
        yield "attention", f"{FOUR}&{CHOSEN}&stage={stage}"
    yield from (
        ("attention", f"{given}&{CHOSEN}&why=1&stage={s}")
        for given in (f"s={TIRED}", FOUR)
        for s in ("scaled", "weights")
    )
    for way in ("map", "row", "lines"):
        yield "attention", f"s={TIRED}&{CHOSEN}&as={way}"
    for block, stages in INSIDE.items():
        yield from (
            ("translation", f"s={WEATHER}&{CHOSEN}&step=4&panel=inside&block={block}&stage={s}") for s in stages
        )
    for panel in ("writing", "search"):
        yield "translation", f"s={TIRED}&panel={panel}&beam=0&step=2&penalty=200"
        yield "translation", f"s=我 love 你 .&into=zh&panel={panel}&forced=661&beam=2"
    for hidden, page in product(("3", "2.4", "none"), ("home", "attention", "answer", "what_if", "layers")):
        yield page, f"s={TIRED}&hidden={hidden}&several=true"
    yield "answer", f"s={CAT}&output=700&against=900&stage=logits&token=4"
    yield "answer", f"{FOUR}&output=4&against=9&stage=logits"
    yield from (("answer", f"{given}&panel=wrote") for given in (f"s={CAT}&token=4", FOUR))
    yield from (("feed_forward", f"s={TIRED}&{PLACE}&stage={stage}&component=9") for stage in ("hidden", "output"))
    yield "heads", f"s={TIRED}&panel=average"
    yield "home", f"s={TIRED}&decoder=true&panel=shapes"
    yield "tokens", f"s={TIRED}&stage=positions&component=5"
    yield from (("add_and_norm", f"s={TIRED}&sublayer=2&panel={panel}") for panel in PANELS["add_and_norm"])
    for panel, stages in {"heads": ("mean",), "tokens": ("swap", "zero", "set"), "inside": ("pair",)}.items():
        yield from (("what_if", f"s={CAT}&panel={panel}&stage={stage}") for stage in stages)
    for stage, more in product(("stream", "Q", "ffn.output"), ("", "&any_place=true&amount=2.5")):
        yield "what_if", f"s={CAT}&other={DOG}&panel=patching&stage={stage}{more}"
    for between, page in product(("AA", "AB", "BA", "BB"), ("attention", "heads")):
        yield page, f"model=words&s={PAIR}&{IN_TWO_LAYERS}&between={between}"
    for picture, page in product(("card", "drawing&ink=4", "own", "card&do=upload"), ("home", "tokens", "attention")):
        yield page, f"model=pictures&picture={picture}"
    yield "tokens", f"{FOUR}&do=upload"
