const SCALE = 2  // dots for each pixel: enough for paper

/* A chart by its key, drawn on the ground that the reader sees; nothing where it is not on the page. */
async function drawn(key) {
  const place = document.querySelector(`.st-key-${CSS.escape(key.replace(/[^\w-]/g, '-'))} .chart`)
  if (!place?.data) return ''
  const paper_bgcolor = getComputedStyle(place).getPropertyValue('--st-background-color'), { width, height } = place.layout
  const shown = { data: place.data, layout: { ...place.layout, paper_bgcolor } }
  return window.Plotly.toImage(shown, { format: 'png', scale: SCALE, width, height })
}

export default function({ data: [{ label, html, file }], parentElement }) {
  const button = parentElement.querySelector('button')
  button.textContent = label
  button.onclick = async () => {
    let page = html
    for (const [whole, key] of html.matchAll(/src="picture:([^"]*)"/g)) page = page.replace(whole, `src="${await drawn(key)}"`)
    const link = document.createElement('a'), blob = new Blob([page], { type: 'text/html' })
    Object.assign(link, { href: URL.createObjectURL(blob), download: file }).click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }
}
