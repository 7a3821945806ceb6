/* DOM helpers. */

export function make(kind, own = {}, ...children) {
  const node = Object.assign(document.createElement(kind), kind === 'button' && { type: 'button' }, own)
  node.append(...children)
  return node
}
const SVG = 'http://www.w3.org/2000/svg'
/* Set only the properties that differ: setting one may cause a new layout. */
export function set(node, own) {
  for (const name in own) if (node[name] !== own[name]) node[name] = own[name]
  return node
}
export function draw(parent, kind, about) {
  const node = parent.appendChild(document.createElementNS(SVG, kind))
  for (const name in about) node.setAttribute(name, about[name])
  return node
}
/* Reuse nodes: between begin() and end(), `keep` and `keepDrawn` work like `make` and `draw`, but return the
   previous nodes in order and set only changed properties. Classes and attributes stay, and so do children if none
   are given. end() removes unused nodes. */
export function keeping() {
  let before = {}, now = {}
  const taken = (key, fresh) => {
    const node = before[key]?.shift() ?? fresh()
    ;(now[key] ??= []).push(node)
    return node
  }
  return {
    begin(anew) { before = anew ? {} : now; now = {} },
    end() { for (const node of Object.values(before).flat()) node.remove() },
    keep(kind, { className = '', ...own } = {}, ...children) {
      const node = set(taken(`${kind}.${className}`, () => make(kind, className && { className })), own), { childNodes } = node
      const same = (child, i) => childNodes[i] && (child === childNodes[i] || child === childNodes[i].data)
      if (children.length && (children.length !== childNodes.length || !children.every(same))) node.replaceChildren(...children)
      return node
    },
    keepDrawn: (parent, kind, about) => taken(`${kind}.${about.class}`, () => draw(parent, kind, about)),
  }
}
/* Position a node, and size it if w or h is given, in px. */
export function put(node, { x, y, w, h }) {
  Object.assign(node.style, { left: `${x}px`, top: `${y}px`, ...w !== undefined && { width: `${w}px` }, ...h !== undefined && { height: `${h}px` } })
  return node
}
export const clamp = (value, least, most) => Math.min(Math.max(value, least), most)
/* A node's rectangle relative to another rectangle. */
export function rectIn(node, own) {
  const box = node.getBoundingClientRect()
  return { x: box.left - own.left, y: box.top - own.top, w: box.width, h: box.height }
}
