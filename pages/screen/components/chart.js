import { inCell, inRow } from '../../../model/overview/painter/numbers.js'

const NARROW = 640, UPRIGHT = 1.08  // px, width of a phone; height of a square picture on it, at most, in screen widths
const QUIET = { displaylogo: false, displayModeBar: 'hover', doubleClick: false }
const SLIM = 320  // px
const ABOVE = 12, SPARE = 6  // px, from the middle of a bar to that of its name; margin at the left
const LEGIBLE = 12, FROM_AFAR = 18  // px, least size of letters at a desk and in a presentation
const ALL_NAMED = 24  // up to as many names, a presentation hides none
const CORNER = 2.6  // times the size of letters: two lines at the upper left
const CROWDED = 1.2, SPREAD = 5.5, HIGH = 3.6  // of it: between names that stand in several rows; their room beside a map, and above it
const APART = 4  // px, between names side by side
const WIDE = 1.2, FEW = 3  // times the size of letters: from there on a name is no single character; how many stand above those
const CHINESE = /[\u2e80-\uffef]/
const PITCH = .89, SQUARE = 1.05, ASLANT = 1.3  // times the size of letters: pitch of stacked, Chinese, slanted names
// Saved pictures: dots per pixel; px of the caption's letters, of the border, and from tick labels to the axis title,
// which Plotly places before it turns the labels.
const SHARP = 3, CAPTION = 14, EDGE = 12, FAR = 32
const CLOSE = -2, CLOSER = -8  // px; boxes of stacked or turned names may overlap, since their letters do not
const STRETCH = 2, PROJECTED = 3.5  // widest cell, in heights, at a desk and in a presentation
const DESK = .52  // share of a desk's screen for a picture with meta.desk, its height there at most, whatever stands below
const LEAST = .6, PRESSED = .5  // least share of the usual height, so that the page ends with the screen; in a presentation
const LOOKS = 55  // ms between Plotly's hover updates; a click may get the point before
const KEPT = 30_000  // ms for which a click is repeated with later ones
const DIGIT = .63  // width of a digit, times its size
const SLANT = -45  // degrees, of names above a map
const NUMBERED = .9  // smallest numbers in cells, times the size of letters
const LARGE = .1, OVER = 1.35  // where not all fit, those from this share of the largest on are written; widest, in cells
const EVEN = .179  // relative luminance on which black and white read equally well
const CODE = { width: 24, height: 24, path: 'M9 6 3 12l6 6 1.4-1.4L5.8 12l4.6-4.6zm6 0-1.4 1.4 4.6 4.6-4.6 4.6L15 18l6-6z' }  // < >
const SYMBOL = '.katex [style*="color:"]'
const words = new TextDecoder()
const KINDS = {
  i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
  f4: Float32Array, f8: Float64Array,
}

/* Reviver for JSON: decode arrays, two-dimensional ones into rows, as Plotly does. */
export function unpacked(_, value) {
  if (value?.bdata === undefined) return value
  const numbers = new KINDS[value.dtype](Uint8Array.from(atob(value.bdata), sign => sign.charCodeAt()).buffer)
  const [rows, columns] = String(value.shape ?? '').split(', ').map(Number)
  return columns === undefined ? numbers : Array.from({ length: rows }, (_, i) => numbers.subarray(i * columns, (i + 1) * columns))
}
const unescaped = name => name.replace(/&\w+;/g, '&')  // for its width
const plain = (_, value) => ArrayBuffer.isView(value) ? [...value] : value

/* Template with the reader's colours and fonts. */
function theme(style, size) {
  const of = name => style.getPropertyValue(`--st-${name}`)
  const font = { color: of('text-color'), family: of('font') }, line = of('border-color')
  const side = { gridcolor: line, zerolinecolor: line, tickcolor: line, ticklabelposition: 'outside', automargin: true, fixedrange: true }
  const title = standoff => ({ title: { standoff, font: { size: Math.max(14, size) } } })
  return { layout: {
    font, hoverlabel: { bgcolor: of('background-color'), bordercolor: line, font },
    xaxis: { ...side, ...title(20), showgrid: false, zeroline: false }, yaxis: { ...side, ...title(24) },
    legend: { borderwidth: 0 }, modebar: { bgcolor: of('background-color'), color: font.color, activecolor: font.color },
  } }
}

const isBig = () => document.documentElement.matches('.big')
const size = (label, pixels) => { label.style.fontSize = `${pixels}px` }

/* Smallest distance between neighbours. */
function pitch(middles) {
  const sorted = [...middles].sort((a, b) => a - b)
  return Math.min(...sorted.slice(1).map((middle, i) => middle - sorted[i]))
}

/* Shrink names to the room they have, as long as they stay legible. In a presentation, up to ALL_NAMED names shrink
   as far as at a desk. Of names side by side, only those that would overlap shrink. */
function shrink(labels, at, slanted) {
  const legible = isBig() ? FROM_AFAR : LEGIBLE
  for (const label of labels) {
    label.usual ??= parseFloat(getComputedStyle(label).fontSize)
    size(label, label.usual)
    stand(label)
  }
  const boxes = labels.map(label => label.getBoundingClientRect()), upright = at === 'x' && boxes.some(box => box.width > box.height)
  if (labels.length < 2) return
  const [from, to] = { x: ['left', 'right'], y: ['top', 'bottom'] }[at]
  const step = pitch(boxes.map(box => slanted ? box.left : (box[from] + box[to]) / 2))
  const few = isBig() && labels.length <= ALL_NAMED
  const chinese = labels.some(label => CHINESE.test(label.textContent))
  const fits = slanted ? (step - 1.5) / ASLANT : step / (chinese ? SQUARE : PITCH)
  if (slanted && upright && !few) return
  if (upright && !slanted) {
    for (const i of crowded(boxes)) size(labels[i], Math.min(labels[i].usual, Math.max(legible, labels[i].usual * (step - APART) / boxes[i].width)))
    return
  }
  if (few && (slanted || fits < FROM_AFAR)) {
    for (const label of labels) size(label, Math.max(LEGIBLE, Math.min(label.usual, fits)))
    return
  }
  let share = 1, largest = Math.max(...boxes.map(box => box[to] - box[from]))
  for (let times = 0; times < 2 && largest > step + 1.5; times++) {  // boxes shrink by whole pixels
    share *= (step + 1.5) / largest
    for (const label of labels) if (label.usual > legible) size(label, Math.max(legible, label.usual * share))
    largest = Math.max(...labels.map(label => label.getBoundingClientRect()).map(box => box[to] - box[from]))
  }
}

/* Indices of names side by side that would overlap a neighbour no wider than themselves. */
function crowded(boxes) {
  const order = boxes.map((_, i) => i).sort((i, k) => boxes[i].left + boxes[i].right - boxes[k].left - boxes[k].right)
  const meet = (one, other) => other && one.right + APART > other.left && one.left < other.right + APART && one.width >= other.width
  return order.filter((i, at) => [-1, 1].some(side => meet(boxes[i], boxes[order[at + side]])))
}

/* Slant all names above a map if one would overlap its neighbour, except single characters and Chinese names beside
   [MASK]; in a presentation a few among single characters stand above them. Returns the horizontal extent of each. */
function lean(labels, boxes) {
  const middles = boxes.map(({ left, right }) => (left + right) / 2), step = pitch(middles), room = [...boxes]
  const high = i => parseFloat(labels[i].style.fontSize), names = labels.map((_, i) => i).filter(i => high(i) <= step && boxes[i].width >= WIDE * high(i))
  if (!crowded(boxes).some(i => names.includes(i)) || isBig() && names.length <= FEW) return room
  for (const i of names) {
    tilt(labels[i])
    room[i] = { left: middles[i] - high(i) / 2, right: middles[i] + high(i) / 2 }
  }
  return room
}

/* Boxes of names above a map if they stand upright, within such margins. */
function standing({ xaxis, yaxis, margin, width, height }, family, { t, r, b } = margin) {
  const [across, down] = [xaxis, yaxis].map(({ range }) => Math.abs(range[1] - range[0])), [from, to] = xaxis.domain ?? [0, 1]
  const wide = (width - margin.l - r) * (to - from) / across, high = (height - t - b) / down
  const step = yaxis.scaleanchor ? Math.min(wide, high / (yaxis.scaleratio ?? 1)) : wide
  const pen = document.createElement('canvas').getContext('2d')
  pen.font = `bold ${xaxis.tickfont.size}px ${family}`
  return xaxis.ticktext.map((name, i) => {
    const middle = xaxis.tickvals[i] * step, { width } = pen.measureText(unescaped(name))
    return { left: middle - width / 2, right: middle + width / 2, width }
  })
}

/* Keep names above a map upright if they have room. meta.standing: the margins in that case. */
function straighten(layout, family) {
  const { xaxis, meta, margin } = layout, { t, r } = meta?.standing ?? margin
  if (crowded(standing(layout, family, meta?.standing)).length) return
  layout.xaxis = { ...xaxis, tickangle: 0 }
  layout.margin = { ...margin, t, r }
}

/* For paper, where none can move away from another, slant those names above a picture that have no room upright. */
export function slanted(layout, family) {
  const { xaxis, yaxis, margin, height, annotations = [] } = layout
  if (xaxis?.side !== 'top' || xaxis.tickangle !== 0) return layout
  const boxes = standing(layout, family), aslant = crowded(boxes), { size } = xaxis.tickfont, more = aslant.length ? 2 * size : 0
  const turned = aslant.map(i => ({
    text: xaxis.ticktext[i], x: xaxis.tickvals[i], xanchor: 'left', xshift: -.8 * size, yref: 'paper', y: yaxis.domain?.[1] ?? 1, yanchor: 'bottom', borderpad: 0, yshift: 4,
    textangle: SLANT, showarrow: false, font: { size },
  }))
  const r = margin.r + .7 * (aslant.includes(boxes.length - 1) && boxes.at(-1).width)
  const ticktext = xaxis.ticktext.map((name, i) => aslant.includes(i) ? '' : name)
  return { ...layout, xaxis: { ...xaxis, ticktext }, margin: { ...margin, t: margin.t + more, r }, height: height + more, annotations: [...annotations, ...turned] }
}
const tilted = label => label.straight && label.getAttribute('transform').startsWith(`${label.straight} `)
function tilt(label) {
  if (tilted(label)) return
  label.straight = label.getAttribute('transform')
  label.setAttribute('transform', `${label.straight} rotate(${SLANT},${label.getAttribute('x')},${label.getAttribute('y')})`)
  label.setAttribute('text-anchor', 'start')
}
function stand(label) {
  if (!label.straight) return
  if (tilted(label)) label.setAttribute('transform', label.straight)
  label.setAttribute('text-anchor', 'middle')
  label.straight = undefined
}

/* Fit labels to their room and return their boxes. Cached by names and positions, because measuring lays out the
   whole page. */
function fitted(place, name, labels, at, slanted) {
  const { xaxis } = place.layout, above = at === 'x' && xaxis.side === 'top' && xaxis.tickangle === 0
  const where = labels.map(label => [label.textContent, label.getAttribute('x'), label.getAttribute('y')])
  const told = JSON.stringify([where, place.width, place.layout.height, place.fonts, innerWidth, isBig(), slanted, above]), known = place.fitted?.[name]
  if (known?.told === told) {
    for (const [i, label] of labels.entries()) {
      label.style.fontSize = known.sizes[i]
      if (known.tilted[i]) tilt(label)
    }
    return known.boxes
  }
  shrink(labels, at, slanted)
  let boxes = labels.map(label => label.getBoundingClientRect())
  if (above) boxes = lean(labels, boxes)
  if (slanted) boxes = boxes.map(({ left }, i) => ({ left, right: left + ASLANT * parseFloat(labels[i].style.fontSize) }))
  place.fitted = { ...place.fitted, [name]: { told, boxes, sizes: labels.map(label => label.style.fontSize), tilted: labels.map(tilted) } }
  return boxes
}

/* Names above or beside a map that would overlap stand further from it in a presentation, as far as there is room.
   Returns the distance of each, NaN where there is none. order: the first ones stay close. */
const ASIDE = { x: 'dy', y: 'dx' }
function stacked(place, at, labels, order) {
  const home = place.getBoundingClientRect(), taken = [], far = labels.map(() => NaN)
  for (const i of order) {
    const box = labels[i].getBoundingClientRect(), high = parseFloat(labels[i].style.fontSize), half = (CHINESE.test(labels[i].textContent) ? .5 : .375) * high
    const [room, deep] = at === 'x' ? [box.bottom - home.top, high] : [box.right - home.left, box.width + APART]
    const middle = at === 'x' ? (box.left + box.right) / 2 : (box.top + box.bottom) / 2, wide = at === 'x' ? box.width / 2 + (box.width < WIDE * high ? 1 : APART + 2) : half
    if (tilted(labels[i])) {  // boxes along it
      for (let step = 0; step < box.width - half; step += APART) taken.push([box.left + half + step, box.left + half + step + APART, step, step + high])
      far[i] = 0
      continue
    }
    let away = 0, under
    while ((under = taken.find(([from, to, low, top]) => middle - wide < to && middle + wide > from && away < top && away + deep > low))) away = under[3]
    if (away && away + deep > room + 2) continue
    taken.push([middle - wide, middle + wide, away, away + deep])
    far[i] = away
  }
  return far
}

/* Hide labels that overlap or almost touch the one before or the chosen one. Only an axis of names has a chosen
   label. */
function thin(place) {
  const { layout } = place.drawn, cell = layout.shapes?.findLast(({ type }) => type === 'rect')  // of the chosen cell
  const outside = cell && layout.xaxis?.ticktext && cell.x1 < layout.xaxis.tickvals[0]  // before the first column
  for (const [at, from, to, apart] of [['x', 'left', 'right', 3], ['y', 'top', 'bottom', isBig() ? CLOSER : CLOSE]]) {
    const names = cell && !outside && cell[`${at}ref`] !== 'paper' && layout[`${at}axis`]?.ticktext
    const middle = names ? (cell[`${at}0`] + cell[`${at}1`]) / 2 : NaN
    for (const [k, layer] of place.querySelectorAll('.xaxislayer-above, .yaxislayer-above').entries()) {
      const labels = [...layer.querySelectorAll(`.${at}tick text`)]
      for (const label of labels) label.removeAttribute(ASIDE[at])
      const slanted = at === 'x' && place.layout.xaxis.tickangle === SLANT, boxes = fitted(place, `${at}${k}`, labels, at, slanted)
      const turned = at === 'x' && labels.every(label => /rotate\(-?90\b/.test(label.getAttribute('transform'))), gap = slanted ? 1 : turned ? CLOSE : apart
      const order = labels.map((_, i) => i).sort((a, b) => boxes[a][from] - boxes[b][from])
      const chosen = labels.findIndex(label => label.__data__?.x === middle), kept = boxes[chosen]
      labels.forEach((label, i) => label.classList.toggle('chosen', i === chosen))
      if (isBig() && layout.xaxis?.side === 'top' && layout[`${at}axis`]?.ticktext && !slanted && !turned) {
        const wide = i => labels[i].getBBox().width >= WIDE * parseFloat(labels[i].style.fontSize)
        const first = i => i === chosen ? 0 : tilted(labels[i]) ? 1 : wide(i) ? 3 : 2
        const far = stacked(place, at, labels, [...order].sort((a, b) => first(a) - first(b)))
        labels.forEach((label, i) => {
          if (far[i]) label.setAttribute(ASIDE[at], -far[i])
          label.style.visibility = Number.isNaN(far[i]) ? 'hidden' : 'visible'
        })
        continue
      }
      let end = -Infinity
      for (const i of order) {
        const touches = kept && boxes[i][to] + gap > kept[from] && boxes[i][from] < kept[to] + gap
        const stands = i === chosen || !touches && boxes[i][from] >= end + gap
        if (stands) end = boxes[i][to]
        labels[i].style.visibility = stands ? 'visible' : 'hidden'
      }
    }
  }
}

/* Layout of a narrow picture: less room for names. */
function slim({ xaxis, yaxis, margin, font }) {
  const below = { ...xaxis?.title, font: { size: 12 } }, beside = { text: '', standoff: 0 }
  const l = margin.l - (yaxis?.title?.text ? 2.5 * font.size : 0)
  return { xaxis: { ...xaxis, title: below }, yaxis: { ...yaxis, title: beside }, margin: { ...margin, l } }
}

/* Layout on a phone: the names of bars stand above them, and the cells beside them are narrower. */
function upright({ xaxis, xaxis2, yaxis, margin, annotations, template }) {
  return {
    xaxis: { ...xaxis, domain: [.57, 1] }, xaxis2: { ...xaxis2, domain: [0, .54] }, bargap: .68,
    yaxis: { ...yaxis, ticklabelposition: 'inside', ticklabelshift: ABOVE, tickfont: { size: LEGIBLE, color: template.layout.font.color } },
    margin: { ...margin, l: SPARE }, annotations: annotations.map(one => ({ ...one, xanchor: 'left', xshift: 0 })),
  }
}

/* If a map has more columns than pixels, let neighbours share one that shows the cell furthest from 0. Traces with
   hover are unchanged. */
const furthest = (one, other) => Math.abs(other) > Math.abs(one) ? other : one
function pooled(trace, room) {
  const each = trace.hoverinfo === 'skip' && !trace.dx ? Math.ceil(trace.z?.[0].length / room) : 1
  if (!(each > 1)) return trace
  const parts = row => Array.from({ length: Math.ceil(row.length / each) }, (_, i) => row.slice(i * each, (i + 1) * each))
  return { ...trace, z: trace.z.map(row => parts(row).map(part => part.reduce(furthest))), dx: each, x0: trace.x0 + (each - 1) / 2 }
}

/* Write numbers in black where it reads better than white; Plotly compares white with a grey. */
const channels = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16) / 255)
const linear = share => share <= .04045 ? share / 12.92 : ((share + .055) / 1.055) ** 2.4
function ink(place) {
  for (const map of place.querySelectorAll('.hm:has(.heatmap-label)')) {
    const { colorscale, zmin, zmax } = map.__data__[0].trace, stops = colorscale.map(([at, colour]) => [at, channels(colour)])
    for (const cell of map.querySelectorAll('.heatmap-label')) {
      const share = Math.min(1, (cell.__data__.z - zmin) / (zmax - zmin)), next = Math.max(1, stops.findIndex(([at]) => at >= share))
      const [[from, low], [to, high]] = stops.slice(next - 1, next + 1)
      const [red, green, blue] = low.map((c, i) => linear(c + (high[i] - c) * (share - from) / (to - from)))
      cell.firstChild.style.fill = .2126 * red + .7152 * green + .0722 * blue > EVEN ? '#000' : '#fff'
    }
  }
}

/* Write numbers into the cells of a map if they fit: two decimals, or fewer for large numbers; of a large map of shares
   else the largest beside each other. meta.numbers: their least size, times the size of letters. */
export function numbered(trace, layout) {
  const { l, r, t, b } = layout.margin, rows = trace.z.length, columns = trace.z[0].length
  const high = (layout.height - t - b) / rows, wide = Math.min((layout.width - l - r) / columns, high * STRETCH)
  const sized = signs => Math.min(1.08 * layout.font.size, wide / (DIGIT * signs), .75 * high)
  const usual = NUMBERED * layout.font.size, least = Math.min(usual, layout.meta.numbers * layout.font.size)
  if (sized(3) < least) {
    if (!layout.meta.large || trace.zmin < 0 || 3 * DIGIT * usual > OVER * wide || .75 * usual > high) return trace
    const from = LARGE * trace.zmax, text = trace.z.map(row => inRow(row, from))
    return { ...trace, text, texttemplate: '%{text}', textfont: { size: usual }, meta: { from } }
  }
  const every = (trace.zmax < 10 ? [2] : [2, 1, 0]).map(digits => {
    const text = trace.z.map(row => Array.from(row, value => inCell(value, digits)))
    return { text, size: sized(trace.zmax > 1 ? Math.max(...text.flat().map(number => number.length)) : 3) }
  })
  const { text, size } = every.find(({ size }) => size >= usual) ?? every.at(-1)
  return size < least ? trace : { ...trace, text, texttemplate: '%{text}', textfont: { size } }
}

/* Distance from the top of the page, in px. */
const aboveOf = place => place.getBoundingClientRect().top + (place.closest('[data-testid=stMain]')?.scrollTop ?? 0)

/* Height in px of all that stands below a picture in its column, and below that. */
function beneath(place) {
  let below = 0
  const bottom = box => box.getBoundingClientRect().bottom
  for (let box = place, home; (home = box.parentElement) && !box.matches('[data-testid=stMain]'); box = home) {
    const { display, flexDirection, paddingBottom } = getComputedStyle(home)
    if (display === 'flex' && flexDirection === 'row') continue  // what stands beside it
    const there = [...home.children].filter(one => one.getClientRects().length)
    below += Math.max(0, ...there.map(bottom).map(end => end - bottom(box))) + parseFloat(paddingBottom)
  }
  return below
}

/* Whether a picture's height follows the window: square cells, or a picture with meta.ends or meta.fills, in a
   presentation also above its usual height; elsewhere also one with meta.grows (its least height) or meta.desk, and none
   on phones. */
const grows = ({ yaxis, meta }) => (yaxis?.scaleanchor || meta?.ends || meta?.fills || !isBig() && (meta?.grows || meta?.desk))
  && (isBig() || innerWidth > NARROW)

/* Height at which square cells fill the width. */
function whole({ xaxis, yaxis, width, margin: { l, r, t, b } }) {
  const [across, down] = [xaxis, yaxis].map(({ range }) => Math.abs(range[1] - range[0]))
  return (width - l - r) * down / across + t + b
}

/* Widen cells to fill their column, up to STRETCH (or PROJECTED) times their height. shape: rows ÷ columns. */
function stretch(layout, shape) {
  const { l, r, t, b } = layout.margin, ratio = (layout.height - t - b) / (layout.width - l - r) / shape
  layout.yaxis = { ...layout.yaxis, scaleratio: Math.min(1, Math.max(1 / (isBig() ? PROJECTED : STRETCH), ratio)) }
}

function fill(place, layout) {
  const above = place.above = aboveOf(place), below = place.below = beneath(place)
  const first = above < innerHeight / 2 || layout.meta?.first, big = isBig()  // else the page scrolls to it
  const room = innerHeight - (first ? above : 0) - (big ? Math.max(below, layout.meta?.below ?? 0) : layout.meta?.below ?? below)
  const [across, down] = ['xaxis', 'yaxis'].map(axis => layout[axis].range).map(range => range && Math.abs(range[1] - range[0]))
  const dense = big && layout.xaxis.side === 'top' && Math.min(layout.width / across, room / down) < CROWDED * layout.font.size
  if (dense) layout.margin = { ...layout.margin, l: SPREAD * layout.font.size, t: HIGH * layout.font.size }
  const square = layout.yaxis.scaleanchor && across  // Plotly finds the range of points, so any height will do
  if (layout.meta?.grows && (layout.meta.large || !big)) {
    layout.height = Math.max(layout.meta.grows, Math.min(room, layout.meta.most ?? whole(layout)))
    if (layout.meta.wide) stretch(layout, down / across)
    return
  }
  const least = big ? PRESSED : LEAST, fits = room > least * layout.height  // else the page scrolls
  if (!big) {
    if (layout.meta?.desk) layout.height = Math.max(layout.height, Math.min(layout.meta.desk, DESK * innerHeight))
    else if (fits) layout.height = Math.min(layout.height, room)
    return
  }
  if (layout.meta?.fills) {
    if (fits) layout.height = room
    if (!layout.annotations) layout.margin = { ...layout.margin, t: 0, b: 0 }  // Plotly measures the room for names
    return
  }
  const most = square ? Math.max(layout.height, layout.width * down / across) : room
  layout.height = Math.max(layout.meta?.grows ?? (fits ? least : 1) * layout.height, Math.min(room, most))
  const t = layout.annotations?.some(({ yref }) => yref === 'paper') ? (dense ? HIGH : CORNER) * layout.font.size : 0
  layout.margin = { ...layout.margin, t, b: 0 }  // Plotly measures the room for names; the server's is an estimate
}

/* A click on the name of a bar is one on the bar. */
function named({ currentTarget, target }) {
  const y = target.closest('.named .ytick text')?.__data__.x
  if (y === undefined) return
  const marks = currentTarget.data.find(one => one.customdata && [...one.y].includes(y))
  currentTarget.pick({ x: 0, y, customdata: marks && plain('', marks.customdata[[...marks.y].indexOf(y)]) })
}

/* Leave a button that a pointer pressed: with the focus, it would stay on the picture. */
const release = ({ currentTarget, detail }) => { if (detail) currentTarget.blur() }

/* Plot the server's figure, or paint later choices over it, because Plotly would take five frames. */
function draw(place) {
  const width = Math.floor(place.parentElement.clientWidth), sketched = document.atOnce?.sketch(place.wanted)
  if (!width || !window.Plotly) return
  const { once, mode } = place.wanted, told = JSON.stringify([{ ...once, at: 0 }, mode, width, innerHeight])
  if (!sketched || place.under !== told) plot(place, width)
  place.under = told
  place.sketched = sketched
  if (sketched) document.atOnce.paint(place, sketched)
  else requestAnimationFrame(() => { if (!place.sketched) unpaint(place) })
  document.atOnce?.light(place)
}

function unpaint(place) {
  delete place.dataset.sketch
  place.querySelector('.sketch')?.remove()
}

function plot(place, width) {
  const { Plotly } = window, { save, figure, code, copy } = place.wanted
  if (code) place.querySelector('.modebar-btn')?.setAttribute('data-title', copy)  // of the head drawn
  place.drawn = figure
  const template = theme(getComputedStyle(place), figure.layout.font.size), look = JSON.stringify([template, save, !code])
  const layout = { ...structuredClone(figure.layout), template }  // a copy, because Plotly modifies its arguments
  layout.width = Math.max(Math.min(width, layout.width ?? width), layout.meta?.least ?? 0)  // it scrolls if wider
  place.style.overflowX = layout.width > width ? 'auto' : ''
  if (layout.yaxis?.scaleanchor && innerWidth <= NARROW) layout.height = Math.min(layout.height, layout.meta?.large ? whole(layout) : UPRIGHT * innerWidth)
  else if (grows(layout)) fill(place, layout)
  if (layout.width < SLIM) Object.assign(layout, slim(layout))
  if (layout.width < layout.meta?.upright) Object.assign(layout, upright(layout))
  if (layout.xaxis?.tickangle === SLANT) straighten(layout, template.layout.font.family)
  if (layout.meta?.follows && innerWidth > NARROW) {  // the map beside it names the rows
    layout.yaxis = { ...layout.yaxis, showticklabels: false, automargin: false, title: { text: '' } }
    layout.margin = { ...layout.margin, l: layout.margin.r }
  }
  const room = layout.width - layout.margin.l - layout.margin.r
  const data = figure.data.map(trace => pooled({ ...trace }, room))
  if (room < layout.meta?.roomy) {
    for (const trace of data) trace.text = trace.meta?.short ?? trace.text
    for (const one of layout.annotations ?? []) if (one.name === 'narrow') one.visible = true
  }
  if (room < layout.meta?.called) data.pop()  // names below tiles would overlap
  for (const trace of data)  // where a word was empty, Plotly would never write another
    if (trace.mode?.includes('text') && Array.isArray(trace.text)) trace.text = trace.text.map(word => word === '' ? '\xa0' : word)
  if (layout.meta?.numbers) data[0] = numbered(data[0], layout)
  place.digits = layout.meta?.numbers && data[0].textfont?.size
  place.from = data[0]?.meta?.from
  place.width = width
  place.tall = innerHeight
  place.style.height = `${layout.height}px`
  place.style.outlineColor = layout.xaxis?.linecolor ?? ''
  const { shapes, ...rest } = layout, told = [data, rest, shapes ?? []].map(part => JSON.stringify(part, plain))
  const [numbers, ground, frames] = told.map((part, i) => place.look === look && part === place.told?.[i])
  if (numbers && ground && frames) return  // already drawn
  place.told = told
  if (numbers && ground) Plotly.relayout(place, { shapes: shapes ?? [] })
  else if (place.look === look) Plotly.react(place, data, layout).then(() => { if (layout.meta?.first) thin(place) })  // names are in place
  else {  // first time, or other colours
    place.look = look
    const click = (_, event) => {
      release(event)
      saved(place)
    }
    const camera = { name: 'save', title: save, icon: Plotly.Icons.camera, click }
    const copies = { name: 'code', title: copy, icon: CODE, click: (_, event) => {
      const { currentTarget } = event
      release(event)
      navigator.clipboard.writeText(place.wanted.code).then(() => currentTarget.setAttribute('data-title', `✓ ${place.wanted.copy}`))
    } }
    const modeBarButtons = [code ? [copies, camera] : [camera]]
    Plotly.newPlot(place, data, layout, { ...QUIET, modeBarButtons })
    place.on('plotly_afterplot', () => ink(place))
    place.on('plotly_click', ({ points }) => {
      const pick = ([{ x, y, customdata }]) => place.pick({ x, y, customdata: plain('', customdata) })
      if (performance.now() - place.moved > LOOKS) return pick(points)
      const looked = setTimeout(() => place.settle(), LOOKS)
      place.settle = () => {
        clearTimeout(looked)
        place.settle = undefined
        pick(place._hoverdata ?? points)
      }
    })
  }
  thin(place)
}

/* The figure of an element on white, for documents and reports. */
const WHITE = { 'text-color': '#172033', 'background-color': '#fff', 'border-color': '#dbe0e8' }
function onPaper(place, style = getComputedStyle(place)) {
  const { white, figure } = place.wanted, of = name => WHITE[name.slice(5)] ?? style.getPropertyValue(name)
  const text = JSON.stringify({ data: place.data, layout: place.layout }, plain)
  const { data, layout } = JSON.parse(text.replace(/#[\da-f]{6}/gi, colour => white[colour] ?? colour))
  if (layout.xaxis) layout.xaxis.title = { standoff: FAR, ...layout.xaxis.title }
  const template = theme({ getPropertyValue: of }, figure.layout.font.size)
  return { data, layout: { ...slanted(layout, template.layout.font.family), template, paper_bgcolor: '#fff', plot_bgcolor: '#fff' } }
}

/* Bounding box of what is not white: [left, top, right, bottom]. */
function drawnOn(canvas) {
  const { width, height } = canvas, dots = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer)
  const found = [width, height, 0, 0]
  dots.forEach((dot, i) => {
    if (dot === 0xffffffff) return
    const x = i % width, y = Math.floor(i / width)
    found[0] = Math.min(found[0], x)
    found[1] = Math.min(found[1], y)
    found[2] = Math.max(found[2], x + 1)
    found[3] = Math.max(found[3], y + 1)
  })
  return found
}

/* Break a text into lines no wider than `room`. */
function broken(text, pen, room) {
  const lines = ['']
  for (const word of text.match(/[\u2e80-\uffef]|[^\s\u2e80-\uffef]+\s*|\s+/g) ?? []) {
    if (lines.at(-1) && pen.measureText(lines.at(-1) + word.trimEnd()).width > room) lines.push('')
    lines[lines.length - 1] += word
  }
  return lines
}

async function saved(place) {
  const { caption, file } = place.wanted, shown = onPaper(place), { width, height } = shown.layout
  const picture = new Image(), canvas = document.createElement('canvas'), pen = canvas.getContext('2d')
  picture.src = await window.Plotly.toImage(shown, { format: 'png', scale: SHARP, width, height })
  await picture.decode()
  Object.assign(canvas, { width: picture.width, height: picture.height })
  pen.drawImage(picture, 0, 0)
  const [left, top, right, bottom] = drawnOn(canvas), edge = EDGE * SHARP, size = CAPTION * SHARP
  const font = `${size}px ${shown.layout.template.layout.font.family}`, across = right - left
  pen.font = font
  const lines = broken(caption, pen, across), above = 1.5 * edge + 1.4 * size * lines.length
  Object.assign(canvas, { width: across + 2 * edge, height: bottom - top + above + edge })
  Object.assign(pen, { fillStyle: '#fff', font, textBaseline: 'top' })
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.drawImage(picture, left, top, across, bottom - top, edge, above, across, bottom - top)
  pen.fillStyle = WHITE['text-color']
  lines.forEach((line, i) => pen.fillText(line, edge, edge + 1.4 * size * i))
  Object.assign(document.createElement('a'), { href: canvas.toDataURL(), download: `${file}.png` }).click()
}

/* Pointing at a symbol highlights the pictures with axes of its colour (Q, K, V); pointing at a picture, its
   symbols. */
document.addEventListener('pointerover', ({ target }) => {
  const symbol = target.closest?.(SYMBOL), chart = target.closest?.('.chart')
  const colour = symbol?.style.color || chart?.style.outlineColor
  const mark = (parts, on) => { for (const part of document.querySelectorAll(parts)) part.classList.toggle('meant', on(part)) }
  mark('.chart', ({ style }) => Boolean(symbol) && style.outlineColor === colour)
  mark(SYMBOL, ({ style }) => Boolean(chart && colour) && style.color === colour)
})

/* Let swipes scroll the page and taps click; Plotly would intercept both. */
const leave = event => event.stopPropagation()
const move = event => {
  const place = event.currentTarget
  place.moved = performance.now()
  if (place.settle) event.stopPropagation()  // no hover updates until the click is known
}
const press = event => event.currentTarget.settle?.()  // a second click decides it at once
const light = event => {
  event.currentTarget.classList.toggle('touched', event.pointerType === 'touch')  // a finger hovers on after it has left
  document.atOnce?.light(event.currentTarget, event)
}
const dim = event => { if (event.pointerType === 'mouse') document.atOnce?.light(event.currentTarget, null) }

export default function({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector('.chart')
  place.leave?.()  // stop the earlier run of this function
  place.wanted = JSON.parse(words.decode(data), unpacked)
  place.draw = () => draw(place)
  place.onPaper = () => onPaper(place)
  place.classList.toggle('once', Boolean(place.wanted.once))
  place.classList.toggle('picks', Boolean(place.wanted.picks))
  place.classList.toggle('large', Boolean(place.wanted.figure.layout.meta?.large))
  const ranked = place.wanted.figure.data.some(({ type, orientation }) => type === 'bar' && orientation === 'h')
  place.classList.toggle('named', ranked && Boolean(place.wanted.picks))
  for (const by of ['keys', place.wanted.key]) document.atOnce?.hear(by, place.wanted.heard[by], place.wanted.once?.at)
  place.clicks = (place.clicks ?? []).filter(([number]) => number > place.wanted.heard[place.wanted.key])
  place.pick = point => {
    if (!place.wanted.picks) return
    const number = Math.max(Date.now(), (place.clicks.at(-1)?.[0] ?? 0) + 1)
    place.clicks = [...place.clicks.filter(([earlier]) => earlier > number - KEPT), [number, point]]
    setTriggerValue('picked', place.clicks)
    document.atOnce?.pick(place, place.wanted.key, number, point)
  }
  place.setAttribute('role', 'figure')
  place.setAttribute('aria-label', place.wanted.alt)
  place.addEventListener('touchstart', leave, { capture: true, passive: true })
  place.addEventListener('mousemove', move, { capture: true, passive: true })
  place.addEventListener('pointerdown', press, { capture: true, passive: true })
  for (const kind of ['pointermove', 'pointerdown']) place.addEventListener(kind, light, { capture: true, passive: true })
  place.addEventListener('pointerleave', dim)
  place.addEventListener('click', named)
  draw(place)
  if (!window.Plotly) {
    window.bringPlotly()
    document.getElementById('plotly').addEventListener('load', () => draw(place), { once: true })
  }
  const size = new ResizeObserver(() => {  // a picture that ends with the screen is also redrawn when it moves
    if (!place.isConnected) return  // the page was left
    const moved = place.above !== undefined && [aboveOf(place) - place.above, beneath(place) - place.below].some(by => Math.abs(by) > .5)
    if (Math.floor(parentElement.clientWidth) !== place.width || moved) draw(place)
  })
  size.observe(parentElement)
  const page = parentElement.closest('[data-testid=stMainBlockContainer]')
  if (page) size.observe(page)
  const fonts = () => {  // names may be wider in their own font
    place.fonts = (place.fonts ?? 0) + 1
    if (place.drawn) thin(place)
  }
  document.fonts.addEventListener('loadingdone', fonts)
  const screen = () => { if (grows(place.wanted.figure.layout) && innerHeight !== place.tall) draw(place) }
  addEventListener('resize', screen)
  return place.leave = () => {
    size.disconnect()
    removeEventListener('resize', screen)
    document.fonts.removeEventListener('loadingdone', fonts)
    queueMicrotask(() => { if (!place.isConnected) window.Plotly?.purge(place) })
  }
}
