/* A picture that is opened where it stands, or where there is no room for that on a sheet of its own. */
import { arithmetic } from './arithmetic.js'
import { SHADES, paint } from './colours.js'
import { clamp, make, put } from './nodes.js'
import { BY_HEAD } from './run.js'
import { short } from './words.js'

const HIGH = 400, FAR = 160  // px; of the panel beside a picture that is higher than the window, and above its row

/* What an opened picture has more than others: numbers in its cells, and beside it the arithmetic of one. title, picture:
   its nodes; name: how it is called; close(): the reader closes it; go(place): he chooses another head. Returns {big, the
   node in which its cells are; fill(), its numbers; explain(i, j, more), the arithmetic of a cell, and whether it is here}. */
export function opening({ root, run, at, theme, place, role, title, picture, name, close, go }) {
  const { words } = run, mapOf = () => run.map(role, place.layer, place.head), map = mapOf(), columns = map?.columns ?? 1
  const shut = make('button', { type: 'button', className: 'close', ariaLabel: words.close, title: words.close, onclick: () => close() }, '×')
  const panel = make('div', { className: 'panel', role: 'group', ariaLabel: words.arithmetic, ariaLive: 'polite' })
  const big = at.panel ? picture : make('div', { className: picture.className, tabIndex: 0 }, make('canvas'))
  big.dataset.role = role
  big.setAttribute('role', 'application')
  big.setAttribute('aria-roledescription', words.opened)
  const mark = big.appendChild(make('i', { className: 'cell' }))
  if (at.panel) {
    title.append(shut)
    put(root.appendChild(panel), at.panel)
  } else {
    const row = clamp(Math.floor(innerHeight * .42 / run.n), 6, 22), heading = title.cloneNode(true)
    big.style.cssText = `height: ${row * run.n}px; --row: ${row}px; --cell: ${100 / columns}%`
    heading.className = 'title open'
    heading.removeAttribute('style')
    const names = run.tokens.map(token => make('span', { textContent: token, style: `height: ${row}px; font-size: ${Math.min(14, row * .74)}px` }))
    const rows = make('div', { className: 'rows' }, ...at.drawing ? [] : [make('div', { className: 'row-names', translate: false }, ...names)], big)
    root.append(make('div', { className: 'opened-sheet', role: 'dialog', ariaLabel: name }, make('div', { className: 'sheet-head' }, heading, shut), rows, panel))
  }
  const rests = at.panel && at.panel.h < innerHeight  // else it goes along with the row
  const numbered = map && columns <= 64 && big.clientWidth / columns >= 19 && big.clientHeight / run.n >= 12
  const cells = numbered ? Array.from(map.numbers, () => make('span')) : []
  if (numbered) {
    const gridTemplate = `repeat(${run.n}, 1fr) / repeat(${columns}, 1fr)`
    big.append(make('div', { className: 'grid', ariaHidden: 'true', style: `grid-template: ${gridTemplate}` }, ...cells))
  }

  function fill() {
    const map = mapOf()
    if (!map) return
    if (!at.panel) paint(big.firstChild, map, Math.round(big.clientWidth * (devicePixelRatio || 1)), theme)
    const { share, top } = map, lookup = SHADES[share ? 'share' : theme]
    let own
    cells.forEach((cell, k) => {
      if (k % columns === 0 && !share) own = run.exact(role, place.layer, BY_HEAD.includes(role) ? place.head : 0, k / columns)
      const value = own ? own[k % columns] : (map.numbers[k] + map.middle) * map.scale
      const text = map.numbers[k] === map.hidden || !(own || share) ? '' : short(value, share)
      if (cell.textContent !== text) cell.textContent = text
      const shade = lookup[clamp(Math.round(share ? value / top * 255 : 127.5 + value / top * 127.5), 0, 255)]
      cell.className = .3 * (shade & 255) + .59 * (shade >> 8 & 255) + .11 * (shade >> 16 & 255) > 120 ? 'bright' : ''
    })
  }

  function explain(i, j, missing, more) {
    const shown = run.differs || !mapOf() ? [] : arithmetic({ run, place, opened: role, theme, go }, i, j)
    mark.style.cssText = `left: ${j / columns * 100}%; top: ${i / run.n * 100}%; width: ${100 / columns}%; height: ${100 / run.n}%; min-width: 3px`
    if (at.panel && !rests) put(panel, { ...at.panel, y: clamp(at.pics[role].y + i * at.row - FAR, at.panel.y, at.panel.y + at.panel.h - HIGH), h: HIGH })
    panel.replaceChildren(...shown ?? [make('p', { className: 'quiet', textContent: missing })], ...more)
    return Boolean(shown)
  }
  return { big, fill, explain }
}
