"""Which page shows a quantity of the graph."""

from model.graph import Quantity

#: The last part of a key -> its page. What stands in no row belongs to Add & Norm within a layer, else to the answer.
PAGE_OF = {
    **dict.fromkeys(("input", "patches", "row", "E", "W_E"), "tokens"),
    **dict.fromkeys(("tokens", "segments", "positions", "sum", "projection"), "tokens"),
    **dict.fromkeys(("W_Q", "W_K", "W_V", "Q", "K", "V", "Q_rotated", "K_rotated"), "queries_keys_values"),
    **dict.fromkeys(
        ("distances", "distance_norm", "W_Q_R", "W_K_R", "Q_distance", "K_distance"), "queries_keys_values"
    ),
    **dict.fromkeys(("scores", "scaled", "relative", "biased", "masked", "weights", "heads"), "attention"),
    **dict.fromkeys(("Q_R", "K_R", "content_to_content", "content_to_position", "position_to_content"), "attention"),
    **dict.fromkeys(("concat", "output"), "heads"),
    "norm": "add_and_norm",
}


def page_of(quantity: Quantity) -> str:
    """The page on which a quantity is shown; all of a decoder's layers is on one."""
    *path, name = quantity.key.split(".")
    if path[:1] == ["decoder"]:
        return "translation"
    if path[:1] in (["pool"], ["pooler"], ["transform"]):
        return "answer"
    if path == ["embedding"]:
        return "tokens"
    if "ffn" in path:
        return "feed_forward"
    if quantity.layer is not None and name not in PAGE_OF:
        return "add_and_norm"
    return PAGE_OF.get(name, "answer")
