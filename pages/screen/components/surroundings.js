import { phrased } from '../../server/phrased.js'

const CHARTS = '.chart, #js-plotly-tester', ITS_OWN = ':not([data-testid=stFileUploader] button *)'
const OURS = `.chart, [data-testid=stMarkdownContainer]${ITS_OWN}, [role=option], pre`
const PHRASED = '[data-testid=stMain] :is([data-testid=stMarkdown], [data-testid=stHeading]) :is(p, li, h2, h3, h5):not(.st-key-class_bar p)'  // as in the style sheet
const CHINESE = /[\u3400-\u9fff]{3}/
const SPOKEN = ['aria-label', 'title', 'placeholder', 'data-title']
const SCROLLS = '.katex-display, .tall'
const UNTRANSLATED = '.chart, .katex, .formula, [data-testid=stMain] table, [class*=st-key-pick-]'  // tokens, numbers, symbols
const SCROLLED = '[data-testid=stMain], [data-testid=stAppViewContainer]'  // the second on phones, else the first
const MOVES = ['wheel', 'touchmove', 'keydown']  // events by which the reader scrolls
const HELD = 4000  // ms, longer than the answer to a click takes

export default function({ data }) {
  document.untend?.()  // the language changed: two observers would translate back and forth
  const root = document.documentElement, main = document.body
  const watched = { childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: SPOKEN }
  root.lang = data.language
  document.unheard = data.unheard
  root.classList.toggle('big', data.big)

  function translate(node) {
    if (node.nodeType === Node.TEXT_NODE) {
      const text = node.nodeValue, words = data.words[text.trim()]
      if (words && !node.parentElement?.closest(OURS)) node.nodeValue = words
      else if (CHINESE.test(text) && !/[\u200b\u2060]/.test(text) && node.parentElement?.closest(PHRASED)) {
        const broken = phrased(text)
        if (broken !== text) node.nodeValue = broken
      }
      return
    }
    for (const part of [node, ...node.querySelectorAll('[aria-label], [title], [placeholder]')])
      for (const name of SPOKEN) {
        const words = data.words[part.getAttribute(name)]
        if (words) part.setAttribute(name, words)
      }
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) translate(texts.currentNode)
  }

  function mark() {
    for (const part of document.querySelectorAll(UNTRANSLATED)) if (part.translate) part.translate = false
    for (const part of document.querySelectorAll(SCROLLS)) {
      size.observe(part)
      const scrolls = part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1
      if (scrolls === part.hasAttribute('tabindex')) continue
      if (scrolls) {
        part.tabIndex = 0
        part.setAttribute('role', 'group')
        part.setAttribute('aria-label', part.matches('.katex-display') ? data.equation : data.part)
      } else for (const name of ['tabindex', 'role', 'aria-label']) part.removeAttribute(name)
    }
  }

  /* Remember what was touched, to keep it in place whatever appears above it. Not in the tour, where an answer
     replaces it, nor while playing, nor in a presentation, which stays at its top. */
  function hold({ target }) {
    const free = data.big || target.closest('a, .st-key-tour_side, .overview .say')
    const part = free ? null : target.closest('[data-testid=stMain] [class*=st-key-]')
    const name = part && [...part.classList].find(name => name.startsWith('st-key-'))
    document.held = part && { name, top: part.getBoundingClientRect().top, until: performance.now() + HELD }
  }
  function letGo() { delete document.held }
  function keep() {
    const { name, top, until } = document.held ?? {}
    if (!name) return
    const part = document.querySelector(`[data-testid=stMain] .${CSS.escape(name)}`)
    if (performance.now() > until) letGo()
    else if (part)
      for (const place of document.querySelectorAll(SCROLLED)) place.scrollTop += part.getBoundingClientRect().top - top
  }
  document.addEventListener('pointerdown', hold, true)
  for (const kind of MOVES) document.addEventListener(kind, letGo, { capture: true, passive: true })

  let waiting = 0
  function tend() {
    waiting = 0
    keep()
    mark()
  }
  function soon() { waiting ||= requestAnimationFrame(tend) }
  const watch = new MutationObserver(changes => {
    for (const { target, addedNodes, type } of changes) {
      const within = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement
      if (!within || within.closest(CHARTS)) continue
      if (type === 'characterData') translate(target)
      else if (type === 'attributes') translate(within)
      else addedNodes.forEach(node => { if (node.nodeType !== Node.COMMENT_NODE) translate(node) })
      soon()
    }
  })
  watch.observe(main, watched)
  translate(main)
  soon()
  document.fonts.addEventListener('loadingdone', soon)  // text may be wider in its own font

  const size = new ResizeObserver(soon)
  size.observe(main)
  return document.untend = () => {
    document.removeEventListener('pointerdown', hold, true)
    for (const kind of MOVES) document.removeEventListener(kind, letGo, true)
    watch.disconnect()
    size.disconnect()
    document.fonts.removeEventListener('loadingdone', soon)
    cancelAnimationFrame(waiting)
  }
}
