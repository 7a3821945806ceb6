/* Gives overviews the numbers behind the cells of an opened picture. */
export default function({ data }) {
  if (data?.length) for (const root of document.querySelectorAll('.overview')) root.shown?.learn(data)
}
