/* Numbers formatted as in Python (model/analysis.py). In ES5, because join.js uses this file, too. */

/* A number with `places` decimals. Halves go away from 0, also where arithmetic left one a hair too small. */
export function fixed(value, places) {
  return (value + (value < 0 ? -1e-9 : 1e-9)).toFixed(places)
}

/* A share with as few digits as keep it true, as on the pages: 0.41, 0.0002, 0.9996, 0.99997, 8 × 10⁻⁵. */
export function decimal(share) {
  if (share >= .995 - 1e-9 && share <= 1 - 1e-6) return fixed(share, Math.max(4, (1 - share).toExponential(0).split('-')[1]))
  if (share >= .01 || !(share > 0)) return share ? fixed(share, 2).replace('-', '−') : '0'
  var parts = share.toExponential(0).split('e-'), power = parts[1]
  if (power <= 4) return fixed(share, +power)
  return parts[0] + ' × 10⁻' + power.replace(/\d/g, function (sign) { return '⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt(sign) })
}

/* A share in percent, as on the pages: "41%", "99.7%", "> 99.9%", "0.4%", "< 0.1%", "0%". */
export function percent(share) {
  var most = share >= .995 - 1e-9 && share <= 1 - 1e-6
  if (most && share >= .9995) return '> 99.9%'
  if (share > 0 && share < .001) return '< 0.1%'
  return fixed(100 * share, most || share > 0 && share < .1 ? 1 : 0).replace('-', '−') + '%'
}

/* A number in a cell, by default with two decimals: .41; empty if it is 0.00 or masked. */
export function inCell(value, places) {
  var digits = places === undefined ? 2 : places
  if (!isFinite(value) || Math.abs(value) < .005) return ''
  if (Math.abs(value) < .5 / Math.pow(10, digits)) return '0'
  return fixed(value, digits).replace('-', '−').replace(/^(−?)0\./, '$1.')
}

/* The numbers of a row whose cells are too narrow for all: not below least, and larger than those beside them. */
export function inRow(row, least) {
  return Array.prototype.map.call(row, function (value, i) {
    return value >= least && !(value < row[i - 1]) && !(value <= row[i + 1]) ? inCell(value).replace('1.00', '1') : ''
  })
}
