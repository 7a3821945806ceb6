const SCROLLED = '[data-testid=stMain], [data-testid=stAppViewContainer]'  // the second on phones, else the first
const PHONE = matchMedia('(max-width: 768px)')  // as in style.css
const BOUND = 10_000  // ms for which a click is repeated
const ELSEWHERE = 300, STILL_HERE = 1000  // ms until it is first repeated, on another page or on the same one
const RETURNS = 4000  // ms in which an answer to an earlier click may still replace the page that has come

/* Cancel it when the reader goes elsewhere. */
addEventListener('popstate', () => { document.bound = undefined })
document.addEventListener('click', event => {
  const on = what => event.composedPath().some(part => part.matches?.(what))
  if (document.bound?.path === document.here || on('a, .overview') && !on('.navbar')) document.bound = undefined
}, true)

document.toTop = () => {
  delete document.held
  for (const part of document.querySelectorAll(SCROLLED)) part.scrollTop = 0
}

const make = (parent, kind, own, ...children) => {
  const node = parent.appendChild(Object.assign(document.createElement(kind), own))
  node.append(...children)
  return node
}

export default function({ data: [data], parentElement, setTriggerValue }) {
  const bar = parentElement.querySelector('.navbar'), drawn = JSON.stringify(data)
  const go = path => setTriggerValue('open', path)
  bar.open = path => {
    const crossing = document.bound?.until > Date.now() || Date.now() - document.came < STILL_HERE
    document.bound = path === data.here ? undefined : { path, from: data.here, until: Date.now() + BOUND }
    go(path)
    if (crossing) again(document.bound)  // the server may miss a second click, or one on a new page
  }
  again(document.bound)
  begin()
  if (bar.drawn !== drawn) draw(bar, data)
  bar.drawn = drawn
  if (!bar.turned) (bar.turned = new ResizeObserver(() => fit(bar))).observe(bar)  // when a phone is turned
  lead(bar)
  if (document.byKey === data.here) {  // keep the keyboard's focus on the page's name
    document.byKey = undefined
    nameOf(bar)?.focus({ preventScroll: true })
  }

  /* The server may get a click after its page is gone, so the next page repeats it at growing intervals, but only
     when nothing else is under way: two clicks in flight would each remove the other's page. */
  function again(bound) {
    clearTimeout(document.again)
    if (!bound || Date.now() > bound.until) return
    if (bound.path === data.here) {
      Object.assign(bound, { came: true, until: Math.min(bound.until, Date.now() + RETURNS) })
      return
    }
    if (bound.came) Object.assign(bound, { came: false, until: Date.now() + BOUND })
    let pause = bound.from === data.here ? STILL_HERE : ELSEWHERE
    const anew = () => {
      if (document.bound !== bound || Date.now() > bound.until) return
      go(bound.path)
      document.again = setTimeout(anew, pause *= 2)
    }
    document.again = setTimeout(anew, pause)
  }

  /* Scroll each new page to its top. */
  function begin() {
    if (document.here !== data.here) document.came = Date.now()
    if (document.here !== undefined && document.here !== data.here) document.toTop()
    document.here = data.here
  }

  function draw(bar, { words, stops, here }) {
    bar.setAttribute('aria-label', words.pages)
    bar.replaceChildren()
    bar.width = undefined
    const settings = make(bar, 'button', { className: 'settings icon', title: words.settings, ariaLabel: words.settings }, 'tune')
    settings.setAttribute('aria-expanded', document.documentElement.matches('.drawer'))
    const list = bar.list = document.createElement('div')
    list.className = 'list'
    const boxes = {}
    for (const { path, name, part } of stops) {
      if (!boxes[part] && part === 'more') bar.more = make(list, 'button', { className: 'menu' }, words.more)
      const box = part === 'way' ? list : boxes[part] ??= make(list, 'div', { className: part })
      const a = make(box, 'a', { path, className: path ? '' : 'app' }, path ? name : words.app)
      if (path === here) a.setAttribute('aria-current', 'page')
    }
    if (boxes.more) make(boxes.more, 'button', { className: 'glossary' }, words.glossary)
    const now = stops.find(({ path }) => path === here)
    const menu = make(bar, 'button', { className: 'menu current' }, now?.path ? now.name : words.app)
    bar.append(list)
    opens(menu, list, 'list')
    if (bar.more) opens(bar.more, boxes.more, 'more')
    make(bar, 'button', { className: 'leave icon', title: words.leave, ariaLabel: words.leave }, 'close_fullscreen')
    bar.onclick = event => {
      if (event.target.matches('.glossary')) {
        for (const open of bar.querySelectorAll(':popover-open')) open.hidePopover()
        return setTriggerValue('glossary', true)
      }
      const a = event.target.closest('a')
      if (!a || event.ctrlKey || event.metaKey || event.shiftKey) return
      event.preventDefault()
      for (const open of bar.querySelectorAll(':popover-open')) open.hidePopover()
      document.byKey = event.detail ? undefined : a.path
      bar.open(a.path)
    }
    bar.onpointerdown = bar.onfocusin = () => lead(bar)
    fit(bar)
    const left = { list, more: boxes.more }[document.menu]  // a late page keeps an open menu open
    if (left?.popover) left.showPopover()
  }

  /* Let a button open a box below itself. */
  function opens(button, box, name) {
    button.popoverTargetElement = box
    box.onbeforetoggle = ({ newState, target }) => {
      if (target !== box) return
      document.menu = newState === 'open' ? name : undefined
      const { right, bottom } = button.getBoundingClientRect()
      box.style.left = name === 'list' ? '' : `${Math.max(0, Math.min(right - 160, innerWidth - 190))}px`
      box.style.top = `${bottom + 4}px`
    }
  }

  /* Put pages without room into a menu: all on a phone, else the last ones. */
  function fit(bar) {
    if (bar.width === bar.clientWidth) return
    bar.width = bar.clientWidth
    bar.list.popover = PHONE.matches ? 'auto' : null
    if (bar.more) bar.more.popoverTargetElement.popover = PHONE.matches ? null : 'auto'
  }

  /* Let links keep the current choice. */
  function lead(bar) {
    for (const a of bar.querySelectorAll('a')) a.href = `./${a.path}${location.search}`
  }

  /* The current page's link, or the button of the menu that hides it. */
  function nameOf(bar) {
    const page = bar.querySelector('[aria-current]')
    const box = page?.closest('[popover]')
    return box ? [...bar.querySelectorAll('button')].find(button => button.popoverTargetElement === box) : page
  }
}
