/* The pictures on the page, as they stand, for the teacher's report: by its button, or by S. */
const ITS_OWN = 'input, textarea, select, [contenteditable], [role=dialog]', WIDTH = 900

export default function({ data, parentElement, setTriggerValue }) {
  const button = parentElement.querySelector('.snap')
  button.textContent = data.label
  button.onclick = take
  const press = event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
    if (event.key.toLowerCase() === 's' && !event.composedPath()[0].closest?.(ITS_OWN)) take()
  }
  document.addEventListener('keydown', press)
  return () => document.removeEventListener('keydown', press)

  async function take() {
    const charts = [...document.querySelectorAll('.chart')].filter(chart => chart.data)
    const pictures = await Promise.all(charts.map(chart => {
      const height = Math.round(WIDTH * chart.clientHeight / chart.clientWidth)
      return window.Plotly.toImage(chart.onPaper(), { format: 'webp', width: WIDTH, height, scale: 1 })
    }))
    if (pictures.length) setTriggerValue('taken', { question: data.question, pictures })
  }
}
