/* Nodes of a page and of a drawing. */

export function make(kind, own = {}, ...children) {
  const node = Object.assign(document.createElement(kind), kind === 'button' && { type: 'button' }, own)
  node.append(...children)
  return node
}
const SVG = 'http://www.w3.org/2000/svg'
export function draw(parent, kind, about) {
  const node = parent.appendChild(document.createElementNS(SVG, kind))
  for (const name in about) node.setAttribute(name, about[name])
  return node
}
/* Put a node at a place, of a size. */
export function put(node, { x, y, w, h }) {
  Object.assign(node.style, { left: `${x}px`, top: `${y}px`, ...w !== undefined && { width: `${w}px` }, ...h !== undefined && { height: `${h}px` } })
  return node
}
export const clamp = (value, least, most) => Math.min(Math.max(value, least), most)
/* Where a node stands in another. */
export function rectIn(node, own) {
  const box = node.getBoundingClientRect()
  return { x: box.left - own.left, y: box.top - own.top, w: box.width, h: box.height }
}
