/* Runs first in the start page. Opened at /attention, the client would look for its server below that path and get two
   404s; when a line breaks, it would show a dialog for programmers; and it sets some font sizes only once, so a
   presentation must be one from the beginning. */
window.__streamlit = {
  BACKEND_BASE_URL: new URL('.', location).href,
  HOST_CONFIG: { blockErrorDialogs: true, useExternalAuthToken: false, allowedOrigins: ['https://nobody.invalid'] },
}
document.documentElement.classList.toggle('big', new URLSearchParams(location.search).get('big') === 'true')

/* Plotly is large, and Home does not need it: there it loads after painting, or when a chart asks. */
window.bringPlotly = () => {
  const library = document.getElementById('plotly')
  if (!library.src) library.src = library.dataset.src
}
if (location.pathname.split('/').at(-1)) window.bringPlotly()

/* Hide from the start what a link hides: hide=strip,chips. */
const leaveOut = () => {
  const names = new URLSearchParams(location.search).get('hide') ?? ''
  document.documentElement.dataset.hide = names.replaceAll(',', ' ')
}
leaveOut()
addEventListener('popstate', leaveOut)

/* Whether a key goes to an input method; Safari tells only by the key's code. */
const composes = ({ isComposing, keyCode }) => isComposing || keyCode === 229

/* Addresses written before anybody has touched the page make no step for the back button. */
{
  const push = history.pushState
  let touched = false
  for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, () => { touched = true }, { capture: true, once: true })
  history.pushState = function (...step) { return (touched ? push : history.replaceState).apply(history, step) }
}

/* Leaving a box sends its text. If a press leaves it, the text waits until the press ends: the answer may remove what is
   being pressed. */
{
  let pressed = false, left
  addEventListener('pointerdown', () => { pressed = true }, true)
  addEventListener('focusout', event => {
    if (!pressed || !event.target.matches(':is([data-testid=stTextInput], .sentence) input')) return
    left = event.target
    event.stopImmediatePropagation()
  }, true)
  const end = () => {
    pressed = false
    left?.dispatchEvent(new FocusEvent('focusout', { bubbles: true }))
    left = undefined
  }
  for (const kind of ['pointerup', 'pointercancel', 'keydown']) addEventListener(kind, end, true)  // a scrollbar ends none
}

/* A double click on a button counts once: its second half would undo the first. A press counts, too, if the server's
   answer replaces the button before the release: browsers make no click of that. */
{
  const at = ({ target }) => target.closest(':is([data-testid=stButtonGroup], [data-testid=stButton], .sentence) button')
  const named = button => button.closest('[class*=st-key-]')?.className + button.textContent
  let pressed, name
  document.addEventListener('mousedown', event => {
    pressed = at(event)
    name = pressed && named(pressed)
  }, true)
  document.addEventListener('mouseup', event => {
    const button = at(event)
    if (pressed?.isConnected === false && button && named(button) === name) button.click()
  }, true)
  document.addEventListener('click', event => {
    if (event.detail > 1 && at(event)) event.stopPropagation()
  }, true)
}

/* The drawer of settings opens over the page, and closes with Escape or a press beside it, which does nothing else. A
   presentation begins and ends at once, before the server answers, since tables keep the font size with which they
   are drawn. */
{
  const root = document.documentElement, wants = () => document.querySelector('.st-key-big input')?.checked
  const drawer = open => {
    root.classList.toggle('drawer', open)
    const panel = document.querySelector('[data-testid=stSidebar]')
    document.querySelector('.navbar .settings')?.setAttribute('aria-expanded', root.matches('.drawer'))
    if (!panel || !root.matches('.drawer')) return
    panel.tabIndex = -1
    panel.focus()  // by keys one goes on in it
  }
  const beside = event => {
    const page = event.target.closest('[data-testid=stMain], [data-testid=stHeader]')
    if (!page || !root.matches('.drawer') || event.target.closest('.navbar .settings')) return
    event.stopPropagation()
    if (!event.type.startsWith('touch')) event.preventDefault()  // after such a touch no click would come
    if (event.type === 'click') drawer(false)
  }
  for (const kind of ['pointerdown', 'pointerup', 'mousedown', 'mouseup', 'touchstart', 'touchend', 'click'])
    document.addEventListener(kind, beside, true)
  document.addEventListener('click', ({ target }) => {
    if (target.closest('.navbar .settings')) drawer()
    else if (target.closest('.navbar .leave')) document.querySelector('.st-key-big input').click()
    else if (target.closest('.st-key-big')) setTimeout(() => {
      root.classList.toggle('big', wants())
      drawer(false)
    })
    else if (target.closest('[data-testid=stSidebar] :is(.st-key-glossary, .st-key-share)')) drawer(false)
  }, true)
  document.addEventListener('keydown', event => {
    const away = event.key === 'Escape' && !composes(event) && !document.querySelector('[data-testid=stPopoverBody]')
    if (away && root.matches('.drawer')) {
      drawer(false)
      document.querySelector('.navbar .settings')?.focus()
    }
  }, true)
  addEventListener('popstate', () => root.classList.toggle('big', new URLSearchParams(location.search).get('big') === 'true'))
}

/* Over plain http, as in a class's own network, pages have no clipboard: copy from a box with the text selected, or show
   it to be copied by hand. */
navigator.clipboard ?? Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => {
  const before = document.activeElement, place = before?.closest('[role=dialog]') ?? document.body  // it keeps the focus
  const box = Object.assign(document.createElement('textarea'), { value: text, readOnly: true })
  box.style.cssText = 'position: fixed; opacity: 0'
  place.append(box)
  box.select()
  const copied = document.execCommand('copy')
  box.remove()
  before?.focus()
  if (!copied) prompt('', text)
} } })

/* A browser that translates the page replaces text nodes without React's knowledge. When React writes to the old text,
   it returns in place of the browser's node; when React removes it, that node goes. */
{
  const instead = new WeakMap()  // a text -> what a translator has put there
  const shown = text => text?.nodeType === Node.TEXT_NODE && !text.isConnected && instead.get(text)?.isConnected ? instead.get(text) : undefined
  new MutationObserver(changes => {
    for (const { addedNodes: [put], removedNodes: [text], previousSibling, nextSibling } of changes) {
      const beside = put ?? [previousSibling, nextSibling].find(node => node?.nodeName === 'FONT')
      if (text?.nodeType === Node.TEXT_NODE && beside?.nodeName === 'FONT') instead.set(text, beside)
    }
  }).observe(document, { childList: true, subtree: true })
  const { get, set } = Object.getOwnPropertyDescriptor(Node.prototype, 'nodeValue')
  Object.defineProperty(Node.prototype, 'nodeValue', { configurable: true, enumerable: true, get, set(value) {
    shown(this)?.replaceWith(this)
    set.call(this, value)
  } })
  for (const name of ['removeChild', 'insertBefore']) {
    const own = Node.prototype[name]
    Node.prototype[name] = function (...nodes) {
      const last = nodes.pop()
      return own.call(this, ...nodes, shown(last) ?? last)
    }
  }
}

/* The line to the server. When a socket breaks, Streamlit's client loses all that is done until it has another. So the
   client never sees a break: its messages, and the server's, go through the next socket, in order (lines.py). Only if
   the server has forgotten the line does the client open another, which begins with the messages not acknowledged. */
{
  const Socket = WebSocket, OVER = 4404, ACKNOWLEDGED = 100, WAITS = [250, 500, 1000, 2000]
  const LATE = 2000, LOST = 15_000  // ms without an answer: tell the reader; give up the socket
  const unheard = []  // what the client said, oldest first
  let since = 0  // when a socket closed, or the oldest of them was said
  let line
  const look = () => {
    const waits = line?.through ? since : line?.opened
    if (line?.socket && waits && performance.now() - waits > LOST) line.broken()
    const note = document.getElementById('unheard'), late = since && performance.now() - since > LATE
    const words = late ? document.unheard ?? '' : ''  // in the reader's language, from surroundings.js
    if (note && note.textContent !== words) note.textContent = words
  }
  setInterval(look, 500)

  class Line extends EventTarget {
    readyState = 0
    heard = 0
    attempt = 0
    constructor(address, protocols) {
      super()
      const name = Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, '0')).join('')
      line = Object.assign(this, { address, protocols, name, before: 0 })
      this.open()
    }
    open() {
      this.opened = performance.now()
      const socket = this.socket = new Socket(`${this.address}?line=${this.name}&heard=${this.heard}${this.readyState ? '&again=1' : ''}`, this.protocols)
      socket.binaryType = 'arraybuffer'
      socket.addEventListener('message', ({ data }) => {
        if (this.socket === socket) typeof data === 'string' ? this.acknowledged(Number(data)) : this.hear(data)
      })
      socket.addEventListener('close', ({ code, wasClean }) => {
        if (this.socket === socket) this.broken(code, wasClean)
      })
    }
    acknowledged(number) {
      unheard.splice(0, number - this.before)
      this.before = number
      since = unheard.length ? performance.now() : 0
      if (this.through) return
      this.through = true
      this.attempt = 0
      for (const said of unheard) this.socket.send(said)
      if (this.readyState) return
      this.readyState = 1
      this.dispatchEvent(new Event('open'))
    }
    hear(data) {
      this.heard++
      this.telling ??= setTimeout(() => {
        this.telling = undefined
        if (this.through) this.socket.send(String(this.heard))
      }, ACKNOWLEDGED)
      this.dispatchEvent(new MessageEvent('message', { data }))
    }
    broken(code, wasClean) {
      this.socket.close()
      this.socket = undefined
      this.through = false
      since ||= performance.now()
      if (this.readyState === 1 && code !== OVER) {
        setTimeout(() => this.readyState === 1 && this.open(), WAITS[Math.min(this.attempt++, WAITS.length - 1)])
        return
      }
      this.readyState = 3
      if (code === OVER && window.isBeingChanged) location.reload()  // the server has been started anew
      this.dispatchEvent(new CloseEvent('close', { code, wasClean }))
    }
    send(said) {
      unheard.push(said)
      since ||= performance.now()
      if (this.through) this.socket.send(said)
    }
    close() {
      this.readyState = 3
      this.through = false
      this.socket?.close(1000)
      this.socket = undefined
    }
  }
  window.WebSocket = Line
}

/* If a broken line loses a part of the client, it is missing for good. So reload the page as soon as the server
   answers; the address holds the whole choice. */
{
  const health = new URL('_stcore/health', window.__streamlit.BACKEND_BASE_URL)
  const patience = performance.getEntriesByType('navigation')[0]?.type === 'reload' ? 60_000 : 0  // ms, from one time to the next
  let asking
  function ask() {
    const again = ({ ok }) => { if (ok && performance.now() > patience) location.reload() }
    fetch(health).then(again, () => 'the line is still broken')
  }
  function missing({ type, target }) {
    if (type === 'error' && !target.matches?.('script, [rel=stylesheet]')) return  // what goes wrong in a script, or a picture
    document.documentElement.classList.add('incomplete')
    asking ||= setInterval(ask, 1000)
  }
  addEventListener('vite:preloadError', missing)
  addEventListener('error', missing, true)
}

/* On paper, lay out the page as on the screen, where pictures were drawn, and shrink it to one sheet. */
const LINE = 28, LETTER = 10, SIDES = 80  // pixels of an address on paper, and of its margins
addEventListener('beforeprint', () => {
  const [app, page] = ['stApp', 'stMainBlockContainer'].map(part => document.querySelector(`[data-testid=${part}]`))
  const dark = getComputedStyle(app).colorScheme === 'dark'
  const lines = 1 + Math.ceil(location.href.length * LETTER / (innerWidth - SIDES))  // the address is below; one to spare
  const tall = page?.offsetHeight + LINE * lines
  for (const [name, pixels] of [['wide', innerWidth], ['tall', tall]]) document.body.style.setProperty(`--${name}`, pixels)
  document.body.dataset.address = location.href
  document.body.dataset.ground = dark ? 'dark' : 'light'
})
