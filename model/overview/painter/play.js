/* Play: the run as a film, and its clock. */
import { clamp } from './nodes.js'
import { ahead, decimal, plain } from './words.js'

const STEP = 2400, CARD = 1200, LAST = 3600  // ms

/* Frames of the film: the steps of the chosen layer, all layers as cards, and the answer. A frame: roles, the
   pictures to highlight; layer; text, templates, and values to fill them; through, number of layers read so far; ms,
   duration. */
export function framesOf(run, place) {
  const { sizes, answers, words } = run, { layer: first, token: i } = place, bars = run.bars(i), lens = run.lens(i)
  const [key, value] = run.strongest(first, place.head, i), kind = { word: 'film_answer_word', tag: 'film_answer_word', class: 'film_answer_class' }[answers.kind]
  const order = run.normFirst ? '_first' : '', patch = run.drawing?.side > 1 ? run.patch : 0
  const about = { ...sizes, query: run.named[i], key: run.named[key], value: decimal(value), patch }
  const frame = (roles, text, more) => {
    const changed = roles.some(role => run.changed.includes(role === 'x0' ? role : `${first}.${role}`))
    return { roles, layer: first, through: 0, ms: STEP, text: [changed ? words.film_changed : text], values: { ...about, layer: first + 1, ...more } }
  }
  const cards = [...Array(sizes.layers).keys()].filter(layer => run.map('w', layer, 0)).map(layer => {
    const best = lens && ahead(lens[layer]), changed = run.changed.some(role => role.startsWith(`${layer}.`))
    const text = [changed ? words.film_changed : words.film_card, ...best ? [words[best.alone ? 'film_lens' : 'film_lens_level']] : []]
    return { roles: ['layers'], layer, through: layer + 1, ms: CARD, text, values: { ...about, layer: layer + 1, ...best } }
  })
  const best = bars?.length ? ahead(bars) : undefined, last = { vector: 'answer_vector', decoder: 'answer_decoder' }[answers.kind] ?? 'film_answer_none'
  const read = best && !kind ? 'film_answer' : best?.alone ? kind : best ? 'film_answer_level' : last
  return [
    frame(['labels'], words[run.drawing ? run.n > 1 ? 'film_patch' : 'film_image' : 'film_word']),
    frame(['x0'], words[run.positions ? 'film_embedding_position' : 'film_embedding']),
    frame(['x'], words.film_input),
    frame(['q', 'k'], words.film_query),
    frame(['s'], words.film_scores),
    frame(['w'], words.film_weights),
    frame(['heads'], words[sizes.heads > 1 ? 'film_heads' : 'film_head']),
    frame(['w', 'v'], words.film_values),
    frame(['a', 'n1'], words[`film_mixed${order}`]),
    frame(['h', 'n2'], words[`film_neurons${order}`]),
    ...cards.length > 1 ? cards : [frame(['layers'], words[sizes.layers > 1 ? 'film_layers' : 'film_layer'])],
    { ...frame(['answer'], words[read], best), layer: cards.at(-1)?.layer ?? first, through: sizes.layers, ms: LAST },
  ]
}

/* The play button, and a scrubber while the film is on. frames(): see above; paint(frame): show one; ended():
   restore the view; press(): the button was pressed. Returns {nodes, toggle(), by(steps), stop(), on()}. */
export function player({ keep, words, frames, paint, ended, press }) {
  let film, at = 0, timer
  const button = keep('button', { className: 'play', onclick: press })
  const range = keep('input', { type: 'range', min: 1, ariaLabel: words.scrubber, oninput: () => seek(range.value - 1) })
  const bar = keep('span', { className: 'scrubber' }, range, keep('button', { className: 'close', ariaLabel: words.close, title: words.close, onclick: stop }, '×'))
  const say = () => { button.textContent = timer ? `❚❚ ${words.pause}` : `▶ ${words.play}`; bar.hidden = !film }
  const hold = () => { clearTimeout(timer); timer = undefined }
  function seek(wanted, runs) {
    hold()
    at = clamp(wanted, 0, film.length - 1)
    if (runs) timer = setTimeout(() => film[at + 1] ? seek(at + 1, true) : stop(), film[at].ms)
    Object.assign(range, { max: film.length, value: at + 1, ariaValueText: plain(words.step, { step: at + 1, steps: film.length }) })
    say()
    paint(film[at])
  }
  function toggle() {
    if (timer) {
      hold()
      return say()
    }
    film ??= frames()
    seek(at, true)
  }
  function stop() {
    if (!film) return
    hold()
    film = undefined
    at = 0
    say()
    ended()
  }
  say()
  return { nodes: [button, bar], toggle, by: steps => seek(at + steps), stop, on: () => Boolean(film) }
}
