/* Colours of numbers. */
import { make } from './nodes.js'

export const CIVIDIS = ['#00224e', '#123570', '#3b496c', '#575d6d', '#707173', '#8a8678', '#a59c74', '#c3b369', '#e1cc55', '#fee838']
const SIGNED = {
  light: ['#08519c', '#6baed6', '#f7f7f7', '#fdae61', '#b35806'], dark: ['#8fd0ff', '#2f78b7', '#141b29', '#b5701f', '#ffc46b'],
}
const NOTHING = { light: 0xffd5d0cc, dark: 0xff3a3029 }  // ABGR, for masked pairs

/* 256 colours interpolated between stops, as canvas pixels. */
function shades(stops) {
  const parts = stops.map(stop => [1, 3, 5].map(at => parseInt(stop.slice(at, at + 2), 16)))
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const at = i / 255 * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2)
    const [r, g, b] = parts[low].map((from, part) => Math.round(from + (at - low) * (parts[low + 1][part] - from)))
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0
  })
}
export const SHADES = { share: shades(CIVIDIS), light: shades(SIGNED.light), dark: shades(SIGNED.dark) }

/* Index of the number that a pixel shows: the strongest of the neighbours that share the pixel. */
export function strongestIn({ numbers, columns }, row, pixel, pixels) {
  const end = row * columns + Math.floor((pixel + 1) * columns / pixels)
  let at = row * columns + Math.floor(pixel * columns / pixels), best = at
  while (++at < end) if (Math.abs(numbers[at]) > Math.abs(numbers[best])) best = at
  return best
}

/* Paint a map into a canvas: one pixel per number, or per group of neighbours if there are fewer pixels. */
export function paint(canvas, map, pixels, theme) {
  const { numbers, rows, columns, scale, middle, hidden, top, share } = map
  const wide = Math.max(1, Math.min(columns, pixels)), painted = [numbers.buffer, numbers.byteOffset, wide, theme]
  if (canvas.painted?.every((part, i) => part === painted[i])) return
  canvas.painted = painted
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== rows) canvas.height = rows
  const context = canvas.getContext('2d'), image = context.createImageData(wide, rows)
  const colours = new Uint32Array(image.data.buffer), lookup = share ? SHADES.share : SHADES[theme]
  const factor = scale / top * (share ? 255 : 127.5), zero = share ? middle * factor : 127.5
  for (let out = 0; out < rows * wide; out++) {
    const number = numbers[strongestIn(map, Math.floor(out / wide), out % wide, wide)]
    const shade = Math.round(zero + number * factor)
    colours[out] = number === hidden ? NOTHING[theme] : lookup[shade < 0 ? 0 : shade > 255 ? 255 : shade]
  }
  context.putImageData(image, 0, 0)
}

/* Mean of a colour's red, green and blue, from 0 to 1. */
export function luminous(colour) {
  const pen = make('canvas', { width: 1, height: 1 }).getContext('2d')
  pen.fillStyle = colour.trim()
  pen.fillRect(0, 0, 1, 1)
  const [r, g, b] = pen.getImageData(0, 0, 1, 1).data
  return (r + g + b) / 765
}
