/* A run: the numbers that were sent, and what is computed from them. */

const KINDS = { u1: Uint8Array, i1: Int8Array, i2: Int16Array, f4: Float32Array }, HIDDEN = { i1: -128, i2: -32768, f4: -Infinity }
export const ORDER = ['x0', 'x', 'q', 'k', 's', 'w', 'v', 'a', 'n1', 'h', 'n2'], SQUARE = ['s', 'w'], BY_HEAD = ['q', 'k', 's', 'w', 'v']

export const dot = (one, other) => one.reduce((sum, value, c) => sum + value * other[c], 0)
export const bytesOf = text => Uint8Array.from(atob(text), sign => sign.charCodeAt())

/* A run from a message: the length of its description in four bytes, the description as JSON, the numbers. */
export const fromBytes = message => new Run(...apart(message))
export function apart(message) {
  const bytes = message.slice(), length = new DataView(bytes.buffer).getUint32(0, true)
  return [JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))), bytes.buffer, 4 + length]
}

/* A run from JSON with the numbers in base64. */
export const fromText = ({ numbers, ...about }) => new Run(about, bytesOf(numbers).buffer, 0)

export class Run {
  constructor(about, buffer, base) {
    Object.assign(this, about, { buffer, base, n: about.tokens.length })
    /* named: tokens as in sentences, with their position if they occur more than once. */
    this.blocks = []
    this.learn(about)
    this.named = this.tokens.map((token, i, all) => all.indexOf(token) === all.lastIndexOf(token) ? token : `${token} (${i})`)
  }

  /* Numbers of a picture: {numbers, scale, digits, middle, hidden, rows, columns, of, together, top, share}. The
     value is (number + middle) · scale, shown with so many digits; `share`: on the colour scale of shares, not of
     signed numbers. undefined if it was not sent. */
  map(role, layer, head) {
    if (role === 'x') [role, layer] = layer ? ['n2', layer - 1] : ['x0', 0]
    if (role === 'x0' || role === 'z') layer = 0
    const array = this.arrays[role], numbers = array && this.numbers(array, layer, array.heads > 1 ? head : 0, array.rows * array.columns)
    return numbers && { ...array, ...numbers }
  }

  /* The numbers of a layer and a head, `size` of them; overridden in Live. */
  numbers(array, layer, place, size) {
    const one = array.layers[layer], Kind = KINDS[one?.kind], share = one?.kind === 'u1'
    if (!one) return
    const numbers = new Kind(this.buffer, this.base + one.at + place * size * Kind.BYTES_PER_ELEMENT, size)
    return { numbers, scale: one.scales[place], digits: one.digits, hidden: HIDDEN[one.kind], middle: share ? .5 : 0, share }
  }

  /* Bars of the answer at a token, without the head that is cut, if any; undefined if it is not read there. */
  bars(token) {
    const { rows } = this.answers, { token: own, answers } = this.without ?? {}
    return this.cut ? (own < 0 || own === token ? answers[this.cut] : undefined) : rows[token] ?? rows[-1]
  }

  /* Logit lens at a token: bars after each layer; undefined if not computed. */
  lens(token) { return this.cut ? undefined : this.answers.lens[this.answers.kind === 'word' ? token : -1] }

  /* Share of the answer's probability that each head, switched off alone, moves: [layer][head]; undefined while
     unknown. */
  leaning(token) { return this.lean[token] ?? this.lean[-1] }

  /* -- the arithmetic of an opened picture: rows as they were recorded ------------------------------------------------ */

  /* Add what arrives later: rows, as blocks [{name, layer, head, row, heads, rows, columns, at}] of float32;
     neurons; lean, token -> see `leaning`. */
  learn({ blocks = [], neurons = {}, lean = {} }, buffer = this.buffer, base = this.base) {
    for (const block of blocks) this.blocks.unshift({ ...block, numbers: new Float32Array(buffer, base + block.at, block.heads * block.rows * block.columns) })
    Object.assign(this.neurons ??= {}, neurons)
    this.lean = { ...this.lean, ...lean }
  }

  /* How graph.py computes a quantity of a layer; undefined if the painter is not to compute it. */
  step(name, layer) {
    let steps = this.steps?.[layer]
    for (let before = layer; !steps && before-- > 0;) steps = this.steps?.[before]
    return steps?.[name]
  }

  /* A recorded row; undefined if it was not sent. name: a picture's role, or a quantity that a step reads. */
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

  /* A row as recorded, or computed from recorded rows; undefined if they were not sent. */
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

  /* The mean that LayerNorm subtracts (0 for RMSNorm) and the deviation that it divides by. */
  normed({ function: kind, eps }, values) {
    const mean = kind === 'rms' ? 0 : values.reduce((a, b) => a + b, 0) / values.length
    return { mean, deviation: Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length + eps) }
  }

  /* The trained vectors of a step: γ and β of a norm. */
  trained = (name, layer) => [0, 1].map(place => this.held(`${name}.${place}`, layer, 0, 0))

  /* Attention weights of a query; the strongest one is exact. */
  weights(layer, head, row) {
    const map = this.map('w', layer, head)
    if (!map) return new Float32Array(this.n)
    const weights = Float32Array.from(map.numbers.subarray(row * this.n, (row + 1) * this.n), number => number === map.hidden ? 0 : (number + map.middle) * map.scale)
    const [key, value] = this.strongest(layer, head, row)
    weights[key] = value
    return weights
  }

  /* [key, weight, ties] of a query: the strongest key, its exact weight, and how many weights are displayed alike. */
  strongest(layer, head, row) {
    const best = this.best[layer]
    if (!best) return [0, 0, 1]
    return [[best.key, Uint16Array], [best.weight, Float32Array], [best.ties, Uint16Array]].map(
      ([at, Kind]) => new Kind(this.buffer, this.base + at)[head * this.n + row])
  }
}
