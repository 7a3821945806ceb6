"""Share the screen: its address, also as a QR code for the phones of a class."""

import re
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from pages.drawing.state import images
from pages.drawing.state.choice import PICTURE, Choice
from pages.drawing.text import plain, t
from pages.screen.link import PERSONAL

#: Names by which a computer reaches only itself.
OWN_NAMES = ("localhost", "127.0.0.1", "::1")


def open_share(choice: Choice) -> None:
    """Open a dialog with the address of this page."""
    own = choice.input == PICTURE and choice.picture == images.OWN
    st.dialog(plain("share.title"))(_share)(address(st.context.url or "", choice), own)


def address(page: str, choice: Choice) -> str:
    """The address that shows this choice, without defaults, presentation mode and the teacher's notes. page: the
    address without a query.
    """
    usual = Choice().to_link()
    link = choice.with_(big=False, role=None).to_link()
    return f"{page}?{urlencode({name: v for name, v in link.items() if name in PERSONAL or v != usual.get(name)})}"


def leads_nowhere(address: str) -> bool:
    """Whether only this computer can open an address."""
    return urlsplit(address).hostname in OWN_NAMES


def _share(address: str, own_picture: bool = False) -> None:
    if own_picture:
        st.caption(t("share.own_picture"))
    with_code(address)


def with_code(address: str) -> None:
    """Draw a QR code, or the reason why there is none, and below it the address."""
    if code(address):
        st.code(address, language=None, wrap_lines=True)


def code(address: str) -> bool:
    """Draw a QR code, and return whether the address is still to be written: where there is no code, it is."""
    if leads_nowhere(address):
        st.warning(t("share.own_name"), icon=":material/router:")
        return True
    try:  # escapes apart, in a code's denser letters: its squares are larger
        drawn = segno.make(re.findall("(?:%..)+|[^%]+", address), error="l", micro=False)
    except segno.DataOverflowError:
        st.markdown(t("share.too_long"))
        st.code(address, language=None, wrap_lines=True)
        return False
    st.markdown(t("share.scan"))
    with st.container(key="share_code"):
        st.image(drawn.svg_inline(light="white"), width="stretch", alt=address)
    return True
