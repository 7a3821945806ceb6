/* Tokenizes a sentence as model/pipeline.py does. */
import { Tokenizer } from './tokenizers.min.mjs'

const SPECIAL = ['[CLS]', '[SEP]']
const RARE = /[\u{20000}-\u{2ceaf}\u{2f800}-\u{2fa1f}]/gu  // Chinese characters that the package splits into surrogates

export class Reader {
  /* rules: tokenizer.json; most: characters read; maxLen: tokens read. */
  constructor(rules, { most, maxLen }) {
    Object.assign(this, { most, maxLen, tokenizer: new Tokenizer(rules, {}), vocabulary: [] })
    for (const [word, id] of Object.entries(rules.model.vocab)) this.vocabulary[id] = word
  }

  /* hidden: positions replaced by [MASK]. Returns {problem}, or {typed, ids, tokens, notes}; `typed` are the tokens
     before words are hidden. */
  read(text, hidden = []) {
    const signs = [...text], { most, maxLen, vocabulary } = this
    const cut = signs.slice(0, most).join('').replace(RARE, ' $& ')
    const named = text => this.tokenizer.encode(text).ids.slice(0, maxLen - 1).map(id => vocabulary[id])
    const names = named(cut).filter(name => !SPECIAL.includes(name))
    let { ids } = this.tokenizer.encode(cut)
    const unknown = names.filter(name => name === '[UNK]').length, notes = []
    if (!names.length) return { problem: 'empty' }
    if (unknown === names.length) return { problem: 'unknown_only' }
    if (unknown && named(cut.replaceAll('[UNK]', ' a ')).includes('[UNK]')) notes.push('unknown')  // typed, it is itself
    if (ids.length > maxLen || signs.length > most) notes.push('truncated')
    if (ids.length > maxLen) ids = [...ids.slice(0, maxLen - 1), ids.at(-1)]
    const typed = ids.map(id => vocabulary[id]), mask = vocabulary.indexOf('[MASK]')
    ids = ids.map((id, i) => hidden.includes(i) && !SPECIAL.includes(typed[i]) ? mask : id)
    return { typed, ids, tokens: ids.map(id => vocabulary[id]), notes }
  }
}
