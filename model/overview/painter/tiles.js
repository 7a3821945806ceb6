/* The heads of a layer as tiles: what each attends to, × to switch it off, and how much the answer depends on it. */
import { paint } from './colours.js'
import { set } from './nodes.js'
import { decimal, plain } from './words.js'

const FULL = .01  // least probability for which a bar is full

/* on: the painter's callbacks. Without on.off, the run's recorded answers `without` one head are shown, and `turned`
   is called. Returns {thumbs, nodes, draw(), lean(), any: whether heads can be switched off}. */
export function tiles({ keep, run, at, theme, place, words, go, on, turned }) {
  const offs = layer => Array.from(thumbs, (_, head) => `${layer}.${head}`)
  const away = key => key === run.cut || Boolean(run.off?.includes(key)), turns = key => on.off ? run.off : !run.off?.includes(key) && run.without?.answers[key]
  const thumbs = Array.from({ length: run.sizes.heads }, (_, i) => keep('button', { className: 'thumb', onclick: () => go({ head: i }) },
    ...Array.from({ length: at.drawing ? 2 : 1 }, () => keep('canvas')), keep('i', { className: 'lean' }), keep('em', {}, `${i + 1}`)))
  const crosses = thumbs.map((_, i) => keep('button', { className: 'cross', onclick: () => turn(i) }, '×'))
  const nodes = thumbs.map((thumb, i) => keep('span', { className: 'tile' }, thumb, crosses[i]))

  function turn(head) {
    if (on.off) return on.off(place.layer, head)
    const key = offs(place.layer)[head]
    run.cut = run.cut === key ? undefined : key
    turned()
  }

  function draw() {
    offs(place.layer).forEach((key, head) => {
      const map = run.map('w', place.layer, head), off = away(key), name = plain(off ? words.head_on : words.head_off, { layer: place.layer + 1, head: head + 1 })
      if (map) paint(thumbs[head].firstChild, map, Math.round(at.thumb * (devicePixelRatio || 1)), theme)
      thumbs[head].classList.toggle('on', head === place.head)
      thumbs[head].setAttribute('aria-pressed', head === place.head)
      thumbs[head].classList.toggle('away', off)
      set(crosses[head], { ariaLabel: name, title: name, textContent: off ? '↺' : '×', hidden: !turns(key) }).classList.toggle('seen', off)
    })
    lean()
  }

  /* Update the bars for the answer shown; the longest in any layer belongs to the head on which it depends most. */
  function lean() {
    const found = run.leaning(place.token), full = Math.max(FULL, ...found?.flat() ?? [])
    thumbs.forEach((thumb, i) => {
      const value = found?.[place.layer]?.[i], name = plain(value === undefined ? words.head_number : words.lean, { head: i + 1, value: decimal(value) })
      thumb.querySelector('.lean').style.width = `calc(var(--thumb) * ${(value ?? 0) / full})`
      set(thumb, { ariaLabel: name, title: name })
    })
  }

  return { thumbs, nodes, draw, lean, any: !run.differs && Boolean(on.off ? run.off : run.without) }
}
