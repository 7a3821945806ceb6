/* The overview on the page Home: what the reader chooses in it is told to the server, when he has come to rest. */
export default function({ data, parentElement, setTriggerValue }, { fromBytes, overview }) {
  const root = parentElement.querySelector('.overview'), run = fromBytes(data)
  root.send = (event, value) => {
    root.last = Math.max(Date.now(), (root.last ?? 0) + 1)
    setTriggerValue(event, { ...value, number: root.last })
  }
  /* What the server says of the place counts, unless the reader has gone on since. */
  root.heed = () => {
    const known = document.overviewPlace
    if (known && known.heard >= (root.last ?? 0)) root.shown.go(known.place)
  }
  const changed = place => Object.fromEntries(Object.entries(place).filter(([name, value]) => value !== document.overviewPlace?.place[name]))
  if (root.shown) root.shown.show(run)
  else
    root.shown = overview(root, run, {
      place: document.overviewPlace?.place,
      below: 46,
      on: { place: place => root.send('place', { place: changed(place) }), open: (role, place) => root.send('open', { role, place: changed(place) }) },
    })
  root.heed()
  setTimeout(() => (window.requestIdleCallback ?? setTimeout)(window.bringPlotly), 1500)  // for the next page
  return () => {
    if (!root.isConnected) root.shown.leave()
  }
}
