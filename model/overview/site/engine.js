/* A worker that tokenizes a sentence and runs the exported network. It is sent {load: …} once, then {run: …}. */
import * as ort from './ort.wasm.bundle.min.mjs'
import { Reader } from './reader.js'

ort.env.wasm.numThreads = 1
ort.env.wasm.wasmPaths = { wasm: new URL('ort-wasm-simd-threaded.wasm', import.meta.url).href }
let network, about, reader
ort.InferenceSession.create(new Uint8Array(8), { executionProviders: ['wasm'] }).catch(() => {})  // loads ONNX Runtime early

onmessage = async ({ data: { number, load, run } }) => {
  try {
    const found = load ? await begin(load) : await compute(run)
    postMessage({ number, found }, Object.values(found.values ?? {}).map(({ data }) => data.buffer))
  } catch (error) {
    postMessage({ number, error: String(error) })
  }
}

const LEAN = { enableCpuMemArena: false, enableMemPattern: false, extra: { session: { disable_prepacking: '1' } } }

/* Files: network, the graph; data, its weights, of size `bytes` and called `path` in the graph; tokenizer, if it
   reads words. most, maxLen: characters and tokens of a sentence. */
async function begin(load) {
  about = load
  const words = load.tokenizer && fetched(load.tokenizer).then(answer => answer.json())
  const parts = [fetched(load.network).then(answer => answer.arrayBuffer()), read(load.data, load.bytes)]
  const [graph, data] = await Promise.all(parts)
  network = await ort.InferenceSession.create(graph, { executionProviders: ['wasm'], ...LEAN, externalData: [{ path: load.path, data }] })
  if (!words) return {}
  reader = new Reader(await words, load)
  return { vocabulary: reader.vocabulary }
}

async function fetched(file) {
  const answer = await fetch(file)
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`)
  return answer
}

/* A file's bytes; meanwhile, the share fetched so far is posted. */
async function read(file, bytes) {
  const parts = new Uint8Array(bytes)
  let at = 0
  for (const reader = (await fetched(file)).body.getReader(); ;) {
    const { done, value } = await reader.read()
    if (done) return parts
    parts.set(value, at)
    at += value.length
    postMessage({ share: at / bytes })
  }
}

/* text and its hidden positions, or pixels; off: heads, "layer.head"; asked: token of the logit lens if none is
   masked; only: the keys to return. Returns {typed, tokens, asked, notes, values}, or {problem}. */
async function compute({ text, hidden, pixels, off, asked, only }) {
  const switches = new Float32Array(about.layers * about.heads).fill(1)
  for (const head of off) {
    const [layer, place] = head.split('.').map(Number)
    if (layer < about.layers && place < about.heads) switches[layer * about.heads + place] = 0
  }
  const feeds = { heads: new ort.Tensor('float32', switches, [about.layers, about.heads]) }
  let found = {}
  if (pixels) {
    const side = Math.sqrt(pixels.length)
    feeds.pixel_values = new ort.Tensor('float32', pixels, [1, side, side])
  } else {
    found = reader.read(text, hidden)
    if (found.problem) return found
    const masks = [...found.tokens.keys()].filter(i => found.tokens[i] === '[MASK]')
    found.asked = masks.length ? masks.slice(0, about.lens) : [Math.min(asked, found.tokens.length - 1)]
    feeds.input_ids = integers(found.ids, [1, found.ids.length])
    feeds.asked = integers(found.asked, [found.asked.length])
  }
  const values = await network.run(feeds, only ?? about.keys)
  return { ...found, values: Object.fromEntries(Object.entries(values).map(([key, { data, dims }]) => [key, { data, dims }])) }
}

const integers = (numbers, dims) => new ort.Tensor('int64', BigInt64Array.from(numbers, BigInt), dims)
