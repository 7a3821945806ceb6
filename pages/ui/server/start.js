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

/* A presentation begins and ends at once, not with the answer to a click or a step back: a table is drawn for the size of
   the letters as it comes. The controls lie over it while they are asked for, and go with a click on the page. */
{
  const root = document.documentElement, wants = () => document.querySelector('.st-key-big input')?.checked
  document.addEventListener('click', ({ target }) => {
    const leaves = target.closest('.st-key-leave_big button')
    if (target.closest('.st-key-controls_big button')) return root.classList.toggle('tuning')
    if (target.closest('[data-testid=stMain]')) root.classList.remove('tuning')
    if (leaves) root.classList.remove('big')
    else if (target.closest('.st-key-big'))
      setTimeout(() => {
        root.classList.toggle('big', wants())
        root.classList.remove('tuning')
      })
  }, true)
  document.addEventListener('keydown', event => {
    const said = enters(event) && event.target.matches('[data-testid=stSidebar] input[type=text]')
    const away = event.key === 'Escape' && !composes(event) && !document.querySelector('[data-testid=stPopoverBody]')
    if (said || away) root.classList.remove('tuning')
  }, true)
  addEventListener('popstate', () => root.classList.toggle('big', new URLSearchParams(location.search).get('big') === 'true'))
}

/* On a phone what goes in is a line at the top of the page. It opens over the page when it is touched, and closes with a
   touch on the page, or when a sentence is said. */
{
  const root = document.documentElement
  document.addEventListener('click', ({ target }) => {
    if (target.closest('.st-key-at_hand')) root.classList.add('at_hand')
  }, true)
  document.addEventListener('pointerdown', ({ target }) => {
    // At its edge lies what a mouse would drag to make the sidebar wider.
    if (target.closest(':is([data-testid=stMain], [data-testid=stSidebarResizeHandle])')) root.classList.remove('at_hand')
  }, true)
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape' || enters(event) && event.target.closest('.st-key-s')) root.classList.remove('at_hand')
  }, true)
}

/* On a phone the open controls push the page off the screen: who has said there what to compare with wants to see it. */
{
  const phone = matchMedia('(max-width: 768px)')  // as in style.css
  const show = event => {
    const { type, target } = event
    const said = type === 'click' ? target.closest('button') : enters(event)
    if (!said || !phone.matches || !target.closest('.st-key-compare-other')) return
    setTimeout(() => {
      target.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))  // closes the box
      document.querySelector('[data-collapsed=false] [data-testid=stSidebarCollapseButton] button')?.click()
    })
  }
  document.addEventListener('keydown', show)
  document.addEventListener('click', show)
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

/* A phone held sideways is wide enough for Streamlit to open the sidebar, a third of the screen. There it waits, as on
   a phone held upright, until the reader opens it; Streamlit keeps whether he did. The window's own width tells of no
   phone yet: until the page's head is read, it is that of a desk. */
if (matchMedia('(hover: none)').matches && Math.min(screen.width, screen.height) <= 500)
  localStorage['stSidebarCollapsed-'] ??= true
