const SCROLLED = '[data-testid=stMain], [data-testid=stAppViewContainer]'  // on a phone the second, else the first
const PHONE = matchMedia('(max-width: 768px)')  // as in style.css
const MOST_MARKS = 24  // of layers, or of heads; more would be no marks
const BOUND = 10_000  // ms; so long does a click wait for its page

/* Who goes elsewhere meanwhile is no longer bound for there. */
addEventListener('popstate', () => { document.bound = undefined })
document.addEventListener('click', event => {
  const on = what => event.composedPath().some(part => part.matches?.(what))
  if (on('a, .overview') && !on('.strip')) document.bound = undefined
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
  if (!strip.turned) (strip.turned = new ResizeObserver(() => fit(strip))).observe(strip)  // with the phone
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

  function draw(strip, { label, more, stops, here, named, bracket, passing }) {
    strip.setAttribute('aria-label', label)
    strip.classList.toggle('named', named)
    strip.replaceChildren()
    strip.width = undefined
    const place = stops.findIndex(({ path }) => path === here)
    const line = make(strip, 'div', { className: 'line' })
    const step = (sign, by) => make(line, 'button', {
      disabled: !stops[place + by], ariaLabel: stops[place + by]?.name ?? sign, onclick: () => strip.open(stops[place + by].path),
    }, sign)
    step('‹', -1)
    const map = strip.map = document.createElement('div')
    make(line, 'button', { className: 'menu' }, stops[place].name, make(document.createDocumentFragment(), 'small', {},
      ` ${place + 1}/${stops.length}`))
    step('›', 1)
    map.className = 'map'
    strip.append(map)
    let block, apart
    for (const stop of stops) {
      if (stop.part === 'layer' && !block) block = begin_block(map, bracket)
      if (stop.part === 'apart' && !apart) {
        strip.more = make(map, 'button', { className: 'menu' }, more)
        apart = strip.apart = make(map, 'div', { className: 'apart' })
      }
      const a = link({ way: map, layer: block, apart }[stop.part], stop)
      if (stop.path !== here) continue
      a.setAttribute('aria-current', 'page')
      if (passing) tell(a, passing)
    }
    menu(line.children[1], map, 'map')
    if (apart) menu(strip.more, apart, 'apart')
    const boxes = { map, apart, passing: strip.querySelector('.passing') }
    strip.onclick = event => {
      const a = event.target.closest('a')
      if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      for (const open of strip.querySelectorAll(':popover-open')) open.hidePopover()
      document.byKey = event.detail ? undefined : a.path
      strip.open(a.path)
    }
    strip.onpointerdown = strip.onfocusin = () => lead(strip)
    fit(strip)
    if (document.fonts.status === 'loading') document.fonts.ready.then(() => fit(strip, true))  // as wide as it is drawn
    const left = boxes[document.menu]  // a page that arrives late closes no menu
    if (left?.popover) left.showPopover()
  }

  function link(parent, { path, name, shape, icon }) {
    const a = make(parent, 'a', { path, title: name })
    if (icon) make(a, 'span', { className: 'icon', ariaHidden: true }, icon.slice(10, -1))  // :material/home:
    make(a, 'span', { className: 'name' }, name)
    if (shape) make(a, 'small', {}, shape)
    return a
  }

  /* Round the pages of one layer: a storey for each layer, a tick for each head, the chosen ones filled. */
  function begin_block(parent, bracket) {
    const block = make(parent, 'span', { className: 'block' })
    if (!bracket) return block
    const { layers, layer, heads, head, said } = bracket
    const times = make(block, 'span', { className: 'times', title: said, role: 'img', ariaLabel: said }, `×${layers}`)
    const marks = (className, count, chosen) => {
      const all = make(times, 'span', { className })
      for (let i = 0; i < Math.min(count, MOST_MARKS); i++) make(all, 'i', { className: i === chosen ? 'on' : '' })
    }
    marks('storeys', layers, layer)
    marks('ticks', heads, head)
    return block
  }

  /* At the page's name: what comes in and what goes out. */
  function tell(a, { title, sides }) {
    const box = document.createElement('div')
    a.after(make(document.createDocumentFragment(), 'button', { className: 'tell', ariaLabel: title, title }), box)
    make(box, 'b', {}, title)
    for (const [what, lines] of sides) {
      make(box, 'div', { className: 'what' }, what)
      for (const text of lines) make(box, 'div', {}, text)
    }
    box.className = 'passing'
    box.popover = 'auto'
    menu(a.nextSibling, box, 'passing')
  }

  /* A button that opens something below itself. */
  function menu(button, box, name) {
    button.popoverTargetElement = box
    box.onbeforetoggle = ({ newState, target }) => {
      if (target !== box) return
      document.menu = newState === 'open' ? name : undefined
      const { left, bottom } = button.getBoundingClientRect()
      box.style.left = name === 'map' ? '' : `${Math.max(0, Math.min(left, innerWidth - 270))}px`
      box.style.top = `${bottom + 4}px`
    }
  }

  /* What has no room in the row stands behind a button: on a phone all, else the pages apart. */
  function fit(strip, anew) {
    if (strip.width === strip.clientWidth && !anew) return
    strip.width = strip.clientWidth
    const { map, apart, more } = strip, phone = PHONE.matches
    map.popover = phone ? 'auto' : null
    if (!apart) return
    apart.popover = null
    more.hidden = true
    const row = [...map.children].filter(part => part.offsetHeight).map(part => part.getBoundingClientRect())
    if (!phone && (document.documentElement.matches('.big') || row.length && row.at(-1).top > row[0].bottom)) {
      apart.popover = 'auto'
      more.hidden = false
    }
  }

  /* Links lead to what is chosen by now. */
  function lead(strip) {
    for (const a of strip.querySelectorAll('a')) a.href = `./${a.path}${location.search}`
  }

  /* The current page's name, or the button behind which it is. */
  function nameOf(strip) {
    const page = strip.querySelector('[aria-current]')
    const box = page?.closest('[popover]')
    return box ? [...strip.querySelectorAll('button')].find(button => button.popoverTargetElement === box) : page
  }
}
