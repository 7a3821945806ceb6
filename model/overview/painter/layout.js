/* Positions of everything in the overview. */
import { clamp } from './nodes.js'
import { ORDER, SQUARE } from './run.js'

const NARROW = 700  // px; if narrower, the pictures are stacked
const SHARE = { x0: 30, x: 30, q: 22, k: 22, s: 92, w: 260, v: 22, a: 30, n1: 30, h: 92, n2: 30 }  // of the spare width
const LEAST = { x0: 40, x: 40, q: 26, k: 26, s: 60, w: 130, v: 26, a: 40, n1: 40, h: 56, n2: 40 }
const STACKED = [['x0'], ['x', 'q', 'k'], ['s'], ['w', 'v'], ['a', 'n1'], ['h', 'n2']]
const THIN = .62, PANEL = 196, DEEP = 330  // beside an opened picture: factor of LEAST; px, arithmetic at least
const ANSWER = 150  // px, width
export const SHEETS = 5  // most cards of other layers on each side

/* Positions of all pictures and their rows. titles: role -> node, to measure its width. opened: the enlarged
   picture, the others being thin; closed: the layout without it, whose rows are kept; known: cache of measured
   widths. */
export function layOut({ root, run, titles, below, widest, known, opened, closed }) {
  const width = closed?.width ?? root.clientWidth, n = run.n, drawing = run.drawing && n > 1
  const scale = closed?.scale ?? parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, low = innerHeight < 780
  const big = Boolean(root.closest('.big')), unit = big ? 1 : scale  // gaps do not grow with large letters
  if (width >= NARROW)
    for (let detail = 0; detail < 5; detail++) {
      root.dataset.detail = detail
      const gap = [20, 15, 12, 10, 8][detail] * unit, pad = [14, 14, 8, 8, 6][detail] * unit, shrunk = [1, 1, .92, .85, .7][detail]
      const name = (drawing ? n > 100 ? 52 : 44 : big ? clamp(widest, 30, 96) + 38 : clamp(widest * .94, 30, 96) + 38 - 2 * detail) * scale
      const left = run.drawing ? (big ? 115 : low ? 150 : 200) * scale * shrunk + 14 : 0
      const fan = big ? 46 : drawing ? 56 : (clamp(widest * .76, 24, 76) + 46 - 6 * detail) * scale
      const sheet = detail > 1 ? 4 : 6, out = sheet * Math.min(SHEETS, run.sizes.layers - 1) + (detail > 1 ? 14 : 20), answer = closed?.answer.w ?? (big && drawing && !run.answers.rows[-1]?.[0][0][2] ? 100 : ANSWER) * scale * Math.max(shrunk, .9)
      const before = { x0: left + name + 6, x: out + pad, q: gap, k: 7, s: gap, w: gap, v: fan, a: gap, n1: gap, h: gap, n2: gap }
      if (opened) before.v = gap
      const beside = { ...before, x: 2 * pad, end: 2 * pad }, after = role => beside[ORDER[ORDER.indexOf(role) + 1] ?? 'end']
      const wide = SQUARE.includes(opened) ? clamp(n * 23, 120, 345) : 180, panel = opened ? PANEL * scale * shrunk + gap : 0
      const titled = role => known[`${detail} ${opened && role !== opened} ${titles[role].textContent}`] ??= titles[role].offsetWidth
      const least = role => Math.max((role === opened ? wide : (n > 1 ? LEAST[role] : 30) * (opened ? THIN : 1)) * unit * shrunk, titled(role) + 6 - Math.min(beside[role], after(role)))
      const fixed = ORDER.reduce((sum, role) => sum + before[role] + least(role), pad + out + answer + panel)
      if (fixed > width) continue
      const shares = opened === 'x0' ? { ...SHARE, x0: 200, panel: 120 } : opened ? { ...SHARE, w: 60, s: 40, h: 40, [opened]: SQUARE.includes(opened) ? 300 : 600, panel: 500 } : SHARE
      const every = Object.values(shares).reduce((sum, share) => sum + share, 0), spare = (width - fixed) / every, pics = {}
      let x = 0, right = 0
      for (const role of ORDER) {
        x += before[role]
        let w = least(role) + spare * shares[role]
        if (SQUARE.includes(role) && w / n >= 3) w = Math.floor(w / n) * n
        pics[role] = { x: Math.round(x), w: Math.round(w) }
        x += w
        if (role === opened) right = x += panel + spare * shares.panel
      }
      const heads = run.sizes.heads * (drawing ? 2 : 1), end = Math.round(x), inside = end + pad - pics.x.x - 260 * scale - (big ? 20 : 10) * run.sizes.heads
      const thumb = closed?.thumb ?? Math.round(clamp(inside / heads, 14, (drawing ? low ? 40 : 58 : low ? 34 : 44) * scale))
      const head = closed?.head ?? (big ? thumb + 16 : 12 + thumb + 19 * scale + 12)
      const names = drawing || n === 1 ? 4 : big ? 28 : Math.min(widest * .72, low ? 48 : 60) * scale + 12
      let foot = names + (big ? 36 : 40 * scale)
      const from = closed?.from ?? topOf(root), title = closed ? 0 : titles.x0.offsetHeight + 10, top = closed?.pics.x.y ?? Math.round(head + title)
      const say = closed ? 0 : (big ? 40 : 50) * scale + parseFloat(getComputedStyle(document.body).paddingBottom)
      const room = (innerHeight - from - (big ? 24 : below) - head - title - foot - say) / n, free = room < 5 ? room : Math.floor(room)
      const row = closed?.row ?? clamp(free, drawing ? n > 100 ? 1 : 5 : n > 1 ? Math.round(12 * scale) : 40, Math.round((n > 1 ? 44 : big ? 200 : 90) * scale))
      if (opened) foot = Math.max(foot, head + DEEP * scale - top - row * n + (big ? 36 : 40 * scale))
      for (const pic of Object.values(pics)) Object.assign(pic, { y: top, h: row * n })
      const frame = { x: pics.x.x - pad, y: 0, w: end + pad * 2 - pics.x.x, h: top + row * n + foot }
      frame.x = Math.round(frame.x)
      if (left) frame.h = Math.max(frame.h, left + 96 * scale)
      const bands = [{ x: left, w: name, y: top, right: end + 6 }]
      return {
        width, detail, row, pics, bands, frame, thumb, foot, left, scale, drawing, sheet, big, opened,
        panel: opened && { x: pics[opened].x + pics[opened].w + gap, y: head, w: Math.round(right - pics[opened].x - pics[opened].w - gap), h: top + row * n + foot - (big ? 36 : 40 * scale) - head },
        answer: { x: frame.x + frame.w + out, y: top - 8, w: answer }, high: frame.h + 8, head, from,
      }
    }
  root.dataset.detail = 'stacked'
  const name = drawing ? 46 : clamp(widest * .9, 30, 84) + 30, right = width - 2, pics = {}, bands = []
  const thumb = clamp(Math.floor((width - 8) / run.sizes.heads) - 6, 14, drawing ? 40 : 36), row = drawing ? 6 : n === 1 ? 26 : 16
  let y = 0
  for (const roles of STACKED) {
    const title = titles.x0.offsetHeight + 14
    const fan = roles.includes('v') ? 40 : 8, room = right - name - 6 - (roles.length - 1) * fan
    const every = roles.reduce((sum, role) => sum + SHARE[role], 0)
    y += title
    let x = name + 6
    for (const role of roles) {
      const w = room * (roles.includes('v') ? { w: .74, v: .26 }[role] : SHARE[role] / every)
      pics[role] = { x: Math.round(x), w: Math.floor(w), y, h: row * n }
      x += w + fan
    }
    bands.push({ x: 0, w: name, y, right })
    y += row * n + 10
  }
  return { width, detail: 'stacked', row, pics, bands, thumb, left: run.drawing ? 150 : 0, high: y, scale: 1, drawing }
}

/* Distance from the top of the page. In the lower half of the window, as for a second run, 96: it gets the height
   that it would have alone. */
export function topOf(root) {
  const page = root.closest('[data-testid=stMain]') ?? document.scrollingElement, top = root.getBoundingClientRect().top + (page?.scrollTop ?? 0)
  return top < innerHeight / 2 ? top : 96
}
