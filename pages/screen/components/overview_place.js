/* Gives overviews the layer, head and token that the server knows. */
export default function({ data }) {
  document.overviewPlace = data
  for (const root of document.querySelectorAll('.overview')) root.heed?.()
}
