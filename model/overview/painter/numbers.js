/* Numbers as Python writes them; in the JavaScript of 2009, as join.js takes them, too. */

/* With so many decimals: what lies just between two, an odd part of 2ⁿ⁺¹, goes to the even one of them, where toFixed
   goes up. */
export function fixed(value, places) {
  var text = value.toFixed(places), between = Math.abs(value) * Math.pow(2, places + 1) % 2 === 1
  if (!between || '13579'.indexOf(text.charAt(text.length - 1)) < 0) return text
  return (value - (value < 0 ? -1 : 1) / 2 / Math.pow(10, places)).toFixed(places)
}

/* With so many digits at most, of a number that has no more before its point. */
export function significant(value, digits) {
  return String(parseFloat(fixed(value, Math.max(0, digits - 1 - value.toExponential(digits - 1).split('e')[1]))))
}
