/* Turn a drawing into the network's input, as model/digits.py does for 112 × 112 pixels, and into its code in a
   link. */
const SIDE = 112, BOX = 20, SIZE = 28, MIDDLE = 14, FAINTEST = .05, WHITE_SHARE = .2, SMALLEST = 4
const BYTES = SIDE * SIDE / 4

/* The code of a packed drawing in a link. `fromCode` inverts it; undefined for a damaged code. */
export async function toCode(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new CompressionStream('deflate'))
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer())
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

export async function fromCode(code) {
  const packed = new Uint8Array(BYTES)
  let at = 0
  try {
    const bytes = Uint8Array.from(atob(code.replaceAll('-', '+').replaceAll('_', '/')), sign => sign.charCodeAt())
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')).getReader()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      packed.set(part.value, at)  // throws if there is more than a drawing
      at += part.value.length
    }
  } catch { return }
  return at === BYTES ? packed : undefined
}

/* A packed drawing as the network reads it: {bytes}, 28 × 28 with bright ink; or {problem}, why it is no digit. */
export function prepare(packed) {
  const inked = ink(grid(SIDE, SIDE, (y, x) => (packed[(y * SIDE + x) >> 2] >> 2 * (x & 3) & 3) / 3))
  if (inked.problem) return inked
  const cropped = crop(inked)
  if (Math.max(cropped.length, cropped[0].length) < SMALLEST) return { problem: 'digit_too_small' }
  const scaled = scale(cropped), problem = strokes(cropped, scaled)
  return problem ? { problem } : { bytes: Uint8Array.from(centre(scaled).flat(), value => Math.round(value * 255)) }
}

const grid = (rows, columns, value) => Array.from({ length: rows }, (_, y) => Array.from({ length: columns }, (_, x) => value(y, x)))
const turned = picture => grid(picture[0].length, picture.length, (y, x) => picture[x][y])
const sum = numbers => numbers.reduce((all, number) => all + number, 0)
const share = (numbers, which) => numbers.filter(which).length / numbers.length
const clip = (value, least, most) => Math.min(Math.max(value, least), most)

function quantile(numbers, at) {
  const sorted = Float64Array.from(numbers).sort(), place = at * (sorted.length - 1), low = Math.floor(place)
  return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low])
}

/* Scale to 0 (background) … 1 (strongest ink), whichever is darker. */
function ink(picture) {
  let all = picture.flat(), low = Math.min(...all), high = Math.max(...all)
  if (high - low < .02) return { problem: high < .5 ? 'digit_blank' : 'digit_all_ink' }
  const middle = (low + high) / 2, inner = picture.slice(1, -1)
  let border = [...picture[0], ...picture.at(-1), ...inner.map(row => row[0]), ...inner.map(row => row.at(-1))]
  let bright = share(border, value => value > middle)
  if (bright > .35 && bright < .65) bright = share(all, value => value > middle)
  if (bright > .5) {
    picture = picture.map(row => row.map(value => 1 - value))
    border = border.map(value => 1 - value)
    ;[low, high] = [1 - high, 1 - low]
  }
  const paper = border.filter(value => value <= (low + high) / 2)
  if (!paper.length) return { problem: 'digit_all_ink' }
  const level = quantile(paper, .5), uneven = quantile(paper.map(value => Math.abs(value - level)), .9)
  const faintest = Math.max(FAINTEST, Math.min(4 * uneven / (high - level), .5))
  return picture.map(row => row.map(value => (value - level) / (high - level)).map(value => value < faintest ? 0 : value))
}

function crop(picture) {
  const inked = rows => [rows.findIndex(row => row.some(Boolean)), rows.findLastIndex(row => row.some(Boolean)) + 1]
  const columns = inked(turned(picture))
  return picture.slice(...inked(picture)).map(row => row.slice(...columns))
}

/* Scale the longer side to 20 pixels, and the ink to MNIST's brightness. */
function scale(picture) {
  const longest = Math.max(picture.length, picture[0].length)
  const size = length => Math.max(1, even(BOX * length / longest))
  const small = turned(shrunk(turned(shrunk(picture, size(picture.length))), size(picture[0].length)))
  const most = Math.max(...small.flat()), relative = small.map(row => row.map(value => value / most))
  const white = quantile(relative.flat().filter(value => value >= FAINTEST), 1 - WHITE_SHARE)
  return relative.map(row => row.map(value => clip(value / white, 0, 1)))
}

/* Round half to even, like Python. */
const even = value => value % 1 === .5 ? 2 * Math.round(value / 2) : Math.round(value)

/* Resize to so many rows with triangular weights, like torch's bilinear interpolation with antialias. */
function shrunk(picture, rows) {
  const step = picture.length / rows, reach = Math.max(step, 1)
  return Array.from({ length: rows }, (_, i) => {
    const middle = step * (i + .5), first = Math.max(Math.trunc(middle - reach + .5), 0), last = Math.min(Math.trunc(middle + reach + .5), picture.length)
    const weights = Array.from({ length: last - first }, (_, j) => Math.max(0, 1 - Math.abs((j + first - middle + .5) / reach))), all = sum(weights)
    return picture[0].map((_, x) => sum(weights.map((weight, j) => weight / all * picture[first + j][x])))
  })
}

/* Why the ink is no digit: a filled area, such as a dot, or noise; undefined if it may be one. */
function strokes(cropped, scaled) {
  const flat = scaled.flat(), filled = sum(flat) / flat.length, covered = share(flat, value => value > .15)
  const height = scaled.length, width = scaled[0].length, outline = edges(scaled) / (2 * (height + width))
  const roughness = edges(cropped) / sum(cropped.flat()), scraps = islands(scaled)
  if (scraps > 5 || outline > 2.7 || (roughness > 2.5 && (covered > .55 || scraps > 3))) return 'digit_noise'
  if (Math.min(height, width) >= .7 * BOX && (filled > .8 || (filled > .5 && outline < .97))) return 'digit_all_ink'
}

function edges(picture) {
  const along = row => [0, ...row].reduce((all, value, x) => all + Math.abs((row[x] ?? 0) - value), 0)
  return sum(picture.map(along)) + sum(turned(picture).map(along))
}

/* Number of connected areas of ink; diagonal neighbours are connected. */
function islands(picture) {
  const left = new Set()
  picture.forEach((row, y) => row.forEach((value, x) => { if (value > .25) left.add(y * SIZE + x) }))
  let count = 0
  for (const first of left) {
    count++
    left.delete(first)
    for (const ahead = [first]; ahead.length;) {
      const at = ahead.pop()
      for (const step of [-SIZE - 1, -SIZE, 1 - SIZE, -1, 1, SIZE - 1, SIZE, SIZE + 1])
        if (left.delete(at + step)) ahead.push(at + step)
    }
  }
  return count
}

/* Move the centre of mass to the middle of 28 × 28 pixels, without cutting off ink. */
function centre(picture) {
  const corner = rows => {
    const mass = rows.map(sum), mean = sum(mass.map((value, at) => value * at)) / sum(mass)
    return clip(Math.ceil(MIDDLE - mean - .501), 0, SIZE - rows.length)
  }
  const top = corner(picture), left = corner(turned(picture))
  return grid(SIZE, SIZE, (y, x) => picture[y - top]?.[x - left] ?? 0)
}
