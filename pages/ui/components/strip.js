const SCROLLED = '[data-testid=stMain], [data-testid=stAppViewContainer]'  // on a phone the second, else the first
const BOUND = 10_000  // ms; so long does a click wait for its page

/* Who goes elsewhere meanwhile is no longer bound for there. */
addEventListener('popstate', () => { document.bound = undefined })
document.addEventListener('click', event => {
  const on = what => event.composedPath().some(part => part.matches?.(what))
  if (on('a, .diagram') && !on('.strip')) document.bound = undefined
}, true)

const make = (parent, kind, own, ...children) => {
  const node = parent.appendChild(Object.assign(document.createElement(kind), own))
  node.append(...children)
  return node
}

export default function({ data: [data], parentElement, setTriggerValue }) {
  const strip = parentElement.querySelector('.strip'), told = JSON.stringify(data)
  const go = path => setTriggerValue('open', path)
  strip.open = path => {
    document.bound = path === data.here ? undefined : { path, from: data.here, until: Date.now() + BOUND }
    go(path)
  }
  again(document.bound)
  begin()
  if (strip.told !== told) draw(strip, data)
  strip.told = told
  if (!strip.turned) (strip.turned = new ResizeObserver(() => reveal(strip))).observe(strip)  // with the phone
  lead(strip)
  if (document.byKey === data.here) {  // or who goes on by keys would begin at the top again
    document.byKey = undefined
    nameOf(strip)?.focus({ preventScroll: true })
  }

  /* A click may reach the server when the page that it was made on is gone: the next page makes it again. */
  function again(bound) {
    if (!bound || bound.from === data.here) return
    if (bound.path === data.here || Date.now() > bound.until) document.bound = undefined
    else {
      bound.from = data.here
      go(bound.path)
    }
  }

  /* A page begins at its top, wherever the one before was left. */
  function begin() {
    if (document.here !== undefined && document.here !== data.here) {
      delete document.held
      for (const part of document.querySelectorAll(SCROLLED)) part.scrollTop = 0
    }
    document.here = data.here
  }

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
      menu.onbeforetoggle = ({ newState }) => {
        document.menu = newState === 'open' ? name : undefined
        const { left, bottom } = button.getBoundingClientRect()
        menu.style.left = `${Math.max(0, Math.min(left, innerWidth - 260))}px`
        menu.style.top = `${bottom + 4}px`
      }
      if (name === document.menu) menu.showPopover()  // a page that arrives late closes no menu
    }
    strip.onclick = event => {
      const a = event.target.closest('a')
      if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      a.closest('[popover]')?.hidePopover()
      document.byKey = event.detail ? undefined : a.path
      strip.open(a.path)
    }
    strip.onpointerdown = strip.onfocusin = () => lead(strip)
    reveal(strip)
  }

  /* Links lead to what is chosen by now. */
  function lead(strip) {
    for (const a of strip.querySelectorAll('a')) a.href = `./${a.path}${location.search}`
  }

  /* The current page's name, or that of the menu it is in. */
  function nameOf(strip) {
    const page = strip.querySelector('[aria-current]')
    return page?.closest('[popover]')?.previousElementSibling ?? page
  }

  /* On a phone the strip is wider than the screen: bring that name to its middle. */
  function reveal(strip) {
    const current = nameOf(strip)
    if (!current) return
    const [name, row] = [current, strip].map(part => part.getBoundingClientRect())
    if (name.left < row.left || name.right > row.right)
      strip.scrollLeft += name.left + name.width / 2 - row.left - row.width / 2
  }
}
