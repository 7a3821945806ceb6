"""The stage strip, one row: a link to every page, with the shape of its tensor, and menus for the pages beside them.

One element instead of twenty: Streamlit's own links would each be sent, read as Markdown and drawn anew on every click,
which took as long as a picture. As they do, a link opens its page here, or, with Ctrl or the middle button, in another
tab, with all that is chosen by then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

CSS = """
.strip { display: flex; align-items: center; gap: .1rem; overflow-x: auto; padding-bottom: .2rem;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent) }
.strip :is(a, button) { flex: none; padding: .15rem .5rem; border: 0; border-radius: .5rem; background: none;
  font: inherit; font-size: .875rem; line-height: 1.25; white-space: nowrap; text-align: start;
  color: inherit !important; text-decoration: none !important; cursor: pointer }
.strip :is(a, button):hover { background: color-mix(in srgb, currentColor 10%, transparent) }
.strip a[aria-current] .name { font-weight: 700; text-decoration: underline; text-underline-offset: .3em }
.strip small { display: block; font-size: .75rem; opacity: .75 }
.strip button::after { content: " ▾"; opacity: .75 }
.strip [popover] { margin: 0; padding: .5rem; border-radius: .6rem; color: inherit;
  background: var(--st-background-color);
  border: 1px solid color-mix(in srgb, currentColor 20%, transparent); box-shadow: 0 4px 16px rgba(0, 0, 0, .16) }
.strip [popover] a { display: block; padding: .4rem .6rem }
.strip .icon { font-family: "Material Symbols Rounded"; font-size: 1.2em; vertical-align: -.25em; margin-right: .4rem }
"""

JS = """
const make = (parent, kind, own, ...children) => {
  const node = parent.appendChild(Object.assign(document.createElement(kind), own))
  node.append(...children)
  return node
}

export default function({ data, parentElement, setTriggerValue }) {
  const strip = parentElement.querySelector('.strip'), told = JSON.stringify(data)
  strip.open = path => setTriggerValue('open', path)
  if (strip.told !== told) draw(strip, data)
  strip.told = told
  lead(strip)

  function draw(strip, { label, stages, menus, here }) {
    const link = (parent, { path, name, shape, icon }) => {
      const a = make(parent, 'a', { path })
      if (icon) make(a, 'span', { className: 'icon', ariaHidden: true }, icon.slice(10, -1))  // :material/home:
      make(a, 'span', { className: 'name' }, name)
      if (shape) make(a, 'small', {}, shape)
      if (path === here) a.setAttribute('aria-current', 'page')
    }
    strip.setAttribute('aria-label', label)
    strip.replaceChildren()
    for (const stage of stages) link(strip, stage)
    for (const { name, pages } of menus) {
      const menu = document.createElement('div'), button = make(strip, 'button', { popoverTargetElement: menu }, name)
      menu.popover = 'auto'
      strip.append(menu)
      for (const page of pages) link(menu, page)
      menu.onbeforetoggle = () => {
        const { left, bottom } = button.getBoundingClientRect()
        menu.style.left = `${Math.max(0, Math.min(left, innerWidth - 260))}px`
        menu.style.top = `${bottom + 4}px`
      }
    }
    strip.onclick = event => {
      const a = event.target.closest('a')
      if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      a.closest('[popover]')?.hidePopover()
      strip.open(a.path)
    }
    strip.onpointerdown = strip.onfocusin = () => lead(strip)
    reveal(strip)
  }

  /* Links lead to what is chosen by now. */
  function lead(strip) {
    for (const a of strip.querySelectorAll('a')) a.href = `./${a.path}${location.search}`
  }

  /* On a phone the strip is wider than the screen: bring the current page's name to its middle. */
  function reveal(strip) {
    const current = strip.querySelector('[aria-current]')
    if (!current || current.closest('[popover]')) return
    const [name, row] = [current, strip].map(part => part.getBoundingClientRect())
    if (name.left < row.left || name.right > row.right)
      strip.scrollLeft += name.left + name.width / 2 - row.left - row.width / 2
  }
}
"""

_strip = st.components.v2.component("strip", html='<nav class="strip"></nav>', css=CSS, js=JS, isolate_styles=False)


@dataclass(frozen=True)
class Stop:
    """One link of the strip: the page's URL path, its name, the shape under it or the icon beside it."""

    path: str
    name: str
    shape: str = ""
    icon: str = ""


def strip(label: str, stages: Sequence[Stop], menus: Mapping[str, Sequence[Stop]], here: str) -> str | None:
    """Draw the strip. Returns the URL path of the page that was just asked for, else None.

    label: what the row of links is called. menus: their names -> their links. here: the path of the current page.
    """
    data = {
        "label": label,
        "here": here,
        "stages": [asdict(stop) for stop in stages],
        "menus": [{"name": name, "pages": [asdict(stop) for stop in stops]} for name, stops in menus.items()],
    }
    return _strip(key="strip", data=data, on_open_change=lambda: None).open
