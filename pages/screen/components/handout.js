import { phrased } from '../../server/phrased.js'

const SCALE = 2  // dots per pixel, for printing
const WIDTH = 560  // px, of a picture that is not on the page and has none of its own
const PAPER = { font: { color: '#172033', family: 'sans-serif' } }
const SIDE = { showgrid: false, zeroline: false, automargin: true }

/* PNG of the chart with a key, as a data URL; "" if it is not on the page. */
async function drawn(key) {
  const place = document.querySelector(`.st-key-${CSS.escape(key.replace(/[^\w-]/g, '-'))} .chart`)
  if (!place?.data) return ''
  const shown = place.onPaper(), { width, height } = shown.layout
  return window.Plotly.toImage(shown, { format: 'png', scale: SCALE, width, height })
}

/* PNG of a figure that is not on the page, with numbers in its cells as chart.js writes them; loads Plotly if needed. */
async function onPaper(figure, { numbered, slanted, unpacked }) {
  window.bringPlotly()
  if (!window.Plotly) await new Promise(done => document.getElementById('plotly').addEventListener('load', done, { once: true }))
  const { data, layout } = JSON.parse(figure, unpacked), template = { layout: { ...PAPER, xaxis: SIDE, yaxis: SIDE } }
  const shown = { data, layout: { ...slanted({ width: WIDTH, ...layout }, PAPER.font.family), template, paper_bgcolor: '#fff' } }
  if (layout.meta?.numbers) data[0] = numbered(data[0], shown.layout)
  return window.Plotly.toImage(shown, { format: 'png', scale: SCALE, width: shown.layout.width, height: shown.layout.height })
}

export default function({ data: [{ label, html, file, pictures }], parentElement }, charts) {
  const button = parentElement.querySelector('button')
  button.textContent = label
  button.onclick = async () => {
    let page = html.replace(/<h2>.*?<\/h2>/g, phrased)
    for (const [whole, key] of html.matchAll(/src="picture:([^"]*)"/g))
      page = page.replace(whole, `src="${await (pictures[key] ? onPaper(pictures[key], charts) : drawn(key))}"`)
    const link = document.createElement('a'), blob = new Blob([page], { type: 'text/html' })
    Object.assign(link, { href: URL.createObjectURL(blob), download: file }).click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }
}
