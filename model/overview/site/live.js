/* A run computed in this page: the painter reads the engine's tensors directly. */
import { Run, decimal, plain } from './painter.js'

/* like: a recorded run of the same network, for all that no input changes; it holds `keys`, role -> the key of each
   layer, and `limits`. values: key -> {data, dims}. names: of the logits. more: asked, tokens of the logit lens;
   right, token -> true word; off, heads switched off, "layer.head"; pixels of a drawing; words; notes. */
export class Live extends Run {
  constructor(like, { tokens, values }, names, { asked = [], right = {}, off = [], pixels, ...more }) {
    const n = tokens.length, arrays = {}, { limits } = like
    for (const [role, keys] of Object.entries(like.keys)) {
      const [heads, rows, columns] = values[keys[0]].dims.length > 3 ? values[keys[0]].dims.slice(1) : [1, ...values[keys[0]].dims.slice(1)]
      let top
      arrays[role] = {
        heads, rows, columns, of: columns, together: 1, keys, share: role === 'w',
        get top() { return top ??= role === 'w' ? bright(keys.map(key => values[key].data), n, limits) : usual(keys.map(key => values[key]), limits) },
      }
    }
    const special = [...tokens.keys()].filter(i => tokens[i].startsWith('[') && tokens[i].endsWith(']'))
    const pictures = like.pictures.map(one => ({ ...one, shape: `${n} × ${arrays[one.role === 'x' ? 'x0' : one.role].of}` }))
    const drawing = pixels && { ...like.drawing, pixels: btoa(String.fromCharCode(...pixels)) }
    const changed = [...new Set([...off].map(head => `${head.split('.')[0]}.a`))]
    super({ ...like, tokens, special, pictures, arrays, changed, off, ...drawing && { drawing }, sizes: { ...like.sizes, n }, unseen: 0, ...more, blocks: [] })
    Object.assign(this, { values, blocks: like.blocks })
    this.answers = answers(like, values, names, asked, right)
  }

  numbers({ keys, share }, layer, place, size) {
    return { numbers: this.values[keys[layer]].data.subarray(place * size, (place + 1) * size), scale: 1, digits: 2, hidden: -Infinity, middle: 0, share }
  }

  /* A row for the arithmetic of an opened picture; the engine returns all quantities that it reads. */
  held(name, layer, head, row) {
    const held = super.held(name, layer, head, row), value = this.values[`layers.${layer}.${name === 'heads' ? 'attention.heads' : name}`] ?? this.values[name]
    if (held || !value) return held
    const { data, dims } = value, columns = dims.at(-1), at = (dims.length > 3 ? head * dims[2] : 0) + row
    return data.subarray(at * columns, (at + 1) * columns)
  }

  /* The output of a head that is off is no weighted sum. */
  step(name, layer) {
    return name === 'heads' && this.off.some(at => at.startsWith(`${layer}.`)) ? undefined : super.step(name, layer)
  }

  strongest(layer, head, row) {
    const { numbers, columns } = this.map('w', layer, head), weights = numbers.subarray(row * columns, (row + 1) * columns)
    const key = weights.reduce((best, weight, j) => weight > weights[best] ? j : best, 0)
    return [key, weights[key], weights.filter(weight => decimal(weight) === decimal(weights[key])).length]
  }
}

/* Effect of the heads that are off on the answer: token -> sentence; -1 is the whole input. */
export function notes(words, now, before, names) {
  const found = {}
  for (let i = now.dims.length < 3 ? -1 : 0; i < (now.dims.length < 3 ? 0 : now.dims[1]); i++)
    once(found, i, () => moved(words, ...[now, before].map(({ data, dims }) => softmax(rowOf(data, dims, i))), names))
  return found
}

function moved(words, p, q, names) {
  const by = i => Math.abs(p[i] - q[i]), most = p.reduce((best, _, i) => by(i) > by(best) ? i : best, 0)
  const values = { name: names[most], before: decimal(q[most]), after: decimal(p[most]) }
  const level = p.some((_, i) => i !== most && by(i) > by(most) / 2 && decimal(by(i)) === decimal(by(most)))
  return plain(words[values.before === values.after ? 'moved_none' : level ? 'moved_two' : 'moved'], values)
}

// -- asked for beside a run ---------------------------------------------------------------------------------------------

/* Share of the probability at a token that each head, switched off alone, moves: [layer][head]. logits(wish): of a
   run. */
export async function leaning(logits, { sizes: { layers, heads } }, token) {
  const at = async off => { const { data, dims } = await logits({ off }); return softmax(rowOf(data, dims, token)) }
  const before = await at([]), found = []
  for (let layer = 0; layer < layers; layer++) {
    found.push([])
    for (let head = 0; head < heads; head++) found[layer].push((await at([`${layer}.${head}`])).reduce((sum, share, i) => sum + Math.abs(share - before[i]) / 2, 0))
  }
  return found
}

// -- answers ----------------------------------------------------------------------------------------------------------

function answers({ answers: { kind, reads }, limits }, { logits, lens }, names, asked, right) {
  if (kind !== 'word') return { kind, reads, right, rows: { [-1]: bars(logits.data, names, names.length, false) }, lens: { [-1]: layers(lens, 0, 1).map(row => bars(row, names, names.length, false)) } }
  const rows = {}
  for (let i = 0; i < logits.dims[1]; i++) once(rows, i, () => bars(rowOf(logits.data, logits.dims, i), names, limits.bars))
  return { kind, reads, right, rows, lens: Object.fromEntries(asked.map((token, j) => [token, layers(lens, j, asked.length).map(row => bars(row, names, limits.lens))])) }
}

const rowOf = (data, dims, token) => dims.length < 3 ? data : data.subarray(token * dims[2], (token + 1) * dims[2])

/* Logits after each layer, at one of the tokens asked about. */
function layers({ data, dims }, place, asked) {
  const size = dims.at(-1)
  return Array.from({ length: dims[0] }, (_, layer) => data.subarray((layer * asked + place) * size, (layer * asked + place + 1) * size))
}

/* The most likely names with their probabilities; if not ranked, all in order. */
function bars(logits, names, most, ranked = true) {
  const shares = softmax(logits), places = []
  if (!ranked) return names.map((name, i) => [name, shares[i]])
  for (let i = 0; i < shares.length; i++) {
    if (places.length === most && shares[i] <= shares[places.at(-1)]) continue
    places.splice(places.findLastIndex(place => shares[place] >= shares[i]) + 1, 0, i)
    if (places.length > most) places.pop()
  }
  return places.map(i => [names[i], shares[i]])
}

/* Loops, because the vocabulary is long and this runs for each token at each keystroke. */
function softmax(logits) {
  const shares = new Float64Array(logits.length)
  let most = -Infinity, sum = 0
  for (const logit of logits) if (logit > most) most = logit
  for (let i = 0; i < shares.length; i++) sum += shares[i] = Math.exp(logits[i] - most)
  for (let i = 0; i < shares.length; i++) shares[i] /= sum
  return shares
}

/* Define a property that is computed when it is first read. */
function once(object, name, compute) {
  let value
  Object.defineProperty(object, name, { enumerable: true, get: () => value ??= compute() })
}

// -- how far the colours reach ----------------------------------------------------------------------------------------

/* The weight at the bright end of the colour scale, as in packing.py. */
function bright(layers, n, { many }) {
  if (n <= many) return 1
  return Math.max(...layers.map(weights => Math.min(1, Math.max(.1, Math.ceil(10 * quantile(weights, .998)) / 10))))
}

/* End of the colour scale: the 99.5 % quantile of absolute values, pooled over neighbours, as in packing.py. */
function usual(layers, { columns: most }) {
  return Math.max(...layers.map(({ data, dims }) => {
    const columns = dims.at(-1), together = Math.ceil(columns / most), blocks = Math.ceil(columns / together)
    const sizes = new Float32Array(data.length / columns * blocks)
    for (let i = 0, from = 0; i < data.length; from += blocks)
      for (let column = 0; column < columns; column++, i++) {
        const size = Math.abs(data[i]), at = together === 1 ? i : from + (column / together | 0)
        if (size > sizes[at] && size < Infinity) sizes[at] = size
      }
    return quantile(sizes, .995) || 1e-6
  }))
}

/* Quantile of non-negative numbers, interpolated as in NumPy. Their bits sort like them, so only those near the top
   are sorted. */
function quantile(numbers, share) {
  const bits = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length), counts = new Uint32Array(4096)
  for (let i = 0; i < bits.length; i++) counts[bits[i] >>> 20]++
  const place = share * (numbers.length - 1), low = Math.floor(place), wanted = numbers.length - low
  let bucket = counts.length, found = 0
  while (found < wanted) found += counts[--bucket]
  const highest = new Float32Array(found)
  for (let i = 0; found; i++) if (bits[i] >>> 20 >= bucket) highest[--found] = numbers[i]
  const [one, next = one] = highest.sort().subarray(highest.length - wanted)
  return one + (place - low) * (next - one)
}
