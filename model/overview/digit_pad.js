const SIDE = 112, PEN = 3                       // pixels per side; canvas pixels for each
const OPAQUE = 0xff000000, GREY = 0x010101      // ABGR

export default function({ data, parentElement, setStateValue }) {
  const pad = parentElement.querySelector('.pad')
  const canvas = pad.querySelector('canvas')
  const pen = canvas.getContext('2d', { willReadFrequently: true })
  if (pad.epoch !== data.epoch) {               // first call, or Python set another drawing
    pad.epoch = data.epoch
    pad.strokes = []
    pad.example = data.example
    pad.base = unpack(Uint8Array.from(atob(data.base), c => c.charCodeAt(0)))
  }

  function unpack(packed) {
    const picture = pen.createImageData(SIDE * PEN, SIDE * PEN), pixels = new Uint32Array(picture.data.buffer)
    for (let y = 0; y < SIDE * PEN; y++) for (let x = 0; x < SIDE * PEN; x++) {
      const place = Math.floor(y / PEN) * SIDE + Math.floor(x / PEN)
      pixels[y * SIDE * PEN + x] = OPAQUE | (packed[place >> 2] >> 2 * (place & 3) & 3) * 85 * GREY
    }
    return picture
  }

  function draw() {
    pen.putImageData(pad.base, 0, 0)
    pen.fillStyle = '#000'
    pen.strokeStyle = '#fff'
    pen.lineCap = pen.lineJoin = 'round'
    for (const stroke of pad.now ? [...pad.strokes, pad.now] : pad.strokes) {
      if (!stroke || stroke.anew) pen.fillRect(0, 0, canvas.width, canvas.height)
      if (!stroke) continue                       // cleared
      pen.lineWidth = stroke.width
      pen.beginPath()
      pen.moveTo(...stroke.points[0])
      if (stroke.points.length === 1) pen.lineTo(stroke.points[0][0] + .01, stroke.points[0][1])
      for (const point of stroke.points.slice(1)) pen.lineTo(...point)
      pen.stroke()
    }
    pad.querySelector('[data-do=undo]').disabled = !pad.strokes.length
  }

  function drawCursor() {                         // after send(), so that it is not sent as ink
    if (!pad.cursor) return
    pen.strokeStyle = pad.now ? '#ff8c00' : '#4da3ff'
    pen.lineWidth = 2
    pen.beginPath()
    pen.arc(...pad.cursor, data.width / 2, 0, 2 * Math.PI)
    pen.stroke()
  }

  function send() {
    const { data: pixels } = pen.getImageData(0, 0, SIDE * PEN, SIDE * PEN)
    const packed = new Uint8Array(SIDE * SIDE / 4)
    for (let row = 0; row < SIDE; row++) for (let column = 0; column < SIDE; column++) {
      let sum = 0
      for (let y = 0; y < PEN; y++) for (let x = 0; x < PEN; x++)
        sum += pixels[4 * ((row * PEN + y) * SIDE * PEN + column * PEN + x)]
      const place = row * SIDE + column
      packed[place >> 2] |= Math.round(sum / (PEN * PEN * 85)) << 2 * (place & 3)
    }
    setStateValue('drawing', pad.epoch + ':' + btoa(String.fromCharCode(...packed)))
  }

  function point(event) {
    const box = canvas.getBoundingClientRect()
    const larger = canvas.width / box.width     // the canvas may be displayed at another size
    return [(event.clientX - box.left) * larger, (event.clientY - box.top) * larger]
  }

  function put(at, by) {
    const anew = pad.example && !pad.strokes.length  // the first stroke replaces an example
    pad.now = { anew, by, width: data.width, points: [at] }
  }

  canvas.onpointerdown = event => {
    if (!event.isPrimary || event.button) return  // ignore a second finger or another button
    event.preventDefault()
    if (pad.now?.by !== undefined && event.pointerType === 'touch') return  // ignore a palm beside the pen
    canvas.setPointerCapture(event.pointerId)
    lift()                                      // end a stroke drawn by keys
    put(point(event), event.pointerId)
    draw()
  }
  canvas.onpointermove = event => {
    if (pad.now?.by !== event.pointerId) return
    const parts = event.getCoalescedEvents?.() ?? []
    for (const part of parts.length ? parts : [event]) pad.now.points.push(point(part))  // some browsers report none
    draw()
  }
  function lift() {
    if (!pad.now) return
    pad.strokes.push(pad.now)
    pad.now = null
    draw()
    send()
  }
  canvas.onpointerup = canvas.onpointercancel = event => { if (pad.now?.by === event.pointerId) lift() }

  const ways = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }
  canvas.onkeydown = event => {
    const way = ways[event.key]
    if (!way && event.key !== ' ') return
    event.preventDefault()
    pad.cursor ??= [canvas.width / 2, canvas.height / 4]
    if (way) {
      const step = event.shiftKey ? PEN : 4 * PEN
      pad.cursor = pad.cursor.map((at, i) => Math.min(Math.max(at + way[i] * step, 0), canvas.width))
      pad.now?.points.push(pad.cursor)
    } else if (!pad.now) put(pad.cursor)
    else if (!event.repeat) lift()
    draw()
    drawCursor()
  }
  canvas.onblur = () => {
    lift()
    pad.cursor = null
    draw()
  }
  const bar = '<div class="bar"><button data-do="undo"></button><button data-do="clear"></button></div>'
  if (!pad.querySelector('.bar')) pad.insertAdjacentHTML('beforeend', bar)  // created here, where they are named
  for (const button of pad.querySelectorAll('button')) button.textContent = data[button.dataset.do]
  pad.querySelector('[data-do=undo]').onclick = () => { pad.strokes.pop(); draw(); send() }
  pad.querySelector('[data-do=clear]').onclick = () => {
    if (pad.strokes.at(-1) !== null) pad.strokes.push(null)  // undo restores the drawing
    draw()
    send()
  }
  canvas.setAttribute('role', 'application')
  canvas.setAttribute('aria-label', data.label)
  draw()
  drawCursor()
}
