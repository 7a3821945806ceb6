/* The layer, head and token that the server knows, for the overviews on the same page. */
export default function({ data }) {
  document.overviewPlace = data
  for (const root of document.querySelectorAll('.overview')) root.heed?.()
}
