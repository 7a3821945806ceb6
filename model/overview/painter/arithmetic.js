/* The arithmetic of one cell of an opened picture, drawn from recorded rows. */
import { paint } from './colours.js'
import { draw, make } from './nodes.js'
import { dot } from './run.js'
import { decimal, gives, hundredths, plain, said, short, symbol, two } from './words.js'

const line = (kind, ...parts) => make('p', { className: kind }, ...parts)
const sides = (...parts) => make('p', { className: 'sides' }, ...parts.map(part => make('span', {}, ...[part].flat())))
const name = (kind, ...parts) => make(kind, { translate: false }, ...parts)
const result = value => make('b', { className: 'result' }, value)
const plus = value => `${value < 0 ? '−' : '+'} ${two(Math.abs(value))}`
const furthest = values => Math.max(1e-9, ...values.map(Math.abs))
/* Terms of a sum as bars, each beginning where the one before ended: [from, to, kind]. */
const stairs = (parts, sum = 0) => parts.map(part => [sum, sum += part, part < 0 ? 'falls' : 'rises'])
/* Concatenate lists; undefined if one is missing. */
const all = (...parts) => parts.includes(undefined) ? undefined : parts.flat()

/* Nodes that explain the cell in row i and column j of the opened picture; undefined while rows are missing. A row
   of keys or values is combined with the chosen token's query. go(place): another head was chosen; told: a sentence
   with the cell's number; spare: canvases to reuse. */
export function arithmetic({ run, place: { layer, head, token }, opened, theme, go, told, spare }, i, j) {
  const { words } = run, tokenOf = k => name('b', run.named[k]), row = (name, i) => run.exact(name, layer, head, i)
  const pair = (i, j, value) => sides([tokenOf(i), ' → ', tokenOf(j)], result(value))
  const weightOf = (i, j) => { const weights = row('w', i); return weights ? decimal(weights[j]) : '' }
  const score = (i, j) => { const met = meeting(i, j); return all(met && pair(i, j, two(row('s', i)[j])), met, shares(i, j)) }
  switch (opened) {
    case 's': return score(i, j)
    case 'q': return all(told, score(i, run.strongest(layer, head, i)[0]))
    case 'k': return all(told, score(token, i))
    case 'w': return all(pair(i, j, weightOf(i, j)), meeting(i, j), shares(i, j), taken(i, j, 1))
    case 'v': return all(told, shares(token, i), taken(token, i, 6), product(i, j))
    case 'a': return mixed()
    case 'h': return neurons()
    default: return stream()
  }

  /* A row as a named strip of colours. */
  function strip(name, values, { order = [...values.keys()], top = furthest(values), kind = '' } = {}) {
    const canvas = spare.shift() ?? make('canvas'), numbers = Float32Array.from(order, c => values[c])
    paint(canvas, { numbers, rows: 1, columns: numbers.length, scale: 1, middle: 0, hidden: -Infinity, top }, 512, theme)
    return make('div', { className: 'strip' }, make('span', { className: `name ${kind}` }, ...[name].flat()), canvas)
  }

  /* Query times key: the products, their sum, and each step up to the score. */
  function meeting(i, j) {
    const steps = []
    for (let name = 's', step; steps[0]?.operation !== 'scores' && (step = run.step(name, layer)); name = step.reads[0]) steps.unshift({ name, ...step })
    if (steps[0]?.operation !== 'scores') return
    const [asks, offers] = steps[0].reads, q = row(asks, i), k = row(offers, j), values = steps.map(({ name }) => row(name, i)?.[j])
    if (!q || !k || values.includes(undefined)) return
    const products = Array.from(q, (value, c) => value * k[c]), order = [...products.keys()].sort((a, b) => products[b] - products[a])
    const top = furthest([...q, ...k]), turned = asks === 'q' ? '' : '\u0303', letter = kind => make('i', { className: kind }, kind + turned)
    const then = {
      scores: value => sides('', make('b', {}, `q${turned} · k${turned} = ${two(value)}`)),
      scale: (value, before, { factor }) => sides('', `${factor < 1 ? '÷' : '×'} √${Math.round(factor < 1 ? factor ** -2 : factor ** 2)} ${gives(hundredths(before) * factor, value)}`),
      biased: (value, before) => sides('', `${plus(value - before)} ${gives(hundredths(before) + hundredths(value - before), value)}`),
      mask: value => value === -Infinity ? line('quiet', ...said(words.cell_hidden, { query: run.named[i], key: run.named[j] })) : [],
    }
    return [strip(letter('q'), q, { order, top }), strip(letter('k'), k, { order, top }), columns('stairs', stairs(order.map(c => products[c]))),
      ...steps.flatMap((step, at) => then[step.operation]?.(values[at], values[at - 1], step) ?? [])]
  }

  /* The row of softmax, with the chosen key highlighted. */
  function shares(i, j) {
    const weights = row('w', i)
    if (!weights) return
    const bars = Array.from(weights, (weight, k) => [0, weight, k === j ? 'on' : ''])
    return [columns('shares', bars), sides(words.softmax_row, make('b', {}, decimal(weights[j])))]
  }

  /* A query's strongest weighted values and the chosen one, and the sum of all: the head's output. */
  function taken(i, j, most) {
    const weights = row('w', i), found = row('heads', i), values = weights && Array.from(weights, (_, k) => row('v', k))
    if (!found || values.includes(undefined)) return
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, most - 1)
    if (!order.includes(j)) order.push(j)
    const parts = order.map(k => values[k].map(value => value * weights[k]))
    const about = { top: furthest([...found, ...parts.flatMap(part => [...part])]), kind: most > 2 ? 'long' : '' }
    const called = k => [make('small', {}, short(weights[k], true) || '.00'), make('i', { className: 'v' }, ' v'),
      ...most > 2 ? [Object.assign(name('small', ` ${run.tokens[k]}`), { className: k === j ? 'on' : '' })] : []]
    return [...order.map((k, at) => strip(called(k), parts[at], about)), strip('Σ', found, about),
      line('quiet', plain(words.head_writes, { head: head + 1, token: run.tokens[i] }))]
  }

  /* One component of a weighted value, as a term of the head's output. */
  function product(i, c) {
    const weights = row('w', token), value = row('v', i), found = row('heads', token)
    if (!weights || !value || !found) return
    const product = `${decimal(weights[i])} · ${two(value[c])}`
    return [sides('', run.n > 1 ? `… + ${product} + … = ${two(found[c])}` : `${product} ${gives(weights[i] * hundredths(value[c]), found[c])}`)]
  }

  /* Contribution of each head to attention's output for a token, in the direction of that output. */
  function mixed() {
    const parts = run.held('parts', layer, 0, i), { heads } = run.sizes
    if (!parts) return
    const order = [...parts.keys()].sort((a, b) => parts[b] - parts[a]).slice(0, 16)
    return [...told, line('', ...said(words.parts, { token: run.named[i] })),
      bars('', order.map(h => [h < heads ? plain(words.head_number, { head: h + 1 }) : 'b_O', parts[h], h === head, { onclick: () => { if (h < heads) go({ head: h }) } }])),
      sides(words.length, make('b', {}, gives(order.reduce((all, h) => all + hundredths(parts[h]), 0), parts.reduce((a, b) => a + b, 0))))]
  }

  /* Strongest neurons of a token, with the words they point to. If several share a column, the strongest is chosen. */
  function neurons() {
    const loud = run.neurons?.[`${layer}.${i}`]
    if (!loud) return
    const { together } = run.map('h', layer, head), first = j * together, one = loud.find(([neuron]) => neuron >= first && neuron < first + together)
    return [line('', ...said(words.loudest, { token: run.named[i] })),
      bars('neurons', loud.map(part => {
        const [neuron, value, , names] = part, title = names.join(', ')
        return [title || `#${neuron + 1}`, value, part === one, { title }]
      })),
      ...one ? [sides(plain(words.neuron_number, { neuron: one[0] + 1 }), `${run.step('h', layer)?.function ? `${two(one[2])} → ` : ''}${two(one[1])}`)] : told]
  }

  /* A row of the residual stream: the terms of its sum, and LayerNorm. */
  function stream() {
    let [role, at] = opened === 'x0' ? ['x', 0] : [opened, layer]
    if (role === 'x' && at) [role, at] = ['n2', at - 1]
    const held = run.map(opened, layer, head), c = Math.min(j * held.together, held.of - 1)
    const last = run.step(role, at), norm = last?.operation === 'norm', read = norm ? last.reads[0] : role, added = run.step(read, at)
    const made = run.exact(role, at, 0, i), sum = run.exact(read, at, 0, i), [gain, shift] = norm ? run.trained(role, at) : [1]
    if (!last) return made && [sides(words.row_itself, two(made[c]))]
    const parts = (added?.operation === 'add' ? added.reads : [read]).map(part => [termOf(part, at), run.exact(part, at, 0, i)])
    if (!made || !sum || !gain || parts.some(([, values]) => !values)) return
    const rows = [...parts, ...parts.length > 1 && norm ? [['Σ', sum]] : [], [symbolOf(opened), made]]
    const about = { top: furthest(rows.flatMap(([, values]) => [...values])) * .6, kind: 'long' }
    const lines = [parts.map(([, values], k) => k ? plus(values[c]) : two(values[c])).join(' ') + (parts.length > 1 ? ` ${gives(parts.reduce((all, [, values]) => all + hundredths(values[c]), 0), sum[c])}` : '')]
    if (norm) {
      const { mean, deviation } = run.normed(last, sum), centred = Math.abs(mean) < .005 || last.function === 'rms' ? two(sum[c]) : `(${two(sum[c])} ${plus(-mean)})`
      const whole = (hundredths(sum[c]) - hundredths(mean)) / hundredths(deviation) * hundredths(gain[c]) + hundredths(shift?.[c] ?? 0)
      lines.push(`${centred} ÷ ${two(deviation)} · ${two(gain[c])}${shift ? ` ${plus(shift[c])}` : ''} ${gives(whole, made[c])}`)
    }
    return [sides([tokenOf(i), ` · ${c + 1}`], result(two(made[c]))), ...rows.map(([name, values]) => strip(name, values, about)),
      ...parts.length === 2 ? arrows(parts, sum, words) : [], ...lines.map(text => sides('', text))]
  }

  /* A row's name: the symbol of its picture; `termOf` also names terms without a picture. */
  function symbolOf(role) {
    const node = make('i', { className: 'symbol' })
    symbol(node, run.pictures.find(one => one.role === role)?.symbol ?? role, layer)
    return node
  }
  function termOf(name, at) {
    if (run.pictures.some(one => one.role === name)) return symbolOf(name === 'x' && !at ? 'x0' : name)
    if (name.includes('ffn') || name === 'scale_2') return 'FFN'
    return name === 'scale_1' ? symbolOf('a') : words[name.includes('position') ? 'position' : name.includes('segment') ? 'segment' : 'embedding']
  }
}

/* Horizontal bars: [name, value, chosen, further properties of the node]. */
function bars(kind, parts) {
  const top = furthest(parts.map(([, value]) => value))
  return make('div', { className: `parts ${kind}` }, ...parts.map(([name, value, on, more]) => make('div', { className: `part ${on ? 'on' : ''}`, ...more },
    make('span', { translate: kind !== 'neurons' }, name), make('i', { className: value < 0 ? 'falls' : 'rises', style: `width: ${Math.abs(value) / top * 100}%` }), make('span', {}, two(value)))))
}

/* Vertical bars [from, to, kind], in one path per kind: a node for each bar would be slow to lay out. */
function columns(name, bars) {
  const ends = bars.flatMap(([from, to]) => [from, to]), low = Math.min(0, ...ends), high = Math.max(...ends), wide = bars.length
  const box = make('div', { className: `columns ${name}`, ariaHidden: 'true' }), pen = draw(box, 'svg', { viewBox: `0 0 ${wide} 100`, preserveAspectRatio: 'none' })
  const y = value => (high - value) / (high - low || 1) * 98 + 1
  const bar = ([from, to], k) => `M${k + .05} ${y(from)}h.9V${y(to)}h-.9z`
  for (const kind of new Set(bars.map(bar => bar[2])))
    draw(pen, 'path', { class: kind, d: bars.map((one, k) => one[2] === kind ? bar(one, k) : '').join('') })
  draw(pen, 'path', { class: 'zero', d: `M0 ${y(0)}H${wide}` })
  return box
}

/* Two rows and their sum as arrows in the plane that they span, with true lengths and angles. */
function arrows([[name, one], [other, more]], sum, words) {
  const [x, m, s] = [one, more, sum].map(values => Math.sqrt(dot(values, values))), along = dot(more, one) / (x || 1), up = Math.sqrt(Math.max(0, m ** 2 - along ** 2))
  const left = Math.min(0, x + along), right = Math.max(x, x + along, 1e-9), unit = Math.min(150 / (right - left), 62 / (up || 1e-9)), base = 8 + up * unit
  const label = plain(words.arrows, { one: two(x), more: two(m), sum: two(s) })
  const box = make('div', { className: 'arrows' }), pen = draw(box, 'svg', { viewBox: `0 0 170 ${base + 20}`, role: 'img', 'aria-label': label })
  const at = (a, b) => [8 + (a - left) * unit, base - b * unit]
  const arrow = (from, to, kind, tip) => draw(pen, 'path', { d: `M${from}L${to}`, class: kind, 'marker-end': `url(#overview-${tip})` })
  arrow(at(0, 0), at(x, 0), 'one', 'way')
  arrow(at(x, 0), at(x + along, up), 'more', 'values')
  arrow(at(0, 0), at(x + along, up), 'sum', 'out')
  const copy = node => node.cloneNode?.(true) ?? node
  return [box, sides([copy(name), ` ${two(x)}`], [copy(other), ` ${two(m)}`], `Σ ${two(s)}`)]
}
