/* The sentence as a field whose words are buttons. Typing and clicks show at once; the server's tokens follow. */
const make = (kind, own = {}, ...children) => {
  const node = Object.assign(document.createElement(kind), own)
  node.append(...children)
  return node
}
const LONG = 84, WIDE = 60  // characters, a Chinese one counts twice; longer sentences have smaller letters, in a presentation from WIDE on
const DRAW = '\u270e'  // value of the example that is a drawing
const TYPED = /^[[<]mask[\]>]$/i  // typed as [MASK]; no word is behind it
const CHINESE = /[\u3400-\u9fff\u3000-\u303f\uff00-\uffef]/

export default function({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector('.sentence')
  root.tell = (event, value) => {
    root.last = Math.max(Date.now(), (root.last ?? 0) + 1)
    setTriggerValue(event, { ...value, number: root.last })
  }
  root.wanted = data
  if (data.heard >= (root.last ?? 0)) {
    root.pending = root.wish = undefined
    const link = links().find(({ pathname }) => pathname === root.then)
    root.then = undefined
    if (link) setTimeout(() => link.click())
  }
  clearTimeout(root.again)  // the server may miss the second of two quick clicks or, after a restart, what was typed
  if (root.wish) root.again = setTimeout(() => root.tell('picked', root.wish), 300)
  else if (root.pending !== undefined) root.again = setTimeout(() => root.tell('typed', { text: root.pending }), 1000)
  if (!root.querySelector('input')) draw(root)  // do not interrupt typing
  if (!root.hearing) {
    root.hearing = true
    /* Delay a link to another page until the server has the typed text. */
    document.addEventListener('click', event => {
      const link = links().find(link => link.contains(event.target))
      if (!link || root.pending === undefined || !root.isConnected) return
      event.preventDefault()
      event.stopImmediatePropagation()
      root.then = link.pathname
    }, true)
    document.addEventListener('overview:light', ({ detail }) => {
      for (const chip of root.querySelectorAll('.chip')) chip.classList.toggle('pointed', chip.places?.includes(detail.row) ?? false)
    })
  }
}

const links = () => [...document.querySelectorAll('[data-testid=stPageLink] a')]

function draw(root) {
  const { words, beside, sentence, examples, names } = root.wanted, focused = root.contains(document.activeElement) && document.activeElement.dataset.word
  root.setAttribute('role', 'group')
  root.setAttribute('aria-label', names.label)
  const letters = sentence.length + sentence.split(CHINESE).length
  root.classList.toggle('long', letters > LONG)
  root.classList.toggle('wide', letters > WIDE)
  root.classList.toggle('waits', root.pending !== undefined)
  const chips = root.pending !== undefined ? [make('span', { className: 'chip', textContent: root.pending, translate: false })] : words.map((word, i) => chip(root, { ...word, ...(root.wish?.word === i && root.wish.text === word.text && { hidden: root.wish.hide }) }, i))
  const hides = chips.some(({ classList }) => classList.contains('hidden') || classList.contains('blank'))
  root.classList.toggle('offers', names.offer !== '' && !hides && chips.some(chip => chip.dataset.word))
  const line = make('span', { className: 'words' }, ...chips, make('span', { className: 'offer', textContent: names.offer }), make('button', { type: 'button', className: 'type', textContent: names.type, onclick: () => type(root) }))
  const ready = make('select', { ariaLabel: names.examples }, make('option', { value: '', textContent: names.examples }),
    ...names.draw ? [make('option', { value: DRAW, textContent: names.draw })] : [],
    ...examples.map(text => make('option', { value: text, textContent: text, translate: false })))
  ready.onchange = () => { if (ready.value === DRAW) root.tell('typed', { draw: true }); else if (ready.value) say(root, ready.value) }
  root.onclick = event => { if (event.target === root || event.target === line) type(root) }
  const other = beside.map(({ text, differs, place }) => make(differs ? 'mark' : 'span', { textContent: text, title: place, translate: false }))
  root.replaceChildren(line, ready, ...(other.length ? [make('div', { className: 'beside' }, make('small', { textContent: names.beside }), ...other)] : []))
  if (focused) root.querySelector(`[data-word="${focused}"]`)?.focus({ preventScroll: true })
  document.dispatchEvent(new CustomEvent('overview:moved'))
}

/* A word. A click hides or shows it; if nothing can be hidden, it chooses the token; if that is impossible, too, it
   begins typing. */
function chip(root, { text, places, hidden }, i) {
  const { names, words } = root.wanted, hides = names.hide !== '', only = !places.length || !hides && names.choose === ''
  const tight = CHINESE.test(text) && CHINESE.test(words[i + 1]?.text ?? text)
  const node = make(only ? 'span' : 'button', { ...(!only && { type: 'button' }), className: `chip ${hidden ? 'hidden' : ''} ${TYPED.test(text) ? 'blank' : ''} ${tight ? 'tight' : ''}`, textContent: text, translate: false, places })
  if (only) {
    node.onclick = () => type(root)
    return node
  }
  node.dataset.word = i
  node.title = hidden ? names.show : names.hide || names.choose
  if (hides) node.setAttribute('aria-pressed', hidden)
  node.onclick = () => {
    const hide = hides && node.classList.toggle('hidden')
    root.classList.remove('offers')
    root.wish = { word: i, text, hide }  // the last click counts, whatever the answers to earlier ones
    root.tell('picked', root.wish)
  }
  const point = row => document.dispatchEvent(new CustomEvent('overview:point', { detail: { row } }))
  node.onpointerenter = () => point(places[0])
  node.onpointerleave = () => point(undefined)
  return node
}

function type(root) {
  const { sentence, names } = root.wanted
  const box = make('input', { type: 'text', value: root.pending ?? sentence, ariaLabel: names.label, autocomplete: 'off', spellcheck: false, translate: false })
  const done = keep => {
    if (!box.isConnected || box.done) return
    box.done = true
    if (keep && box.value !== sentence) say(root, box.value)
    else draw(root)
    if (keep === undefined) root.querySelector('.type').focus()
  }
  box.onkeydown = event => {
    event.stopPropagation()
    if (event.isComposing || event.keyCode === 229) return  // the key belongs to an input method
    if (event.key === 'Enter') done(true)
    if (event.key === 'Escape') done()
  }
  box.addEventListener('focusout', () => done(true))  // start.js may delay it until a press ends, as for other boxes
  root.replaceChildren(box, make('button', { type: 'button', className: 'run', textContent: names.run, onpointerdown: event => event.preventDefault(), onclick: () => done(true) }))
  box.focus()
  box.select()
}

function say(root, text) {
  root.pending = text
  root.tell('typed', { text })
  draw(root)
}
