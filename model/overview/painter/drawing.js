/* The image beside its run: the chosen patch, and an overlay of what it attends to. */
import { CIVIDIS, SHADES } from './colours.js'
import { clamp, make } from './nodes.js'
import { bytesOf } from './run.js'
import { plain } from './words.js'

/* Add it to a run that is laid out (at). point(i): the pointer is over patch i, or over none; choose(i). Returns
   look(i, weights, tiles, weightsOf), which highlights token i and what it attends to, and paints weightsOf(head) on
   each head's canvas. */
export function drawing({ keep, root, hold, run, at, words, point, choose }) {
  const { height, width, channels, pixels, side: cut, front } = run.drawing, bytes = bytesOf(pixels), side = at.left - 14
  const source = make('canvas', { width, height }), bright = make('canvas', { width, height }), pens = [source, bright].map(canvas => canvas.getContext('2d'))
  const image = pens[0].createImageData(width, height)
  for (let i = 0; i < width * height; i++) {
    const [r, g, b] = channels === 1 ? Array(3).fill(255 - bytes[i]) : bytes.subarray(3 * i, 3 * i + 3)
    image.data.set([r, g, b, 255], 4 * i)
  }
  pens[0].putImageData(image, 0, 0)
  if (channels === 1) pens[1].filter = 'invert(1)'
  pens[1].drawImage(source, 0, 0)

  const patchAt = event => {
    const [x, y] = [event.offsetX, event.offsetY].map(where => clamp(Math.floor(where / side * cut), 0, cut - 1))
    return front + y * cut + x < run.n ? front + y * cut + x : undefined
  }
  const square = (y, name) => {
    const canvas = keep('canvas', { width: side * 2, height: side * 2 }), title = keep('p', {}, name)
    hold(keep('div', { className: 'square-box' }, title, canvas), { x: 0, y }).style.width = `${side}px`
    canvas.style.width = canvas.style.height = `${side}px`
    canvas.onpointermove = event => point(patchAt(event))
    canvas.onpointerleave = () => point()
    canvas.onclick = event => { const i = patchAt(event); if (i !== undefined) choose(i) }
    return { title, canvas }
  }
  const seen = square(0, words.drawing), lower = at.frame ? at.frame.h - side - 26 : Infinity
  const looks = lower > side + 34 ? square(lower, '') : undefined

  /* Paint the image, with `shares` under a coloured overlay of the patches. Returns the canvas context. */
  function over(canvas, shares) {
    const pen = canvas.getContext('2d'), { width } = canvas, u = width / cut
    pen.imageSmoothingEnabled = false
    if (shares) {
      pen.fillStyle = CIVIDIS[0]
      pen.fillRect(0, 0, width, width)
      pen.globalAlpha = .6
      pen.globalCompositeOperation = 'lighten'
    }
    pen.drawImage(shares ? bright : source, 0, 0, width, width)
    pen.globalCompositeOperation = 'source-over'
    const highest = shares && Math.max(...shares.subarray(front), 1e-6)
    for (let p = front; shares && p < run.n; p++) {
      const share = shares[p] / highest, shade = SHADES.share[Math.round(255 * share)]
      pen.globalAlpha = share < .03 ? 0 : .3 + .5 * share
      pen.fillStyle = `rgb(${shade & 255},${shade >> 8 & 255},${shade >> 16 & 255})`
      pen.fillRect((p - front) % cut * u, Math.floor((p - front) / cut) * u, u, u)
    }
    pen.globalAlpha = 1
    return pen
  }

  return function look(i, weights, tiles, weightsOf) {
    const style = getComputedStyle(root), [rose, green, hair] = ['--light', '--v', '--line'].map(name => style.getPropertyValue(name))
    const pen = over(seen.canvas), u = seen.canvas.width / cut
    const frame = (pen, p, colour, wide) => {
      if (p < front) return
      pen.strokeStyle = colour
      pen.lineWidth = wide
      pen.strokeRect((p - front) % cut * u + wide / 2, Math.floor((p - front) / cut) * u + wide / 2, u - wide, u - wide)
    }
    pen.strokeStyle = hair
    pen.lineWidth = 1
    for (let k = 1; cut < 20 && k < cut; k++) pen.stroke(new Path2D(`M${k * u} 0V${cut * u}M0 ${k * u}H${cut * u}`))
    for (let j = front; j < run.n && cut > 1; j++) if (weights[j] >= .1) frame(pen, j, green, 4)
    frame(pen, i, rose, 5)
    if (looks) {
      frame(over(looks.canvas, weights), i, rose, 5)
      looks.title.replaceChildren(make('b', { textContent: run.tokens[i], translate: false }), ` ${words.looks}`)
    }
    tiles.forEach((canvas, head) => {
      if (canvas.width !== at.thumb * 2) canvas.width = canvas.height = at.thumb * 2
      over(canvas, weightsOf(head))
    })
  }
}

/* Label of a token's row: the first patch in each row of patches has that row's number; of several tokens before the
   patches, only the first is named. */
export function groupOf({ drawing: { front, side }, tokens, words }, i) {
  if (i < front) return front > 1 ? i === 0 ? tokens[0] : '' : tokens[i]
  return (i - front) % side ? '' : plain(words.row, { row: (i - front) / side + 1 })
}

/* Whether token i belongs to the label at `first`. */
export const groupHas = ({ drawing: { front, side } }, first, i) => first < front ? first === i : i >= first && i < first + side
