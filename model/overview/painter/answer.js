/* The answer beside a run: bars; below them the logit lens at the chosen layer, or the film's readings so far. */
import { paint } from './colours.js'
import { clamp, make, put } from './nodes.js'
import { ahead, decimal, gap, plain, said, two } from './words.js'

const PATH = 20, FEW = 3  // px; fewest lines of readings

/* Add the answer to a run that is laid out (at); `over` gets the path from its row. Returns {bars, draw(i, until)}.
   i: a token; until: number of layers that the film has read; undefined without a film. */
export function answering({ keep, keepDrawn, hold, run, at, known, theme, place, on, over }) {
  const { words } = run, { kind, reads, right } = run.answers, flat = !at.frame
  const caption = keep('span', { className: 'caption' }), bars = keep('div', { className: 'stack' })
  const title = keep('div', { className: 'answer-title', tabIndex: 0, title: on.open ? words.open : '', role: on.open ? 'link' : 'note' },
    keep('span', { className: 'symbol' }, words.answer), caption)
  hold(keep('div', { className: flat ? 'answer flat' : 'answer' }, title, bars), at.answer).dataset.role = 'answer'
  const out = keepDrawn(over, 'path', { class: 'out', 'marker-end': 'url(#overview-out)' })
  const under = (className, text, ...more) => bars.appendChild(make('div', { className }, make('p', { textContent: text }), ...more))
  const high = () => known[bars.textContent] ??= bars.offsetHeight  // cached by text: pointing at rows redraws often
  const barsOf = (shown, most, best) => make('div', { className: 'bars' }, ...shown.flatMap(([name, value]) => [
    make('span', { className: 'bar-name', translate: false, textContent: name, title: name }),
    make('span', { className: best(name, value) ? 'bar best' : 'bar' },
      make('i', { style: `width: calc((100% - 3.4em) * ${clamp(Math.abs(value) / (most || 1), .02, 1)})` }),
      make('span', { textContent: kind === 'number' ? two(value) : decimal(value) }))]))

  function drawAll(i, until) {
    const shown = run.bars(i), lens = run.lens(i)
    caption.replaceChildren(...said(words[shown || !Object.keys(run.answers.rows).length ? `answer_${kind}` : run.cut ? 'answer_cut' : 'answer_unread'], { token: run.tokens[i] }))
    bars.replaceChildren()
    out.setAttribute('visibility', 'hidden')
    if (!shown) return drawOutput()
    const values = shown.map(bar => bar[1]), best = kind === 'word' && right[i] ? name => name === right[i] : (_, value) => value === Math.max(...values)
    bars.append(barsOf(shown, Math.max(...values.map(Math.abs)), best))
    const room = flat ? Infinity : at.frame.h - at.pics.n2.y - 14
    if (lens && until !== undefined) trail(lens, until, room)
    else if (lens && place.layer < run.sizes.layers - 1) {
      const top = [...lens[place.layer]].sort((a, b) => b[1] - a[1]).slice(0, 3)
      under('lens', plain(words.lens, { layer: place.layer + 1 }), barsOf(top, Math.max(.3, top[0][1]), () => false))
    }
    if (!flat) stand(kind === 'class' || kind === 'label' || kind === 'number' ? reads : kind === 'bound' ? null : i)
  }

  /* Align the bars with the row that is read, as far as there is room, and draw a path to them. */
  function stand(row) {
    const { n2 } = at.pics, y1 = n2.y + (row + .5) * at.row, edge = at.frame.x + at.frame.w, x2 = at.answer.x - 4
    const top = row == null ? 0 : clamp((row + .5) * at.row - 12, 0, Math.max(0, at.frame.h - n2.y - high() - 6))
    bars.style.top = `${top + 8}px`
    title.style.bottom = top > 0 ? `calc(100% + ${-top}px)` : ''
    if (row == null) return
    const y2 = at.answer.y + top + 20
    out.setAttribute('visibility', 'visible')
    out.setAttribute('d', `M${n2.x + n2.w + 4} ${y1}H${edge}C${edge + PATH} ${y1} ${x2 - PATH} ${y2} ${x2} ${y2}`)
  }

  /* Without a head, show the encoder's output Z. */
  function drawOutput() {
    const map = run.map('z', 0, 0)
    if (!map) return
    const canvas = bars.appendChild(make('canvas', { className: 'z', style: `height: ${at.row * run.n}px` }))
    bars.style.top = '8px'
    paint(canvas, map, 54, theme)
  }

  /* A line for each sequence of layers with the same best word; only the last lines if not all fit. */
  function trail(lens, until, room) {
    const lines = []
    lens.slice(0, until).forEach((read, layer) => {
      const { level } = ahead(read), word = level.length > 2 ? words.trail_level : level.join(' = ')
      if (lines.at(-1)?.word !== word) lines.push({ word, from: layer + 1 })
      lines.at(-1).to = layer + 1
    })
    const box = under('lens trail', words.trail), line = 18.8 * at.scale, free = Math.max(FEW, Math.floor((room - bars.offsetHeight) / line))
    box.append(...lines.slice(-free).map(({ word, from, to }) => make('span', {}, make('small', { textContent: from < to ? `${from}–${to}` : from }), make('b', { translate: false, textContent: word }))))
    box.style.visibility = lines.length ? '' : 'hidden'
    if (!flat) box.style.minHeight = `${30 * at.scale + line * Math.min(free, lens.length)}px`  // so that the bars do not move
  }

  return { bars, draw: drawAll }
}
