"""A page's own controls redraw only the page; those of the frame redraw everything."""

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.classroom.server import Server
from tests.classroom.visitor import Visitor

SENTENCE = "s=the+dog+chased+the+cat+."


def drawn(visitor: Visitor) -> list[ForwardMsg]:
    """The elements received since the last call."""
    messages = [ForwardMsg.FromString(data) for data in visitor.heard]
    visitor.heard.clear()
    return [message for message in messages if message.delta.HasField("new_element")]


def charts(messages: list[ForwardMsg]) -> list[bytes]:
    parts = [message.delta.new_element.bidi_component for message in messages]
    return [part.bytes for part in parts if part.component_name == "chart"]


async def test_a_layer_or_a_head_draws_the_page_and_a_sentence_the_frame_as_well(server: Server) -> None:
    visitor = Visitor(server.address, listen=True)
    await visitor.open("attention", f"{SENTENCE}&lang=en&layer=2")
    whole = drawn(visitor)

    for moved in ({"head": 5}, {"layer": 4}):
        await visitor.set(**moved)
        page = drawn(visitor)
        assert page and len(page) < len(whole)
        assert all(message.delta.fragment_id for message in page), "only what the page draws"
        assert charts(page), "the picture among it"
    assert visitor.link["layer"] == ["4"] and visitor.link["head"] == ["5"], "the address follows"

    before = charts(page)
    await visitor.set(s="the cat chased the dog .")
    page = drawn(visitor)
    assert not all(message.delta.fragment_id for message in page), "the frame, too"
    assert visitor.link["layer"] == ["4"] and visitor.link["s"] == ["the cat chased the dog ."]
    assert len(charts(page)) == len(before) and charts(page) != before, "another picture in its place"
    await visitor.close()


async def test_a_stroke_draws_the_page_alone(server: Server) -> None:
    visitor = Visitor(server.address, listen=True)
    await visitor.open("attention", "input=digit&lang=en")
    by_page = {
        element.bidi_component.component_name or element.button_group.id.rpartition("-")[2]: message.delta.fragment_id
        for message in drawn(visitor)
        if (element := message.delta.new_element)
    }
    assert by_page["digit_pad"] and by_page["example_digit"], "a stroke asks for the page"
    assert not by_page["either.symbols"], "and not for the frame"
    await visitor.close()
