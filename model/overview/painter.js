/* The run on one screen. Everything is painted from numbers that came once: another layer, head or token, what is under
   the pointer and Play ask nobody. Used by the page Home, by notebooks and by the file that a reader takes along. */

// -- the run ----------------------------------------------------------------------------------------------------------

const KINDS = { u1: Uint8Array, i1: Int8Array, i2: Int16Array, f4: Float32Array }, HIDDEN = { i1: -128, i2: -32768, f4: -Infinity }
const ORDER = ['x0', 'x', 'q', 'k', 's', 'w', 'v', 'a', 'n1', 'h', 'n2'], SQUARE = ['s', 'w'], BY_HEAD = ['q', 'k', 's', 'w', 'v']

const dot = (one, other) => one.reduce((sum, value, c) => sum + value * other[c], 0)
export const bytesOf = text => Uint8Array.from(atob(text), sign => sign.charCodeAt())

/* A run from a message: the length of its description in four bytes, the description, the numbers. */
export const fromBytes = message => new Run(...apart(message))
function apart(message) {
  const bytes = message.slice(), length = new DataView(bytes.buffer).getUint32(0, true)
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), bytes.buffer, 4 + length]
}

/* A run from JSON in which the numbers are base64. */
export const fromText = ({ numbers, ...about }) => new Run(about, bytesOf(numbers).buffer, 0)

export class Run {
  constructor(about, buffer, base) {
    Object.assign(this, about, { buffer, base, n: about.tokens.length })
    /* Tokens as sentences name them: one that occurs more than once with its place. */
    this.blocks = []
    this.learn(about)
    this.named = this.tokens.map((token, i, all) => all.indexOf(token) === all.lastIndexOf(token) ? token : `${token} (${i + 1})`)
  }

  /* The numbers of one picture: {numbers, scale, middle, hidden, rows, columns, of, together, top, share}, each (number +
     middle) · scale, on the colours of shares or about 0; nothing if it was not sent. */
  map(role, layer, head) {
    if (role === 'x') [role, layer] = layer ? ['n2', layer - 1] : ['x0', 0]
    if (role === 'x0' || role === 'z') layer = 0
    const array = this.arrays[role], numbers = array && this.numbers(array, layer, array.heads > 1 ? head : 0, array.rows * array.columns)
    return numbers && { ...array, ...numbers }
  }

  /* What a map has in this layer: so many numbers, of a head's place. */
  numbers(array, layer, place, size) {
    const one = array.layers[layer], Kind = KINDS[one?.kind], share = one?.kind === 'u1'
    if (!one) return
    const numbers = new Kind(this.buffer, this.base + one.at + place * size * Kind.BYTES_PER_ELEMENT, size)
    return { numbers, scale: one.scales[place], hidden: HIDDEN[one.kind], middle: share ? .5 : 0, share }
  }

  /* -- the arithmetic of an opened picture: rows as they were recorded ------------------------------------------------ */

  /* Rows that come later: blocks [{name, layer, head, row, heads, rows, columns, at}] of float32, and neurons. */
  learn({ blocks = [], neurons = {} }, buffer = this.buffer, base = this.base) {
    for (const block of blocks) this.blocks.unshift({ ...block, numbers: new Float32Array(buffer, base + block.at, block.heads * block.rows * block.columns) })
    Object.assign(this.neurons ??= {}, neurons)
  }

  /* From what a quantity of a layer is computed, as graph.py says it; nothing where the painter is to know no more of it. */
  step(name, layer) {
    let steps = this.steps?.[layer]
    for (let before = layer; !steps && before-- > 0;) steps = this.steps?.[before]
    return steps?.[name]
  }

  /* A row as it was recorded; nothing if it was not sent. name: a picture's role, or what a step reads. */
  held(name, layer, head, row) {
    const within = ({ name: own, layer: at, ...b }) => own === name && at === layer && head >= b.head && head < b.head + b.heads && row >= b.row && row < b.row + b.rows
    const block = this.blocks.find(within)
    if (block) {
      const at = ((head - block.head) * block.rows + row - block.row) * block.columns
      return block.numbers.subarray(at, at + block.columns)
    }
    const map = this.map(name, layer, head)
    return map?.numbers instanceof Float32Array ? map.numbers.subarray(row * map.columns, (row + 1) * map.columns) : undefined
  }

  /* A row as it was recorded, or computed by its step from rows that were; nothing if they are not here. */
  exact(name, layer, head, row) {
    if (name === 'x0') [name, layer] = ['x', 0]
    const held = this.held(name, layer, head, row)
    if (held) return held
    if (name === 'x' && layer) return this.exact('n2', layer - 1, head, row)
    const step = this.step(name, layer)
    if (!step || step.operation === 'mask') return
    const rows = step.reads.map(read => this.exact(read, layer, head, row)), [one] = rows, other = step.reads[1]
    if (!one || (step.operation !== 'scores' && step.operation !== 'weighted_sum' && rows.includes(undefined))) return
    switch (step.operation) {
      case 'scores': case 'weighted_sum': {
        const all = Array.from({ length: this.n }, (_, j) => this.exact(other, layer, head, j))
        if (all.includes(undefined)) return
        return step.operation === 'scores' ? Float64Array.from(all, key => dot(one, key))
          : Float64Array.from(all[0], (_, c) => all.reduce((sum, value, j) => sum + one[j] * value[c], 0))
      }
      case 'scale': return one.map(value => value * step.factor)
      case 'softmax': {
        const most = Math.max(...one), powers = Float64Array.from(one, value => Math.exp(value - most)), sum = powers.reduce((a, b) => a + b, 0)
        return powers.map(power => power / sum)
      }
      case 'norm': {
        const { mean, deviation } = this.normed(step, one), [gain, shift] = this.trained(name, layer)
        return gain && Float64Array.from(one, (value, c) => (value - mean) / deviation * gain[c] + (shift?.[c] ?? 0))
      }
      case 'layer_scale': {
        const [gain] = this.trained(name, layer)
        return gain && one.map((value, c) => value * gain[c])
      }
      default: return Float64Array.from(one, (_, c) => rows.reduce((sum, part) => sum + part[c], 0))  // add, biased
    }
  }

  /* What LayerNorm takes from a row and divides it by. */
  normed({ function: kind, eps }, values) {
    const mean = kind === 'rms' ? 0 : values.reduce((a, b) => a + b, 0) / values.length
    return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length + eps) }
  }

  /* The trained numbers of a step: γ and β of a norm. */
  trained = (name, layer) => [0, 1].map(place => this.held(`${name}.${place}`, layer, 0, 0))

  /* The weights of one row, the strongest as the run recorded it. */
  weights(layer, head, row) {
    const map = this.map('w', layer, head)
    if (!map) return new Float32Array(this.n)
    const weights = Float32Array.from(map.numbers.subarray(row * this.n, (row + 1) * this.n), number => number === map.hidden ? 0 : (number + map.middle) * map.scale)
    const [key, value] = this.strongest(layer, head, row)
    weights[key] = value
    return weights
  }

  /* The strongest key of a query and its weight, as the run recorded it, and how many are written like it. */
  strongest(layer, head, row) {
    const best = this.best[layer]
    if (!best) return [0, 0, 1]
    return [[best.key, Uint16Array], [best.weight, Float32Array], [best.ties, Uint16Array]].map(
      ([at, Kind]) => new Kind(this.buffer, this.base + at)[head * this.n + row])
  }
}

// -- colours ----------------------------------------------------------------------------------------------------------

const CIVIDIS = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838']
const SIGNED = {
  light: ['#08519c', '#6baed6', '#f7f7f7', '#fdae61', '#b35806'], dark: ['#8fd0ff', '#2f78b7', '#141b29', '#b5701f', '#ffc46b'],
}
const NOTHING = { light: 0xffd5d0cc, dark: 0xff3a3029 }  // ABGR, of a pair that may not look at each other

/* 256 colours between some stops, as the bytes of a canvas. */
function shades(stops) {
  const parts = stops.map(stop => [1, 3, 5].map(at => parseInt(stop.slice(at, at + 2), 16)))
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const at = i / 255 * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2)
    const [r, g, b] = parts[low].map((from, part) => Math.round(from + (at - low) * (parts[low + 1][part] - from)))
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0
  })
}
const SHADES = { share: shades(CIVIDIS), light: shades(SIGNED.light), dark: shades(SIGNED.dark) }

/* Paint a picture into a canvas, a pixel for each number; of more columns than pixels, neighbours share one: the strongest. */
function paint(canvas, map, pixels, theme) {
  const { numbers, rows, columns, scale, middle, hidden, top, share } = map, wide = Math.max(1, Math.min(columns, pixels))
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== rows) canvas.height = rows
  const context = canvas.getContext('2d'), image = context.createImageData(wide, rows)
  const colours = new Uint32Array(image.data.buffer), lookup = share ? SHADES.share : SHADES[theme]
  const factor = scale / top * (share ? 255 : 127.5), zero = share ? middle * factor : 127.5
  for (let row = 0, out = 0; row < rows; row++) {
    const from = row * columns
    for (let x = 0; x < wide; x++, out++) {
      let at = from + Math.floor(x * columns / wide), number = numbers[at]
      for (const end = from + Math.floor((x + 1) * columns / wide); ++at < end;)
        if (Math.abs(numbers[at]) > Math.abs(number)) number = numbers[at]
      const shade = Math.round(zero + number * factor)
      colours[out] = number === hidden ? NOTHING[theme] : lookup[shade < 0 ? 0 : shade > 255 ? 255 : shade]
    }
  }
  context.putImageData(image, 0, 0)
}

// -- words ------------------------------------------------------------------------------------------------------------

/* A number with so many decimals, as Python writes it: what lies just between two, an odd part of 2ⁿ⁺¹, goes to the even
   one of them, where toFixed goes up. */
const fixed = (value, places) => {
  const text = value.toFixed(places), between = Math.abs(value) * 2 ** (places + 1) % 2 === 1
  return between && '13579'.includes(text.at(-1)) ? (value - Math.sign(value) / 2 / 10 ** places).toFixed(places) : text
}
export const two = value => value === -Infinity ? '−∞' : fixed(value, 2).replace(/^-(0\.00$)?/, (_, none) => none ?? '−')
/* A share as short as it stays true, as the pages write it: 0.41, 0.0002, 0.9996, 8 × 10⁻⁵. */
export function decimal(share) {
  if (share >= .995 && share < .99995) return fixed(share, 4)
  if (share >= .01 || !(share > 0)) return share ? two(share) : '0'
  const [digit, power] = share.toExponential(0).split('e-')
  return power > 4 ? `${digit} × 10⁻${[...power].map(sign => '⁰¹²³⁴⁵⁶⁷⁸⁹'[sign]).join('')}` : share.toFixed(power)
}
const signed = value => (value > 0 ? '+' : '') + two(value)

/* A sentence as nodes: {name} is filled in, “{name}” is a token, which nobody translates. */
function said(template, values) {
  const nodes = []
  for (const [, words, token, name] of template.matchAll(/([^“{]+|“(?!\{)|\{(?!\w+\}))|“\{(\w+)\}”|\{(\w+)\}/g)) {
    if (words !== undefined) nodes.push(words)
    else if (name) nodes.push(String(values[name] ?? ''))
    else {
      const text = String(values[token] ?? ''), quoted = /["“”]/.test(text) ? ['‘', '’'] : ['“', '”']
      nodes.push(quoted[0], make('b', { textContent: text, translate: false }), quoted[1])
    }
  }
  return nodes
}
export const plain = (template, values) => said(template, values).map(node => node.textContent ?? node).join('')

/* What stands between two sentences: after a Chinese full stop nothing. */
const gap = sentence => sentence.endsWith('。') ? '' : ' '

/* A symbol: ^ raises and _ lowers what follows; words stand upright, letters lean, Q, K and V have their colours. */
function symbol(node, text, layer) {
  const put = (parent, part) => {
    for (const [letters] of part.matchAll(/[A-Za-z]{2,}|[QKV]\u0303?|./gu)) {
      const own = letters.length > 2 ? 'up' : { Q: 'q', K: 'k', V: 'v' }[letters[0]] ?? (/[A-Za-z′]/.test(letters[0]) ? '' : 'up')
      parent.append(own ? make('span', { className: own, textContent: letters }) : letters)
    }
  }
  node.replaceChildren()
  const shown = text.replace('{l+1}', `{${layer + 1}}`).replace('{l}', `{${layer}}`)
  for (const [, mark, group, one, rest] of shown.matchAll(/([_^])(?:\{([^}]*)\}|(.))|([^_^]+)/g))
    if (rest) put(node, rest.replace(/[{}]/g, ''))
    else node.append(make(mark === '^' ? 'sup' : 'sub', { textContent: group ?? one }))
}

// -- nodes ------------------------------------------------------------------------------------------------------------

export function make(kind, own = {}, ...children) {
  const node = Object.assign(document.createElement(kind), own)
  node.append(...children)
  return node
}
const SVG = 'http://www.w3.org/2000/svg'
function draw(parent, kind, about) {
  const node = parent.appendChild(document.createElementNS(SVG, kind))
  for (const name in about) node.setAttribute(name, about[name])
  return node
}
const put = (node, { x, y, w, h }) => Object.assign(node.style, {
  left: `${x}px`, top: `${y}px`, ...w !== undefined && { width: `${w}px` }, ...h !== undefined && { height: `${h}px` },
})
const clamp = (value, least, most) => Math.min(Math.max(value, least), most)

// -- where everything stands ------------------------------------------------------------------------------------------

const NARROW = 700  // px; below it, pictures stand below each other
const SHARE = { x0: 30, x: 30, q: 22, k: 22, s: 92, w: 260, v: 22, a: 30, n1: 30, h: 92, n2: 30 }  // of the width that is left
const LEAST = { x0: 40, x: 40, q: 26, k: 26, s: 60, w: 130, v: 26, a: 40, n1: 40, h: 56, n2: 40 }
const STACKED = [['x0'], ['x', 'q', 'k'], ['s'], ['w', 'v'], ['a', 'n1'], ['h', 'n2']]
const THIN = .62, PANEL = 196, DEEP = 330  // beside an opened picture: of LEAST, the others; px, its arithmetic, at least
const ANSWER = 150, SHEETS = 5  // px; sheets that are seen on each side
const LEGIBLE = 20  // px, of a row whose name is read from the last row of a hall

/* The places of all pictures and their rows. titles: role -> its node, of which the width is measured; measured: how high
   the head and the answer are where all stands below each other, once that is known. opened: the picture that is wide, the
   others being thin; closed: where everything stood before, and so the rows stay. */
function layOut({ root, run, titles, below, widest, measured, opened, closed }) {
  const width = root.clientWidth, n = run.n, drawing = run.drawing && n > 1
  const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, low = innerHeight < 780
  const big = Boolean(root.closest('.big')), unit = big ? 1 : scale  // large letters leave no room for large gaps
  if (width >= NARROW)
    for (let detail = 0; detail < 5; detail++) {
      root.dataset.detail = detail
      const gap = [20, 15, 12, 10, 8][detail] * unit, pad = [14, 14, 8, 8, 6][detail] * unit, shrunk = [1, 1, .92, .85, .7][detail]
      const name = (drawing ? 44 : big ? clamp(widest, 30, 96) + 38 : clamp(widest * .94, 30, 96) + 38 - 2 * detail) * scale
      const left = run.drawing ? (big ? 115 : low ? 150 : 200) * scale * shrunk + 14 : 0
      const fan = big ? 46 : drawing ? 56 : (clamp(widest * .76, 24, 76) + 46 - 6 * detail) * scale
      const sheet = detail > 1 ? 4 : 6, out = sheet * Math.min(SHEETS, run.sizes.layers - 1) + (detail > 1 ? 14 : 20), answer = closed?.answer.w ?? (big && drawing ? 100 : ANSWER) * scale * shrunk
      const before = { x0: left + name + 6, x: out + pad, q: gap, k: 7, s: gap, w: gap, v: fan, a: gap, n1: gap, h: gap, n2: gap }
      if (opened) before.v = gap
      const beside = { ...before, x: 2 * pad, end: 2 * pad }, after = role => beside[ORDER[ORDER.indexOf(role) + 1] ?? 'end']
      const wide = SQUARE.includes(opened) ? clamp(n * 23, 120, 345) : 180, panel = opened ? PANEL * scale * shrunk + gap : 0
      const least = role => Math.max((role === opened ? wide : (n > 1 ? LEAST[role] : 30) * (opened ? THIN : 1)) * unit * shrunk, titles[role].offsetWidth + 6 - Math.min(beside[role], after(role)))
      const fixed = ORDER.reduce((sum, role) => sum + before[role] + least(role), pad + out + answer + panel)
      if (fixed > width) continue
      const shares = opened === 'x0' ? { ...SHARE, x0: 200, panel: 120 } : opened ? { ...SHARE, w: 60, s: 40, h: 40, [opened]: SQUARE.includes(opened) ? 300 : 600, panel: 500 } : SHARE
      const every = Object.values(shares).reduce((sum, share) => sum + share, 0), spare = (width - fixed) / every, pics = {}
      let x = 0, right = 0
      for (const role of ORDER) {
        x += before[role]
        let w = least(role) + spare * shares[role]
        if (SQUARE.includes(role) && w / n >= 3) w = Math.floor(w / n) * n
        pics[role] = { x: Math.round(x), w: Math.round(w) }
        x += w
        if (role === opened) right = x += panel + spare * shares.panel
      }
      const heads = run.sizes.heads * (drawing ? 2 : 1), end = Math.round(x), inside = end + pad - pics.x.x - 260 * scale - (big ? 20 : 10) * run.sizes.heads
      const thumb = closed?.thumb ?? Math.round(clamp(inside / heads, 14, (drawing ? low ? 40 : 58 : low ? 34 : 44) * scale))
      const head = closed?.head ?? (big ? thumb + 16 : 12 + thumb + 19 * scale + 12)
      const names = drawing || n === 1 ? 4 : big ? 28 : Math.min(widest * .72, low ? 48 : 60) * scale + 12
      let foot = names + (big ? 36 : 40 * scale)
      const say = (big ? 40 : 50) * scale, from = topOf(root)
      const title = titles.x0.offsetHeight + 10
      const free = Math.floor((innerHeight - from - (big ? 24 : below) - head - title - foot - say) / n)
      const row = closed?.row ?? clamp(free, drawing ? 5 : n > 1 ? Math.round(12 * scale) : 40, Math.round((n > 1 ? 44 : big ? 200 : 90) * scale)), top = closed?.pics.x.y ?? Math.round(head + title)
      if (opened) foot = Math.max(foot, head + DEEP * scale - top - row * n + (big ? 36 : 40 * scale))
      for (const pic of Object.values(pics)) Object.assign(pic, { y: top, h: row * n })
      const frame = { x: pics.x.x - pad, y: 0, w: end + pad * 2 - pics.x.x, h: top + row * n + foot }
      frame.x = Math.round(frame.x)
      if (left) frame.h = Math.max(frame.h, left + 96 * scale)
      const bands = [{ x: left, w: name, y: top, right: end + 6, roles: ORDER }]
      return {
        width, row, pics, bands, frame, thumb, foot, left, scale, drawing, sheet, big, opened,
        panel: opened && { x: pics[opened].x + pics[opened].w + gap, y: head, w: Math.round(right - pics[opened].x - pics[opened].w - gap), h: top + row * n + foot - (big ? 36 : 40 * scale) - head },
        answer: { x: frame.x + frame.w + out, y: top, w: answer }, say: frame.h + 8, height: frame.h + 8 + say, head, from,
      }
    }
  root.dataset.detail = 'stacked'
  const name = drawing ? 46 : clamp(widest * .9, 30, 84) + 30, right = width - 2, pics = {}, bands = []
  const thumb = clamp(Math.floor((width - 8) / run.sizes.heads) - 6, 14, drawing ? 40 : 36), row = drawing ? 6 : n === 1 ? 26 : 16
  const left = run.drawing ? 150 : 0, head = measured.head ?? 120
  const answer = { x: 0, y: head + (left ? left + 34 : 0) + 8, w: width, flat: true }
  let y = answer.y + (measured.answer ?? 200) + 4
  for (const roles of STACKED) {
    const title = titles.x0.offsetHeight + 14
    const fan = roles.includes('v') ? 40 : 8, room = right - name - 6 - (roles.length - 1) * fan
    const every = roles.reduce((sum, role) => sum + SHARE[role], 0)
    y += title
    let x = name + 6
    for (const role of roles) {
      const w = room * (roles.includes('v') ? { w: .74, v: .26 }[role] : SHARE[role] / every)
      pics[role] = { x: Math.round(x), w: Math.floor(w), y, h: row * n }
      x += w + fan
    }
    bands.push({ x: 0, w: name, y, right, roles })
    y += row * n + 10
  }
  return { width, row, pics, bands, thumb, left, answer, say: y, height: y + 70, head, scale: 1, drawing }
}

/* How far below the top of its page it begins; a second run, below the first, is as high as if it stood alone. */
function topOf(root) {
  const top = root.getBoundingClientRect().top + scrolled(root)
  return top < innerHeight / 2 ? top : 96
}

/* How far the page is scrolled under the top of its window. */
const scrolled = node => node.closest('[data-testid=stMain]')?.scrollTop ?? document.scrollingElement?.scrollTop ?? 0

// -- the overview -----------------------------------------------------------------------------------------------------

/* Show a run in a node. place: {layer, head, token} from 0; below: pixels that stay free under it; on.place(place): the
   reader chose another; on.open(role, place): he wants the page of a picture; on.need(role, place, row): he opened
   it there, and `run.exact` lacks what is behind that row of it, which `learn` brings; on.off(layer, head): he turns a
   head off, or on again if `run.off` has it ("layer.head"). Returns {show(run), go(place), learn(message), leave()}. */
export function overview(root, run, options) {
  let { words, notes } = run
  const { below = 8, on = {} } = options
  const place = { layer: 0, head: 0, token: 0, ...options.place }
  let opened, cell = { row: 0, column: 0 }, over, asked  // the opened picture, the cell that was chosen in it, the one under the pointer
  let at, theme, nodes = {}, hover, shown = {}, film, told, measured = {}
  const listening = new AbortController(), { signal } = listening
  root.tabIndex = -1

  const row = () => hover ?? place.token, number = value => run.differs ? signed(value) : two(value)
  const fit = () => {
    place.layer = clamp(place.layer, 0, run.sizes.layers - 1)
    place.head = clamp(place.head, 0, run.sizes.heads - 1)
    place.token = clamp(place.token, 0, run.n - 1)
  }

  // -- built once for a run and a width -------------------------------------------------------------------------------

  function build() {
    fit()
    const style = getComputedStyle(root), ground = style.getPropertyValue('--st-background-color')
    theme = root.dataset.theme = (ground ? luminous(ground) < .5 : matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
    hover = undefined
    shown = {}
    over = asked = undefined
    root.replaceChildren()
    root.classList.remove('opens')
    root.setAttribute('role', 'group')
    root.setAttribute('aria-label', plain(words.label, { ...run.sizes }))
    nodes = { titles: {}, pics: {}, marks: {}, labels: [], ends: [], names: [], fan: [], taken: [] }
    for (const { role, caption, shape } of run.pictures) {
      const node = nodes.titles[role] = make('div', { className: 'title', title: words.look_closer })
      node.dataset.role = role
      node.append(make('span', { className: 'symbol' }), make('span', { className: 'caption', textContent: words[caption] }),
        make('span', { className: 'shape', textContent: shape }))
      root.append(node)
    }
    for (const { role, symbol: text } of run.pictures) symbol(nodes.titles[role].firstChild, text, place.layer)
    const pen = make('canvas').getContext('2d')
    pen.font = `600 16px ${style.fontFamily}`
    const widest = Math.max(...run.tokens.map(token => pen.measureText(token).width))
    const about = { root, run, titles: nodes.titles, below, widest, measured }
    at = layOut(about)
    if (opened && at.frame) {
      const { detail } = root.dataset
      root.classList.add('opens')
      nodes.titles[opened].classList.add('open')
      const wide = layOut({ ...about, opened, closed: at })
      if (wide.frame) at = wide
      else {  // too narrow: it stands on a sheet of its own
        root.classList.remove('opens')
        root.dataset.detail = detail
      }
    }
    root.style.height = `${at.height}px`
    root.style.setProperty('--row', `${at.row}px`)
    root.style.setProperty('--gap', at.row >= 12 ? '2px' : at.row >= 8 ? '1px' : '0px')
    root.style.setProperty('--thumb', `${at.thumb}px`)
    root.classList.toggle('of-drawing', Boolean(at.drawing))
    buildFrame()
    for (const role of ORDER) buildPicture(role)
    buildRows()
    if (run.drawing) buildDrawing()
    buildAnswer()
    buildSay()
    if (opened) buildOpened()
    nodes.tip = root.appendChild(make('div', { className: 'tip', ariaHidden: 'true' }))
    const own = root.getBoundingClientRect()
    nodes.thumbs = nodes.heads.map(thumb => rectIn(thumb, own))  // to measure is slow: once, and not at each step
    step()
    remeasure()
  }

  /* Where all stands below each other: anew, once the head or an answer is higher than any before. */
  function remeasure() {
    const seen = { head: nodes.head.offsetHeight, answer: nodes.answer.offsetHeight }, higher = name => seen[name] > (measured[name] ?? 0)
    if (at.frame || film || !(higher('head') || higher('answer'))) return
    for (const name in seen) measured[name] = Math.max(seen[name], measured[name] ?? 0)
    build()
  }

  function buildFrame() {
    nodes.under = draw(root, 'svg', { class: 'under', 'aria-hidden': 'true', width: at.width, height: at.height })
    nodes.sheets = root.appendChild(make('div', { className: 'sheets' }))
    if (at.frame) put(nodes.frame = root.appendChild(make('div', { className: 'frame' })), at.frame)
    const head = nodes.head = root.appendChild(make('div', { className: 'head' }))
    put(head, at.frame ? { x: at.frame.x, y: 0, w: at.frame.w, h: at.head } : { x: 0, y: 0, w: at.width })
    nodes.number = make('b', { className: 'number' })
    const turn = (by, name, sign) => make('button', { type: 'button', ariaLabel: name, title: name, onclick: () => go({ layer: place.layer + by }) }, sign)
    nodes.turns = [turn(-1, words.previous_layer, '‹'), turn(1, words.next_layer, '›')]
    head.append(make('div', { className: 'stepper' }, make('span', { className: 'name', textContent: words.layer }), nodes.turns[0], nodes.number,
      nodes.turns[1], make('span', { className: 'of', textContent: plain(words.of, run.sizes) })))
    nodes.heads = Array.from({ length: run.sizes.heads }, (_, i) => {
      const name = plain(words.head_number, { head: i + 1 })
      const canvases = at.drawing ? [make('canvas'), make('canvas')] : [make('canvas')]
      return make('button', { type: 'button', className: 'thumb', ariaLabel: name, title: name, onclick: () => go({ head: i }) },
        ...canvases, make('em', { textContent: i + 1 }))
    })
    nodes.crosses = on.off ? nodes.heads.map((_, i) => make('button', { type: 'button', className: 'cross', onclick: () => on.off(place.layer, i) })) : []
    const tiles = nodes.heads.map((thumb, i) => on.off ? make('span', { className: 'tile' }, thumb, nodes.crosses[i]) : thumb)
    const thumbs = head.appendChild(make('div', { className: 'thumbs', role: 'group', ariaLabel: words.heads }, make('span', { className: 'name', textContent: words.head }), ...tiles))
    const ramp = (kind, from, to, text) => make('span', { className: 'legend' }, from, make('i', { className: `ramp ${kind}` }), `${to} ${text}`)
    const { top } = run.arrays.w, end = top < 1 ? top.toFixed(1) + '+' : '1'
    const legends = make('div', { className: 'legends' }, ...run.differs ? [] : [ramp('share', '0 ', ' ' + end, words.legend_weights)],
      ramp('signed', '− ', ' +', words[run.differs ? 'legend_less' : 'legend_numbers']))
    const wide = ORDER.some(role => run.arrays[role] && run.arrays[role].of > at.pics[role].w)
    if (wide && !at.big) legends.append(make('span', { className: 'legend', textContent: words.legend_pooled }))
    if (run.unseen) legends.append(make('span', { className: 'legend', textContent: plain(words.legend_unseen, { seen: run.n, n: run.sizes.n }) }))
    const { x0 } = at.pics
    if (at.frame && at.left) put(legends, { x: 0, y: at.left + 20, w: at.left - 14 })
    else if (at.big) put(legends, { x: 0, y: 10, w: at.pics.x0.x - 20 })
    else if (at.frame) put(legends, { x: at.left, y: x0.y + x0.h + 10, w: at.frame.x - at.left - at.sheet * SHEETS })
    ;(at.frame ? root : head).append(legends)
    head.classList.toggle('crowded', at.thumb < 18)
    head.classList.toggle('tight', head.firstChild.offsetWidth + thumbs.offsetWidth + 48 > head.clientWidth)
    if (at.frame) {  // above the weights, as far as there is room
      const room = head.clientWidth - thumbs.offsetWidth - 16, { w } = at.pics
      thumbs.style.left = `${clamp(w.x + w.w / 2 - at.frame.x - thumbs.offsetWidth / 2, Math.min(head.firstChild.offsetWidth + 32, room), room)}px`
    }
  }

  function buildPicture(role) {
    const pic = at.pics[role], square = SQUARE.includes(role), title = nodes.titles[role]
    put(title, { x: pic.x + pic.w / 2, y: pic.y - 8 })
    title.classList.add('placed')
    root.append(title)  // above the frame
    const node = nodes.pics[role] = root.appendChild(make('div', { className: `pic ${square ? 'square' : ''}`, tabIndex: 0 }, make('canvas')))
    node.setAttribute('role', 'button')
    node.dataset.role = role
    put(node, pic)
    if (square) node.style.setProperty('--cell', `${pic.w / run.n}px`)
    if (square && pic.w / run.n < 6) node.classList.add('fine')
    put(nodes.marks[role] = root.appendChild(make('div', { className: 'mark' })), { x: pic.x - 2, y: pic.y - 2, w: pic.w + 4, h: at.row + 2 })
    nodes.marks[role].dataset.role = role
  }

  function buildRows() {
    nodes.strips = at.bands.map(band => {
      const strip = root.insertBefore(make('div', { className: 'beam' }), nodes.pics.x0)
      put(strip, { x: band.x, y: band.y, w: band.right - band.x, h: at.row })
      return strip
    })
    const letters = at.big ? Math.min(LEGIBLE, at.row * .96) : Math.min(15 * at.scale, at.row * .74)
    const size = at.drawing ? 11.5 * at.scale : letters
    root.style.setProperty('--letters', `${size}px`)
    nodes.labels = at.bands.map(band => run.tokens.map((token, i) => {
      if (at.drawing && !groupOf(i)) return
      const label = make('button', { type: 'button', className: 'label', tabIndex: -1, translate: false, onclick: () => go({ token: i }) })
      label.append(make('small'), make('span', { textContent: at.drawing ? groupOf(i) : token, title: token }))
      label.classList.toggle('special', run.special.includes(i))
      label.dataset.row = i
      const high = at.drawing && i >= run.drawing.front ? run.drawing.side * at.row : at.row
      put(label, { x: band.x, y: band.y + i * at.row + (at.drawing && high === at.row ? -4 : 0), w: band.w, h: at.drawing && high === at.row ? 12 : high })
      return root.appendChild(label)
    }))
    const v = at.pics.v
    if (run.n > 1 && !at.drawing && at.frame) {
      if (!at.big && !at.opened) nodes.ends = run.tokens.map((token, i) => {
        const end = root.appendChild(make('span', { className: 'end', translate: false, textContent: token }))
        end.setAttribute('aria-hidden', 'true')
        put(end, { x: v.x - 8, y: v.y + i * at.row })
        return end
      })
      nodes.names = run.tokens.map((token, j) => {
        const upright = at.big || /^[\u3000-\u9fff\uff00-\uffef]$/.test(token), w = at.pics.w
        const name = root.appendChild(make('span', { className: upright ? 'under-cell upright' : 'under-cell', translate: false, textContent: token }))
        name.setAttribute('aria-hidden', 'true')
        put(name, { x: w.x + (j + .5) * w.w / run.n, y: w.y + w.h + (at.big ? 5 : 9) })
        return name
      })
    }
    nodes.widths = run.tokens.map((_, i) => (nodes.ends[i]?.offsetWidth ?? 0) * 1.08)
    nodes.wide = nodes.names.map(name => name.offsetWidth)
    nodes.over = draw(root, 'svg', { class: 'over', 'aria-hidden': 'true', width: at.width, height: at.height })
    const defs = draw(nodes.over, 'defs', {})
    for (const kind of ['way', 'values', 'out']) {  // not every browser gives a head the colour of its line
      const tip = draw(defs, 'marker', { id: `overview-${kind}`, viewBox: '0 0 8 8', refX: 6.4, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' })
      draw(tip, 'path', { d: 'M1 1l5 3-5 3', class: kind })
    }
    nodes.lines = draw(nodes.over, 'g', { class: 'lines' })
    nodes.fanGroup = draw(nodes.over, 'g', { class: 'fan' })
    nodes.fan = run.tokens.map(() => draw(nodes.fanGroup, 'path', { visibility: 'hidden' }))
    nodes.taken = run.tokens.map((_, j) => {
      const taken = root.appendChild(make('div', { className: 'taken', hidden: true }))
      taken.dataset.role = 'v'
      put(taken, { x: v.x - 2, y: v.y + j * at.row - 2, w: v.w + 4, h: at.row + 2 })
      return taken
    })
    nodes.glow = root.appendChild(make('div', { className: 'glow', hidden: true }))
  }

  /* What a patch's row is called at the left: of the first of each row of patches, that row. */
  function groupOf(i) {
    const { front, side } = run.drawing
    if (i < front) return front > 1 ? i === 0 ? run.tokens[0] : '' : run.tokens[i]
    return (i - front) % side ? '' : plain(words.row, { row: (i - front) / side + 1 })
  }

  // -- drawn for a layer and a head -----------------------------------------------------------------------------------

  function step() {
    const dense = devicePixelRatio || 1
    for (const role of ORDER) {
      const map = run.map(role, place.layer, place.head), node = nodes.pics[role]
      node.classList.toggle('awaited', !map)
      if (map) paint(node.firstChild, map, Math.round(at.pics[role].w * dense), theme)
      const changed = run.changed.includes(role === 'x0' ? 'x0' : role === 'x' ? '' : `${place.layer}.${role}`)
      node.classList.toggle('changed', changed)
      nodes.titles[role].classList.toggle('changed', changed)
      node.setAttribute('aria-label', nameOf(role))
    }
    nodes.heads.forEach((button, head) => {
      const map = run.map('w', place.layer, head)
      if (map) paint(button.firstChild, map, Math.round(at.thumb * dense), theme)
      button.classList.toggle('on', head === place.head)
      button.setAttribute('aria-pressed', head === place.head)
    })
    nodes.crosses.forEach((cross, head) => {
      const off = Boolean(run.off?.includes(`${place.layer}.${head}`)), name = plain(off ? words.head_on : words.head_off, { layer: place.layer + 1, head: head + 1 })
      Object.assign(cross, { ariaLabel: name, title: name, textContent: off ? '↺' : '×' }).classList.toggle('seen', off)
      nodes.heads[head].classList.toggle('away', off)
    })
    for (const { role, symbol: text } of run.pictures)
      if (text.includes('{l')) symbol(nodes.titles[role].firstChild, text, place.layer)
    nodes.number.textContent = place.layer + 1
    nodes.turns[0].disabled = !place.layer
    nodes.turns[1].disabled = place.layer === run.sizes.layers - 1
    drawSheets()
    drawLines()
    shown = {}
    if (opened) fillCells()
    light()
  }

  function nameOf(role) {
    const { symbol: text, caption, shape } = run.pictures.find(one => one.role === role)
    const kind = role === 'x0' ? 'picture_first' : BY_HEAD.includes(role) ? 'picture_head' : 'picture'
    const letters = text.replace('{l+1}', place.layer + 1).replace('{l}', place.layer).replace(/[\^_{}]/g, '')
    const name = plain(words[kind], { symbol: letters, caption: words[caption], shape, layer: place.layer + 1, head: place.head + 1 })
    return role === 'w' ? `${name}${gap(name)}${plain(...sentence(place.token))}` : name
  }

  function drawSheets() {
    if (!at.frame) return
    const { x, y, w, h } = at.frame
    nodes.sheets.replaceChildren()
    for (let layer = 0; layer < run.sizes.layers; layer++) {
      const away = layer - place.layer, far = Math.abs(away)
      if (!far || far > SHEETS) continue
      const name = plain(words.layer_number, { layer: layer + 1 })
      const sheet = make('button', { type: 'button', className: 'sheet', ariaLabel: name, title: name, tabIndex: -1, onclick: () => go({ layer }) })
      sheet.style.zIndex = -far
      put(sheet, { x: away < 0 ? x - at.sheet * far : x + w - 60 + at.sheet * far, y: y + 5 * far, w: 60, h: h - 10 * far })
      nodes.sheets.append(sheet)
    }
  }

  /* What goes where: arrows between pictures, the values' path, residual connections, the answer's row. */
  function drawLines() {
    const { pics, frame } = at, { lines, under } = nodes, right = role => pics[role].x + pics[role].w, middle = role => pics[role].x + pics[role].w / 2
    lines.replaceChildren()
    under.replaceChildren()
    if (!frame) return
    const level = pics.x.y + pics.x.h / 2, line = (d, kind) => draw(lines, 'path', { d, class: kind, 'marker-end': `url(#overview-${kind})` })
    const hop = (from, to) => { if (to - from > 11) line(`M${from + 4} ${level}H${to - 3}`, 'way') }
    if (at.opened !== 'x0') hop(right('x0'), frame.x - at.sheet * Math.min(SHEETS, place.layer))
    const hops = [['x', 'q'], ['k', 's'], ['s', 'w'], ['v', 'a'], ['a', 'n1'], ['n1', 'h'], ['h', 'n2']]
    for (const [from, to] of hops) if (from !== at.opened) hop(right(from), pics[to].x)
    const y = pics.x.y + pics.x.h + 4, deep = at.foot - (at.big ? 12 : 10)
    const arc = (from, to, depth, kind) => {
      const bend = Math.min(20, depth / 2, (to - from) / 2)
      line(`M${from} ${y}v${depth - bend}q0 ${bend} ${bend} ${bend}H${to - bend}q${bend} 0 ${bend} ${-bend}v${-(depth - bend) + 1}`, kind)
    }
    arc(middle('x') + 8, middle('v'), deep - 16, 'values')
    arc(middle('x') - 8, middle('n1') - 6, deep, 'way')
    arc(middle('n1') + 8, middle('n2'), deep, 'way')
    const note = (x, depth, text, kind) => { draw(lines, 'text', { x, y: y + depth + 4, class: kind }).textContent = text }
    const along = (to, share) => middle('x') + (middle(to) - middle('x')) * share
    if (at.opened) {
      note(along('v', .3), deep - 16, words.values_path, 'values')
      return note(along('n1', .7), deep, words.residual_path, 'way')
    }
    note(at.big ? right('w') : (middle('q') + pics.s.x) / 2, deep - 16, words.values_path, 'values')
    note((pics.s.x + pics.w.x) / 2, deep, words.residual_path, 'way')
    const thumb = nodes.thumbs[place.head], a = thumb.x, b = thumb.x + thumb.w, from = thumb.y + thumb.h + 2, to = pics.w.y - 3
    const l = pics.w.x - 1, r = right('w') + 1, half = (to - from) * .55
    draw(under, 'path', { class: 'ribbon', d: `M${a} ${from}H${b}C${b} ${from + half} ${r} ${to - half} ${r} ${to}H${l}C${l} ${to - half} ${a} ${from + half} ${a} ${from}z` })
  }

  // -- drawn for a token ----------------------------------------------------------------------------------------------

  /* The light: the row of the token, and what it attends to. */
  function light() {
    const i = row(), key = `${i}.${place.layer}.${place.head}.${place.token}`
    if (shown.key === key) return
    shown.key = key
    const told = run.weights(place.layer, place.head, i), weights = told.map(Math.abs), { pics } = at
    nodes.strips.forEach((strip, b) => { strip.style.transform = `translateY(${i * at.row}px)` })
    for (const role of ORDER) nodes.marks[role].style.transform = `translateY(${i * at.row}px)`
    const most = Math.max(...weights), seen = j => weights[j] >= .1 || Boolean(at.drawing && weights[j] === most && most > 0)
    nodes.labels.forEach(band => band.forEach((label, j) => {
      if (!label) return
      const on = at.drawing ? groupHas(j, i) : j === i, mark = `${on ? 'on' : ''}${!on && !at.drawing && seen(j) ? ' seen' : ''}`
      const share = !at.drawing && seen(j) ? number(told[j]) : ''
      if (label.mark !== mark + share) {
        label.mark = mark + share
        label.classList.toggle('on', on)
        label.classList.toggle('seen', mark.includes('seen'))
        label.firstChild.textContent = share
      }
    }))
    nodes.ends.forEach((end, j) => end.classList.toggle('seen', seen(j)))
    nameColumns(weights, seen)
    const w = pics.w, v = pics.v, x1 = w.x + w.w + 3, y1 = w.y + (i + .5) * at.row
    nodes.fan.forEach((path, j) => {
      const share = weights[j], drawn = !at.opened && share >= (run.n > 20 ? .06 : .04)
      path.setAttribute('visibility', drawn ? 'visible' : 'hidden')
      nodes.taken[j].hidden = !seen(j)
      if (seen(j)) nodes.taken[j].style.opacity = .4 + .6 * share
      if (!drawn) return
      const x2 = v.x - 12 - nodes.widths[j], y2 = v.y + (j + .5) * at.row
      path.setAttribute('d', `M${x1} ${y1}C${x1 + (x2 - x1) * .55} ${y1} ${x1 + (x2 - x1) * .4} ${y2} ${x2} ${y2}`)
      path.setAttribute('stroke-width', 1 + 6 * share * at.scale)
      path.setAttribute('opacity', .3 + .6 * share)
    })
    if (run.drawing) drawLooks(i, weights)
    if (shown.answer !== `${place.token}.${place.layer}`) drawAnswer()
    shown.answer = `${place.token}.${place.layer}`
    if (!film) read()
    if (opened) explain()
    document.dispatchEvent(new CustomEvent('overview:light', { detail: { row: hover, from: root } }))
  }

  function groupHas(first, i) {
    const { front, side } = run.drawing
    return first < front ? first === i : i >= first && i < first + side
  }

  /* Names under the columns of the weights: all where they have room; else those that are attended to most. */
  function nameColumns(weights, seen) {
    if (!nodes.names.length) return
    const cell = at.pics.w.w / run.n, room = 11.5 * at.scale, all = !at.big && cell >= room * .92
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]), taken = []
    const apart = (i, j) => Math.abs(i - j) * cell >= (at.big ? (nodes.wide[i] + nodes.wide[j]) / 2 + 6 : room)
    for (const j of order) {
      const free = all || (seen(j) && taken.every(other => apart(other, j)))
      if (free) taken.push(j)
      nodes.names[j].hidden = !free
      nodes.names[j].classList.toggle('seen', seen(j))
    }
  }

  /* The sentence about a token: its template and what is filled in. */
  function sentence(i) {
    const [key, value, ties] = run.strongest(place.layer, place.head, i)
    const values = { ties, layer: place.layer + 1, head: place.head + 1, query: run.named[i], key: run.named[key], value: run.differs ? signed(value) : decimal(value) }
    if (run.differs) return [words[Math.abs(value) < .005 ? 'less_none' : ties > 1 ? 'less_tied' : 'less'], values]
    const kind = run.n === 1 ? 'read_single' : ties === run.n ? 'read_even' : ties > 1 ? 'read_tied' : key === i ? 'read_self' : 'read'
    return [words[kind], values]
  }

  function read() {
    const i = row(), nodesOf = said(...sentence(i)), bars = barsAt(i)
    const of = { word: 'read_word', tag: 'read_tag', class: 'read_class' }[run.answers.kind]
    if (of && bars?.length) {
      const [name, value] = bars.reduce((best, bar) => bar[1] > best[1] ? bar : best)
      const open = bars.filter(bar => decimal(bar[1]) === decimal(value)).length > 1
      nodesOf.push(gap(words.read), ...said(words[open ? 'read_open' : of], { query: run.named[i], name, value: decimal(value) }))
    }
    const note = notes[i] ?? notes[-1]
    if (note) nodesOf.push(gap(words.read), make('span', { className: 'note', textContent: note }))
    nodes.text.replaceChildren(...nodesOf)
  }

  // -- the answer -----------------------------------------------------------------------------------------------------

  const barsAt = i => run.answers.rows[i] ?? run.answers.rows[-1]

  function buildAnswer() {
    const box = nodes.answer = root.appendChild(make('div', { className: at.answer.flat ? 'answer flat' : 'answer' }))
    put(box, { x: at.answer.x, y: at.answer.flat ? at.answer.y : at.answer.y - 8, w: at.answer.w })
    box.dataset.role = 'answer'
    nodes.answerTitle = box.appendChild(make('div', { className: 'answer-title', tabIndex: 0, title: on.open ? words.open : '' },
      make('span', { className: 'symbol', textContent: words.answer }), make('span', { className: 'caption' })))
    nodes.answerTitle.setAttribute('role', on.open ? 'link' : 'note')
    nodes.bars = box.appendChild(make('div', { className: 'stack' }))
    nodes.out = draw(nodes.over, 'path', { class: 'out', 'marker-end': 'url(#overview-out)' })
  }

  function drawAnswer() {
    const { kind, lens, reads, right } = run.answers, i = place.token, bars = barsAt(i), caption = nodes.answerTitle.lastChild
    const about = { token: run.tokens[i] }
    caption.replaceChildren(...said(words[bars || !Object.keys(run.answers.rows).length ? `answer_${kind}` : 'answer_unread'], about))
    nodes.bars.replaceChildren()
    nodes.out.setAttribute('visibility', 'hidden')
    const line = ([name, value], most, best) => {
      const share = clamp(Math.abs(value) / (most || 1), .02, 1).toFixed(3)
      return [
        make('span', { className: 'bar-name', translate: false, textContent: name, title: name }),
        make('span', { className: best ? 'bar best' : 'bar' }, make('i', { style: `width: calc((100% - 3.4em) * ${share})` }),
          make('span', { textContent: kind === 'number' ? two(value) : decimal(value) }))]
    }
    if (!bars) {
      const map = run.map('z', 0, 0)
      if (!map) return
      const canvas = nodes.bars.appendChild(make('canvas', { className: 'z' }))
      canvas.style.height = `${at.row * run.n}px`
      nodes.bars.style.top = '8px'
      paint(canvas, map, 54, theme)
      return
    }
    const most = Math.max(...bars.map(([, value]) => Math.abs(value)))
    const best = kind === 'word' && right[i] ? name => name === right[i] : (_, value) => value === Math.max(...bars.map(bar => bar[1]))
    nodes.bars.append(make('div', { className: 'bars' }, ...bars.flatMap(bar => line(bar, most, best(...bar)))))
    const earlier = (lens[kind === 'word' ? i : -1] ?? [])[place.layer]
    if (earlier && place.layer < run.sizes.layers - 1) {
      const top = [...earlier].sort((a, b) => b[1] - a[1]).slice(0, 3), widest = Math.max(.3, top[0][1])
      nodes.bars.append(make('div', { className: 'lens' }, make('p', { textContent: plain(words.lens, { layer: place.layer + 1 }) }),
        make('div', { className: 'bars' }, ...top.flatMap(bar => line(bar, widest, false)))))
    }
    if (at.answer.flat) return
    const from = kind === 'class' || kind === 'label' || kind === 'number' ? reads : kind === 'bound' ? null : i
    const { n2 } = at.pics, high = 16 * at.scale * (1.45 * bars.length + (nodes.bars.childElementCount > 1 ? 6.5 : 0)), wanted = from == null ? 0 : (from + .5) * at.row - 12
    const top = clamp(wanted, 0, Math.max(0, at.frame.h - n2.y - high - 6)), title = nodes.answerTitle
    nodes.bars.style.top = `${top + 8}px`
    title.style.bottom = top > 0 ? `calc(100% + ${-top}px)` : ''
    if (from == null) return
    const x1 = n2.x + n2.w + 4, y1 = n2.y + (from + .5) * at.row, x2 = at.answer.x - 4, y2 = at.answer.y + top + 12
    nodes.out.setAttribute('visibility', 'visible')
    nodes.out.setAttribute('d', `M${x1} ${y1}H${at.frame.x + at.frame.w}C${at.frame.x + at.frame.w + 20} ${y1} ${x2 - 20} ${y2} ${x2} ${y2}`)
  }

  // -- a drawing ------------------------------------------------------------------------------------------------------

  function buildDrawing() {
    const { height, width, channels, pixels } = run.drawing, bytes = bytesOf(pixels), side = at.left - 14
    const source = nodes.source = make('canvas', { width, height }), context = source.getContext('2d'), image = context.createImageData(width, height)
    for (let i = 0; i < width * height; i++) {
      const [r, g, b] = channels === 1 ? Array(3).fill(255 - bytes[i]) : bytes.subarray(3 * i, 3 * i + 3)
      image.data.set([r, g, b, 255], 4 * i)
    }
    context.putImageData(image, 0, 0)
    nodes.bright = make('canvas', { width, height })
    const other = nodes.bright.getContext('2d')
    if (channels === 1) other.filter = 'invert(1)'
    other.drawImage(source, 0, 0)
    const y = at.frame ? 0 : at.head, both = at.frame && at.frame.h > 2 * side + 60
    const square = (x, y, name) => {
      const box = root.appendChild(make('div', { className: 'square-box' }, make('p', {}), make('canvas', { width: side * 2, height: side * 2 })))
      put(box, { x, y, w: side })
      box.lastChild.style.width = box.lastChild.style.height = `${side}px`
      box.firstChild.textContent = name
      box.lastChild.onpointermove = event => { hover = patchAt(event, side); light() }
      box.lastChild.onpointerleave = () => { hover = undefined; light() }
      box.lastChild.onclick = event => { const i = patchAt(event, side); if (i !== undefined) go({ token: i }) }
      return box
    }
    nodes.seen = square(0, y, words.drawing)
    nodes.looks = both ? square(0, at.frame.h - side - 26, '') : at.frame ? undefined : square(side + 20, y, '')
  }

  function patchAt(event, side) {
    const { side: cut, front } = run.drawing
    const [x, y] = [event.offsetX, event.offsetY].map(where => clamp(Math.floor(where / side * cut), 0, cut - 1))
    return front + y * cut + x < run.n ? front + y * cut + x : undefined
  }

  /* The chosen patch in the drawing, and where its token attends to, laid over it; so beside each head's map. */
  function drawLooks(i, weights) {
    const { side, front } = run.drawing, most = Math.max(...weights.subarray(front), 1e-6)
    const over = (canvas, shares, chosen) => {
      const pen = canvas.getContext('2d'), u = canvas.width / side
      pen.imageSmoothingEnabled = false
      pen.globalAlpha = 1
      if (!shares) pen.drawImage(nodes.source, 0, 0, canvas.width, canvas.width)
      else {
        pen.fillStyle = CIVIDIS[0]
        pen.fillRect(0, 0, canvas.width, canvas.width)
        pen.globalAlpha = .6
        pen.globalCompositeOperation = 'lighten'
        pen.drawImage(nodes.bright, 0, 0, canvas.width, canvas.width)
        pen.globalCompositeOperation = 'source-over'
        const highest = Math.max(...shares.subarray(front), 1e-6)
        for (let p = front; p < run.n; p++) {
          const share = shares[p] / highest, shade = SHADES.share[Math.round(255 * share)]
          pen.globalAlpha = share < .03 ? 0 : .3 + .5 * share
          pen.fillStyle = `rgb(${shade & 255},${shade >> 8 & 255},${shade >> 16 & 255})`
          pen.fillRect((p - front) % side * u, Math.floor((p - front) / side) * u, u, u)
        }
      }
      pen.globalAlpha = 1
      return [pen, u]
    }
    const style = getComputedStyle(root), rose = style.getPropertyValue('--light'), green = style.getPropertyValue('--v'), hair = style.getPropertyValue('--line')
    const frame = (pen, u, p, colour, wide) => {
      if (p < front) return
      pen.strokeStyle = colour
      pen.lineWidth = wide
      pen.strokeRect((p - front) % side * u + wide / 2, Math.floor((p - front) / side) * u + wide / 2, u - wide, u - wide)
    }
    const [pen, u] = over(nodes.seen.lastChild)
    pen.strokeStyle = hair
    pen.lineWidth = 1
    if (side > 1 && side < 20)
      for (let k = 1; k < side; k++) pen.stroke(new Path2D(`M${k * u} 0V${side * u}M0 ${k * u}H${side * u}`))
    for (let j = front; j < run.n && side > 1; j++) if (weights[j] >= .1) frame(pen, u, j, green, 4)
    frame(pen, u, i, rose, 5)
    if (nodes.looks) {
      over(nodes.looks.lastChild, weights)
      frame(nodes.looks.lastChild.getContext('2d'), u, i, rose, 5)
      nodes.looks.firstChild.replaceChildren(make('b', { textContent: run.tokens[i], translate: false }), ` ${words.looks}`)
    }
    if (at.drawing)
      nodes.heads.forEach((button, head) => {
        const canvas = button.children[1]
        if (canvas.width !== at.thumb * 2) canvas.width = canvas.height = at.thumb * 2
        over(canvas, run.weights(place.layer, head, i).map(Math.abs))
      })
  }

  // -- a picture that is opened where it stands ----------------------------------------------------------------------

  /* Open a picture, or close what is open; the keys stay where they were. */
  function show(role, where) {
    if (film) stop()
    const last = opened
    opened = role
    cell = where ?? { row: place.token, column: role ? loudestIn(role) : 0 }
    build()
    ;(role ? nodes.big : nodes.pics[last])?.focus({ preventScroll: true })
  }

  /* The column of a picture in which the chosen token's number is furthest from 0. */
  function loudestIn(role) {
    const map = run.map(role, place.layer, place.head)
    if (SQUARE.includes(role) || !map) return run.strongest(place.layer, place.head, place.token)[0]
    const row = map.numbers.subarray(place.token * map.columns, (place.token + 1) * map.columns).map(Math.abs)
    return row.indexOf(Math.max(...row))
  }

  /* What an opened picture has more than others: numbers in its cells, and at its right the arithmetic of one. */
  function buildOpened() {
    const title = nodes.titles[opened], map = run.map(opened, place.layer, place.head), close = make('button', {
      type: 'button', className: 'close', ariaLabel: words.close, title: words.close, onclick: () => show() }, '×')
    nodes.panel = make('div', { className: 'panel', role: 'group', ariaLabel: words.arithmetic })
    nodes.panel.setAttribute('aria-live', 'polite')
    nodes.big = nodes.pics[opened]
    if (at.panel) {
      title.append(close)
      put(root.appendChild(nodes.panel), at.panel)
    } else {
      const rows = make('div', { className: 'rows' }), big = nodes.big = make('div', { className: nodes.big.className, tabIndex: 0 }, make('canvas'))
      big.dataset.role = opened
      const high = clamp(Math.floor(innerHeight * .42 / run.n), 6, 22)
      big.style.cssText = `height: ${high * run.n}px; --row: ${high}px; --cell: ${100 / (map?.columns ?? 1)}%`
      if (!at.drawing) rows.append(make('div', { className: 'row-names', translate: false }, ...run.tokens.map(token => make('span', { textContent: token, style: `height: ${high}px; font-size: ${Math.min(14, high * .74)}px` }))))
      const name = title.cloneNode(true)
      name.className = 'title open'
      name.removeAttribute('style')
      rows.append(big)
      nodes.sheet = root.appendChild(make('div', { className: 'opened-sheet', role: 'dialog', ariaLabel: nameOf(opened) }, make('div', { className: 'sheet-head' }, name, close), rows, nodes.panel))
    }
    nodes.big.setAttribute('role', 'application')
    nodes.big.setAttribute('aria-roledescription', words.opened)
    nodes.mark = nodes.big.appendChild(make('i', { className: 'cell' }))
    const wide = nodes.big.clientWidth / (map?.columns ?? 1), high = nodes.big.clientHeight / run.n
    nodes.cells = []
    if (!map || wide < 19 || high < 12 || map.columns > 64) return
    const grid = nodes.big.appendChild(make('div', { className: 'grid', ariaHidden: 'true' }))
    grid.style.gridTemplate = `repeat(${run.n}, 1fr) / repeat(${map.columns}, 1fr)`
    nodes.cells = Array.from(map.numbers, () => grid.appendChild(make('span')))
  }

  /* A number as short as a cell: .99, 1, −3.2; nothing for what rounds to 0. */
  const short = (value, share) => share ? two(value).replace(/^(0\.00|−0\.00)$/, '').replace('0.', '.').replace('1.00', '1') : value === -Infinity ? '' : fixed(value, 1).replace('-', '−').replace('−0.0', '0.0')

  function fillCells() {
    const { layer, head } = place, map = run.map(opened, layer, head)
    if (!at.panel && map) paint(nodes.big.querySelector('canvas'), map, Math.round(nodes.big.clientWidth * (devicePixelRatio || 1)), theme)
    if (!nodes.cells.length || !map) return
    const { share } = map, lookup = share ? SHADES.share : SHADES[theme]
    for (let row = 0, k = 0; row < map.rows; row++) {
      const own = share ? undefined : run.exact(opened, layer, BY_HEAD.includes(opened) ? head : 0, row)
      for (let column = 0; column < map.columns; column++, k++) {
        const value = own ? own[column] : (map.numbers[k] + map.middle) * map.scale, cellOf = nodes.cells[k]
        const text = map.numbers[k] === map.hidden || !(own || share) ? '' : short(value, share)
        if (cellOf.textContent !== text) cellOf.textContent = text
        const shade = lookup[clamp(Math.round(share ? value / map.top * 255 : 127.5 + value / map.top * 127.5), 0, 255)]
        cellOf.className = .3 * (shade & 255) + .59 * (shade >> 8 & 255) + .11 * (shade >> 16 & 255) > 120 ? 'bright' : ''
      }
    }
  }

  /* The arithmetic of a cell, from rows that the run recorded; who has none of them asks, once for each place. */
  function explain() {
    const map = run.map(opened, place.layer, place.head), { row: i, column } = over ?? cell, of = map?.columns ?? 1
    if (!map) return nodes.panel.replaceChildren()
    const square = SQUARE.includes(opened), j = Math.min(column, of - 1)
    nodes.mark.style.cssText = `left: ${j / of * 100}%; top: ${i / run.n * 100}%; width: ${100 / of}%; height: ${100 / run.n}%; min-width: 3px`
    const shown = run.differs ? [] : (PANELS[opened] ?? PANELS.stream)(i, square ? j : opened === 'h' ? neuronAt(map, i, j) : Math.min(j * map.together, map.of - 1))
    nodes.panel.replaceChildren(...shown ?? [line('quiet', run.id && on.need ? '' : words.not_carried)],
      ...on.open ? [make('a', { className: 'more', tabIndex: 0, role: 'link', onclick: () => open(opened, opened === 'k' || opened === 'v' ? {} : { token: i, ...square && { key: j } }) }, `→ ${words.open}`)] : [])
    const needs = `${opened}.${place.layer}.${place.head}.${i}`
    if (shown || run.differs || !on.need || asked === needs) return
    asked = needs
    clearTimeout(told)
    on.need(opened, { ...place }, i)
  }

  const line = (kind, ...parts) => make('p', { className: kind }, ...parts)
  const row_ = (...parts) => make('p', { className: 'sides' }, ...parts.map(part => make('span', {}, ...[part].flat())))

  /* A row as a strip of colours, its columns in an order, and what it is called. */
  function strip(name, values, order, top, kind = '') {
    const canvas = make('canvas'), numbers = Float32Array.from(order ?? values, order ? c => values[c] : value => value)
    paint(canvas, { numbers, rows: 1, columns: numbers.length, scale: 1, middle: 0, hidden: -Infinity, top: top ?? Math.max(...numbers.map(Math.abs), 1e-9) }, 512, theme)
    return make('div', { className: 'strip' }, make('span', { className: `name ${kind}` }, ...[name].flat()), canvas)
  }

  /* Parts that are added up, as stairs: each begins where the one before it ended. */
  function stairs(parts) {
    let low = 0, high = 0, sum = 0
    for (const part of parts) { sum += part; low = Math.min(low, sum); high = Math.max(high, sum) }
    const box = make('div', { className: 'stairs' }), pen = draw(box, 'svg', { viewBox: `0 0 ${parts.length} 100`, preserveAspectRatio: 'none', 'aria-hidden': 'true' })
    const y = value => 98 - (value - low) / (high - low || 1) * 96
    sum = 0
    parts.forEach((part, x) => {
      const from = y(sum), to = y(sum += part)
      draw(pen, 'rect', { x: x + .06, width: .88, y: Math.min(from, to), height: Math.max(Math.abs(from - to), 1), class: part < 0 ? 'falls' : 'rises' })
    })
    draw(pen, 'path', { d: `M0 ${y(0)}H${parts.length}`, class: 'zero' })
    return box
  }

  /* The steps from a quantity back to the product that it comes from, the first one first. */
  function stepsTo(name) {
    const found = []
    for (let step; (step = run.step(name, place.layer)); name = step.reads[0]) {
      found.unshift({ name, ...step })
      if (step.operation === 'scores') break
    }
    return found
  }

  /* A query meets a key: their products, their sum, and what becomes of it up to the score. */
  function meeting(i, j) {
    const { layer, head } = place, steps = stepsTo('s'), [product] = steps
    if (product?.operation !== 'scores') return
    const [q, k] = [run.exact(product.reads[0], layer, head, i), run.exact(product.reads[1], layer, head, j)]
    const values = steps.map(({ name }) => run.exact(name, layer, head, i)?.[j])
    if (!q || !k || values.includes(undefined)) return
    const products = Array.from(q, (value, c) => value * k[c]), order = products.map((_, c) => c).sort((a, b) => products[b] - products[a])
    const most = Math.max(...q.map(Math.abs), ...k.map(Math.abs)), turned = product.reads[0] === 'q' ? '' : '\u0303'
    const lines = [row_('', [make('b', {}, `q${turned} · k${turned} = ${two(values[0])}`)])]
    steps.forEach((step, place) => {
      const before = values[place - 1], value = values[place]
      if (step.operation === 'scale') lines.push(row_('', `${step.factor < 1 ? '÷' : '×'} √${Math.round(step.factor < 1 ? step.factor ** -2 : step.factor ** 2)} = ${two(value)}`))
      if (step.operation === 'biased') lines.push(row_('', `${value < before ? '−' : '+'} ${two(Math.abs(value - before))} = ${two(value)}`))
      if (step.operation === 'mask' && value === -Infinity) lines.push(line('quiet', ...said(words.cell_hidden, { query: run.named[i], key: run.named[j] })))
    })
    return [strip(make('i', { className: 'q' }, `q${turned}`), q, order, most), strip(make('i', { className: 'k' }, `k${turned}`), k, order, most), stairs(order.map(c => products[c])), ...lines]
  }

  /* The row of softmax, the chosen key lit. */
  function shares(i, j) {
    const weights = run.exact('w', place.layer, place.head, i)
    if (!weights) return
    const box = make('div', { className: 'shares', ariaHidden: 'true' }), top = Math.max(...weights, 1e-9)
    weights.forEach((weight, k) => box.append(make('i', { className: k === j ? 'on' : '', style: `height: ${Math.max(0, weight / top * 100)}%` })))
    return [box, row_(words.softmax_row, make('b', {}, decimal(weights[j])))]
  }

  /* The values that a query takes, each times its weight, and their sum: what its head writes. */
  function taken(i, j, most) {
    const { layer, head } = place, weights = run.exact('w', layer, head, i), found = run.exact('heads', layer, head, i)
    const values = weights && Array.from(weights, (_, k) => run.exact('v', layer, head, k))
    if (!found || values.includes(undefined)) return
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, most - 1)
    if (!order.includes(j)) order.push(j)
    const top = Math.max(...found.map(Math.abs), ...order.flatMap(k => Array.from(values[k], value => Math.abs(value * weights[k]))), 1e-9)
    const name = k => [make('small', {}, short(weights[k], true) || '.00'), make('i', { className: 'v' }, ' v'), ...most > 2 ? [make('small', { translate: false, className: k === j ? 'on' : '' }, ` ${run.tokens[k]}`)] : []]
    return [...order.map(k => strip(name(k), values[k].map(value => value * weights[k]), undefined, top, most > 2 ? 'long' : '')),
      strip('Σ', found, undefined, top, most > 2 ? 'long' : ''), line('quiet', plain(words.head_writes, { head: head + 1, token: run.tokens[i] }))]
  }

  const pair = (i, j, value) => row_([make('b', { translate: false }, run.named[i]), ' → ', make('b', { translate: false }, run.named[j])], [make('b', { className: 'result' }, value)])
  const all = (...parts) => parts.includes(undefined) ? undefined : parts.flat()
  const weightOf = (i, j) => { const weights = run.exact('w', place.layer, place.head, i); return weights ? decimal(weights[j]) : '' }

  /* Picture -> what its panel shows of a cell; nothing while rows are missing. A key's or a value's row is met by the chosen token. */
  const PANELS = {
    s: (i, j) => { const met = meeting(i, j), row = run.exact('s', place.layer, place.head, i); return all(met && [pair(i, j, two(row[j]))], met, shares(i, j)) },
    w: (i, j) => all([pair(i, j, weightOf(i, j))], meeting(i, j), shares(i, j), taken(i, j, 1)),
    q: i => { const [j] = run.strongest(place.layer, place.head, i); return PANELS.s(i, j) },
    k: i => PANELS.s(place.token, i),
    v: i => all([pair(place.token, i, weightOf(place.token, i))], shares(place.token, i), taken(place.token, i, 6)),
    a: mixed, h: neurons, stream,
  }

  /* How far each head takes what attention adds to a token, along that. */
  function mixed(i) {
    const parts = run.held('parts', place.layer, 0, i)
    if (!parts) return
    const sum = parts.reduce((a, b) => a + b, 0), order = [...parts.keys()].sort((a, b) => parts[b] - parts[a]), most = Math.max(...parts.map(Math.abs), 1e-9)
    const bars = order.slice(0, 16).map(h => make('div', { className: `part ${h === place.head ? 'on' : ''}`, onclick: () => { if (h < run.sizes.heads) go({ head: h }) } },
      make('span', {}, h < run.sizes.heads ? plain(words.head_number, { head: h + 1 }) : 'b_O'), make('i', { className: parts[h] < 0 ? 'falls' : 'rises', style: `width: ${Math.abs(parts[h]) / most * 100}%` }), make('span', {}, two(parts[h]))))
    return [line('', ...said(words.parts, { token: run.named[i] })), make('div', { className: 'parts' }, ...bars), row_(words.length, make('b', {}, two(sum)))]
  }

  /* The loudest neurons of a token, by the words that they point to. */
  function neurons(i, neuron) {
    const loud = run.neurons?.[`${place.layer}.${i}`]
    if (!loud) return
    const most = Math.max(...loud.map(([, value]) => Math.abs(value)), 1e-9), one = loud.find(([place]) => place === neuron)
    return [line('', ...said(words.loudest, { token: run.named[i] })), make('div', { className: 'parts neurons' }, ...loud.map(([place, value, , names]) =>
      make('div', { className: `part ${place === neuron ? 'on' : ''}`, title: names.join(', ') }, make('span', { translate: false }, names.join(', ') || `#${place + 1}`),
        make('i', { className: value < 0 ? 'falls' : 'rises', style: `width: ${Math.abs(value) / most * 100}%` }), make('span', {}, two(value))))),
    ...one ? [row_(plain(words.neuron_number, { neuron: neuron + 1 }), `${run.step('h', place.layer)?.function ? `${two(one[2])} → ` : ''}${two(one[1])}`)] : []]
  }

  /* The neuron under a column, of which several may share one: the loudest among them. */
  function neuronAt(map, i, j) {
    const loud = run.neurons?.[`${place.layer}.${i}`], first = j * map.together
    return loud?.find(([neuron]) => neuron >= first && neuron < first + map.together)?.[0] ?? first
  }

  /* A row of the residual stream: what was there, what is added to it, and what LayerNorm makes of the sum. */
  function stream(i, c) {
    let role = opened === 'x0' ? 'x' : opened, layer = opened === 'x0' ? 0 : place.layer
    if (role === 'x' && layer) [role, layer] = ['n2', layer - 1]
    const last = run.step(role, layer), normed = last?.operation === 'norm', name = normed ? last.reads[0] : role, added = run.step(name, layer)
    const result = run.exact(role, layer, 0, i), sum = run.exact(name, layer, 0, i)
    if (!last) return result && [row_(words.row_itself, two(result[c]))]
    if (normed && !run.trained(role, layer)[0]) return
    const parts = added?.operation === 'add' ? added.reads.map(read => [termOf(read, layer), run.exact(read, layer, 0, i)]) : [[termOf(name, layer), sum]]
    if (!result || !sum || parts.some(([, values]) => !values)) return
    const rows = [...parts, ...parts.length > 1 && normed ? [['Σ', sum]] : [], [symbolOf(opened), result]], top = Math.max(...rows.flatMap(([, values]) => Array.from(values, Math.abs))) * .6
    const shown = [row_([make('b', { translate: false }, run.named[i]), ` · ${c + 1}`], make('b', { className: 'result' }, two(result[c]))), ...rows.map(([name, values]) => strip(name, values, undefined, top, 'long'))]
    if (parts.length === 2) shown.push(...arrows(parts, sum))
    shown.push(row_('', `${parts.map(([, values], k) => k ? `${values[c] < 0 ? '−' : '+'} ${two(Math.abs(values[c]))}` : two(values[c])).join(' ')}${parts.length > 1 ? ` = ${two(sum[c])}` : ''}`))
    if (normed) {
      const { mean, deviation } = run.normed(last, sum), [gain, shift] = run.trained(role, layer)
      const less = Math.abs(mean) < .005 || last.function === 'rms' ? two(sum[c]) : `(${two(sum[c])} ${mean < 0 ? '+' : '−'} ${two(Math.abs(mean))})`
      shown.push(row_('', `${less} ÷ ${two(deviation)} · ${two(gain[c])}${shift ? ` ${shift[c] < 0 ? '−' : '+'} ${two(Math.abs(shift[c]))}` : ''} = ${two(result[c])}`))
    }
    return shown
  }

  /* How a row of the stream is written: by its picture's symbol, or as what the embedding adds. */
  const symbolOf = role => { const node = make('i', { className: 'symbol' }); symbol(node, run.pictures.find(one => one.role === role)?.symbol ?? role, place.layer); return node }
  const termOf = (name, layer) => run.pictures.some(one => one.role === name) ? symbolOf(layer ? name : name === 'x' ? 'x0' : name)
    : name.includes('ffn') || name === 'scale_2' ? 'FFN' : name === 'scale_1' ? symbolOf('a') : words[name.includes('position') ? 'position' : name.includes('segment') ? 'segment' : 'embedding']

  /* Two rows and their sum as arrows, in the plane in which all three lie: lengths and angles are true. */
  function arrows([[name, one], [other, more]], sum) {
    const length = values => Math.sqrt(dot(values, values)), x = length(one), s = length(sum), along = dot(more, one) / (x || 1), up = Math.sqrt(Math.max(0, dot(more, more) - along ** 2))
    const left = Math.min(0, x + along), right = Math.max(x, x + along, 1e-9), u = Math.min(150 / (right - left), 62 / (up || 1e-9)), base = 8 + up * u
    const box = make('div', { className: 'arrows' }), pen = draw(box, 'svg', { viewBox: `0 0 170 ${base + 20}`, role: 'img', 'aria-label': plain(words.arrows, { one: two(x), more: two(length(more)), sum: two(s) }) })
    const at = (a, b) => [8 + (a - left) * u, base - b * u], put = (from, to, kind) => draw(pen, 'path', { d: `M${from}L${to}`, class: kind, 'marker-end': `url(#overview-${kind === 'sum' ? 'out' : kind === 'more' ? 'values' : 'way'})` })
    put(at(0, 0), at(x, 0), 'one')
    put(at(x, 0), at(x + along, up), 'more')
    put(at(0, 0), at(x + along, up), 'sum')
    return [box, row_([name.cloneNode?.(true) ?? name, ` ${two(x)}`], [other.cloneNode?.(true) ?? other, ` ${two(length(more))}`], `Σ ${two(s)}`)]
  }

  // -- Play -----------------------------------------------------------------------------------------------------------

  const STEP = 2400, LAYER = 430  // ms

  function steps() {
    const i = place.token, [key, value] = run.strongest(place.layer, place.head, i), { sizes, answers } = run
    const bars = barsAt(i), [name, share] = bars?.reduce((best, bar) => bar[1] > best[1] ? bar : best) ?? ['', 0]
    const first = run.normFirst ? '_first' : ''
    const patch = run.drawing && run.drawing.side > 1 ? run.patch : 0
    const about = { ...sizes, layer: place.layer + 1, query: run.named[i], key: run.named[key], value: decimal(value), patch }
    const position = run.positions ? '_position' : ''
    const kind = !bars ? 'none' : answers.kind === 'word' || answers.kind === 'tag' ? 'word' : 'class'
    return [
      [['labels'], words[run.drawing ? run.n > 1 ? 'film_patch' : 'film_image' : 'film_word']],
      [['x0'], words[`film_embedding${position}`]],
      [['x'], words.film_input],
      [['q', 'k'], words.film_query],
      [['s'], words.film_scores],
      [['w'], words.film_weights],
      [['heads'], words[sizes.heads > 1 ? 'film_heads' : 'film_head']],
      [['w', 'v'], words.film_values],
      [['a', 'n1'], words[`film_mixed${first}`]],
      [['h', 'n2'], words[`film_neurons${first}`]],
      [['layers'], words[sizes.layers > 1 ? 'film_layers' : 'film_layer']],
      [['answer'], words[`film_answer_${kind}`], { name, value: decimal(share) }],
    ].map(([roles, text, more]) => {
      const changed = roles.some(role => run.changed.includes(`${place.layer}.${role}`) || (role === 'x0' && run.changed.includes('x0')))
      return { roles, text: changed ? words.film_changed : text, values: { ...about, ...more } }
    })
  }

  function boxOf(roles) {
    const own = root.getBoundingClientRect()
    const boxes = roles.map(role => role === 'labels' ? nodes.labels[0].find(Boolean) && at.bands[0] && { x: at.bands[0].x, y: at.bands[0].y, w: at.bands[0].w, h: at.row * run.n }
      : role === 'answer' ? rectIn(nodes.bars, own) : role === 'heads' ? rectIn(nodes.heads[0].closest('.thumbs'), own)
        : role === 'layers' ? at.frame ?? rectIn(nodes.head, own) : at.pics[role])
    const x = Math.min(...boxes.map(box => box.x)), y = Math.min(...boxes.map(box => box.y))
    return { x: x - 6, y: y - 6, w: Math.max(...boxes.map(box => box.x + box.w)) - x + 12, h: Math.max(...boxes.map(box => box.y + box.h)) - y + 12 }
  }
  const rectIn = (node, own) => {
    const box = node.getBoundingClientRect()
    return { x: box.left - own.left, y: box.top - own.top, w: box.width, h: box.height }
  }

  async function play(from = 0) {
    if (opened) show()
    if (run.differs) return  // it tells how one run was computed
    const me = film = { from: place.layer, wake: () => {} }
    hover = undefined
    root.classList.add('playing')
    light()
    nodes.play.textContent = `❚❚ ${words.stop}`
    for (let k = from; k < 12 && film === me; k = film?.jump ?? k + 1) {
      if (film.jump !== undefined) film.jump = undefined
      film.at = k
      const one = steps()[k]
      nodes.text.replaceChildren(...said(one.text, one.values))
      nodes.text.setAttribute('aria-live', 'polite')
      nodes.ticks.forEach((tick, j) => {
        tick.classList.toggle('done', j <= k)
        tick.toggleAttribute('aria-current', j === k)
      })
      const all = one.roles[0] === 'layers'
      for (const node of root.querySelectorAll(':scope > [data-role]')) node.classList.toggle('off', !all && !one.roles.includes(node.dataset.role))
      nodes.fanGroup.classList.toggle('off', !all && !one.roles.includes('v'))
      nodes.glow.hidden = false
      put(nodes.glow, boxOf(one.roles))
      if (!at.frame) nodes.glow.scrollIntoView({ block: 'center', behavior: 'smooth' })
      if (all)
        for (let layer = 0; layer < run.sizes.layers && film === me && film.jump === undefined; layer++) {
          if (run.map('w', layer, place.head)) { place.layer = layer; step() }
          await pause(LAYER)
        }
      else await pause(STEP)
      if (film === me && all) { place.layer = me.from; step() }
    }
    if (film !== me) return
    await pause(1200)
    if (film === me) stop()
  }
  const pause = ms => new Promise(done => {
    const timer = setTimeout(done, ms)
    if (film) film.wake = () => { clearTimeout(timer); done() }
  })

  function stop() {
    if (!film) return
    const { from, wake } = film
    film = undefined
    wake()
    root.classList.remove('playing')
    for (const node of root.querySelectorAll('.off')) node.classList.remove('off')
    nodes.glow.hidden = true
    nodes.text.removeAttribute('aria-live')
    nodes.play.textContent = `▶ ${words.play}`
    if (from !== place.layer) { place.layer = from; step() } else read()
  }

  function buildSay() {
    nodes.play = make('button', { type: 'button', className: 'play', textContent: `▶ ${words.play}`, onclick: () => film ? stop() : play() })
    nodes.ticks = Array.from({ length: 12 }, (_, k) => make('button', {
      type: 'button', className: 'tick', ariaLabel: plain(words.step, { step: k + 1, steps: 12 }), tabIndex: -1,
      onclick: () => { if (film) { film.jump = k; film.wake() } else play(k) },
    }))
    nodes.text = make('p', {})
    const player = run.differs ? [] : [nodes.play, make('span', { className: 'ticks' }, ...nodes.ticks)]
    const say = root.appendChild(make('div', { className: 'say' }, ...player, nodes.text))
    say.before(make('div', { style: `height: ${at.say}px` }))  // it sticks to the end of the screen, and so stands in the flow
    film = undefined
    root.classList.remove('playing')
  }

  // -- what the reader does -------------------------------------------------------------------------------------------

  /* Another place: shown now, told later. */
  function go(wanted, quietly = false) {
    const before = JSON.stringify(place), { layer, head } = place
    if (film && !quietly) stop()
    Object.assign(place, wanted)
    fit()
    hover = undefined
    if (opened && opened !== 'k' && opened !== 'v') cell.row = place.token
    if (JSON.stringify(place) === before) return light()
    if (place.layer !== layer || place.head !== head) step()
    else light()
    remeasure()
    if (!quietly && on.place) {
      clearTimeout(told)
      told = setTimeout(() => on.place({ ...place }), run.map('w', place.layer, 0) ? 600 : 0)
    }
  }

  const open = (role, more) => {
    clearTimeout(told)
    on.open?.(role, { ...place, ...more })
  }

  function cellAt(event) {
    const node = event.target.closest?.('.pic')
    if (!node) return
    const { role } = node.dataset, map = run.map(role, place.layer, place.head)
    if (!map) return
    const i = clamp(Math.floor(event.offsetY / node.clientHeight * run.n), 0, run.n - 1), wide = node.firstChild.width
    const x = clamp(Math.floor(event.offsetX / node.clientWidth * wide), 0, wide - 1)
    const from = Math.floor(x * map.columns / wide), to = Math.max(from + 1, Math.floor((x + 1) * map.columns / wide))
    let j = from
    for (let k = from; k < to; k++) if (Math.abs(map.numbers[i * map.columns + k]) > Math.abs(map.numbers[i * map.columns + j])) j = k
    const number = map.numbers[i * map.columns + j], value = number === map.hidden ? -Infinity : (number + map.middle) * map.scale
    return { role, row: i, column: j, across: Math.floor(event.offsetX / node.clientWidth * map.columns), value, first: from * map.together + 1, last: Math.min(to * map.together, map.of), of: map.of }
  }

  function tell({ role, row: i, column, value, first, last, of }) {
    if (SQUARE.includes(role)) {
      const about = { query: run.named[i], key: run.named[column], value: number(value) }
      return said(words[run.differs ? 'cell_score' : value === -Infinity ? 'cell_hidden' : role === 'w' ? 'cell_weight' : 'cell_score'], about)
    }
    const kind = `cell${role === 'h' ? '_neuron' : ''}${last > first ? '_pooled' : ''}`
    return said(words[kind], { token: run.named[i], number: first, first, last, of, value: number(value) })
  }

  root.addEventListener('pointermove', event => {
    if (event.pointerType === 'touch') return
    const label = event.target.closest?.('.label'), told = label ? undefined : cellAt(event)
    const inside = told && opened && told.role === opened && event.target === nodes.big
    if (!film && !event.target.closest?.('.square-box, .panel')) {
      hover = label && !at.drawing ? Number(label.dataset.row) : told?.row
      point(inside ? told : undefined)
    }
    const cell = told, tells = cell && !inside && !(run.differs && cell.value === -Infinity)  // nothing stands in its place there
    nodes.tip.classList.toggle('seen', Boolean(tells))
    if (!tells) return
    nodes.tip.replaceChildren(...tell(cell))
    const pic = at.pics[cell.role], x = pic.x + event.offsetX, y = pic.y + event.offsetY
    nodes.tip.style.transform = `translate(${clamp(x + 14, 0, Math.max(0, at.width - 260))}px, ${Math.max(0, y - 44)}px)`
  }, { signal })
  root.addEventListener('pointerleave', () => {
    hover = undefined
    nodes.tip?.classList.remove('seen')
    point()
  }, { signal })
  /* The cell of the opened picture that is pointed at; without one, that which was chosen. */
  const point = found => {
    const before = over
    over = found && { row: found.row, column: found.across }
    const { key } = shown
    light()
    if (opened && shown.key === key && JSON.stringify(over) !== JSON.stringify(before)) explain()
  }
  let touched
  root.addEventListener('pointerdown', event => { touched = event.pointerType === 'touch' }, { signal })
  root.addEventListener('click', event => {
    const title = event.target.closest('.title, .answer-title, .bars'), found = cellAt(event), role = title?.dataset.role
    if (event.target.closest('button, a')) return
    if (found && found.role === opened && event.target === nodes.big) return choose({ row: found.row, column: found.across })
    if (found) {
      if (found.role !== 'k' && found.role !== 'v') go({ token: found.row })
      return show(found.role, { row: found.row, column: found.across })
    }
    if (role) show(role === opened ? undefined : role)
    else if (title) open('answer', {})
  }, { signal })
  /* Another cell of the opened picture; of all but keys and values its row is the chosen token's. */
  const choose = wanted => {
    const map = run.map(opened, place.layer, place.head)
    cell = { row: clamp(wanted.row, 0, run.n - 1), column: clamp(wanted.column, 0, (map?.columns ?? 1) - 1) }
    over = undefined
    if (opened !== 'k' && opened !== 'v' && place.token !== cell.row) go({ token: cell.row })
    else explain()
  }
  document.addEventListener('keydown', event => {
    const from = event.composedPath()[0]
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !root.isConnected || !at) return
    if (from.closest?.('input, textarea, select, [contenteditable], [role=dialog], [role=listbox], [role=radiogroup], [role=slider]')) return
    const by = { ArrowLeft: { head: place.head - 1 }, ArrowRight: { head: place.head + 1 }, ArrowUp: { layer: place.layer - 1 }, ArrowDown: { layer: place.layer + 1 } }
    const tokens = { ArrowUp: { token: place.token - 1 }, ArrowDown: { token: place.token + 1 } }
    const walks = opened && from === nodes.big && !event.shiftKey, { row: i, column } = cell
    const cells = { ArrowLeft: { row: i, column: column - 1 }, ArrowRight: { row: i, column: column + 1 }, ArrowUp: { row: i - 1, column }, ArrowDown: { row: i + 1, column } }
    const wanted = event.shiftKey && !(opened && from === nodes.big) ? tokens[event.key] : by[event.key], picture = from.closest?.('.pic, .title, .answer-title')
    if (walks && cells[event.key]) choose(cells[event.key])
    else if (event.key === 'Escape' && opened) show()
    else if (wanted) go(wanted)
    else if (event.key === ' ' && !from.closest?.('button, a, summary, [role=button]')) film ? stop() : play()
    else if (event.key === 'Enter' && picture && root.contains(picture)) picture.dataset.role && picture.dataset.role !== 'answer' ? show(picture.dataset.role) : open('answer', {})
    else if (event.key === 'Enter' && from.classList?.contains('more')) from.click()
    else return
    event.preventDefault()
  }, { signal })
  document.addEventListener('overview:point', ({ detail }) => {
    if (film || !at) return
    hover = detail.row < run.n ? detail.row : undefined
    light()
  }, { signal })

  document.addEventListener('overview:moved', () => requestAnimationFrame(() => {
    if (at?.frame && Math.abs(topOf(root) - at.from) > 3) { stop(); build() }
  }), { signal })

  let width = 0, height = 0
  const size = new ResizeObserver(() => {
    if (!root.clientWidth || (root.clientWidth === width && innerHeight === height)) return
    ;[width, height] = [root.clientWidth, innerHeight]
    measured = {}
    stop()
    build()
  })
  size.observe(root)
  addEventListener('resize', () => { if (root.clientWidth && innerHeight !== height) { height = innerHeight; stop(); build() } }, { signal })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { if (root.clientWidth) build() }, { signal })
  if (root.clientWidth) {
    ;[width, height] = [root.clientWidth, innerHeight]
    build()
  }
  document.fonts?.ready.then(() => { if (document.fonts.size && root.clientWidth && !film) build() })

  return {
    show(next) {
      stop()
      run = next
      ;({ words, notes } = run)
      measured = {}
      if (root.clientWidth) build()
    },
    /* Rows that on.need asked for, in a message like that of the run; those of another run are left. */
    learn(message) {
      const [about, ...numbers] = apart(message)
      if (about.id !== run.id) return
      run.learn(about, ...numbers)
      if (opened && at) { fillCells(); explain() }
    },
    go: wanted => { if (at) go(wanted, true); else Object.assign(place, wanted) },
    again: () => { if (root.clientWidth) build() },
    place,
    leave() {
      listening.abort()
      size.disconnect()
      film = undefined
    },
  }
}

/* How bright a colour is, from 0 to 1. */
function luminous(colour) {
  const pen = make('canvas', { width: 1, height: 1 }).getContext('2d')
  pen.fillStyle = colour.trim()
  pen.fillRect(0, 0, 1, 1)
  const [r, g, b] = pen.getImageData(0, 0, 1, 1).data
  return (r + g + b) / 765
}
