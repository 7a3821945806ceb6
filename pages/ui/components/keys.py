"""Keys that work anywhere on a page: arrows for heads and layers, and whatever else the page has given a key."""

from collections.abc import Callable, Mapping

import streamlit as st

JS = """
export default function({ data, setTriggerValue }) {
  const press = event => {
    const from = event.composedPath()[0]
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return  // somebody else's
    if (from.closest?.('input, textarea, select, [contenteditable], [role=dialog], [role=listbox]')) return
    const key = (event.shiftKey ? 'Shift+' : '') + event.key
    if (!data.keys.includes(key)) return
    event.preventDefault()
    setTriggerValue('pressed', key)
  }
  document.removeEventListener('keydown', document.pressOnPage)  // of an earlier run: one listener is enough
  document.addEventListener('keydown', document.pressOnPage = press)
  return () => {
    document.removeEventListener('keydown', press)
    if (document.pressOnPage === press) document.pressOnPage = undefined
  }
}
"""

_keys = st.components.v2.component("page_keys", js=JS)


def listen(actions: Mapping[str, Callable[[], None]]) -> None:
    """Call an action when its key is pressed outside of text fields: "ArrowLeft", "Shift+ArrowUp", "1", …"""

    def pressed() -> None:
        if action := actions.get(st.session_state["keys"].pressed):
            action()

    _keys(key="keys", data={"keys": list(actions)}, on_pressed_change=pressed)
