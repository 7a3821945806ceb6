/* The run on one screen. Everything is painted from numbers that came once: another layer, head or token, what is under
   the pointer and Play ask nobody. Used by the page Home, by notebooks and by the file that a reader takes along. */

import { answering } from './answer.js'
import { luminous, paint } from './colours.js'
import { drawing, groupHas, groupOf } from './drawing.js'
import { SHEETS, layOut, topOf } from './layout.js'
import { clamp, draw, make, put, rectIn } from './nodes.js'
import { fixed } from './numbers.js'
import { opening } from './opened.js'
import { framesOf, player } from './play.js'
import { tiles } from './tiles.js'
import { ORDER, SQUARE, apart } from './run.js'
import { cellIn, nameOf, numberOf, reading } from './sentences.js'
import { gap, plain, said, symbol } from './words.js'

export { bytesOf, fromBytes, fromText, Run } from './run.js'
export { make } from './nodes.js'
export { decimal, plain, two } from './words.js'

/* Show a run in a node. place: {layer, head, token} from 0; below: pixels that stay free under it; on.place(place): the
   reader chose another; on.open(role, place): he wants the page of a picture; on.need(role, place, row): he opened
   it there, and `run.exact` lacks what is behind that row of it, which `learn` brings; on.off(layer, head): he turns a
   head off, or on again if `run.off` has it ("layer.head"); on.hide(places): he hides a word; on.more(what, place): what
   `learn` brings is wanted beside the run, "lean" of a token or "offers". Returns {show(run), go(place), learn(message), leave()}. */
export function overview(root, run, options) {
  let { words } = run
  const { below = 8, on = {} } = options
  const place = { layer: 0, head: 0, token: 0, ...options.place }
  let opened, cell = { row: 0, column: 0 }, over, asked  // the opened picture, the cell that was chosen in it, the one under the pointer
  let at, theme, nodes = {}, hover, shown = {}, telling, waits, wanted, measured = {}, look, wide
  let film, began, until  // Play, the layer in which it was begun, and after how many layers the answer has been read in it
  const listening = new AbortController(), { signal } = listening
  root.tabIndex = -1

  const row = () => hover ?? place.token
  const fit = () => {
    place.layer = clamp(place.layer, 0, run.sizes.layers - 1)
    place.head = clamp(place.head, 0, run.sizes.heads - 1)
    place.token = clamp(place.token, 0, run.n - 1)
  }

  // -- built once for a run and a width -------------------------------------------------------------------------------

  function build() {
    film?.stop()
    fit()
    const style = getComputedStyle(root), ground = style.getPropertyValue('--st-background-color')
    theme = root.dataset.theme = (ground ? luminous(ground) < .5 : matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
    hover = undefined
    shown = {}
    over = asked = undefined
    root.replaceChildren()
    root.classList.remove('opens')
    root.setAttribute('role', 'group')
    root.setAttribute('aria-label', plain(words.label, { ...run.sizes }))
    nodes = { titles: {}, pics: {}, marks: {}, labels: [], ends: [], names: [], fan: [], taken: [] }
    for (const { role, caption, shape, symbol: text } of run.pictures) {
      const parts = { symbol: '', caption: words[caption], shape }, node = nodes.titles[role] = root.appendChild(make('div', { className: 'title', title: words.look_closer },
        ...Object.entries(parts).map(([className, textContent]) => make('span', { className, textContent }))))
      node.dataset.role = role
      symbol(node.firstChild, text, place.layer)
    }
    const pen = make('canvas').getContext('2d')
    pen.font = `600 16px ${style.fontFamily}`
    const widest = Math.max(...run.tokens.map(token => pen.measureText(token).width))
    const about = { root, run, titles: nodes.titles, below, widest, measured }
    at = layOut(about)
    if (opened && at.frame) {
      const { detail } = root.dataset
      root.classList.add('opens')
      nodes.titles[opened].classList.add('open')
      const anew = layOut({ ...about, opened, closed: at })
      if (anew.frame) at = anew
      else {  // too narrow: it stands on a sheet of its own
        root.classList.remove('opens')
        root.dataset.detail = detail
      }
    }
    root.style.height = `${at.height}px`
    root.style.setProperty('--row', `${at.row}px`)
    root.style.setProperty('--gap', at.row >= 12 ? '2px' : at.row >= 8 ? '1px' : '0px')
    root.style.setProperty('--thumb', `${at.thumb}px`)
    root.classList.toggle('of-drawing', Boolean(at.drawing))
    buildFrame()
    for (const role of ORDER) buildPicture(role)
    buildRows()
    if (run.drawing) look = drawing({ root, run, at, words, point: i => { hover = i; light() }, choose: i => go({ token: i }) })
    nodes.answer = answering({ root, run, at, theme, place, on, over: nodes.over })
    buildSay()
    if (opened) wide = opening({
      root, run, at, theme, place, go, role: opened, title: nodes.titles[opened], picture: nodes.pics[opened], name: nameOf(run, place, opened), close: show })
    nodes.tip = root.appendChild(make('div', { className: 'tip', ariaHidden: 'true' }))
    const own = root.getBoundingClientRect()
    nodes.thumbs = nodes.heads.map(thumb => rectIn(thumb, own))  // to measure is slow: once, and not at each step
    step()
    remeasure()
  }

  /* Where all stands below each other: anew, once the head or an answer is higher than any before. */
  function remeasure() {
    const seen = { head: nodes.head.offsetHeight, answer: nodes.answer.node.offsetHeight }, higher = name => seen[name] > (measured[name] ?? 0)
    if (at.frame || film.on() || !(higher('head') || higher('answer'))) return
    for (const name in seen) measured[name] = Math.max(seen[name], measured[name] ?? 0)
    build()
  }

  function buildFrame() {
    nodes.under = draw(root, 'svg', { class: 'under', 'aria-hidden': 'true', width: at.width, height: at.height })
    nodes.sheets = root.appendChild(make('div', { className: 'sheets' }))
    if (at.frame) put(nodes.frame = root.appendChild(make('div', { className: 'frame' })), at.frame)
    const head = nodes.head = root.appendChild(make('div', { className: 'head' }))
    put(head, at.frame ? { x: at.frame.x, y: 0, w: at.frame.w, h: at.head } : { x: 0, y: 0, w: at.width })
    nodes.number = make('b', { className: 'number' })
    const turn = (by, name, sign) => make('button', { type: 'button', ariaLabel: name, title: name, onclick: () => go({ layer: place.layer + by }) }, sign)
    nodes.turns = [turn(-1, words.previous_layer, '‹'), turn(1, words.next_layer, '›')]
    head.append(make('div', { className: 'stepper' }, make('span', { className: 'name', textContent: words.layer }), nodes.turns[0], nodes.number,
      nodes.turns[1], make('span', { className: 'of', textContent: plain(words.of, run.sizes) })))
    nodes.tiles = tiles({ run, at, theme, place, words, go, on, turned: () => { if (run.cut && run.without.token >= 0) go({ token: run.without.token }); step() } })
    nodes.heads = nodes.tiles.thumbs
    const thumbs = head.appendChild(make('div', { className: 'thumbs', role: 'group', ariaLabel: words.heads }, make('span', { className: 'name', textContent: words.head }), ...nodes.tiles.nodes))
    for (const comes of ['pointerenter', 'focusin']) thumbs.addEventListener(comes, () => { root.leans = true; ask() })
    const ramp = (kind, from, to, text) => make('span', { className: 'legend' }, from, make('i', { className: `ramp ${kind}` }), `${to} ${text}`)
    const { top } = run.arrays.w, end = top < 1 ? fixed(top, 1) + '+' : '1'
    const legends = make('div', { className: 'legends' }, ...run.differs ? [] : [ramp('share', '0 ', ' ' + end, words.legend_weights)],
      ramp('signed', '− ', ' +', words[run.differs ? 'legend_less' : 'legend_numbers']))
    const pooled = ORDER.some(role => run.arrays[role] && run.arrays[role].of > at.pics[role].w)
    if (pooled && !at.big) legends.append(make('span', { className: 'legend', textContent: words.legend_pooled }))
    if (run.unseen) legends.append(make('span', { className: 'legend', textContent: plain(words.legend_unseen, { seen: run.n, n: run.sizes.n }) }))
    const { x0 } = at.pics
    if (at.frame && at.left) put(legends, { x: 0, y: at.left + 20, w: at.left - 14 })
    else if (at.big) put(legends, { x: 0, y: 10, w: at.pics.x0.x - 20 })
    else if (at.frame) put(legends, { x: at.left, y: x0.y + x0.h + 10, w: at.frame.x - at.left - at.sheet * SHEETS })
    ;(at.frame ? root : head).append(legends)
    head.classList.toggle('crowded', at.thumb < 18)
    head.classList.toggle('tight', head.firstChild.offsetWidth + thumbs.offsetWidth + 48 > head.clientWidth)
    if (at.frame) {  // above the weights, as far as there is room
      const room = head.clientWidth - thumbs.offsetWidth - 16, { w } = at.pics, left = clamp(w.x + w.w / 2 - at.frame.x - thumbs.offsetWidth / 2, Math.min(head.firstChild.offsetWidth + 32, room), room)
      thumbs.style.left = `${left}px`
      if (nodes.tiles.any && ['word', 'class'].includes(run.answers.kind) && room - left > 150) put(head.appendChild(make('span', { className: 'legend', textContent: words.legend_lean })), { x: left + thumbs.offsetWidth + 20, y: 14, w: Math.min(room - left - 10, 250) })
    }
  }

  function buildPicture(role) {
    const pic = at.pics[role], square = SQUARE.includes(role), title = nodes.titles[role]
    title.classList.add('placed')
    root.append(put(title, { x: pic.x + pic.w / 2, y: pic.y - 8 }))  // above the frame
    const node = nodes.pics[role] = root.appendChild(put(make('div', { className: `pic ${square ? 'square' : ''}`, tabIndex: 0, role: 'button' }, make('canvas')), pic))
    if (square) node.style.setProperty('--cell', `${pic.w / run.n}px`)
    if (square && pic.w / run.n < 6) node.classList.add('fine')
    const mark = nodes.marks[role] = root.appendChild(put(make('div', { className: 'mark' }), { x: pic.x - 2, y: pic.y - 2, w: pic.w + 4, h: at.row + 2 }))
    node.dataset.role = mark.dataset.role = role
  }

  function buildRows() {
    nodes.strips = at.bands.map(({ x, y, right }) => root.insertBefore(put(make('div', { className: 'beam' }), { x, y, w: right - x, h: at.row }), nodes.pics.x0))
    const letters = at.big ? Math.min(20, at.row * .96) : Math.min(15 * at.scale, at.row * .74)
    root.style.setProperty('--letters', `${at.drawing ? 11.5 * at.scale : letters}px`)
    nodes.labels = at.bands.map(band => run.tokens.map((token, i) => {
      if (at.drawing && !groupOf(run, i)) return
      const label = make('button', { type: 'button', className: 'label', tabIndex: -1, translate: false, onclick: () => go({ token: i }) })
      label.append(make('small'), make('span', { textContent: at.drawing ? groupOf(run, i) : token, title: token }))
      label.classList.toggle('special', run.special.includes(i))
      label.dataset.row = i
      const high = at.drawing && i >= run.drawing.front ? run.drawing.side * at.row : at.row
      return root.appendChild(put(label, { x: band.x, y: band.y + i * at.row + (at.drawing && high === at.row ? -4 : 0), w: band.w, h: at.drawing && high === at.row ? 12 : high }))
    }))
    const { v, w } = at.pics, named = (className, token, where) => root.appendChild(put(make('span', { className, translate: false, ariaHidden: 'true', textContent: token }), where))
    if (run.n > 1 && !at.drawing && at.frame) {
      if (!at.big && !at.opened) nodes.ends = run.tokens.map((token, i) => named('end', token, { x: v.x - 8, y: v.y + i * at.row }))
      nodes.names = run.tokens.map((token, j) => named(at.big || /^[\u3000-\u9fff\uff00-\uffef]$/.test(token) ? 'under-cell upright' : 'under-cell', token,
        { x: w.x + (j + .5) * w.w / run.n, y: w.y + w.h + (at.big ? 5 : 9) }))
    }
    nodes.widths = run.tokens.map((_, i) => (nodes.ends[i]?.offsetWidth ?? 0) * 1.08)
    nodes.wide = nodes.names.map(name => name.offsetWidth)
    nodes.over = draw(root, 'svg', { class: 'over', 'aria-hidden': 'true', width: at.width, height: at.height })
    const defs = draw(nodes.over, 'defs', {})
    for (const kind of ['way', 'values', 'out']) {  // not every browser gives a head the colour of its line
      const tip = draw(defs, 'marker', { id: `overview-${kind}`, viewBox: '0 0 8 8', refX: 6.4, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' })
      draw(tip, 'path', { d: 'M1 1l5 3-5 3', class: kind })
    }
    nodes.lines = draw(nodes.over, 'g', { class: 'lines' })
    nodes.fanGroup = draw(nodes.over, 'g', { class: 'fan' })
    nodes.fan = run.tokens.map(() => draw(nodes.fanGroup, 'path', { visibility: 'hidden' }))
    nodes.taken = run.tokens.map((_, j) => {
      const taken = root.appendChild(put(make('div', { className: 'taken', hidden: true }), { x: v.x - 2, y: v.y + j * at.row - 2, w: v.w + 4, h: at.row + 2 }))
      taken.dataset.role = 'v'
      return taken
    })
    nodes.glow = root.appendChild(make('div', { className: 'glow', hidden: true }))
  }

  // -- drawn for a layer and a head -----------------------------------------------------------------------------------

  function step() {
    const dense = devicePixelRatio || 1
    for (const role of ORDER) {
      const map = run.map(role, place.layer, place.head), node = nodes.pics[role]
      node.classList.toggle('awaited', !map)
      if (map) paint(node.firstChild, map, Math.round(at.pics[role].w * dense), theme)
      const changed = run.changed.includes(role === 'x0' ? 'x0' : role === 'x' ? '' : `${place.layer}.${role}`)
      node.classList.toggle('changed', changed)
      nodes.titles[role].classList.toggle('changed', changed)
      node.setAttribute('aria-label', nameOf(run, place, role))
    }
    nodes.tiles.draw()
    for (const { role, symbol: text } of run.pictures)
      if (text.includes('{l')) symbol(nodes.titles[role].firstChild, text, place.layer)
    nodes.number.textContent = place.layer + 1
    nodes.turns[0].disabled = !place.layer
    nodes.turns[1].disabled = place.layer === run.sizes.layers - 1
    drawSheets()
    drawLines()
    shown = {}
    if (opened) wide.fill()
    light()
  }

  function drawSheets() {
    if (!at.frame) return
    const { x, y, w, h } = at.frame
    nodes.sheets.replaceChildren()
    for (let layer = 0; layer < run.sizes.layers; layer++) {
      const away = layer - place.layer, far = Math.abs(away)
      if (!far || far > SHEETS) continue
      const name = plain(words.layer_number, { layer: layer + 1 })
      const sheet = make('button', { type: 'button', className: 'sheet', ariaLabel: name, title: name, tabIndex: -1, onclick: () => go({ layer }) })
      nodes.sheets.append(put(sheet, { x: away < 0 ? x - at.sheet * far : x + w - 60 + at.sheet * far, y: y + 5 * far, w: 60, h: h - 10 * far }))
      sheet.style.zIndex = -far
    }
  }

  /* What goes where: arrows between pictures, the values' path, residual connections, the answer's row. */
  function drawLines() {
    const { pics, frame } = at, { lines, under } = nodes, right = role => pics[role].x + pics[role].w, middle = role => pics[role].x + pics[role].w / 2
    lines.replaceChildren()
    under.replaceChildren()
    if (!frame) return
    const level = pics.x.y + pics.x.h / 2, line = (d, kind) => draw(lines, 'path', { d, class: kind, 'marker-end': `url(#overview-${kind})` })
    const hop = (from, to) => { if (to - from > 11) line(`M${from + 4} ${level}H${to - 3}`, 'way') }
    if (at.opened !== 'x0') hop(right('x0'), frame.x - at.sheet * Math.min(SHEETS, place.layer))
    const hops = [['x', 'q'], ['k', 's'], ['s', 'w'], ['v', 'a'], ['a', 'n1'], ['n1', 'h'], ['h', 'n2']]
    for (const [from, to] of hops) if (from !== at.opened) hop(right(from), pics[to].x)
    const y = pics.x.y + pics.x.h + 4, deep = at.foot - (at.big ? 12 : 10)
    const arc = (from, to, depth, kind) => {
      const bend = Math.min(20, depth / 2, (to - from) / 2)
      line(`M${from} ${y}v${depth - bend}q0 ${bend} ${bend} ${bend}H${to - bend}q${bend} 0 ${bend} ${-bend}v${-(depth - bend) + 1}`, kind)
    }
    arc(middle('x') + 8, middle('v'), deep - 16, 'values')
    arc(middle('x') - 8, middle('n1') - 6, deep, 'way')
    arc(middle('n1') + 8, middle('n2'), deep, 'way')
    const note = (x, depth, text, kind) => { draw(lines, 'text', { x, y: y + depth + 4, class: kind }).textContent = text }
    const along = (to, share) => middle('x') + (middle(to) - middle('x')) * share
    if (at.opened) {
      note(along('v', .3), deep - 16, words.values_path, 'values')
      return note(along('n1', .7), deep, words.residual_path, 'way')
    }
    note(at.big ? right('w') : (middle('q') + pics.s.x) / 2, deep - 16, words.values_path, 'values')
    note((pics.s.x + pics.w.x) / 2, deep, words.residual_path, 'way')
    const thumb = nodes.thumbs[place.head], a = thumb.x, b = thumb.x + thumb.w, from = thumb.y + thumb.h + 2, to = pics.w.y - 3
    const l = pics.w.x - 1, r = right('w') + 1, half = (to - from) * .55
    draw(under, 'path', { class: 'ribbon', d: `M${a} ${from}H${b}C${b} ${from + half} ${r} ${to - half} ${r} ${to}H${l}C${l} ${to - half} ${a} ${from + half} ${a} ${from}z` })
  }

  // -- drawn for a token ----------------------------------------------------------------------------------------------

  /* The light: the row of the token, and what it attends to. */
  function light(anew) {
    const i = row(), key = `${i}.${place.layer}.${place.head}.${place.token}`
    if (shown.key === key && !anew) return
    shown.key = key
    const told = run.weights(place.layer, place.head, i), weights = told.map(Math.abs), { pics } = at
    nodes.strips.forEach((strip, b) => { strip.style.transform = `translateY(${i * at.row}px)` })
    for (const role of ORDER) nodes.marks[role].style.transform = `translateY(${i * at.row}px)`
    const most = Math.max(...weights), seen = j => weights[j] >= .1 || Boolean(at.drawing && weights[j] === most && most > 0)
    nodes.labels.forEach(band => band.forEach((label, j) => {
      if (!label) return
      const on = at.drawing ? groupHas(run, j, i) : j === i, mark = `${on ? 'on' : ''}${!on && !at.drawing && seen(j) ? ' seen' : ''}`
      const share = !at.drawing && seen(j) ? numberOf(run, told[j]) : ''
      if (label.mark !== mark + share) {
        label.mark = mark + share
        label.classList.toggle('on', on)
        label.classList.toggle('seen', mark.includes('seen'))
        label.firstChild.textContent = share
      }
    }))
    nodes.ends.forEach((end, j) => end.classList.toggle('seen', seen(j)))
    nameColumns(weights, seen)
    const w = pics.w, v = pics.v, x1 = w.x + w.w + 3, y1 = w.y + (i + .5) * at.row
    nodes.fan.forEach((path, j) => {
      const share = weights[j], drawn = !at.opened && share >= (run.n > 20 ? .06 : .04)
      path.setAttribute('visibility', drawn ? 'visible' : 'hidden')
      nodes.taken[j].hidden = !seen(j)
      if (seen(j)) nodes.taken[j].style.opacity = .4 + .6 * share
      if (!drawn) return
      const x2 = v.x - 12 - nodes.widths[j], y2 = v.y + (j + .5) * at.row
      path.setAttribute('d', `M${x1} ${y1}C${x1 + (x2 - x1) * .55} ${y1} ${x1 + (x2 - x1) * .4} ${y2} ${x2} ${y2}`)
      path.setAttribute('stroke-width', 1 + 6 * share * at.scale)
      path.setAttribute('opacity', .3 + .6 * share)
    })
    if (run.drawing) look(i, weights, at.drawing ? nodes.heads.map(({ children }) => children[1]) : [], head => run.weights(place.layer, head, i).map(Math.abs))
    const answered = `${place.token}.${place.layer}.${until}`
    if (shown.answer !== answered) {
      nodes.answer.draw(until)
      nodes.tiles.lean()
      ask()
    }
    shown.answer = answered
    if (!film.on()) read()
    if (opened) explain()
    document.dispatchEvent(new CustomEvent('overview:light', { detail: { row: hover, from: root } }))
  }

  /* Names under the columns of the weights: all where they have room; else those that are attended to most. */
  function nameColumns(weights, seen) {
    if (!nodes.names.length) return
    const cell = at.pics.w.w / run.n, room = 11.5 * at.scale, all = !at.big && cell >= room * .92
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]), taken = []
    const apart = (i, j) => Math.abs(i - j) * cell >= (at.big ? (nodes.wide[i] + nodes.wide[j]) / 2 + 6 : room)
    for (const j of order) {
      const free = all || (seen(j) && taken.every(other => apart(other, j)))
      if (free) taken.push(j)
      nodes.names[j].hidden = !free
      nodes.names[j].classList.toggle('seen', seen(j))
    }
  }

  const read = () => nodes.text.replaceChildren(...reading(run, place, row()))

  /* Ask for what is shown beside a run: how much the answer leans on each head, once a reader has come to them; words to
     hide, where none is. */
  function ask() {
    const { token } = place, lacks = root.leans && run.bars(token) && !run.leaning(token) ? `lean ${token}` : run.nothingHidden && !run.offers ? 'offers' : ''
    if (!lacks || lacks === wanted || run.differs || !on.more || !run.off) return
    wanted = lacks
    clearTimeout(waits)
    waits = setTimeout(() => on.more(lacks.split(' ')[0], { ...place }), 150)
  }

  // -- a picture that is opened where it stands ----------------------------------------------------------------------

  /* Open a picture, or close what is open; the keys stay where they were. */
  function show(role, where) {
    film.stop()
    const last = opened
    opened = role
    cell = where ?? { row: place.token, column: role ? loudestIn(role) : 0 }
    build()
    ;(role ? wide.big : nodes.pics[last])?.focus({ preventScroll: true })
  }

  /* The column of a picture in which the chosen token's number is furthest from 0. */
  function loudestIn(role) {
    const map = run.map(role, place.layer, place.head)
    if (SQUARE.includes(role) || !map) return run.strongest(place.layer, place.head, place.token)[0]
    const row = map.numbers.subarray(place.token * map.columns, (place.token + 1) * map.columns).map(Math.abs)
    return row.indexOf(Math.max(...row))
  }

  /* The arithmetic of a cell, from rows that the run recorded; who has none of them asks, once for each place. */
  function explain() {
    const { row: i, column } = over ?? cell, j = Math.min(column, (run.map(opened, place.layer, place.head)?.columns ?? 1) - 1)
    const leads = opened === 'k' || opened === 'v' ? {} : { token: i, ...SQUARE.includes(opened) && { key: j } }, asks = on.need && !run.differs
    const more = on.open ? [make('a', { className: 'more', tabIndex: 0, role: 'link', onclick: () => open(opened, leads) }, `→ ${words.open}`)] : []
    const needs = `${opened}.${place.layer}.${place.head}.${i}`
    if (wide.explain(i, j, run.id && on.need ? '' : words.not_carried, more) || !asks || asked === needs) return
    asked = needs
    hush()
    on.need(opened, { ...place }, i)
  }

  // -- Play -----------------------------------------------------------------------------------------------------------

  function boxOf(roles) {
    const own = root.getBoundingClientRect(), [band] = at.bands
    const boxes = roles.map(role => role === 'labels' ? { x: band.x, y: band.y, w: band.w, h: at.row * run.n }
      : role === 'answer' ? rectIn(nodes.answer.bars, own) : role === 'heads' ? rectIn(nodes.heads[0].closest('.thumbs'), own)
        : role === 'layers' ? at.frame ?? rectIn(nodes.head, own) : at.pics[role])
    const [x, y] = ['x', 'y'].map(side => Math.min(...boxes.map(box => box[side])))
    return { x: x - 6, y: y - 6, w: Math.max(...boxes.map(box => box.x + box.w)) - x + 12, h: Math.max(...boxes.map(box => box.y + box.h)) - y + 12 }
  }

  /* A frame of the film: one clock for what is lit, the card, the words read so far, and what is said. */
  function paintFrame({ roles, layer, through, text, values }) {
    const turned = layer !== place.layer, all = roles[0] === 'layers', quiet = matchMedia('(prefers-reduced-motion: reduce)').matches
    root.classList.add('playing')
    nodes.text.ariaLive = 'polite'
    hover = undefined
    Object.assign(place, { layer })
    until = through
    turned ? step() : light(true)
    nodes.text.replaceChildren(...text.flatMap((part, k) => [k ? gap(text[k - 1]) : '', ...said(part, values)]))
    for (const node of root.querySelectorAll(':scope > [data-role]')) node.classList.toggle('off', !all && !roles.includes(node.dataset.role))
    nodes.fanGroup.classList.toggle('off', !all && !roles.includes('v'))
    nodes.glow.hidden = false
    put(nodes.glow, boxOf(roles))
    const high = nodes.glow.offsetHeight > innerHeight / 2
    if (at.height > innerHeight) nodes.glow.scrollIntoView({ block: high ? 'start' : 'center', behavior: quiet ? 'instant' : 'smooth' })
    if (turned && all && !quiet) for (const pic of Object.values(nodes.pics)) pic.animate({ transform: ['translateX(14px)', 'none'], opacity: [.2, 1] }, 350)
  }

  function endFilm() {
    root.classList.remove('playing')
    for (const node of root.querySelectorAll('.off')) node.classList.remove('off')
    nodes.glow.hidden = true
    nodes.text.ariaLive = null
    until = undefined
    Object.assign(place, { layer: began })
    step()
  }

  function play() {
    if (opened) {
      show()
      film.nodes[0].focus()
    }
    film.toggle()
  }

  function buildSay() {
    nodes.text = make('p')
    film = player({ words, paint: paintFrame, ended: endFilm, press: play, frames() {
      began = place.layer
      return framesOf(run, place)
    } })
    const say = root.appendChild(make('div', { className: 'say' }, ...run.differs ? [] : film.nodes, nodes.text))  // a difference has no film: that tells how one run was computed
    say.before(make('div', { style: `height: ${at.say}px` }))  // it sticks to the end of the screen, and so stands in the flow
  }

  // -- what the reader does -------------------------------------------------------------------------------------------

  const hush = () => { telling = clearTimeout(telling) }

  /* Another place: shown now, told later. */
  function go(wanted, quietly = false) {
    const before = JSON.stringify(place), { layer, head } = place
    if (!quietly) film.stop()
    Object.assign(place, wanted)
    fit()
    hover = undefined
    if (opened && opened !== 'k' && opened !== 'v') cell.row = place.token
    if (JSON.stringify(place) === before) return light()
    if (place.layer !== layer || place.head !== head) step()
    else light()
    remeasure()
    if (!quietly && on.place) {
      hush()
      telling = setTimeout(() => { hush(); on.place({ ...place }) }, run.map('w', place.layer, 0) ? 600 : 0)
    }
  }

  const open = (role, more) => {
    hush()
    on.open?.(role, { ...place, ...more })
  }

  function cellAt(event) {
    const node = event.target.closest?.('.pic')
    if (!node) return
    const { role } = node.dataset, map = run.map(role, place.layer, place.head)
    if (!map) return
    const i = clamp(Math.floor(event.offsetY / node.clientHeight * run.n), 0, run.n - 1), pixels = node.firstChild.width
    const x = clamp(Math.floor(event.offsetX / node.clientWidth * pixels), 0, pixels - 1)
    const from = Math.floor(x * map.columns / pixels), to = Math.max(from + 1, Math.floor((x + 1) * map.columns / pixels))
    let j = from
    for (let k = from; k < to; k++) if (Math.abs(map.numbers[i * map.columns + k]) > Math.abs(map.numbers[i * map.columns + j])) j = k
    const number = map.numbers[i * map.columns + j], value = number === map.hidden ? -Infinity : (number + map.middle) * map.scale
    return { role, row: i, column: j, across: Math.floor(event.offsetX / node.clientWidth * map.columns), value, first: from * map.together + 1, last: Math.min(to * map.together, map.of), of: map.of }
  }

  root.addEventListener('pointermove', event => {
    if (event.pointerType === 'touch') return
    const label = event.target.closest?.('.label'), found = label ? undefined : cellAt(event)
    const inside = found && found.role === opened && event.target === wide.big
    if (!film.on() && !event.target.closest?.('.square-box, .panel')) {
      hover = label && !at.drawing ? Number(label.dataset.row) : found?.row
      point(inside ? found : undefined)
    }
    const tells = found && !inside && !(run.differs && found.value === -Infinity)  // nothing stands in its place there
    nodes.tip.classList.toggle('seen', Boolean(tells))
    if (!tells) return
    nodes.tip.replaceChildren(...cellIn(run, found))
    const pic = at.pics[found.role], x = pic.x + event.offsetX, y = pic.y + event.offsetY
    nodes.tip.style.transform = `translate(${clamp(x + 14, 0, Math.max(0, at.width - 260))}px, ${Math.max(0, y - 44)}px)`
  }, { signal })
  root.addEventListener('pointerleave', () => {
    hover = undefined
    nodes.tip?.classList.remove('seen')
    point()
  }, { signal })
  /* The cell of the opened picture that is pointed at; without one, that which was chosen. */
  const point = found => {
    const before = over
    over = found && { row: found.row, column: found.across }
    const { key } = shown
    light()
    if (opened && shown.key === key && JSON.stringify(over) !== JSON.stringify(before)) explain()
  }
  root.addEventListener('click', event => {
    const title = event.target.closest('.title, .answer-title, .bars'), found = cellAt(event), role = title?.dataset.role
    if (event.target.closest('button, a')) return
    if (opened && found?.role === opened && event.target === wide.big) return choose({ row: found.row, column: found.across })
    if (found) {
      if (found.role !== 'k' && found.role !== 'v') go({ token: found.row })
      return show(found.role, { row: found.row, column: found.across })
    }
    if (role) show(role === opened ? undefined : role)
    else if (title) open('answer', {})
  }, { signal })
  /* Another cell of the opened picture; of all but keys and values its row is the chosen token's. */
  const choose = wanted => {
    const map = run.map(opened, place.layer, place.head)
    cell = { row: clamp(wanted.row, 0, run.n - 1), column: clamp(wanted.column, 0, (map?.columns ?? 1) - 1) }
    over = undefined
    if (opened !== 'k' && opened !== 'v' && place.token !== cell.row) go({ token: cell.row })
    else explain()
  }
  document.addEventListener('keydown', event => {
    const from = event.composedPath()[0]
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !root.isConnected || !at) return
    const scrubs = from.closest?.('.scrubber') && from.type && event.key.startsWith('Arrow')  // the scrubber's own keys
    if (scrubs || from.closest?.('input:not(.scrubber *), textarea, select, [contenteditable], [role=dialog]:not(.opened-sheet), [role=listbox], [role=radiogroup], [role=slider]')) return
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? []
    const inside = opened && from === wide.big, { shiftKey } = event, picture = from.closest?.('.pic, .title, .answer-title')
    if (inside && !shiftKey && (down || right)) choose({ row: cell.row + down, column: cell.column + right })
    else if (event.key === 'Escape' && (opened || film.on())) opened ? show() : film.stop()
    else if (film.on() && right && !shiftKey) film.by(right)
    else if (shiftKey && !inside && down) go({ token: place.token + down })
    else if ((!shiftKey || inside) && (down || right)) go(down ? { layer: place.layer + down } : { head: place.head + right })
    else if (event.key === ' ' && !run.differs && !from.closest?.('button, a, summary, [role=button]')) play()
    else if (event.key === 'Enter' && picture && root.contains(picture)) picture.dataset.role && picture.dataset.role !== 'answer' ? show(picture.dataset.role) : open('answer', {})
    else if (event.key === 'Enter' && from.classList?.contains('more')) from.click()
    else return
    event.preventDefault()
  }, { signal })
  document.addEventListener('overview:point', ({ detail }) => {
    if (!at || film.on()) return
    hover = detail.row < run.n ? detail.row : undefined
    light()
  }, { signal })

  document.addEventListener('overview:moved', () => requestAnimationFrame(() => {
    if (at?.frame && Math.abs(topOf(root) - at.from) > 3) build()
  }), { signal })

  let width = 0, height = 0
  const resized = () => {
    if (!root.clientWidth || (root.clientWidth === width && innerHeight === height)) return
    if (root.clientWidth !== width) measured = {}
    ;[width, height] = [root.clientWidth, innerHeight]
    build()
  }
  const size = new ResizeObserver(resized)
  size.observe(root)
  addEventListener('resize', resized, { signal })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { if (root.clientWidth) build() }, { signal })
  resized()
  document.fonts?.ready.then(() => { if (document.fonts.size && root.clientWidth && !film.on()) build() })

  return {
    show(next) {
      film?.stop()
      if (next.of && next.of === run.of) Object.assign(next, { lean: run.lean, offers: run.offers })  // of the input, whatever is changed
      run = next
      wanted = ''
      ;({ words } = run)
      measured = {}
      const among = () => [...root.querySelectorAll('.thumb, .cross')], held = among().indexOf(document.activeElement)
      if (root.clientWidth) build()
      among()[held]?.focus({ preventScroll: true })
    },
    /* Rows that on.need asked for, in a message like that of the run; those of another run are left. */
    learn(message) {
      const [about, ...numbers] = message.slice ? apart(message) : [message]
      if (about.id !== run.id) return
      run.learn(about, ...numbers)
      if (!at) return
      if (opened) { wide.fill(); explain() }
      shown.answer = shown.key = undefined
      light()
      remeasure()
    },
    /* Another place, unless the reader has chosen one that was not told yet. */
    go: wanted => { if (!at) Object.assign(place, wanted); else if (!telling) go(wanted, true) },
    place,
    leave() {
      listening.abort()
      size.disconnect()
      film?.stop()
    },
  }
}
