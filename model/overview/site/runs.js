/* Thumbnails in an index of runs: the weights of the head in which each page opens. */
import { bytesOf, paint } from './painter.js'

for (const canvas of document.querySelectorAll('[data-weights]')) {
  const numbers = bytesOf(canvas.dataset.weights), n = Math.sqrt(numbers.length)
  paint(canvas, { numbers, rows: n, columns: n, scale: 1 / 255, middle: 0, top: 1, share: true }, n)
}
