/* Elements that use the arrow keys themselves (surroundings.js marks those that scroll). */
const ITS_OWN = 'input, textarea, select, [contenteditable], [role=dialog], [role=listbox], [role=group][tabindex]'
const KEPT = 30_000  // ms for which a press is repeated with later ones

/* Fill the slim line of a scrolled page: the input as in the line on top, the place, and the answer. */
function keepInSight(parent, said, answer) {
  const line = parent.querySelector('.stays') ?? parent.appendChild(document.createElement('div')), words = document.createElement('span')
  Object.assign(line, { className: 'stays', ariaHidden: 'true', translate: false })
  for (const part of document.querySelectorAll('.st-key-line :is(.chip, img)')) {
    const copy = part.matches('img') ? Object.assign(document.createElement('img'), { src: part.src, alt: '' }) : Object.assign(document.createElement('span'), { textContent: part.textContent, className: part.className })
    words.append(copy, part.matches('.tight') ? '' : ' ')
  }
  line.replaceChildren(words, ...[said, answer].map(text => Object.assign(document.createElement('b'), { textContent: text })))
}

/* Scroll to what stands below the answer, and where that is too long, to its verdict; both may appear some frames later. */
function toVerdict(frames = 60) {
  const ends = ['.st-key-lesson-next', '.st-key-tour_answer h3'].map(where => document.querySelector(where))
  if (ends.every(end => end)) {
    delete document.held  // or surroundings.js keeps the old position
    for (const end of ends) end.scrollIntoView({ block: 'nearest' })
  } else if (frames) requestAnimationFrame(() => toVerdict(frames - 1))
}

export default function({ data: [keys, done, station, said, answer], parentElement, setTriggerValue }) {
  const presses = document.presses ??= { last: Date.now(), waiting: [] }  // larger than any earlier number
  presses.waiting = presses.waiting.filter(([number]) => number > done)
  document.atOnce?.hear('keys', done)
  const [at, answered] = station.split(' '), [before, then] = document.station ?? []
  if (before && at && before !== at) document.toTop?.()
  if (before === at && answered && !then) toVerdict()
  document.station = [at, answered]
  if (done > (presses.done ?? done)) document.getElementById('said').textContent = said
  presses.done = done
  const press = event => {
    const from = event.composedPath()[0]
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return  // handled elsewhere
    if (from.closest?.(ITS_OWN)) return
    const key = (event.shiftKey ? 'Shift+' : '') + event.key
    if (!keys.includes(key)) return
    event.preventDefault()
    presses.last = Math.max(Date.now(), presses.last + 1)
    presses.waiting = [...presses.waiting.filter(([number]) => number > presses.last - KEPT), [presses.last, key]]
    document.atOnce?.press(key, presses.last)
    setTriggerValue('pressed', { seen: done, waiting: [...presses.waiting] })
  }
  // After a mouse click, a row of buttons must not use the arrow keys; with keyboard focus it does.
  const leave = event => { if (event.detail && event.target.closest('[role=radio]')) document.activeElement.blur() }
  document.listening?.abort()  // listeners of an earlier run
  const listening = document.listening = new AbortController()
  const { signal } = listening
  const keep = () => keepInSight(parentElement, said, answer)
  keep()
  document.addEventListener('overview:moved', keep, { signal })  // the line on top was redrawn
  document.addEventListener('load', ({ target }) => target.closest?.('.st-key-line') && keep(), { signal, capture: true })
  document.addEventListener('keydown', press, { signal })
  document.addEventListener('click', leave, { signal, capture: true })  // capture: the row stops its clicks
  return () => {
    listening.abort()
    if (document.listening === listening) document.listening = undefined
  }
}
