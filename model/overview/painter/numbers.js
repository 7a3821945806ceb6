/* Numbers formatted as in Python. In ES5, because join.js uses this file, too. */

/* A number with `places` decimals; ties (odd multiples of 1/2ⁿ⁺¹) go to the even digit, where toFixed rounds up. */
export function fixed(value, places) {
  var text = value.toFixed(places), between = Math.abs(value) * Math.pow(2, places + 1) % 2 === 1
  if (!between || '13579'.indexOf(text.charAt(text.length - 1)) < 0) return text
  return (value - (value < 0 ? -1 : 1) / 2 / Math.pow(10, places)).toFixed(places)
}

/* A share with as few digits as keep it true, as on the pages: 0.41, 0.0002, 0.9996, 0.99997, 8 × 10⁻⁵. */
export function decimal(share) {
  if (share >= .995 && share <= 1 - 1e-6) return fixed(share, Math.max(4, (1 - share).toExponential(0).split('-')[1]))
  if (share >= .01 || !(share > 0)) return share ? fixed(share, 2).replace('-', '−') : '0'
  var parts = share.toExponential(0).split('e-'), power = parts[1]
  if (power <= 4) return fixed(share, +power)
  return parts[0] + ' × 10⁻' + power.replace(/\d/g, function (sign) { return '⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt(sign) })
}

/* A number in a cell, by default with two decimals: .41; empty if it rounds to 0 or is masked. */
export function inCell(value, places) {
  var digits = places === undefined ? 2 : places
  if (!isFinite(value) || Math.abs(value) < .5 / Math.pow(10, digits)) return ''
  return fixed(value, digits).replace('-', '−').replace(/^(−?)0\./, '$1.')
}
