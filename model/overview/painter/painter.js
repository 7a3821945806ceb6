/* The run on one screen. All numbers arrive once: choosing a layer, head or token, pointing, and Play need no
   server. Used by the page Home, by notebooks, by saved files and by the site. */

import { answering } from './answer.js'
import { luminous, paint, strongestIn } from './colours.js'
import { drawing, groupHas, groupOf } from './drawing.js'
import { SHEETS, layOut, topOf } from './layout.js'
import { clamp, draw, keeping, make, put, rectIn, set } from './nodes.js'
import { fixed } from './numbers.js'
import { opening } from './opened.js'
import { framesOf, player } from './play.js'
import { tiles } from './tiles.js'
import { ORDER, SQUARE, apart } from './run.js'
import { cellIn, gap, nameOf, numberOf, plain, reading, said, symbol } from './words.js'

export { bytesOf, fromBytes, fromText, Run } from './run.js'
export { make } from './nodes.js'
export { decimal, plain, two } from './words.js'

const ofKeys = role => role === 'k' || role === 'v'  // rows are keys, not the chosen token

/* Show a run in a node. place: {layer, head, token} from 0; below: pixels to leave free under it. Callbacks:
   on.place(place): the reader chose another place; on.open(role, place): he wants the page of a picture;
   on.need(role, place, row): he opened a picture for which `run.exact` lacks rows; on.off(layer, head): he switches
   a head off, or on again if `run.off` has it ("layer.head"); on.more('lean', place): `leaning` of a token is missing.
   Pass what is missing to `learn`. Returns {show(run), go(place), place, learn(message), leave()}. */
export function overview(root, run, options) {
  let { words } = run
  const { below = 8, on = {} } = options
  const place = { layer: 0, head: 0, token: 0, ...options.place }
  let opened, cell = { row: 0, column: 0 }, over, asked  // opened picture, chosen cell, cell under the pointer, last request
  let at, closed, known, widest, ground, theme, nodes = {}, hover, shown = {}, telling, waits, wanted, look, wide
  let film, began, until  // Play, the layer in which it began, and the number of layers that it has read
  const listening = new AbortController(), { signal } = listening, { begin, end, keep, keepDrawn } = keeping()
  const pen = make('canvas').getContext('2d')
  root.tabIndex = -1

  const row = () => hover ?? place.token
  const fit = () => {
    const most = { layer: run.sizes.layers, head: run.sizes.heads, token: run.n }
    for (const axis in most) place[axis] = clamp(place[axis], 0, most[axis] - 1)
  }

  // -- built once for a run and a width -------------------------------------------------------------------------------

  /* again: reuse nodes and their widths, unless the pictures are stacked. same: only the opened picture has changed. */
  function build(again = false, same = false) {
    film?.stop()
    fit()
    again &&= at?.frame && !wide?.sheet
    same &&= again
    begin(!again)
    if (!same) {
      const style = getComputedStyle(root), before = ground
      ground = style.getPropertyValue('--st-background-color')
      if (!again || ground !== before)
        theme = root.dataset.theme = (ground ? luminous(ground) < .5 : matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light'
      pen.font = `600 16px ${style.fontFamily}`
      widest = Math.max(...run.tokens.map(token => pen.measureText(token).width))
      root.classList.remove('opens')
    }
    hover = over = asked = undefined
    shown = {}
    if (!again) {
      root.style.minHeight = `${root.offsetHeight}px`  // keeps the scroll position
      root.replaceChildren()
      known = {}
    }
    set(root, { role: 'group', ariaLabel: plain(words.label, { ...run.sizes }) })
    nodes = { titles: {}, pics: {}, ends: [], names: [], order: [], stage: again ? nodes.stage : root.appendChild(make('div', { className: 'stage' })) }
    const { stage } = nodes
    for (const { role, caption, shape, symbol: text } of run.pictures) {
      const node = nodes.titles[role] = keep('div', { className: 'title', title: words.look_closer },
        keep('span', { className: 'symbol' }), keep('span', { className: 'caption' }, words[caption]), keep('span', { className: 'shape' }, shape))
      node.dataset.role = role
      node.classList.toggle('open', role === opened)
      if (!node.parentNode) stage.append(node)
      symbol(node.firstChild, text, place.layer)
    }
    const about = { root, run, titles: nodes.titles, below, widest, known }
    at = closed = same ? closed : layOut(about)
    if (opened && at.frame) {
      root.classList.add('opens')
      const anew = layOut({ ...about, opened, closed })
      if (anew.frame) at = anew  // else too narrow: it opens on a sheet
    }
    if (again && !(opened ? at.panel : at.frame)) return build()
    root.classList.toggle('opens', Boolean(at.opened))
    root.dataset.detail = at.detail
    stage.style.height = `${at.high}px`
    root.classList.toggle('of-drawing', Boolean(at.drawing))
    buildFrame()
    for (const role of ORDER) buildPicture(role)
    buildRows()
    if (run.drawing) look = drawing({ keep, root, hold, run, at, words, point: i => { hover = i; light() }, choose: i => go({ token: i }) })
    nodes.answer = answering({ keep, keepDrawn, hold, run, at, known, theme, place, on, over: nodes.over })
    buildSay()
    nodes.tip = into(keep('div', { className: 'tip', ariaHidden: 'true' }))
    end()
    nodes.order.forEach((node, i) => { if (node !== stage.children[i]) stage.insertBefore(node, stage.children[i]) })
    wide = opened && opening({
      keep, stage, run, at, theme, place, go, role: opened, title: nodes.titles[opened], picture: nodes.pics[opened], name: nameOf(run, place, opened), close: show })
    const wideOf = node => { node.classList.remove('seen'); return node.offsetWidth }
    ;[nodes.widths, nodes.wide] = [nodes.ends, nodes.names].map((all, kind) => all.map((node, i) => known[`${kind} ${at.row} ${run.tokens[i]}`] ??= wideOf(node)))
    placeHeads()
    step()
    root.style.minHeight = ''
  }

  /* Place a node beside the pictures; above them if they are stacked. */
  function hold(node, where) {
    at.frame ? into(put(node, where)) : nodes.stage.before(node)
    return node
  }

  /* Append a node to the stage, in the order of these calls. */
  function into(node) {
    nodes.order.push(node)
    if (node.parentNode !== nodes.stage) nodes.stage.append(node)
    return node
  }

  const add = (where, kind, own, ...children) => into(put(keep(kind, own, ...children), where))

  /* A frame around a row of a picture; `frames` holds several that move together. */
  function outline(className, role, row = 0) {
    const { x, y, w } = at.pics[role], node = put(make('i', { className }), { x: x - 2, y: y + row * at.row - 2, w: w + 4, h: at.row + 2 })
    node.dataset.role = role
    return node
  }
  const frames = (kind, ...all) => into(keep('div', { className: `frames ${kind}` }, ...all))

  function buildFrame() {
    nodes.under = into(keepDrawn(nodes.stage, 'svg', { class: 'under', 'aria-hidden': 'true' }))
    if (at.frame) nodes.frame = add(at.frame, 'div', { className: 'frame' })
    nodes.number = keep('b', { className: 'number', textContent: `${place.layer + 1}` })
    const name = textContent => keep('span', { className: 'name', textContent })
    nodes.turns = [['‹', words.previous_layer, -1], ['›', words.next_layer, 1]].map(([sign, title, by]) =>
      keep('button', { ariaLabel: title, title, onclick: () => go({ layer: place.layer + by }) }, sign))
    nodes.tiles = tiles({ keep, run, at, theme, place, words, go, on, turned() {
      if (run.cut && run.without.token >= 0) go({ token: run.without.token })
      step()
    } })
    const [back, forth] = nodes.turns, of = keep('span', { className: 'of', textContent: plain(words.of, run.sizes) })
    const stepper = keep('div', { className: 'stepper' }, name(words.layer), back, nodes.number, forth, of)
    const thumbs = keep('div', { className: 'thumbs', role: 'group', ariaLabel: words.heads }, name(words.head), ...nodes.tiles.nodes)
    const leans = keep('span', { className: 'legend', hidden: true }, words.legend_lean)
    nodes.head = hold(keep('div', { className: 'head' }, stepper, thumbs, leans), { ...at.frame, h: at.head })
    nodes.head.style.setProperty('--thumb', `${at.thumb}px`)
    buildLegends()
  }

  /* Place the heads above the weights, as far as there is room, and the legend of their bars after them. */
  function placeHeads() {
    const { head } = nodes, [stepper, thumbs, leans] = head.children, whole = at.frame ? Math.round(at.frame.w) : head.clientWidth
    const measured = tight => {
      head.classList.toggle('tight', tight)
      return known[`${stepper.textContent} ${run.sizes.heads} ${at.thumb} ${at.detail} ${tight}`] ??= [stepper.offsetWidth, thumbs.offsetWidth, nodes.tiles.thumbs.map(
        thumb => rectIn(thumb, { left: thumbs.getBoundingClientRect().left, top: nodes.stage.getBoundingClientRect().top }))]
    }
    head.classList.toggle('crowded', at.thumb < 18)
    let [first, wide, boxes] = measured(false)
    if (first + wide + 48 > whole) [first, wide, boxes] = measured(true)
    if (!at.frame) return
    const { w } = at.pics, room = whole - wide - 16
    const left = clamp(w.x + w.w / 2 - at.frame.x - wide / 2, Math.min(first + 32, room), room), free = Math.min(room - left - 10, 250)
    nodes.thumbs = boxes.map(box => ({ ...box, x: box.x + at.frame.x + left }))
    thumbs.style.left = `${left}px`
    leans.hidden = !nodes.tiles.any || !['word', 'class'].includes(run.answers.kind) || room - left <= 150
    put(leans, { x: left + wide + 20, y: 14, w: free })
    leans.hidden ||= known[`${leans.textContent} ${free}`] ??= leans.scrollWidth > leans.clientWidth  // too wide with large letters
  }

  function buildLegends() {
    const legend = (...parts) => keep('span', { className: 'legend' }, ...parts), ramp = kind => keep('i', { className: `ramp ${kind}` })
    const { top } = run.arrays.w, { x0 } = at.pics, about = run.differs ? [] : [legend('0 ', ramp('share'), ` ${top < 1 ? `${fixed(top, 1)}+` : 1} ${words.legend_weights}`)]
    about.push(legend('− ', ramp('signed'), ` + ${words[run.differs ? 'legend_less' : 'legend_numbers']}`))
    if (!at.big && ORDER.some(role => run.arrays[role]?.of > at.pics[role].w)) about.push(legend(words.legend_pooled))
    if (run.unseen) about.push(legend(plain(words.legend_unseen, { seen: run.n, n: run.sizes.n })))
    const legends = keep('div', { className: 'legends' }, ...about)
    if (!at.frame) return nodes.head.append(legends)
    hold(legends, at.left ? { x: 0, y: at.left + 20, w: at.left - 14 } : at.big ? { x: 0, y: 10, w: x0.x - 20 }
      : { x: 0, y: x0.y + x0.h + 10, w: at.frame.x - at.sheet * SHEETS })
  }

  function buildPicture(role) {
    const pic = at.pics[role], cell = pic.w / run.n, title = nodes.titles[role]
    title.classList.add('placed')
    into(put(title, { x: pic.x + pic.w / 2, y: pic.y - 8 }))  // above the frame
    const node = nodes.pics[role] = add(pic, 'div', { className: 'pic', tabIndex: 0, role: 'button', ariaRoleDescription: null, ariaDescription: words.look_closer }, keep('canvas'))
    node.classList.toggle('square', SQUARE.includes(role))
    node.classList.toggle('fine', cell < 6)
    const sizes = { '--row': at.row, '--gap': at.row >= 12 ? 2 : at.row >= 8 ? 1 : 0, '--cell': cell }  // not on root: inherited properties are slow to change
    for (const [name, pixels] of Object.entries(sizes)) node.style.setProperty(name, `${pixels}px`)
    node.dataset.role = role
  }

  function buildRows() {
    const { v, w } = at.pics, drawing = at.drawing && run.drawing
    const beams = at.bands.map(({ x, y, right }) => put(make('i', { className: 'beam' }), { x, y, w: right - x, h: at.row }))
    nodes.moving = [frames('beams', ...beams), frames('marks', ...ORDER.map(role => outline('mark', role)))]
    const letters = drawing ? 11.5 * at.scale : at.big ? Math.min(20, at.row * .96) : Math.min(15 * at.scale, at.row * .74)
    nodes.labels = at.bands.map(({ x, y, w }) => run.tokens.map((token, i) => {
      const name = drawing ? groupOf(run, i) : token, rows = drawing && i >= drawing.front ? drawing.side : 1, high = rows * at.row
      if (!name) return
      const where = drawing && rows === 1 ? { x, y: y + i * high - 4, w, h: 12 } : { x, y: y + i * high / rows, w, h: high }
      const own = { className: 'label', tabIndex: -1, translate: false, onclick: () => go({ token: i }) }
      const label = add(where, 'button', own, keep('small'), keep('span', { textContent: name, title: token }))
      label.style.fontSize = `${letters}px`
      label.classList.toggle('special', run.special.includes(i))
      label.dataset.row = i
      return label
    }))
    if (run.n > 1 && !drawing && at.frame) {
      const named = (className, token, where) => add(where, 'span', { className, translate: false, ariaHidden: 'true', hidden: false }, token)
      const below = w.y + w.h + (at.big ? 5 : 9), upright = token => at.big || /^[\u3000-\u9fff\uff00-\uffef]$/.test(token)
      if (!at.big) nodes.ends = run.tokens.map((token, i) => named('end', token, { x: v.x - 8, y: v.y + i * at.row, h: at.row }))
      for (const { style } of nodes.ends) Object.assign(style, { lineHeight: `${at.row}px`, fontSize: `calc(min(${letters}px, 1rem) * .84)` })
      nodes.names = run.tokens.map((token, j) =>
        named(upright(token) ? 'under-cell upright' : 'under-cell', token, { x: w.x + (j + .5) * w.w / run.n, y: below }))
    }
    nodes.over = into(keepDrawn(nodes.stage, 'svg', { class: 'over', 'aria-hidden': 'true' }))
    const defs = keepDrawn(nodes.over, 'defs', {}), tip = { viewBox: '0 0 8 8', refX: 6.4, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' }
    for (const kind of ['way', 'values', 'out'])  // some browsers do not give an arrowhead the colour of its line
      keepDrawn(keepDrawn(defs, 'marker', { id: `overview-${kind}`, ...tip }), 'path', { d: 'M1 1l5 3-5 3', class: kind })
    nodes.lines = keepDrawn(nodes.over, 'g', { class: 'lines' })
    nodes.fan = keepDrawn(nodes.over, 'g', { class: 'fan', 'data-role': 'v' })
    nodes.taken = frames('takens')
    nodes.glow = into(keep('div', { className: 'glow', hidden: true }))
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
    nodes.turns.forEach((turn, end) => { turn.disabled = place.layer === (end && run.sizes.layers - 1) })
    drawSheets()
    drawLines()
    shown = {}
    if (opened) wide.fill()
    light()
  }

  /* The other layers, as cards behind this one. */
  function drawSheets() {
    if (!at.frame) return
    const behind = (side, layers) => Array.from({ length: Math.min(SHEETS, layers) }, (_, k) => {
      const far = 5 * (k + 1), x = side * (far + at.sheet * (k + 1))
      return `${x}px 0 0 -${far}px var(--soft), ${x}px 0 0 ${1 - far}px var(--line)`
    })
    nodes.frame.style.boxShadow = [...behind(-1, place.layer), ...behind(1, run.sizes.layers - 1 - place.layer)].join()
  }

  /* Draw the arrows between pictures, the path of the values, residual connections, and the ribbon from the head to
     its weights. */
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
    note(along('v', .2), deep - 16, words.values_path, 'values')
    note(along('n1', .7), deep, words.residual_path, 'way')
    if (at.opened) return
    const thumb = nodes.thumbs[place.head], a = thumb.x, b = thumb.x + thumb.w, from = thumb.y + thumb.h + 2, to = pics.w.y - 3
    const l = pics.w.x - 1, r = right('w') + 1, half = (to - from) * .55
    draw(under, 'path', { class: 'ribbon', d: `M${a} ${from}H${b}C${b} ${from + half} ${r} ${to - half} ${r} ${to}H${l}C${l} ${to - half} ${a} ${from + half} ${a} ${from}z` })
  }

  // -- drawn for a token ----------------------------------------------------------------------------------------------

  /* Highlight the token's row and what it attends to. */
  function light(anew) {
    const i = row(), key = `${i}.${place.layer}.${place.head}.${place.token}`
    if (shown.key === key && !anew) return
    shown.key = key
    const told = run.weights(place.layer, place.head, i), digits = run.map('w', place.layer, place.head)?.digits, weights = told.map(Math.abs), { pics } = at
    for (const node of nodes.moving) node.style.transform = `translateY(${i * at.row}px)`
    const most = Math.max(...weights), seen = j => weights[j] >= .1 || Boolean(at.drawing && weights[j] === most && most > 0)
    nodes.labels.forEach(band => band.forEach((label, j) => {
      if (!label) return
      const on = at.drawing ? groupHas(run, j, i) : j === i, share = !at.drawing && seen(j) ? numberOf(run, told[j], digits) : ''
      label.classList.toggle('on', on)
      label.classList.toggle('seen', Boolean(share) && !on)
      if (label.firstChild.textContent !== share) label.firstChild.textContent = share
    }))
    nodes.ends.forEach((end, j) => end.classList.toggle('seen', seen(j)))
    nameColumns(weights, seen)
    const w = pics.w, v = pics.v, x1 = w.x + w.w + 3, y1 = w.y + (i + .5) * at.row
    nodes.fan.replaceChildren()
    nodes.taken.replaceChildren()
    weights.forEach((share, j) => {
      if (seen(j)) nodes.taken.appendChild(outline('taken', 'v', j)).style.opacity = .4 + .6 * share
      if (at.opened || share < (run.n > 20 ? .06 : .04)) return
      const x2 = v.x - 12 - (nodes.widths[j] ?? 0) * 1.08, y2 = v.y + (j + .5) * at.row, d = `M${x1} ${y1}C${x1 + (x2 - x1) * .55} ${y1} ${x1 + (x2 - x1) * .4} ${y2} ${x2} ${y2}`
      draw(nodes.fan, 'path', { d, 'stroke-width': 1 + 6 * share * at.scale, opacity: .3 + .6 * share })
    })
    if (run.drawing) look(i, weights, at.drawing ? nodes.tiles.thumbs.map(({ children }) => children[1]) : [], head => run.weights(place.layer, head, i).map(Math.abs))
    const asks = `${place.token}.${place.layer}.${until}`, answered = ['word', 'tag'].includes(run.answers.kind) ? `${i}.${asks}` : asks
    if (shown.answer !== answered) nodes.answer.draw(i, until)
    if (shown.asks !== asks) {
      nodes.tiles.lean()
      ask()
    }
    Object.assign(shown, { answer: answered, asks })
    if (!film.on()) nodes.text.replaceChildren(...reading(run, place, i))
    if (opened) explain()
    document.dispatchEvent(new CustomEvent('overview:light', { detail: { row: hover, from: root } }))
  }

  /* Name the columns of the weights: all if they have room; else those attended to most. */
  function nameColumns(weights, seen) {
    if (!nodes.names.length) return
    const cell = at.pics.w.w / run.n, room = 11.5 * at.scale, all = !at.big && cell >= room * .85
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]), taken = []
    const apart = (i, j) => Math.abs(i - j) * cell >= (at.big ? (nodes.wide[i] + nodes.wide[j]) / 2 + 6 : room)
    for (const j of order) {
      const free = all || (seen(j) && taken.every(other => apart(other, j)))
      if (free) taken.push(j)
      nodes.names[j].hidden = !free
      nodes.names[j].classList.toggle('seen', seen(j))
    }
  }

  /* Request what the run lacks: how much the answer depends on each head, once the reader has come to the heads. */
  function ask() {
    const { token } = place, lacks = root.leans && run.bars(token) && !run.leaning(token) ? `lean ${token}` : ''
    if (!lacks || lacks === wanted || run.differs || !on.more || !run.off) return
    wanted = lacks
    clearTimeout(waits)
    waits = setTimeout(() => on.more('lean', { ...place }), 150)
  }

  // -- a picture that is opened where it stands ----------------------------------------------------------------------

  /* Open a picture, or close the open one, and keep the focus. */
  function show(role, where) {
    film.stop()
    const last = opened
    opened = role
    cell = where ?? { row: place.token, column: role ? loudestIn(role) : 0 }
    nodes.tip.classList.remove('seen')  // it describes a cell of the former layout
    build(true, true)
    nodes.pics[role ?? last]?.focus({ preventScroll: true })
  }

  /* The column of the chosen token's number furthest from 0; in scores and weights, its strongest key. */
  function loudestIn(role) {
    const map = run.map(role, place.layer, place.head)
    if (SQUARE.includes(role) || !map) return run.strongest(place.layer, place.head, place.token)[0]
    return strongestIn(map, place.token, 0, 1) % map.columns
  }

  /* Show the arithmetic of a cell; if rows are missing, request them, once for each place. */
  function explain() {
    const { row: i, column } = over ?? cell, j = Math.min(column, (run.map(opened, place.layer, place.head)?.columns ?? 1) - 1)
    const leads = ofKeys(opened) ? {} : { token: i, ...SQUARE.includes(opened) && { key: j } }, asks = on.need && !run.differs
    const more = on.open ? [make('button', { className: 'more', role: 'link', onclick: () => open(opened, leads) }, `→ ${words.open}`)] : []
    const needs = `${opened}.${place.layer}.${place.head}.${i}`
    if (wide.explain(i, j, run.id && on.need ? '' : words.not_carried, more) || !asks || asked === needs) return
    asked = needs
    hush()
    on.need(opened, { ...place }, i)
  }

  // -- Play -----------------------------------------------------------------------------------------------------------

  function boxOf(roles) {
    const own = nodes.stage.getBoundingClientRect(), [band] = at.bands
    const boxes = roles.map(role => role === 'labels' ? { x: band.x, y: band.y, w: band.w, h: at.row * run.n }
      : role === 'answer' ? rectIn(nodes.answer.bars, own) : role === 'heads' ? rectIn(nodes.tiles.thumbs[0].closest('.thumbs'), own)
        : role === 'layers' ? at.frame ?? rectIn(nodes.head, own) : at.pics[role])
    const [x, y] = ['x', 'y'].map(side => Math.min(...boxes.map(box => box[side])))
    return { x: x - 6, y: y - 6, w: Math.max(...boxes.map(box => box.x + box.w)) - x + 12, h: Math.max(...boxes.map(box => box.y + box.h)) - y + 12 }
  }

  /* Show a frame of the film: its layer, highlighted pictures, readings so far, and sentence. */
  function paintFrame({ roles, layer, through, text, values }) {
    const turned = layer !== place.layer, all = roles[0] === 'layers', quiet = matchMedia('(prefers-reduced-motion: reduce)').matches
    root.classList.add('playing')
    nodes.text.ariaLive = 'polite'
    hover = undefined
    place.layer = layer
    until = through
    turned ? step() : light(true)
    nodes.text.replaceChildren(...text.flatMap((part, k) => [k ? gap(text[k - 1]) : '', ...said(part, values)]))
    for (const node of root.querySelectorAll('[data-role]')) node.classList.toggle('off', !all && !roles.includes(node.dataset.role))
    nodes.glow.hidden = false
    put(nodes.glow, boxOf(roles))
    const high = nodes.glow.offsetHeight > innerHeight / 2
    if (root.offsetHeight > innerHeight) nodes.glow.scrollIntoView({ block: high ? 'start' : 'center', behavior: quiet ? 'instant' : 'smooth' })
    if (turned && all && !quiet) for (const pic of Object.values(nodes.pics)) pic.animate({ transform: ['translateX(14px)', 'none'], opacity: [.2, 1] }, 350)
  }

  function endFilm() {
    root.classList.remove('playing')
    nodes.glow.hidden = true
    nodes.text.ariaLive = null
    until = undefined
    place.layer = began
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
    nodes.text = keep('p', { className: 'read' })
    film = player({ keep, words, paint: paintFrame, ended: endFilm, press: play, frames() {
      began = place.layer
      return framesOf(run, place)
    } })
    // no film of a difference: it tells how one run was computed
    const say = keep('div', { className: 'say' }, ...run.differs ? [] : film.nodes, nodes.text)
    if (!say.parentNode) root.append(say)
  }

  // -- what the reader does -------------------------------------------------------------------------------------------

  const hush = () => { telling = clearTimeout(telling) }

  /* Choose another place: shown now, reported later. */
  function go(wanted, quietly = false) {
    const before = JSON.stringify(place), { layer, head } = place
    if (!quietly) film.stop()
    Object.assign(place, wanted)
    fit()
    hover = undefined
    if (opened && !ofKeys(opened)) cell.row = place.token
    if (JSON.stringify(place) === before) return light()
    if (place.layer !== layer || place.head !== head) step()
    else light()
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
    const { columns, together, of, digits } = map, pixels = node.firstChild.width
    const [x, y] = [event.offsetX / node.clientWidth, event.offsetY / node.clientHeight]
    const pixel = clamp(Math.floor(x * pixels), 0, pixels - 1), from = Math.floor(pixel * columns / pixels)
    const row = clamp(Math.floor(y * run.n), 0, run.n - 1), at = strongestIn(map, row, pixel, pixels), number = map.numbers[at]
    const value = number === map.hidden ? -Infinity : (number + map.middle) * map.scale
    const last = Math.min(Math.max(from + 1, Math.floor((pixel + 1) * columns / pixels)) * together, of)
    return { role, row, column: at % columns, across: Math.floor(x * columns), value, digits, first: from * together + 1, last, of }
  }

  root.addEventListener('pointermove', event => {
    if (event.pointerType === 'touch') return
    const label = event.target.closest?.('.label'), found = label ? undefined : cellAt(event)
    const inside = found && found.role === opened
    if (!film.on() && !event.target.closest?.('.square-box, .panel')) {
      hover = label && !at.drawing ? Number(label.dataset.row) : found?.row
      point(inside ? found : undefined)
    }
    const tells = found && !inside && !(run.differs && found.value === -Infinity)  // a masked pair of a difference has no number
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
  /* Explain the cell that is pointed at in the opened picture; without one, the chosen cell. */
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
    if (opened && found?.role === opened) return choose({ row: found.row, column: found.across })
    if (found) {
      if (!ofKeys(found.role)) go({ token: found.row })
      return show(found.role, { row: found.row, column: found.across })
    }
    if (role) show(role === opened ? undefined : role)
    else if (title) open('answer', {})
  }, { signal })
  /* Choose another cell of the opened picture and, except for keys and values, its row's token. */
  const choose = wanted => {
    const map = run.map(opened, place.layer, place.head)
    cell = { row: clamp(wanted.row, 0, run.n - 1), column: clamp(wanted.column, 0, (map?.columns ?? 1) - 1) }
    over = undefined
    if (!ofKeys(opened) && place.token !== cell.row) go({ token: cell.row })
    else explain()
  }
  document.addEventListener('keydown', event => {
    const from = event.composedPath()[0]
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !root.isConnected || !at) return
    const scrubs = from.closest?.('.scrubber') && from.type && event.key.startsWith('Arrow')  // the scrubber's own keys
    if (scrubs || from.closest?.('input:not(.scrubber *), textarea, select, [contenteditable], [role=dialog]:not(.opened-sheet), [role=listbox], [role=radiogroup], [role=slider]')) return
    const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? []
    const inside = opened && from === nodes.pics[opened], { shiftKey } = event, picture = from.closest?.('.pic, .title, .answer-title')
    if (inside && !shiftKey && (down || right)) choose({ row: cell.row + down, column: cell.column + right })
    else if (event.key === 'Escape' && (opened || film.on())) opened ? show() : film.stop()
    else if (film.on() && right && !shiftKey) film.by(right)
    else if (shiftKey && !inside && down) go({ token: place.token + down })
    else if ((!shiftKey || inside) && (down || right)) go(down ? { layer: place.layer + down } : { head: place.head + right })
    else if (event.key === ' ' && !run.differs && !from.closest?.('button, a, summary, [role=button]')) play()
    else if (event.key === 'Enter' && picture && root.contains(picture)) picture.dataset.role && picture.dataset.role !== 'answer' ? show(picture.dataset.role) : open('answer', {})
    else return
    event.preventDefault()
    nodes.tip.classList.remove('seen')  // it describes what was under the mouse
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
    ;[width, height] = [root.clientWidth, innerHeight]
    build()
  }
  const size = new ResizeObserver(resized)
  size.observe(root)
  addEventListener('resize', resized, { signal })
  for (const comes of ['pointerover', 'focusin']) root.addEventListener(comes, ({ target }) => {
    if (!target.closest?.('.thumbs')) return
    root.leans = true
    ask()
  }, { signal })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { if (root.clientWidth) build() }, { signal })
  resized()
  document.fonts?.ready.then(() => { if (document.fonts.size && root.clientWidth && !film.on()) build() })

  return {
    show(next) {
      film?.stop()
      if (next.of && next.of === run.of) next.lean = run.lean  // it depends on the input alone
      run = next
      wanted = ''
      ;({ words } = run)
      const among = () => [...root.querySelectorAll('.thumb, .cross')], held = among().indexOf(document.activeElement)
      if (root.clientWidth) build(true)
      among()[held]?.focus({ preventScroll: true })
    },
    /* Add what on.need or on.more requested, in a message like that of the run; ignore it if it is of another run. */
    learn(message) {
      const [about, ...numbers] = message.slice ? apart(message) : [message]
      if (about.id !== run.id) return
      run.learn(about, ...numbers)
      if (!at) return
      if (opened) { wide.fill(); explain() }
      shown = {}
      light()
    },
    /* Go to another place, unless a choice of the reader has not been reported yet. */
    go: wanted => { if (!at) Object.assign(place, wanted); else if (!telling) go(wanted, true) },
    place,
    leave() {
      listening.abort()
      size.disconnect()
      film?.stop()
    },
  }
}
