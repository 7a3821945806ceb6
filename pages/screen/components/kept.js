/* Keeps a teacher's keys of classes in this browser; no link holds them. */
const WHERE = 'glass-encoder.classes'

export default function({ data: { keep, forget, known }, setTriggerValue }) {
  const kept = read()
  for (const code of forget) delete kept[code]
  Object.assign(kept, keep)
  write(kept)
  if (!known || Object.keys(kept).some(code => !(code in keep))) setTriggerValue('kept', kept)
}

/* A private window may store nothing: its keys last for the visit. */
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
