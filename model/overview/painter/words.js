/* Numbers, symbols and sentences of the overview. */
import { make } from './nodes.js'
import { decimal, fixed } from './numbers.js'
import { BY_HEAD, SQUARE } from './run.js'

export { decimal } from './numbers.js'

const written = (value, digits) => value === -Infinity ? '−∞' : fixed(value, digits).replace(/^-(0(\.0+)?$)?/, (_, none) => none ?? '−')
export const two = value => written(value, 2)
export const signed = (value, digits = 2) => (value > 0 ? '+' : '') + written(value, digits)
/* "=" and a value, or "≈" if the rounded terms give another one. */
export const gives = (made, value) => `${two(made) === two(value) ? '=' : '≈'} ${two(value)}`
export const hundredths = value => Number(fixed(value, 2))

/* The longest bar: {name, value, alone: whether no other is displayed with the same value, level: the names of those}. */
export function ahead(bars) {
  const [name, most] = bars.reduce((best, bar) => bar[1] > best[1] ? bar : best), value = decimal(most)
  const level = bars.filter(bar => decimal(bar[1]) === value).map(([name]) => name)
  return { name, value, alone: level.length < 2, level }
}

/* A sentence as nodes: {name} is filled in; “{name}” is a token, which browsers must not translate. */
export function said(template, values) {
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

/* Separator of two sentences: none after a Chinese full stop. */
export const gap = sentence => sentence.endsWith('。') ? '' : ' '

/* Write a symbol: ^ raises and _ lowers what follows; words are upright, letters italic, Q, K and V coloured. */
export function symbol(node, text, layer) {
  const put = (parent, part) => {
    for (const [letters] of part.matchAll(/[A-Za-z]{2,}|[QKV]\u0303?|./gu)) {
      const own = letters.length > 2 ? 'up' : { Q: 'q', K: 'k', V: 'v' }[letters[0]] ?? (/[A-Za-z′]/.test(letters[0]) ? '' : 'up')
      parent.append(own ? make('span', { className: own, textContent: letters }) : letters)
    }
  }
  const shown = text.replace('{l+1}', `{${layer + 1}}`).replace('{l}', `{${layer}}`)
  if (node.symbol === shown) return
  node.symbol = shown
  node.replaceChildren()
  for (const [, mark, group, one, rest] of shown.matchAll(/([_^])(?:\{([^}]*)\}|(.))|([^_^]+)/g))
    if (rest) put(node, rest.replace(/[{}]/g, ''))
    else node.append(make(mark === '^' ? 'sup' : 'sub', { textContent: group ?? one }))
}

/* A number short enough for a cell: .99, 1, −3.2; empty for a share that rounds to 0. */
export const short = (value, share) => share ? two(value).replace(/^(0\.00|−0\.00)$/, '').replace('0.', '.').replace('1.00', '1')
  : value === -Infinity ? '' : written(value, 1)

export const numberOf = (run, value, digits) => run.differs ? signed(value, digits) : written(value, digits)

/* The template, and its values, of the sentence about the key that a token attends to most. */
export function attends(run, { layer, head }, i) {
  const { words } = run, [key, value, ties] = run.strongest(layer, head, i)
  const values = { ties, layer: layer + 1, head: head + 1, query: run.named[i], key: run.named[key], value: run.differs ? signed(value) : decimal(value) }
  if (run.differs && ties > 1) values.value = two(Math.abs(value))  // of either sign
  if (run.differs) return [words[Number.isNaN(value) ? 'less_missing' : Math.abs(value) < .005 ? 'less_none' : ties > 1 ? 'less_tied' : 'less'], values]
  return [words[run.n === 1 ? 'read_single' : ties === run.n ? 'read_even' : ties > 1 ? 'read_tied' : key === i ? 'read_self' : 'read'], values]
}

/* That sentence as nodes, then the answer at the token, and a note about changes. */
export function reading(run, place, i) {
  const { words, notes, cut } = run, nodes = said(...attends(run, place, i)), bars = run.bars(i), of = { word: 'read_word', tag: 'read_tag', class: 'read_class' }[run.answers.kind]
  if (of && bars?.length) {
    const { alone, ...best } = ahead(bars)
    const copies = of === 'read_word' && run.tokens[i] === best.name && !run.answers.altered?.includes(i)
    nodes.push(gap(words.read), ...said(words[!alone ? 'read_open' : copies ? 'read_copied' : of], { query: run.named[i], ...best }))
  }
  const [layer, head] = cut?.split('.').map(number => Number(number) + 1) ?? [], note = cut ? plain(words.cut, { layer, head }) : notes[i] ?? notes[-1]
  return note ? [...nodes, gap(words.read), make('span', { className: 'note', textContent: note })] : nodes
}

/* A sentence about the number under the pointer, as nodes; see `cellAt`. */
export function cellIn(run, { role, row, column, value, digits, first, last, of }) {
  const { words } = run, number = numberOf(run, value, digits)
  if (SQUARE.includes(role)) {
    const kind = run.differs ? 'cell_score' : value === -Infinity ? 'cell_hidden' : role === 'w' ? 'cell_weight' : 'cell_score'
    return said(words[kind], { query: run.named[row], key: run.named[column], value: number })
  }
  return said(words[`cell${role === 'h' ? '_neuron' : ''}${last > first ? '_pooled' : ''}`], { token: run.named[row], number: first, first, last, of, value: number })
}

/* Accessible name of a picture. */
export function nameOf(run, place, role) {
  const { words } = run, { symbol, caption, shape } = run.pictures.find(one => one.role === role)
  const letters = symbol.replace('{l+1}', place.layer + 1).replace('{l}', place.layer).replace(/[\^_{}]/g, '')
  const values = { symbol: letters, caption: words[caption], shape, layer: place.layer + 1, head: place.head + 1 }
  const name = plain(words[role === 'x0' ? 'picture_first' : BY_HEAD.includes(role) ? 'picture_head' : 'picture'], values)
  return role === 'w' ? `${name}${gap(name)}${plain(...attends(run, place, place.token))}` : name
}
