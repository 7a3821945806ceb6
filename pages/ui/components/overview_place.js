/* The layer, head and token that the server knows, for the overview on the same page. */
export default function({ data }) {
  document.overviewPlace = data
  document.querySelector('.overview')?.heed?.()
}
