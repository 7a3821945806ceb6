/* Elements in which arrows edit, choose or scroll (the last marked by surroundings.js). */
const ITS_OWN = 'input, textarea, select, [contenteditable], [role=dialog], [role=listbox], [role=group][tabindex]'
const KEPT = 30_000  // ms for which a press is sent again with later ones

/* The slim line on a scrolled page: the input, as in the line on top, the place and the answer. */
function keepInSight(parent, said, answer) {
  const line = parent.querySelector('.stays') ?? parent.appendChild(document.createElement('div')), words = document.createElement('span')
  Object.assign(line, { className: 'stays', ariaHidden: 'true', translate: false })
  for (const part of document.querySelectorAll('.st-key-line :is(.chip, img)')) {
    const copy = part.matches('img') ? Object.assign(document.createElement('img'), { src: part.src, alt: '' }) : Object.assign(document.createElement('span'), { textContent: part.textContent, className: part.className })
    words.append(copy, part.matches('.tight') ? '' : ' ')
  }
  line.replaceChildren(words, ...[said, answer].map(text => Object.assign(document.createElement('b'), { textContent: text })))
}

/* It may be drawn some frames after this. */
function toVerdict(frames = 60) {
  const verdict = document.querySelector('.st-key-tour_answer h3')
  if (verdict) {
    delete document.held  // by surroundings.js, in its place
    verdict.scrollIntoView({ block: 'nearest' })
  } else if (frames) requestAnimationFrame(() => toVerdict(frames - 1))
}

export default function({ data: [keys, done, station, said, answer], parentElement, setTriggerValue }) {
  const presses = document.presses ??= { last: Date.now(), waiting: [] }  // numbers larger than any earlier document's
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
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return  // somebody else's
    if (from.closest?.(ITS_OWN)) return
    const key = (event.shiftKey ? 'Shift+' : '') + event.key
    if (!keys.includes(key)) return
    event.preventDefault()
    presses.last = Math.max(Date.now(), presses.last + 1)
    presses.waiting = [...presses.waiting.filter(([number]) => number > presses.last - KEPT), [presses.last, key]]
    document.atOnce?.press(key, presses.last)
    setTriggerValue('pressed', { seen: done, waiting: [...presses.waiting] })
  }
  // A mouse click must not leave the arrows to a row of buttons; the keyboard's focus does.
  const leave = event => { if (event.detail && event.target.closest('[role=radio]')) document.activeElement.blur() }
  document.listening?.abort()  // since an earlier run: once is enough
  const listening = document.listening = new AbortController()
  const { signal } = listening
  const keep = () => keepInSight(parentElement, said, answer)
  keep()
  document.addEventListener('overview:moved', keep, { signal })  // the line was drawn anew, or its picture
  document.addEventListener('load', ({ target }) => target.closest?.('.st-key-line') && keep(), { signal, capture: true })
  document.addEventListener('keydown', press, { signal })
  document.addEventListener('click', leave, { signal, capture: true })  // such a row lets no click out
  return () => {
    listening.abort()
    if (document.listening === listening) document.listening = undefined
  }
}
