/* A text whose lines break between words, also where no spaces part them: before a single sign hardly ever, which may
   belong to the word before it, and not before a bracket. A number keeps its measure. In the JavaScript of 2009, for
   old phones. */
export function phrased(text) {
  var LONG = 6
  if (!window.Intl || !Intl.Segmenter) return text
  var before = '', run = 0, words = text.replace(/(\d) (?=[\u3400-\u9fff])|(第) (?=\d)/g, '$1$2\u00a0')
  return Array.from(new Intl.Segmenter('zh', { granularity: 'word' }).segment(words), function (part) {
    var apart = /[的地]$/.test(before) || !/有$/.test(before) && (/[\u3400-\u9fff”]$/.test(before) && /^[与把对从让]$/.test(part.segment) ||
      /[\u3400-\u9fff]{2}$/.test(before) && /^([^\x00-\x7f]{2}|和$)/.test(part.segment) ||
      run > LONG && /^[\u3400-\u9fff]{2}/.test(part.segment) && !/[是在把被从与和很不再最第“‘（]$/.test(before))
    run = part.isWordLike && apart ? part.segment.length : /^[\s，。：；？！、）]/.test(part.segment) ? 0 : run + part.segment.length
    return (part.isWordLike && apart ? '\u200b' : part.segment === '（' ? '\u2060' : '') + (before = part.segment)
  }).join('')
}
