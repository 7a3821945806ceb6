/* Draws another layer, head or token of the same run before the server answers, from numbers already here. The place
   shown is that of the server's last answer plus all later presses and clicks, so a late answer changes nothing in
   sight. */
import { fixed, inCell, inRow } from '../../../model/overview/painter/numbers.js'

const KEPT = 10_000  // ms; later answers never come
const MOST = 4  // runs kept
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
// Texts about a place that only the server knows. Each gets a class: one on the whole page would cost a tenth of a
// second.
const WAITS = '[class*="st-key-"]:has(.once) + *, [class*="st-key-working"], [class*="st-key-weight"], .chart:not(.once)'
const words = new TextDecoder(), runs = new Map(), answered = {}
let waiting = []  // unanswered messages: component, number, chosen values

/* Keep the numbers of a run: a line with its name, a line with its shape, then the numbers. */
export default function({ data }) {
  const end = data.indexOf(10), name = words.decode(data.subarray(0, end)), second = data.indexOf(10, end + 1)
  const known = runs.get(name)
  runs.delete(name)
  runs.set(name, known ?? run(JSON.parse(words.decode(data.subarray(end + 1, second))), data.slice(second + 1)))
  if (runs.size > MOST) runs.delete(runs.keys().next().value)
}

function run([layers, heads, n], bytes) {
  const numbers = new Float32Array(bytes.buffer), count = layers * heads * n * n
  const head = at => (at.layer * heads + at.head) * n
  return {
    value: (at, query, key) => numbers[(head(at) + query) * n + key],
    strongest: (at, query) => numbers[count + head(at) + query],
  }
}

// -- the place on the screen ------------------------------------------------------------------------------------------

const charts = () => [...document.querySelectorAll('.chart')].filter(({ wanted }) => ready(wanted?.once))
const ready = once => once && (!once.run || runs.has(once.run))
const now = once => Object.assign({}, once.at, ...waiting.map(({ chooses }) => chooses))
const within = (place, count) => Math.min(Math.max(place, 0), count - 1)

function choose(chart, by, number, chooses) {
  if (!chooses) return
  waiting.push({ chart, by, number, chooses, until: performance.now() + KEPT })
  again()
  setTimeout(() => { if (forget(({ until }) => until > performance.now())) again() }, KEPT + 1)
}

function forget(keep) {
  const before = waiting.length
  waiting = waiting.filter(keep)
  for (const node of document.querySelectorAll(waiting.length ? WAITS : '.behind')) node.classList.toggle('behind', waiting.length > 0)
  return waiting.length < before
}

function again() {
  forget(() => true)
  for (const chart of charts()) chart.draw()
}

/* The server has answered a component's messages up to this number. Streamlit's widgets send no number: their
   messages count as answered when the server has the chosen place. */
function hear(by, number, at) {
  answered[by] = number
  const agrees = ({ chooses }) => at && Object.entries(chooses).every(([field, place]) => at[field] === place)
  forget(one => one.chart.isConnected && (one.by === 'widget' ? !agrees(one) : one.number > (answered[one.by] ?? 0)))
}

/* A click on a button for a layer or head. */
const WIDGETS = { 'either-layer': 'layer', 'either-head': 'head' }
function widget({ target }) {
  const [key, field] = Object.entries(WIDGETS).find(([key]) => target.closest(`.st-key-${key}`)) ?? [], chart = charts()[0]
  if (!chart || !field) return
  const place = [...document.querySelectorAll(`.st-key-${key} button`)].indexOf(target.closest('button'))
  if (place < 0 || place === now(chart.wanted.once)[field]) return
  waiting = waiting.filter(one => one.by !== 'widget' || !(field in one.chooses))
  choose(chart, 'widget', 0, { [field]: place })
}
document.addEventListener('click', widget, true)  // capture: the row stops its clicks

/* A key press: choose a place. */
function press(key, number) {
  const chart = charts()[0], [down, across] = ARROWS[key.replace('Shift+', '')] ?? []
  if (!chart || down === undefined) return
  const { once } = chart.wanted, at = now(once), field = down ? 'layer' : 'head'
  if (key.startsWith('Shift+')) choose(chart, 'keys', number, cell(once, at, down, across))
  else choose(chart, 'keys', number, { [field]: within(at[field] + (down || across), once.sizes[field]) })
}

/* The next cell of a map, or the next patch of an image. */
function cell({ rows, columns, run, grid }, at, down, across) {
  if (!run) return
  if (grid) {
    const [side, front] = grid, patch = Math.max(at.token - front, 0), row = Math.floor(patch / side)
    return { token: front + within(row + down, side) * side + within(patch % side + across, side) }
  }
  const row = rows.indexOf(at.token), column = columns.indexOf(at.key ?? runs.get(run).strongest(at, at.token))
  if (row < 0 || column < 0) return
  return { token: rows[within(row + down, rows.length)], key: columns[within(column + across, columns.length)] }
}

/* A click on a picture: choose a place. */
function pick(chart, name, number, { x, y, customdata }) {
  const { once } = chart.wanted
  if (ready(once)) choose(chart, name, number, PICKS[once.draws](once, Math.round(y), Math.round(x), customdata))
}

const PICKS = {
  map: ({ rows, columns }, y, x) => ({ token: rows[y], key: columns[x] }),
  patches: ({ grid: [side, front] }, y, x) => ({ token: x < 0 ? y : front + y * side + x }),
  frame: (_, y, x) => ({ layer: y, head: x }),
  lines: ({ rows, columns }, y, x, [row, column]) => ({
    ...row >= 0 && { token: rows[row] }, ...column >= 0 && { key: columns[column] },
  }),
}

// -- pictures ---------------------------------------------------------------------------------------------------------

/* Changes of a chart's colours, lines and frames, until the server has drawn the place. */
function sketch({ figure, once }) {
  if (!ready(once) || !waiting.length) return
  return DRAWS[once.draws](figure, once, now(once), runs.get(once.run))
}

/* The last frames of a picture, moved. */
const box = (top, left, bottom, right) => ({ x0: left - .5, x1: right + .5, y0: top - .5, y1: bottom + .5 })
const framed = ({ shapes = [] }, ...boxes) => shapes.slice(-boxes.length).map((shape, i) => ({ ...shape, ...boxes[i] }))

const DRAWS = {
  map({ data: [cells], layout }, { rows, columns }, at, run) {
    const z = rows.map(row => Float32Array.from(columns, column => run.value(at, row, column)))
    const sizes = z.flatMap(row => [...row].map(Math.abs)).filter(Number.isFinite), end = Math.max(...sizes) || 1
    const row = rows.indexOf(at.token), column = columns.indexOf(at.key ?? run.strongest(at, at.token))
    const boxes = [box(row, 0, row, columns.length - 1), box(0, column, rows.length - 1, column), box(row, column, row, column)]
    return { cells: [{ ...cells, z, ...cells.zmin < 0 && { zmin: -end, zmax: end } }], frames: framed(layout, ...boxes) }
  },
  patches({ data, layout }, { grid: [side, front] }, at, run) {
    const ground = data.slice(0, -2), veil = data.at(-2), left = veil.x0, patch = at.token - front
    const value = key => run.value(at, at.token, key)
    const z = Array.from({ length: side }, (_, i) => Float32Array.from({ length: side - left }, (_, j) =>
      j >= -left ? value(front + i * side + j + left) : j < -left - 1 && j * side + i < front ? value(j * side + i) : NaN))
    const here = patch < 0 ? [at.token % side, left + Math.floor(at.token / side)] : [Math.floor(patch / side), patch % side]
    return { cells: [...ground, { ...veil, z }], frames: framed(layout, box(...here, ...here)) }
  },
  frame: ({ layout }, _, { layer, head }) => ({ frames: framed(layout, box(layer, head, layer, head)) }),
  lines(_, { rows, columns, least, colours }, at, run) {
    const bundles = new Map(), lowest = Math.fround(Math.max(least, 1e-3))
    for (const [i, row] of rows.entries())
      for (const [j, column] of columns.entries()) {
        const share = run.value(at, row, column), bundle = 2 * Math.min(Math.floor(Math.fround(share * 10)), 9) + (row === at.token)
        if (share >= lowest) bundles.set(bundle, [...bundles.get(bundle) ?? [], [i, j]])
      }
    return { lines: [...bundles].sort(([one], [other]) => one - other).map(([bundle, pairs]) => {
      const lit = bundle % 2, share = (Math.floor(bundle / 2) + .5) / 10
      return { pairs, color: colours[lit], width: 1 + 8 * share, opacity: Math.min(1, (lit ? .35 : .1) + share) }
    }) }
  },
}

/* 256 colours for shares from 0 to 1, each with the colour of digits on it. */
const palettes = new Map()
function palette(scale) {
  const name = JSON.stringify(scale)
  if (!palettes.has(name)) {
    const pen = Object.assign(document.createElement('canvas'), { width: 256, height: 1 }).getContext('2d')
    pen.fillStyle = pen.createLinearGradient(0, 0, 256, 0)
    for (const [share, colour] of scale) pen.fillStyle.addColorStop(share, colour)
    pen.fillRect(0, 0, 256, 1)
    const { data } = pen.getImageData(0, 0, 256, 1)
    palettes.set(name, Array.from({ length: 256 }, (_, i) => {
      const [red, green, blue, alpha] = data.subarray(4 * i)
      return [`rgb(${red} ${green} ${blue} / ${alpha / 255})`, .299 * red + .587 * green + .114 * blue < 128 ? '#fff' : '#444']
    }))
  }
  return palettes.get(name)
}

/* Paint the changes over the picture and keep its axes. */
function paint(place, { cells = [], lines = [], frames = [] }) {
  const { xaxis, yaxis } = place._fullLayout, x = at => xaxis.l2p(at), y = at => yaxis.l2p(at)
  const canvas = place.querySelector('.sketch') ?? place.appendChild(Object.assign(document.createElement('canvas'), { className: 'sketch' }))
  const size = [xaxis._length, yaxis._length], font = `${place.digits}px ${getComputedStyle(place).getPropertyValue('--st-font')}`
  for (const [i, side] of ['width', 'height'].entries()) {
    canvas[side] = size[i] * devicePixelRatio
    canvas.style[side] = `${size[i]}px`
  }
  Object.assign(canvas.style, { left: `${xaxis._offset}px`, top: `${yaxis._offset}px` })
  place.dataset.sketch = place.wanted.once.draws
  const pen = canvas.getContext('2d')
  pen.scale(devicePixelRatio, devicePixelRatio)
  Object.assign(pen, { font, textAlign: 'center', textBaseline: 'middle' })
  for (const { z, zmin, zmax, colorscale, x0 = 0, y0 = 0, dx = 1, dy = 1, xgap = 0, ygap = 0 } of cells) {
    const colours = palette(colorscale)
    for (const [i, row] of z.entries()) {
      const [top, bottom] = [i - .5, i + .5].map(at => Math.round(y(y0 + at * dy))), written = place.from && inRow(row, place.from)
      for (const [j, value] of row.entries()) {
        if (!Number.isFinite(value)) continue
        const [left, right] = [j - .5, j + .5].map(at => Math.round(x(x0 + at * dx)))
        const [colour, letters] = colours[Math.round(255 * Math.min(Math.max((value - zmin) / (zmax - zmin), 0), 1))]
        pen.fillStyle = colour
        pen.fillRect(left + xgap / 2, top + ygap / 2, right - left - xgap, bottom - top - ygap)
        pen.fillStyle = letters
        if (place.digits) pen.fillText(written ? written[j] : inCell(value), (left + right) / 2, (top + bottom) / 2)
      }
    }
  }
  for (const { pairs, color, width, opacity } of lines) {
    Object.assign(pen, { strokeStyle: color, lineWidth: width, globalAlpha: opacity })
    pen.beginPath()
    for (const [i, j] of pairs) {
      pen.moveTo(x(0), y(i))
      pen.lineTo(x(1), y(j))
    }
    pen.stroke()
  }
  for (const { x0, x1, y0, y1, line: { color, width } } of frames) {
    Object.assign(pen, { strokeStyle: color, lineWidth: width })
    pen.strokeRect(x(x0), y(y0), x(x1) - x(x0), y(y1) - y(y0))
  }
}

// -- lines under a finger ---------------------------------------------------------------------------------------------

const SVG = 'http://www.w3.org/2000/svg'
const drawn = (parent, kind, about, words = '') => {
  const node = parent.appendChild(document.createElementNS(SVG, kind))
  for (const [name, value] of Object.entries(about)) node.setAttribute(name, value)
  node.textContent = words
  return node
}

/* Draw all lines of the token pointed at, thick and with shares, over all others; else the line of the chosen pair.
   pointer: its position in the window; null after it has left. */
function light(chart, pointer = chart.pointer) {
  chart.pointer = pointer
  const { once } = chart.wanted
  const lines = once?.draws === 'lines' && ready(once) && chart._fullLayout
  if (!lines || chart.lit?.drawn !== chart.drawn) {
    chart.querySelector('.lit')?.remove()
    chart.classList.remove('lighting')
    chart.lit = undefined
  }
  if (!lines) return
  const at = now(once), { rows, columns } = once, [side, place] = word(chart, once, pointer) ?? []
  const pair = [rows.indexOf(at.token), columns.indexOf(at.key)]
  const ends = side === 'row' ? columns.map((_, j) => [place, j]) : side === 'column' ? rows.map((_, i) => [i, place])
    : Math.min(...pair) >= 0 ? [pair] : []
  const told = JSON.stringify([at, ends])
  if (chart.lit?.told === told) return
  chart.lit = { told, drawn: chart.drawn }
  chart.classList.toggle('lighting', Boolean(side))
  chart.querySelector('.lit')?.remove()
  if (!ends.length) return
  const { xaxis, yaxis } = chart._fullLayout, run = runs.get(once.run)
  const [left, right] = [0, 1].map(x => xaxis._offset + xaxis.l2p(x)), down = i => yaxis._offset + yaxis.l2p(i)
  const over = drawn(chart, 'svg', { class: 'lit', 'aria-hidden': true })
  for (const [i, j] of ends) {
    const share = run.value(at, rows[i], columns[j])
    if (share < Math.max(once.least, .001)) continue
    drawn(over, 'line', { x1: left, y1: down(i), x2: right, y2: down(j), 'stroke-width': 2 + 12 * share })
  }
  for (const [i, j] of ends) {
    const share = run.value(at, rows[i], columns[j]), far = side === 'column' ? [left + 6, down(i), 'start'] : [right - 6, down(j), 'end']
    if (share < Math.max(once.least, .01)) continue
    drawn(over, 'text', { x: far[0], y: far[1], 'text-anchor': far[2] }, `${fixed(100 * share, 0)}%`)
  }
}

/* The token at a point: "row" or "column", and its index there. */
function word(chart, { rows, columns }, pointer) {
  if (!pointer) return
  const { xaxis, yaxis } = chart._fullLayout, { left, top } = chart.getBoundingClientRect()
  const across = xaxis.p2l(pointer.clientX - left - xaxis._offset), place = Math.round(yaxis.p2l(pointer.clientY - top - yaxis._offset))
  const [side, names] = across < .04 ? ['row', rows] : across > .96 ? ['column', columns] : []
  return names && place in names ? [side, place] : undefined
}

document.atOnce = { sketch, paint, hear, press, pick, light }
