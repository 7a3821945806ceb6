/* What needs no new run is drawn before the server has heard of it: another layer, head or token of a run whose numbers
   are all here. The place on the screen is the one of the server's last answer, and what was pressed or clicked since
   laid over it; so an answer that comes late changes nothing that is seen. */
import { fixed, significant } from '../../../model/overview/painter/numbers.js'

const KEPT = 10_000  // ms; what the server has not answered by then it will not
const REST = 60  // ms after the last key: then numbers stand in cells again, which cost half of a picture
const MOST = 4  // runs whose numbers are kept
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }
// What says of a place what only the server knows. Its own class: one of the whole page's would cost a tenth of a second's work.
const WAITS = '[class*="st-key-"]:has(.once) + *, [class*="st-key-working"], [class*="st-key-weight"], .chart:not(.once)'
const words = new TextDecoder(), runs = new Map(), answered = {}
let rests  // a timer, while keys follow each other
let waiting = []  // what the server has not answered: by which component it was sent, its number, what it chooses

/* The numbers of a run: its name in a line, their shape in another, then the numbers. */
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
  const largest = (from, to) => numbers.subarray(from, to).reduce(
    (most, value) => Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most, 0)
  const ranges = new Map()
  return {
    value: (at, query, key) => numbers[(head(at) + query) * n + key],
    strongest: (at, query) => numbers[count + head(at) + query],
    /* The largest of this head, by its size. */
    largest(at) {
      const from = head(at) * n
      if (!ranges.has(from)) ranges.set(from, largest(from, from + n * n))
      return ranges.get(from)
    },
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
  clearTimeout(rests)
  rests = setTimeout(() => { rests = undefined; again() }, REST)
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

/* The server has answered what a component sent, up to this number. Streamlit's own widgets have none: theirs are
   answered when the server's place is the one that was chosen. */
function hear(by, number, at) {
  answered[by] = number
  const agrees = ({ chooses }) => at && Object.entries(chooses).every(([field, place]) => at[field] === place)
  forget(one => one.chart.isConnected && (one.by === 'widget' ? !agrees(one) : one.number > (answered[one.by] ?? 0)))
}

/* A button for layer or head. */
const WIDGETS = { 'either-layer': 'layer', 'either-head': 'head' }
function widget({ target }) {
  const [key, field] = Object.entries(WIDGETS).find(([key]) => target.closest(`.st-key-${key}`)) ?? [], chart = charts()[0]
  if (!chart || !field) return
  const place = [...document.querySelectorAll(`.st-key-${key} button`)].indexOf(target.closest('button'))
  if (place < 0 || place === now(chart.wanted.once)[field]) return
  waiting = waiting.filter(one => one.by !== 'widget' || !(field in one.chooses))
  choose(chart, 'widget', 0, { [field]: place })
}
document.addEventListener('click', widget, true)  // such a row lets no click out

/* A key of those that the page listens to: what it chooses by now. */
function press(key, number) {
  const chart = charts()[0], [down, across] = ARROWS[key.replace('Shift+', '')] ?? []
  if (!chart || down === undefined) return
  const { once } = chart.wanted, at = now(once), field = down ? 'layer' : 'head'
  if (key.startsWith('Shift+')) choose(chart, 'keys', number, cell(once, at, down, across))
  else choose(chart, 'keys', number, { [field]: within(at[field] + (down || across), once.sizes[field]) })
}

/* The next cell of a map, or the next patch of a picture. */
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

/* A click on a picture: what it chooses. */
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

/* The figure of a chart for the place on the screen: the server's own, where that is the place it is of. */
function figure({ figure, once }) {
  if (!ready(once) || !waiting.length) return figure
  return DRAWS[once.draws](figure, once, now(once), runs.get(once.run))
}

const ends = (bar, values) => ({
  ...bar, tickvals: values, ticktext: values.map(value => significant(value, 6).replace('-', '−')) })
const upTo = (bar, end, largest) => ({ ...bar, tickvals: [0, end], ticktext: ['0', significant(end, 2) + (largest > end * 1.000001 ? '+' : '')] })
const box = (top, left, bottom, right) => ({ x0: left - .5, x1: right + .5, y0: top - .5, y1: bottom + .5 })

/* The names of some places along a side: as many as there is room for, the chosen one among them. */
function named(axis, names, chosen, most) {
  const apart = Math.ceil(names.length / most)
  if (apart === 1) return axis
  const every = [...names.keys()].filter(place => place % apart === 0)
  const tickvals = chosen < 0 ? every : [...every.filter(place => Math.abs(place - chosen) >= apart), chosen]
  tickvals.sort((one, other) => one - other)
  return { ...axis, tickvals, ticktext: tickvals.map(place => names[place]) }
}

const DRAWS = {
  map({ data: [cells, marks], layout }, { rows, columns, names, scale, frames, most, end }, at, run) {
    const number = (row, column) => {
      const value = run.value(at, row, column)
      return Number.isFinite(value) ? value : NaN
    }
    const z = rows.map(row => Float32Array.from(columns, column => number(row, column)))
    const signed = scale === 'signed', hidden = signed ? NaN : 0  // a weight that the mask hides is 0, and has no colour
    const customdata = Float32Array.from(z.flatMap(row => [...row]), value => Number.isNaN(value) ? hidden : value)
    const largest = run.largest(at), high = end ?? (largest || 1)
    const unit = 10 ** Math.floor(Math.log10(high)), whole = Math.floor(high / unit) * unit
    const bar = signed ? ends(cells.colorbar, [-whole, 0, whole]) : upTo(cells.colorbar, high, largest)
    const row = rows.indexOf(at.token), column = columns.indexOf(at.key ?? run.strongest(at, at.token))
    const outlined = row >= 0 && column >= 0
    const boxes = [box(row, 0, row, columns.length - 1), box(0, column, rows.length - 1, column), box(row, column, row, column)]
    const { shapes, ...rest } = layout
    return {
      data: [{ ...cells, z, zmin: signed ? -high : 0, zmax: high, colorbar: bar }, { ...marks, customdata }],
      layout: {
        ...outlined ? { ...layout, shapes: boxes.map((one, i) => ({ type: 'rect', ...one, line: frames[i] })) } : rest,
        yaxis: named(layout.yaxis, names[0], outlined ? row : -1, most), xaxis: named(layout.xaxis, names[1], outlined ? column : -1, most),
      },
    }
  },
  patches({ data, layout }, { grid: [side, front], end }, at, run) {
    const under = data.slice(0, -2), [veil, marks] = data.slice(-2)
    const row = Float32Array.from({ length: front + side * side }, (_, key) => run.value(at, at.token, key))
    const z = Array.from({ length: side }, (_, i) => Float32Array.from({ length: side + 2 }, (_, j) =>
      j > 1 ? row[front + i * side + j - 2] : j === 0 && i < front ? row[i] : NaN))
    const largest = Math.max(...row), [outside, frame] = layout.shapes, patch = at.token - front
    const here = patch < 0 ? [at.token, -2] : [Math.floor(patch / side), patch % side]
    return {
      data: [...under, { ...veil, z, zmax: end, colorbar: upTo(veil.colorbar, end, largest) }, { ...marks, customdata: row }],
      layout: { ...layout, shapes: [outside, { ...frame, ...box(...here, ...here) }] },
    }
  },
  frame: ({ data, layout }, _, { layer, head }) => (
    { data, layout: { ...layout, shapes: [...layout.shapes.slice(0, -1), { ...layout.shapes.at(-1), ...box(layer, head, layer, head) }] } }),
  lines({ data, layout }, { rows, columns, names, least, colours, way }, at, run) {
    const bundles = new Map(), pairs = [], shares = [], chosen = rows.indexOf(at.token)
    const round = Math.fround, lowest = round(Math.max(least, 1e-3))
    for (const i of rows.keys())
      for (const j of columns.keys()) {
        const share = run.value(at, rows[i], columns[j]), lit = i === chosen
        if (share < lowest) continue
        pairs.push([i, j])
        shares.push(share)
        const bundle = 2 * Math.min(Math.floor(round(share * 10)), 9) + lit
        if (!bundles.has(bundle)) bundles.set(bundle, [])
        bundles.get(bundle).push([i, j])
      }
    const strokes = [...bundles].sort(([one], [other]) => one - other).map(([bundle, ends]) => {
      const lit = bundle % 2, share = (Math.floor(bundle / 2) + .5) / 10
      return {
        type: 'scatter', mode: 'lines', x: ends.flatMap(() => [0, 1, null]), y: ends.flatMap(([i, j]) => [i, j, null]),
        line: { color: colours[lit], width: 1 + 8 * share }, hoverinfo: 'skip',
        opacity: Math.min(1, (lit ? .35 : .1) + share), showlegend: false,
      }
    })
    const said = (i, j, share) => `${names[0][i]} → ${names[1][j]}<br>${fixed(share, 4)}`
    const [marks, ...words] = data.slice(-3), along = [...rows.keys()], across = [...columns.keys()]
    return {
      data: [...strokes, {
        ...marks,
        x: Float32Array.of(...pairs.flatMap(() => way), ...along.map(() => -.12), ...across.map(() => 1.12)),
        y: Float32Array.of(...pairs.flatMap(([i, j]) => way.map(share => i + share * (j - i))), ...along, ...across),
        customdata: [...pairs.flatMap(pair => way.map(() => pair)), ...along.map(i => [i, -1]), ...across.map(j => [-1, j])],
        text: [...pairs.flatMap(([i, j], k) => way.map(() => said(i, j, shares[k]))), ...names[0], ...names[1]],
      }, ...words],
      layout,
    }
  },
}

// -- lines under a finger ---------------------------------------------------------------------------------------------

const SVG = 'http://www.w3.org/2000/svg'
const drawn = (parent, kind, about, words = '') => {
  const node = parent.appendChild(document.createElementNS(SVG, kind))
  for (const [name, value] of Object.entries(about)) node.setAttribute(name, value)
  node.textContent = words
  return node
}

/* Of the word under the mouse or a finger all lines, thick and with their shares, over all others; else of a chosen pair
   its own. pointer: where it is in the window; none, where it has left. */
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

/* Which word is there: its side, and its place in it. */
function word(chart, { rows, columns }, pointer) {
  if (!pointer) return
  const { xaxis, yaxis } = chart._fullLayout, { left, top } = chart.getBoundingClientRect()
  const across = xaxis.p2l(pointer.clientX - left - xaxis._offset), place = Math.round(yaxis.p2l(pointer.clientY - top - yaxis._offset))
  const [side, names] = across < .04 ? ['row', rows] : across > .96 ? ['column', columns] : []
  return names && place in names ? [side, place] : undefined
}

document.atOnce = { figure, hear, press, pick, light, hurries: () => rests !== undefined }
