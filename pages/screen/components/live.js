import { percent } from '../../../model/overview/painter/numbers.js'

/* Polls the state of a class, shows it, and reports when the teacher goes on. A phone that follows her
   (data.follows) sends its number, which keeps it in the class. */
export default function({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector('.live')
  place.stop?.()
  let { answered, there } = data, waiting, over = false
  const stop = place.stop = () => {
    over = true
    clearTimeout(waiting)
  }
  write()
  wait()
  return stop

  function wait() { waiting = setTimeout(ask, data.every) }

  async function ask() {
    try {
      const said = await fetch(new URL(`live/${data.code}/standing?t=${data.ticket}${data.follows ? phone(data.code, data.view) : ''}`, document.baseURI), { cache: 'no-store' })
      if (!said.ok && said.status !== 404) throw said.status
      const now = said.ok ? await said.json() : { version: 0, led: 0, answered: 0, there: 0 }
      if (over) return  // the page was redrawn or left meanwhile
      ;({ answered, there } = now)
      write()
      if (now.version !== data.version || now.led !== data.led) setTriggerValue('moved', [now.version, now.led])
    } catch { /* no connection: poll again */ }
    if (!over) wait()
  }

  /* Write "**{answered}** of **{there}** have answered · {share}". Some may have answered and left. */
  function write() {
    const all = Math.max(there, answered), share = all ? percent(answered / all) : '–'
    const [told, ...parts] = data.words.replace('{share}', share).split(/\*\*\{(\w+)\}\*\*/)
    place.replaceChildren(told, ...parts.map((part, i) => i % 2 ? part : strong({ answered, there: all }[part])))
    if (data.more && answered > 1.1 * there + 2) {
      place.append(` ${data.more.replace('{answered}', answered).replace('{there}', there)}`)
    }
  }
}

/* Query parameters: the phone's number, from /join, and the page open here. */
function phone(code, view) {
  try {
    const kept = JSON.parse(localStorage.getItem('glass.class'))
    return kept.code === code && kept.device ? `&d=${kept.device}&v=${encodeURIComponent(view)}` : ''
  } catch { return '' }
}

function strong(number) {
  return Object.assign(document.createElement('strong'), { textContent: number })
}
