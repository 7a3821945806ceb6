/* A picture opened in place, or on a sheet of its own if there is no room. */
import { arithmetic } from './arithmetic.js'
import { SHADES } from './colours.js'
import { clamp, make, put, set } from './nodes.js'
import { BY_HEAD } from './run.js'
import { cellIn, short } from './words.js'

const HIGH = 400, FAR = 160  // px, in a picture higher than the window: panel, and its start above the row

/* Add to an opened picture numbers in its cells and, beside it, the arithmetic of one cell. title, picture: its
   nodes; name: its accessible name; close(): the reader closes it; go(place): he chooses another head. Returns
   {fill(): update the numbers; explain(i, j, missing, more): show a cell's arithmetic, true if its rows are present;
   sheet: whether it is on a sheet}. */
export function opening({ keep, stage, run, at, theme, place, role, title, picture, name, close, go }) {
  const { words } = run, mapOf = () => run.map(role, place.layer, place.head), map = mapOf(), columns = map?.columns ?? 1
  const shut = make('button', { className: 'close', ariaLabel: words.close, title: words.close, onclick: () => close() }, '×')
  const panel = keep('div', { className: 'panel', role: 'group', ariaLabel: words.arithmetic, ariaLive: 'polite' })
  const mark = picture.appendChild(make('i', { className: 'cell' }))
  set(picture, { role: 'application', ariaRoleDescription: words.opened, ariaDescription: null })
  const row = at.panel ? at.row : clamp(Math.floor(innerHeight * .42 / run.n), 6, 22)
  if (at.panel) {
    title.append(shut)
    stage.append(put(panel, at.panel))
  } else {
    const letters = Math.min(14, row * .74)
    picture.style.cssText = `height: ${row * run.n}px; --row: ${row}px; --gap: ${picture.style.getPropertyValue('--gap')}; --cell: ${100 / columns}%`
    title.className = 'title open'
    title.removeAttribute('style')
    const names = run.tokens.map(token => make('span', { textContent: token, style: `height: ${row}px; font-size: ${letters}px` }))
    const rows = make('div', { className: 'rows' }, make('div', { className: 'row-names', translate: false }, ...at.drawing ? [] : names), picture)
    const sheet = make('div', { className: 'opened-sheet', role: 'dialog', ariaLabel: name, popover: 'manual' }, make('div', { className: 'sheet-head' }, title, shut), rows, panel)
    stage.append(sheet)
    sheet.showPopover()  // in the top layer
    at.pics[role].w = picture.clientWidth
  }
  const rests = at.panel && at.panel.h < innerHeight  // otherwise it follows the row
  const numbered = map && columns <= 64 && at.pics[role].w / columns >= 19 && row >= 12
  const cells = numbered ? Array.from(map.numbers, () => make('span')) : []
  if (numbered) {
    const gridTemplate = [run.n, columns].map(tracks => `repeat(${tracks}, minmax(0, 1fr))`).join(' / ')
    picture.append(make('div', { className: 'grid', ariaHidden: 'true', style: `grid-template: ${gridTemplate}` }, ...cells))
  }

  function fill() {
    const map = mapOf()
    if (!map) return
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

  /* The number in row i and column j, exact if the row is present, and the range of components that it stands for. */
  function cellOf({ numbers, columns, together, of, middle, scale, digits, hidden }, i, j) {
    const first = j * together, last = Math.min(first + together, of)
    const exact = run.exact(role, place.layer, BY_HEAD.includes(role) ? place.head : 0, i)?.slice(first, last)
    const number = numbers[i * columns + j], value = exact?.reduce((a, b) => Math.abs(b) > Math.abs(a) ? b : a) ?? (number === hidden ? -Infinity : (number + middle) * scale)
    return { value, digits: exact ? 2 : digits, first: first + 1, last, of }
  }

  function explain(i, j, missing, more) {
    const map = mapOf(), cell = map && cellOf(map, i, j), none = run.differs && cell?.value === -Infinity
    const told = map ? [make('p', {}, ...none ? [run.words.less_missing] : cellIn(run, { role, row: i, column: j, ...cell }))] : []
    const spare = [...panel.querySelectorAll('canvas')]
    const shown = run.differs || !map ? told : arithmetic({ run, place, opened: role, theme, go, told, spare }, i, j)
    mark.style.cssText = `left: ${j / columns * 100}%; top: ${i / run.n * 100}%; width: ${100 / columns}%; height: ${100 / run.n}%; min-width: 3px`
    if (at.panel && !rests) put(panel, { ...at.panel, y: clamp(at.pics[role].y + i * at.row - FAR, at.panel.y, at.panel.y + at.panel.h - HIGH), h: HIGH })
    panel.replaceChildren(...shown ?? [...told, make('p', { className: 'quiet', textContent: missing })], ...more)
    return Boolean(shown)
  }
  return { fill, explain, sheet: !at.panel }
}
