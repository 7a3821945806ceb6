/* What is said of a run: of a token, of a cell, of a picture. */
import { make } from './nodes.js'
import { BY_HEAD, SQUARE } from './run.js'
import { ahead, decimal, gap, plain, said, signed, two } from './words.js'

export const numberOf = (run, value) => run.differs ? signed(value) : two(value)

/* To whom a token attends most: a template and what is filled in. */
export function attends(run, { layer, head }, i) {
  const { words } = run, [key, value, ties] = run.strongest(layer, head, i)
  const values = { ties, layer: layer + 1, head: head + 1, query: run.named[i], key: run.named[key], value: run.differs ? signed(value) : decimal(value) }
  if (run.differs) return [words[Math.abs(value) < .005 ? 'less_none' : ties > 1 ? 'less_tied' : 'less'], values]
  return [words[run.n === 1 ? 'read_single' : ties === run.n ? 'read_even' : ties > 1 ? 'read_tied' : key === i ? 'read_self' : 'read'], values]
}

/* The same as nodes, and then the answer there, and whose numbers these are. */
export function reading(run, place, i) {
  const { words, notes, cut } = run, nodes = said(...attends(run, place, i)), bars = run.bars(i), of = { word: 'read_word', tag: 'read_tag', class: 'read_class' }[run.answers.kind]
  if (of && bars?.length) {
    const { alone, ...best } = ahead(bars)
    nodes.push(gap(words.read), ...said(words[alone ? of : 'read_open'], { query: run.named[i], ...best }))
  }
  const [layer, head] = cut?.split('.').map(number => Number(number) + 1) ?? [], note = cut ? plain(words.cut, { layer, head }) : notes[i] ?? notes[-1]
  return note ? [...nodes, gap(words.read), make('span', { className: 'note', textContent: note })] : nodes
}

/* The number under the pointer, as nodes: see `cellAt`. */
export function cellIn(run, { role, row, column, value, first, last, of }) {
  const { words } = run, number = numberOf(run, value)
  if (SQUARE.includes(role)) {
    const kind = run.differs ? 'cell_score' : value === -Infinity ? 'cell_hidden' : role === 'w' ? 'cell_weight' : 'cell_score'
    return said(words[kind], { query: run.named[row], key: run.named[column], value: number })
  }
  return said(words[`cell${role === 'h' ? '_neuron' : ''}${last > first ? '_pooled' : ''}`], { token: run.named[row], number: first, first, last, of, value: number })
}

/* What a picture is called, for who cannot see it. */
export function nameOf(run, place, role) {
  const { words } = run, { symbol, caption, shape } = run.pictures.find(one => one.role === role)
  const letters = symbol.replace('{l+1}', place.layer + 1).replace('{l}', place.layer).replace(/[\^_{}]/g, '')
  const values = { symbol: letters, caption: words[caption], shape, layer: place.layer + 1, head: place.head + 1 }
  const name = plain(words[role === 'x0' ? 'picture_first' : BY_HEAD.includes(role) ? 'picture_head' : 'picture'], values)
  return role === 'w' ? `${name}${gap(name)}${plain(...attends(run, place, place.token))}` : name
}
