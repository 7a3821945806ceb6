/* The keys of a teacher's classes, which no link holds: this browser keeps them. */
const WHERE = 'glass-encoder.classes'

export default function({ data: { keep, forget, known }, setTriggerValue }) {
  const kept = read()
  for (const code of forget) delete kept[code]
  Object.assign(kept, keep)
  write(kept)
  if (!known || Object.keys(kept).some(code => !(code in keep))) setTriggerValue('kept', kept)
}

/* In a private window nothing can be kept: there a key lasts as long as the visit. */
function read() {
  try {
    return JSON.parse(localStorage.getItem(WHERE)) ?? {}
  } catch { return {} }
}

function write(kept) {
  try {
    localStorage.setItem(WHERE, JSON.stringify(kept))
  } catch { return }
}
