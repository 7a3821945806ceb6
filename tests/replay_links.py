"""The links of the replay: every page in every depth, language and kind of input; changed, compared, chosen, large.

A link is written plainly: "attention?lang=en&depth=numbers&s=i love you .". A drawing is named by the digit of an
example. `do` is what is done there: "downloads", "upload", or the text key of a button that is clicked.
"""

from collections.abc import Iterator

PAGES = (
    "home", "tokens", "queries_keys_values", "attention", "heads", "add_and_norm", "feed_forward", "layers", "answer",
    "translation", "what_if", "flat", "shapes_and_cost",
)  # fmt: skip
DEPTHS = ("story", "numbers", "formula", "code")
PANELS = {
    "home": ("whole", "shapes", "start"),
    "tokens": ("pieces", "vectors", "order", "neighbours", "waves", "compare", "prepared", "maps"),
    "queries_keys_values": ("maps", "weights", "plane"),
    "attention": ("steps", "heads", "layers"),
    "heads": ("all", "role", "average", "figures", "scatter", "written", "mixed"),
    "add_and_norm": ("maps", "ways", "values"),
    "feed_forward": ("maps", "curve", "neuron", "writes", "output", "alone"),
    "layers": ("path", "lens", "alike", "lengths", "origin", "out"),
    "answer": ("",),
    "translation": ("writing", "search", "alignment", "inside", "changes"),
    "what_if": ("heads", "neurons", "residuals", "inside", "tokens", "places", "patching"),
    "flat": ("stages", "attention", "hand", "answer", "why", "beside"),
    "shapes_and_cost": ("walk", "parameters", "cost", "note", "properties", "claims"),
}
TIRED, WEATHER = "the animal did not cross the street because it was too tired .", "今天天气很好，我们去公园玩吧。"
CAT, DOG = "the cat [MASK] the dog .", "the dog [MASK] the small cat ."
PAIR = "the cat sat on a mat [SEP] the dog slept"
PLACE = "layer=3&head=2"
CHOSEN = f"{PLACE}&token=3&key=2&component=6&part=4&neuron=8"
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
IN_DIGITS = ("embedding.positions~sinusoidal", "embedding.sum~remove~token.25")
IN_DECODER = (
    "decoder.layers.{l}.attention.masked~unmasked",
    "decoder.layers.1.cross.heads~zero~head.2",
    "decoder.layers.{l}.cross.scaled~set~value.10000.0~looked_at.3",
)
COSTS = (
    "panel=walk&walk=5&base=004", "panel=walk&walk=9&written=letters&length=any&n=50", "panel=cost&N=3&h=4&d_model=64",
    "panel=cost&scale=linear&n=300&length=any&batch=8", "panel=parameters&norm=before&activation=gelu",
    "panel=walk&about=counts", "panel=walk&about=equations", "panel=properties&base=vit-b-16", "panel=claims&base=text",
)  # fmt: skip
INSIDE = {
    "embedding": ("tokens", "positions", "sum"), "attention": ("Q", "scores", "masked", "weights", "add_1"),
    "cross": ("K", "weights", "heads", "output", "norm_2"), "ffn": ("hidden", "activation", "output", "norm_3"),
    "next": ("answer", "logits"),
}  # fmt: skip
DAMAGED = (
    "s=&depth=numbers", "s=龘靐齉爩", f"s={'word ' * 90}", "ink=eNrt-not-a-drawing&input=digit", "layer=99&head=0",
    "model=nobody", "edits=layers.9.norm_1~zero", "edits=nonsense", "shown=purple&panel=nowhere",
    f"s={'very ' * 70}old",
    "input=digit&ink=5&edits=layers.6.attention.heads~zero~head.2",
)  # fmt: skip


def links() -> list[str]:
    """All of them, each once."""
    return list(dict.fromkeys(_all()))


def _all() -> Iterator[str]:
    for page in PAGES:
        yield from (f"{page}?{query}" for query in _on_every_page())
        for panel in PANELS[page]:
            shown = f"{page}?lang=en&depth=formula&panel={panel}"
            yield f"{shown}&s={TIRED}&{CHOSEN}"
            yield f"{shown}&input=digit&ink=4&{CHOSEN}"
            yield f"{page}?lang=zh&depth=numbers&panel={panel}&s={CAT}&{CHOSEN}&edits={EDITS[0]}&shown=difference"
            yield f"{page}?lang=en&depth=numbers&panel={panel}&s={CAT}&other={DOG}&{CHOSEN}&shown=beside"
        for kind in (f"s={TIRED}", "input=digit&ink=4", f"s={CAT}&edits={EDITS[0]}&shown=difference"):
            yield f"{page}?lang=en&depth=numbers&{kind}&{PLACE}&do=downloads"
        for do in ("glossary.title", "share.title"):
            yield f"{page}?lang=zh&depth=numbers&s={CAT}&{PLACE}&do={do}"
    numbers = "lang=en&depth=numbers"
    for page in ("attention", "answer"):
        for edit in (*EDITS, *IN_DIGITS):
            given = "input=digit&ink=4" if edit in IN_DIGITS else f"s={CAT}"
            for shown in ("changed", "difference"):
                yield f"{page}?{numbers}&{given}&{PLACE}&token=3&edits={edit}&shown={shown}"
    for edit in IN_DECODER:
        yield from (f"translation?{numbers}&s={TIRED}&{PLACE}&step=3&edits={edit}&panel={p}" for p in ("changes", ""))
    for edit in (EDITS[1], EDITS[7], "~~".join(EDITS[2:5])):
        yield from (f"{page}?lang=zh&depth=formula&s={TIRED}&edits={edit}&shown=original" for page in PAGES)
    for stage in ("scores", "scaled", "masked", "weights", "heads"):
        for more in ("as=map", "as=row&range=layer", "as=lines&least=0", "as=map&hide_special=true&range=all"):
            yield f"attention?{numbers}&s={TIRED}&{CHOSEN}&stage={stage}&{more}"
        yield f"attention?{numbers}&input=digit&ink=4&{CHOSEN}&stage={stage}"
    for block, stages in INSIDE.items():
        for stage in stages:
            yield f"translation?{numbers}&s={WEATHER}&{CHOSEN}&step=4&panel=inside&block={block}&stage={stage}"
    for panel in ("writing", "search"):
        yield f"translation?{numbers}&s={TIRED}&panel={panel}&beam=0&step=2&penalty=200"
        yield f"translation?{numbers}&s=我 love 你 .&into=zh&panel={panel}&forced=661&beam=2"
    for hidden in ("3", "2.4", "none"):
        for page in ("home", "attention", "answer", "what_if", "layers"):
            yield f"{page}?{numbers}&s={TIRED}&hidden={hidden}&several=true"
    yield f"answer?lang=en&depth=formula&s={CAT}&output=700&against=900&stage=logits&token=3"
    yield "answer?lang=en&depth=formula&input=digit&ink=4&output=4&against=9&stage=logits"
    yield from (f"shapes_and_cost?lang=zh&depth=formula&s={TIRED}&{cost}" for cost in COSTS)
    for order in ("most", "all", "sorted"):
        yield f"feed_forward?{numbers}&s={TIRED}&{PLACE}&order={order}&panel=maps"
    yield f"heads?{numbers}&s={TIRED}&subset=1.1_2.3_6.8&every_layer=true&panel=average"
    yield f"home?{numbers}&s={TIRED}&decoder=true&panel=shapes"
    yield f"tokens?{numbers}&s={TIRED}&same_range=true&panel=vectors&stage=positions&component=5"
    yield from (f"add_and_norm?{numbers}&s={TIRED}&sublayer=2&panel={panel}" for panel in PANELS["add_and_norm"])
    for stage in ("remove", "swap", "zero", "set", "mean", "pair", "scale"):
        yield from (f"what_if?{numbers}&s={CAT}&panel={panel}&stage={stage}" for panel in ("heads", "tokens", "inside"))
    for stage in ("stream", "Q", "ffn.output"):
        yield f"what_if?{numbers}&s={CAT}&other={DOG}&panel=patching&stage={stage}"
        yield f"what_if?{numbers}&s={CAT}&other={DOG}&panel=patching&stage={stage}&any_place=true&amount=2.5"
    for page in ("attention", "heads", "layers"):
        for between in ("AA", "AB", "BA", "BB"):
            yield f"{page}?{numbers}&model=words&s={PAIR}&layer=2&between={between}"
    for picture in ("card", "drawing&ink=4", "own", "card&do=upload"):
        yield from (f"{page}?{numbers}&model=pictures&picture={picture}" for page in ("home", "tokens", "attention"))
    yield from (f"attention?lang=zh&{damaged}" for damaged in DAMAGED)


def _on_every_page() -> Iterator[str]:
    for lang, sentence in (("en", TIRED), ("zh", WEATHER)):
        yield from (f"lang={lang}&depth={depth}&s={sentence}&{PLACE}" for depth in DEPTHS)
        for given in ("input=digit&ink=4", "input=flat&ink=4", f"model=paper&s={CAT}"):
            yield from (f"lang={lang}&depth={depth}&{given}&{PLACE}" for depth in ("story", "formula"))
        yield f"lang={lang}&depth=story&s={CAT}&{CHOSEN}&big=true"
        yield f"lang={lang}&depth=numbers&model=words&s={PAIR}&{CHOSEN}"
        yield f"lang={lang}&depth=formula&model=pictures&picture=scene&{CHOSEN}"
    yield f"lang=en&depth=numbers&input=digit&ink=4&{CHOSEN}&big=true"
    for shown in ("beside", "other", "against"):
        yield f"lang=en&depth=numbers&s={CAT}&other={DOG}&{PLACE}&token=3&shown={shown}"
        yield f"lang=en&depth=numbers&input=digit&ink=5&other_ink=3&{PLACE}&shown={shown}"
    yield f"lang=zh&depth=story&s={CAT}&other={DOG}&{PLACE}&shown=beside"
    for shown in ("changed", "original", "difference"):
        yield f"lang=en&depth=numbers&s={CAT}&edits={EDITS[0]}&{PLACE}&token=3&shown={shown}"
    yield f"lang=en&depth=numbers&input=digit&ink=4&edits={EDITS[0]}&{PLACE}&shown=difference"
    yield f"lang=zh&depth=numbers&model=pictures&other_picture=card&edits={EDITS[0]}&shown=against"
