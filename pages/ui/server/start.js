/* Runs in the start page, before all else. The client, opened at /attention, would look for its server below that path
   first, and get two 404s. And it sets some letters once only: a presentation must be one from the beginning. */
window.__streamlit = { BACKEND_BASE_URL: new URL('.', location).href }
document.documentElement.classList.toggle('big', new URLSearchParams(location.search).get('big') === 'true')

/* What a link leaves out of all pages is never seen: hide=strip,chips. */
const leaveOut = () => {
  const names = new URLSearchParams(location.search).get('hide') ?? ''
  document.documentElement.setAttribute('data-hide', names.replaceAll(',', ' '))
}
leaveOut()
addEventListener('popstate', leaveOut)

/* Whether a key goes to an input method; in Safari only its code tells. And whether it says that what was typed is done. */
const composes = ({ isComposing, keyCode }) => isComposing || keyCode === 229
const enters = event => event.key === 'Enter' && !composes(event)

/* What a page writes into its address before anybody has touched it is no step of the reader's. */
{
  const push = history.pushState
  let touched = false
  for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, () => { touched = true }, { capture: true, once: true })
  history.pushState = function (...step) { return (touched ? push : history.replaceState).apply(history, step) }
}

/* Leaving a box sends what was typed in it. Where a press leaves it, that waits until the press ends: the answer may take
   away what is being pressed. */
{
  let pressed = false, left
  addEventListener('pointerdown', () => { pressed = true }, true)
  addEventListener('focusout', event => {
    if (!pressed || !event.target.matches('[data-testid=stTextInput] input')) return
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

/* A double click on a button is one decision: its second half would take the first back. */
document.addEventListener('click', event => {
  const button = event.target.closest(':is([data-testid=stButtonGroup], [data-testid=stButton]) button')
  if (event.detail > 1 && button) event.stopPropagation()
}, true)

/* The drawer of settings opens over the page, and closes with a press beside it, which does nothing else, or Escape. A
   presentation begins and ends at once, not with the answer to a click: a table is drawn for the size of the letters as it
   comes. */
{
  const root = document.documentElement, wants = () => document.querySelector('.st-key-big input')?.checked
  const drawer = open => {
    root.classList.toggle('drawer', open)
    document.querySelector('.navbar .settings')?.setAttribute('aria-expanded', root.matches('.drawer'))
  }
  const beside = event => {
    if (!root.matches('.drawer') || !event.target.closest('[data-testid=stMain]') || event.target.closest('.navbar .settings')) return
    event.stopPropagation()
    event.preventDefault()
    if (event.type === 'click') drawer(false)
  }
  for (const kind of ['pointerdown', 'mousedown', 'click']) document.addEventListener(kind, beside, true)
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

/* A part of the client that a broken line did not bring is missing for good. So the page is opened anew as soon as the
   server answers; all that is chosen is in its address. */
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
