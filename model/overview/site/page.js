/* The page: what is typed or hidden is run by the engine, and the run is painted. All that is chosen stands in the
   address, by the names that the app has for it. */
import { fromBytes, fromText, make, overview, plain } from './painter.js'
import { Live, notes } from './live.js'

const about = JSON.parse(document.getElementById('about').textContent), part = name => document.getElementById(name)
const HEAD = /^layers\.(\d+)\.attention\.heads~zero~head\.(\d+)$/

// -- what is chosen, and the address ----------------------------------------------------------------------------------

const { numbers, ...like } = about.run  // the same of every sentence
let chosen, written = new URLSearchParams(location.search)

function readAddress() {
  written = new URLSearchParams(location.search)
  const place = name => { const number = written.get(name); return /^\d{1,4}$/.test(number) && number > 0 ? number - 1 : undefined }
  const asked = written.get('lang') ?? navigator.language.slice(0, 2), lang = asked in about.words ? asked : 'en'
  const hidden = written.get('hidden'), first = about.firsts[lang]
  chosen = {
    lang, sentence: written.get('s') ?? first.text, token: place('token'),
    layer: place('layer') ?? first.layer, head: place('head') ?? first.head,
    hidden: hidden === null ? undefined : hidden.split('.').filter(Number).map(number => number - 1),
    off: new Set((written.get('edits') ?? '').split('~~').flatMap(code => { const [, layer, head] = code.match(HEAD) ?? []; return head > 0 ? `${layer}.${head - 1}` : [] })),
  }
}

/* anew: a step that the browser can go back. */
function writeAddress(anew = false) {
  const { lang, sentence, hidden, off, layer, head, token } = chosen, edits = [...off].map(at => at.split('.').map(Number))
  const values = {
    lang, s: sentence, layer: layer + 1, head: head + 1, token: token === undefined ? undefined : token + 1,
    edits: edits.map(([layer, head]) => `layers.${layer}.attention.heads~zero~head.${head + 1}`).join('~~') || undefined,
    hidden: hidden === undefined ? undefined : hidden.map(i => i + 1).join('.') || 'none',
  }
  for (const [name, value] of Object.entries(values)) value === undefined ? written.delete(name) : written.set(name, value)
  history[anew ? 'pushState' : 'replaceState'](null, '', `?${written}`)
}

const ownFirst = () => Object.values(about.firsts).find(({ text }) => text === chosen.sentence)

/* The places that are hidden by a click; of our own first sentence one is from the beginning. */
function hiddenPlaces() {
  const first = ownFirst()
  return chosen.hidden ?? (first ? [first.query] : [])
}

// -- the engine: one run at a time, and the newest wish waits ---------------------------------------------------------

class Engine {
  calls = new Map()

  constructor(like) {
    this.like = like
    this.worker = new Worker(new URL('engine.js', import.meta.url), { type: 'module' })
    this.worker.onmessage = ({ data: { number, share, found, error } }) => {
      if (share !== undefined) return tell(plain(words().loading, { percent: Math.floor(100 * share) }))
      const { done, failed } = this.calls.get(number)
      this.calls.delete(number)
      error ? failed(new Error(error)) : done(found)
    }
    this.worker.onerror = () => this.calls.forEach(({ failed }) => failed(new Error('the worker does not start')))
    this.ready = this.ask({ load: like.load }).then(({ vocabulary }) => { this.names = vocabulary })
  }

  ask(message) {
    return new Promise((done, failed) => {
      const number = this.count = (this.count ?? 0) + 1
      this.calls.set(number, { done, failed })
      this.worker.postMessage({ number, ...message })
    })
  }
}

let engine, busy, waiting

async function wake() {
  if (typeof WebAssembly !== 'object' || typeof Worker !== 'function') return tell(words().unable)
  tell(plain(words().loading, { percent: 0 }))
  try {
    const own = new Engine(like)
    await own.ready
    engine = own
    tell('')
    await follow()
    document.documentElement.classList.add('alive')
  } catch (error) {
    console.error(error)
    tell(words().failed)
  }
}

async function follow() {
  waiting = true
  if (!engine || busy) return
  busy = true
  while (waiting) {
    waiting = false
    await compute()
  }
  busy = false
  document.dispatchEvent(new Event('followed'))
}

async function compute() {
  const { sentence, token } = chosen, hidden = hiddenPlaces(), off = [...chosen.off], first = ownFirst()
  const wish = { text: sentence, hidden, off, asked: token ?? first?.query ?? 1 }, { names } = engine
  const found = await engine.ask({ run: wish })
  if (found.problem) return tell(words()[found.problem])
  const before = off.length && await engine.ask({ run: { ...wish, off: [], only: ['logits'] } })
  const masked = found.tokens.indexOf('[MASK]'), usual = masked < 0 ? first?.query ?? 1 : masked, right = {}
  found.tokens.forEach((name, i) => { if (name !== found.typed[i]) right[i] = found.typed[i] })
  tell(found.notes.map(name => plain(words()[name], { most: engine.like.load.maxLen })).join(' '))
  show(new Live(engine.like, found, names, { asked: found.asked, right, off, words: words().overview, notes: before ? notes(words(), found.values.logits, before.values.logits, names) : {} }), usual)
  drawChips(found.typed, hidden)
}

// -- what is seen -----------------------------------------------------------------------------------------------------

const words = () => about.words[chosen.lang], tell = text => { part('status').textContent = text }
let shown

function show(run, usual) {
  const place = { layer: chosen.layer, head: chosen.head, token: chosen.token ?? usual }, root = document.querySelector('.overview')
  root.run = run
  if (shown) {
    shown.place.token = place.token
    shown.show(run)
    shown.go(place)
  } else shown = overview(root, run, { place, on: { place(place) { Object.assign(chosen, place); writeAddress() }, ...about.app && { open } } })
}

/* The page of a picture in the app. */
function open(role, place) {
  Object.assign(chosen, place)
  writeAddress()
  location.href = `${about.app}?${written}`
}

function drawChips(tokens, hidden) {
  const found = []
  tokens.forEach((token, i) => {
    if (token === '[CLS]' || token === '[SEP]') return
    if (token.startsWith('##') && found.at(-1)?.at(-1) === i - 1) found.at(-1).push(i)
    else found.push([i])
  })
  const focused = document.activeElement?.dataset.word
  part('chips').replaceChildren(...found.map((places, word) => {
    const lies = places.some(i => hidden.includes(i)), text = places.map(i => tokens[i].replace(/^##/, '')).join('')
    const chip = make('button', { type: 'button', className: 'chip', textContent: text, title: lies ? words().show : words().hide, translate: false })
    chip.dataset.word = word
    chip.setAttribute('aria-pressed', lies)
    chip.onclick = () => choose({ hidden: lies ? [] : places, token: lies ? places[0] : undefined }, true)
    chip.onpointerenter = () => document.dispatchEvent(new CustomEvent('overview:point', { detail: { row: places[0] } }))
    chip.onpointerleave = () => document.dispatchEvent(new CustomEvent('overview:point', { detail: {} }))
    return chip
  }))
  part('chips').querySelector(`[data-word="${focused}"]`)?.focus()
}

/* Another choice: in the address at once, painted as soon as it is computed. */
function choose(wanted, anew = false) {
  Object.assign(chosen, wanted)
  writeAddress(anew)
  follow()
}

/* All that is said, in the language of the reader. */
function speak() {
  const { lang } = chosen, other = lang === 'en' ? 'zh' : 'en'
  document.documentElement.lang = lang
  for (const node of document.querySelectorAll('[data-say]')) node.textContent = words()[node.dataset.say]
  Object.assign(part('sentence'), { value: chosen.sentence, ariaLabel: words().label })
  Object.assign(part('language'), { textContent: about.words[other].name, lang: other })
  const ready = about.examples[lang].concat(about.examples[other]).map(text => make('option', { value: text, textContent: text, translate: false }))
  part('examples').replaceChildren(make('option', { value: '', textContent: words().examples }), ...ready)
  part('examples').ariaLabel = words().examples
}

/* The recorded run of the reader's language: there before the engine is. */
async function showRecorded() {
  const { lang } = chosen, first = about.firsts[lang]
  const run = lang === 'en' ? fromText(about.run) : fromBytes(new Uint8Array(await (await fetch(about.recorded[lang])).arrayBuffer()))
  if (engine) return
  Object.assign(run, { words: words().overview, notes: {} })
  show(run, first.query)
  if (chosen.sentence === first.text) drawChips(first.tokens, [first.query])
}

const typing = { since: false }
part('sentence').oninput = () => {
  const anew = !typing.since
  typing.since = true
  choose({ sentence: part('sentence').value, hidden: undefined, token: undefined }, anew)
}
part('sentence').onblur = () => { typing.since = false }
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
addEventListener('popstate', () => { readAddress(); begin() })

function begin(anew) {
  if (anew !== undefined) writeAddress(anew)
  speak()
  engine ? follow() : showRecorded()
}

readAddress()
begin()
wake()
