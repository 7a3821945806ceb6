/* The page: the engine runs what is typed or hidden, and the run is painted. The address holds every choice, under
   the app's names. */
import { bytesOf, fromBytes, make, overview, plain } from './painter.js'
import { Live, leaning, notes } from './live.js'
import { fromCode, prepare, toCode } from './drawing.js'
import digitPad from './digit_pad.js'

const about = JSON.parse(document.getElementById('about').textContent), part = name => document.getElementById(name)
const HEAD = /^layers\.(\d+)\.attention\.heads~zero~head\.(\d+)$/

// -- what is chosen, and the address ----------------------------------------------------------------------------------

const likes = {}  // input -> a recorded run, for all that is the same in every run of its network
const STROKES = { layer: 2, head: 2 }  // a head in which [CLS] attends to the strokes
const TYPING = 300  // ms before the address follows: browsers refuse more than some hundred changes in half a minute
let chosen, late, written = new URLSearchParams(location.search)

function readAddress() {
  clearTimeout(late)
  written = new URLSearchParams(location.search)
  const place = name => { const number = written.get(name); return /^\d{1,4}$/.test(number) && number > 0 ? number - 1 : undefined }
  const asked = written.get('lang') ?? navigator.language.slice(0, 2), lang = Object.hasOwn(about.words, asked) ? asked : 'en'
  const hidden = written.get('hidden'), input = written.get('input') === 'digit' ? 'digit' : 'sentence', first = about.firsts[lang], usual = input === 'digit' ? STROKES : first
  chosen = {
    lang, input, sentence: written.get('s') ?? first.text, ink: written.get('ink') ?? undefined, token: place('token'),
    layer: place('layer') ?? usual.layer, head: place('head') ?? usual.head,
    hidden: hidden === null ? undefined : hidden.split('.').filter(Number).map(number => number - 1),
    off: new Set((written.get('edits') ?? '').split('~~').flatMap(code => { const [, layer, head] = code.match(HEAD) ?? []; return head > 0 ? `${layer}.${head - 1}` : [] })),
  }
}

/* anew: add a step to the browser's history. */
function writeAddress(anew = false) {
  clearTimeout(late)
  const { lang, input, sentence, ink, hidden, off, layer, head, token } = chosen, edits = [...off].map(at => at.split('.').map(Number))
  const values = {
    lang, input, s: sentence, ink, layer: layer + 1, head: head + 1, token: token === undefined ? undefined : token + 1,
    edits: edits.map(([layer, head]) => `layers.${layer}.attention.heads~zero~head.${head + 1}`).join('~~') || undefined,
    hidden: hidden === undefined ? undefined : hidden.map(i => i + 1).join('.') || 'none',
  }
  for (const [name, value] of Object.entries(values)) value === undefined ? written.delete(name) : written.set(name, value)
  history[anew ? 'pushState' : 'replaceState'](null, '', `?${written}`)
}

const ownFirst = () => Object.values(about.firsts).find(({ text }) => text === chosen.sentence)

/* Hidden positions; in our own first sentence, one is hidden from the start. */
function hiddenPlaces() {
  const first = ownFirst()
  return chosen.hidden ?? (first ? [first.query] : [])
}

// -- the engine: one run at a time, and the newest wish waits ---------------------------------------------------------

class Engine {
  calls = new Map()

  static async begun(input) {
    const engine = new Engine(input, likes[input])
    engine.names = (await engine.ask({ load: engine.like.load })).vocabulary
    return engine
  }

  /* input: "sentence" or "digit"; like: a recorded run. */
  constructor(input, like) {
    this.like = like
    this.worker = new Worker(new URL('engine.js', import.meta.url), { type: 'module' })
    this.worker.onmessage = ({ data: { number, share, found, error } }) => {
      if (share !== undefined) return this.calls.size && input === chosen.input && tell('loading', { percent: Math.floor(100 * share) })
      const { done, failed } = this.calls.get(number)
      this.calls.delete(number)
      error ? failed(new Error(error)) : done(found)
    }
    this.worker.onerror = () => this.calls.forEach(({ failed }) => failed(new Error('the worker does not start')))
  }

  ask(message) {
    return new Promise((done, failed) => {
      const number = this.count = (this.count ?? 0) + 1
      this.calls.set(number, { done, failed })
      this.worker.postMessage({ number, ...message })
    })
  }
}

const engines = {}, coming = {}  // input -> engine, once it is ready; input -> its promise
let busy, waiting

async function wake(input) {
  if (typeof WebAssembly !== 'object' || typeof Worker !== 'function') return tell('unable')
  if (!coming[input]) tell('loading', { percent: 0 })
  engines[input] = await (coming[input] ??= Engine.begun(input))
  if (input === chosen.input) tell()
  await follow()
  document.documentElement.classList.add('alive')
  keep(engines[input].like.load)
}

/* Cache all that was fetched so far for visits without a network, if the browser can. */
async function keep({ network, data, tokenizer }) {
  const worker = navigator.serviceWorker
  try {
    if (!await worker?.register('offline.js')) return
  } catch { return }  // if it is forbidden, the page needs a network
  const { active } = await worker.ready
  const seen = performance.getEntriesByType('resource').map(({ name }) => name.split(/[?#]/)[0]), own = new URL('./', location.href).href
  const first = tokenizer ? [tokenizer, ...Object.keys(about.words).map(recording)] : []
  const files = new Set(['./', network, data, ...first, ...about.engine].map(file => new URL(file, own).href))
  active?.postMessage([...files, ...seen.filter(name => name.startsWith(own) && !files.has(name))])
}

async function follow() {
  waiting = true
  if (busy) return
  busy = true
  while (waiting && engines[chosen.input]) {
    waiting = false
    try {
      await (chosen.input === 'digit' ? followStroke : followSentence)(engines[chosen.input], [...chosen.off])
    } catch (error) {
      console.error(error)
      tell('stopped')
    }
  }
  busy = false
  document.dispatchEvent(new Event('followed'))
}

async function followSentence(engine, off) {
  const { sentence, token } = chosen, hidden = hiddenPlaces(), first = ownFirst()
  const wish = { text: sentence, hidden, off, asked: token ?? first?.query ?? 1 }, found = await engine.ask({ run: wish })
  if (found.problem) return tell(found.problem)
  const masked = found.tokens.indexOf('[MASK]'), right = {}
  found.tokens.forEach((name, i) => { if (name !== found.typed[i]) right[i] = found.typed[i] })
  tell(found.notes, { most: engine.like.load.maxLen })
  drawChips(found.typed, hidden)  // first: their height decides how much room is left
  await paint(engine, wish, found, engine.names, { asked: found.asked, right }, masked < 0 ? first?.query ?? 1 : masked)
}

async function followStroke(engine, off) {
  const { like } = engine, packed = chosen.ink === undefined ? bytesOf(like.drawings[like.first]) : await fromCode(chosen.ink)
  const { bytes, problem } = packed ? prepare(packed) : { problem: 'drawing_code' }
  if (problem) return tell(problem)
  const wish = { pixels: Float32Array.from(bytes, byte => byte / 255), off }, names = like.answers.rows[-1].map(([name]) => name)
  tell()
  await paint(engine, wish, { tokens: like.tokens, ...await engine.ask({ run: wish }) }, names, { pixels: bytes }, 0)
}

/* Show a run, with the effect on its answer of heads that are off. */
async function paint(engine, wish, found, names, more, usual) {
  const before = wish.off.length && await engine.ask({ run: { ...wish, off: [], only: ['logits'] } })
  if (engines[chosen.input] !== engine) return  // another input was chosen meanwhile
  const said = before ? notes(words(), found.values.logits, before.values.logits, names) : {}
  const run = new Live(engine.like, found, names, { ...more, off: wish.off, of: JSON.stringify([wish.text ?? chosen.ink, wish.hidden]), words: words().overview, notes: said })
  const logits = async other => {  // of a variant of this run; newer choices go first, and a run no longer shown throws
    if (busy) await new Promise(done => document.addEventListener('followed', done, { once: true }))
    if (root.run !== run) throw run
    return (await engine.ask({ run: { ...wish, ...other, only: ['logits'] } })).values.logits
  }
  run.more = async (what, { token }) => {
    try {
      shown.learn({ id: run.id, lean: { [run.answers.kind === 'word' ? token : -1]: await leaning(logits, run, token) } })
    } catch (gone) { if (gone !== run) throw gone }
  }
  show(run, usual)
}

// -- what is seen -----------------------------------------------------------------------------------------------------

const root = document.querySelector('.overview'), words = () => about.words[chosen.lang]
let shown, told, chips

/* Show the messages of these names beside the input; without any, clear them. */
function tell(names = [], values = {}) {
  told = [names, values]
  part('status').textContent = [names].flat().map(name => plain(words()[name], values)).join(chosen.lang === 'zh' ? '' : ' ')
}

function show(run, usual) {
  const place = { layer: chosen.layer, head: chosen.head, token: chosen.token ?? usual }
  root.run = run
  if (shown) {
    shown.place.token = place.token
    shown.show(run)
    shown.go(place)
  } else shown = overview(root, run, { place, on: { place(place) { Object.assign(chosen, place); writeAddress() }, off: turn, more: (...asked) => root.run.more?.(...asked), ...about.app && { open } } })
}

/* Switch a head off, or on again. */
function turn(layer, head) {
  const off = new Set(chosen.off), at = `${layer}.${head}`
  if (!off.delete(at)) off.add(at)
  choose({ off }, true)
}

const hide = places => choose({ hidden: places, token: undefined }, true)

/* Open the app's page of a picture. */
function open(role, { key, ...place }) {
  const [page, more] = about.pages[role]
  Object.assign(chosen, place)
  writeAddress()
  const link = new URLSearchParams(written)
  for (const [name, value] of Object.entries({ tab: null, ...more, key: key === undefined ? null : key + 1 })) value === null ? link.delete(name) : link.set(name, value)
  location.href = `${about.app}/${page}?${link}`
}

function drawChips(...asked) {
  const [tokens, hidden] = chips = asked, found = []
  tokens.forEach((token, i) => {
    if (token === '[CLS]' || token === '[SEP]') return
    if (token.startsWith('##') && found.at(-1)?.at(-1) === i - 1) found.at(-1).push(i)
    else found.push([i])
  })
  const focused = document.activeElement?.dataset.word
  const offer = make('span', { className: 'offer', textContent: hidden.length ? '' : words().chips })
  part('chips').replaceChildren(...found.map((places, word) => {
    const lies = places.some(i => hidden.includes(i)), text = places.map(i => tokens[i].replace(/^##/, '')).join('')
    const chip = make('button', { type: 'button', className: 'chip', textContent: text, title: lies ? words().show : words().hide, translate: false })
    chip.dataset.word = word
    chip.setAttribute('aria-pressed', lies)
    chip.onclick = () => lies ? choose({ hidden: [], token: places[0] }, true) : hide(places)
    chip.onpointerenter = () => document.dispatchEvent(new CustomEvent('overview:point', { detail: { row: places[0] } }))
    chip.onpointerleave = () => document.dispatchEvent(new CustomEvent('overview:point', { detail: {} }))
    return chip
  }), offer)
  part('chips').querySelector(`[data-word="${focused}"]`)?.focus()
}

/* Change the choice: run it now, and update the address. */
function choose(wanted, anew = false) {
  Object.assign(chosen, wanted)
  if (anew) writeAddress(true)
  else {
    clearTimeout(late)
    late = setTimeout(writeAddress, TYPING)
  }
  return follow()
}

/* Write all texts in the reader's language, and show the controls for his input. */
function speak() {
  const { lang, input } = chosen, other = lang === 'en' ? 'zh' : 'en', digit = input === 'digit'
  document.documentElement.lang = lang
  document.body.dataset.input = input
  for (const node of document.querySelectorAll('[data-say]')) node.textContent = words()[node.dataset.say]
  part('purpose').textContent = words()[`purpose_${input}`]
  if (part('sentence').value !== chosen.sentence) part('sentence').value = chosen.sentence
  part('sentence').ariaLabel = words().label
  Object.assign(part('language'), { textContent: about.words[other].name, lang: other })
  for (const button of document.querySelectorAll('[data-input]:not(body)')) button.setAttribute('aria-pressed', button.dataset.input === input)
  for (const name of ['sentence', 'examples', 'chips']) part(name).hidden = digit
  for (const name of ['draw', 'digits']) part(name).hidden = !digit
  if (!digit) part('pad').hidden = true
  const ready = about.examples[lang].concat(about.examples[other]).map(text => make('option', { value: text, textContent: text, translate: false }))
  part('examples').replaceChildren(make('option', { value: '', textContent: words().examples }), ...ready)
  for (const name of ['examples', 'digits', 'chips']) part(name).ariaLabel = words()[name]
  Object.assign(part('runs'), { hidden: !about.runs, href: about.runs?.[lang] ?? '' })
  if (told) tell(...told)
  if (chips) drawChips(...chips)
  if (shown) shown.show(Object.assign(root.run, { words: words().overview }))
}

const recording = name => `${name}.run`

/* Show a run recorded when the site was made, until the engine is ready. */
async function showRecorded() {
  const { lang, input } = chosen, digit = input === 'digit', first = digit ? { query: 0 } : about.firsts[lang]
  const answer = await fetch(recording(digit ? input : lang)), run = fromBytes(new Uint8Array(await answer.arrayBuffer()))
  likes[input] ??= run
  if (engines[input] || chosen.input !== input) return
  Object.assign(run, { words: words().overview, notes: {} })
  show(run, first.query)
  if (!digit && chosen.sentence === first.text) drawChips(first.tokens, [first.query])
}

// -- what the reader does ---------------------------------------------------------------------------------------------

let going  // whether the reader has typed since he entered the box
part('sentence').oninput = () => {
  const anew = !going
  going = true
  choose({ sentence: part('sentence').value, hidden: undefined, token: undefined }, anew)
}
part('sentence').onblur = () => { going = false }
part('examples').onchange = () => {
  const { value } = part('examples')
  if (!value) return
  part('sentence').value = value
  part('examples').value = ''
  choose({ sentence: value, hidden: undefined, token: undefined }, true)
}
part('language').onclick = () => {
  const own = ownFirst(), lang = chosen.lang === 'en' ? 'zh' : 'en'
  Object.assign(chosen, { lang }, own && { sentence: about.firsts[lang].text, hidden: undefined, token: undefined })
  begin(true)
}
for (const button of document.querySelectorAll('[data-input]:not(body)'))
  button.onclick = () => {
    const { input } = button.dataset
    if (input === chosen.input) return
    Object.assign(chosen, { input, token: undefined, off: new Set() }, input === 'digit' ? STROKES : (({ layer, head }) => ({ layer, head }))(about.firsts[chosen.lang]))
    begin(true)
  }
part('digits').replaceChildren(...Array.from({ length: 10 }, (_, which) => make('button', {
  type: 'button', textContent: which, onclick: async () => likes.digit && choose({ ink: await toCode(bytesOf(likes.digit.drawings[which])), token: undefined }, true).then(drawPad),
})))
part('draw').onclick = () => {
  part('pad').hidden = !part('pad').hidden
  drawPad()
}

let epoch = 0
/* Show the drawing on the pad, if the pad is open. */
async function drawPad() {
  if (part('pad').hidden || !likes.digit) return
  const own = chosen.ink !== undefined && await fromCode(chosen.ink), base = own || bytesOf(likes.digit.drawings[likes.digit.first])
  const named = Object.fromEntries(['label', 'undo', 'clear'].map(name => [name, words()[name === 'label' ? 'pad' : name]]))
  const text = btoa(String.fromCharCode(...base)), example = likes.digit.drawings.includes(text)
  digitPad({
    data: { base: text, epoch: ++epoch, width: 28, example, ...named }, parentElement: part('pad'),
    setStateValue: async (_, drawn) => choose({ ink: await toCode(bytesOf(drawn.split(':')[1])), token: undefined }, true),
  })
}

addEventListener('popstate', () => {
  readAddress()
  begin()
  drawPad()
})

/* Show what is chosen: at first a recorded run, if the engine is not ready. */
async function begin(anew) {
  if (anew !== undefined) writeAddress(anew)
  speak()
  const { input } = chosen
  if (engines[input]) return follow()
  try {
    await showRecorded()
    await wake(input)
  } catch (error) {
    console.error(error)
    if (input === chosen.input) tell('failed')
  }
}

part('embed').onclick = async () => {
  writeAddress()
  const address = make('a', { href: `?${written}${written.has('bare') ? '' : '&bare'}` })
  const snippet = make('iframe', { src: address.href, width: '100%', height: '800', title: document.title }).outerHTML
  try {
    await navigator.clipboard.writeText(snippet)
    tell('embedded')
  } catch {  // forbidden, or no https
    prompt(words().embed_by_hand, snippet)
  }
}

readAddress()
document.body.classList.toggle('bare', written.has('bare'))
begin()
