/* The overview on Home; reports the reader's choices to the server once he pauses. */
export default function({ data, parentElement, setTriggerValue }, { fromBytes, overview }) {
  const root = parentElement.querySelector('.overview'), run = fromBytes(data)
  /* Send a message, and again those that the server may have missed: while it is busy, each replaces the one before. */
  root.send = (event, value) => {
    root.last = Math.max(Date.now(), (root.last ?? 0) + 1)
    const old = sent => sent.number <= (document.overviewPlace?.heard ?? 0) || (sent.event === event && event !== 'off')
    root.unheard = [...(root.unheard ?? []).filter(sent => !old(sent)), { event, ...value, number: root.last }]
    for (const name of new Set(root.unheard.map(sent => sent.event))) setTriggerValue(name, root.unheard.filter(sent => sent.event === name))
  }
  /* Go to the server's place, unless the reader has moved on. */
  root.heed = () => {
    const known = document.overviewPlace
    if (known && known.heard >= (root.last ?? 0)) root.shown.go(here(known.place))
  }
  /* In a second run, use the position of a token's counterpart. */
  root.theirs = run.theirs
  const here = place => {
    const { token, ...rest } = place ?? {}, own = root.theirs ? root.theirs[token] : token
    return own == null ? rest : { ...rest, token: own }
  }
  const there = place => root.theirs ? { ...place, token: root.theirs.indexOf(place.token) } : place
  const changed = place => Object.fromEntries(Object.entries(there(place)).filter(([name, value]) => value !== document.overviewPlace?.place[name]))
  root.run = run
  if (root.shown) root.shown.show(run)
  else
    root.shown = overview(root, run, {
      place: here(document.overviewPlace?.place),
      below: innerHeight < 780 ? 46 : 90,  // opened pictures need room
      on: {
        need: (role, place, token) => root.send('need', { role, id: root.run.id, place: changed(place), at: { ...place, token } }),
        more: (role, place) => root.send('need', { role, id: root.run.id, place: document.overviewPlace ? changed(place) : {}, at: place }),
        off: (...head) => root.send('off', { head, place: changed(root.shown.place) }),
        place: place => root.send('place', { place: changed(place) }), open: (role, place) => root.send('open', { role, place: changed(place) }),
      },
    })
  root.heed()
  setTimeout(() => (window.requestIdleCallback ?? setTimeout)(window.bringPlotly), 1500)  // for the next page
  return () => {
    if (!root.isConnected) root.shown.leave()
  }
}
