/* The film of a run: its steps. */
import { decimal } from './words.js'

/* What Play shows, in order: which pictures, and what is said of them. bars: the answer at the token. */
export function stepsOf(run, place, bars) {
  const i = place.token, [key, value] = run.strongest(place.layer, place.head, i), { sizes, answers, words } = run
  const [name, share] = bars?.reduce((best, bar) => bar[1] > best[1] ? bar : best) ?? ['', 0]
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
