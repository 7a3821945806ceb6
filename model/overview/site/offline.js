/* A service worker that caches what a visit uses, so that the page opens again without a network. */
const CACHE = 'VERSION'

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', event => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name)
  await self.clients.claim()
})()))
/* Cache what was fetched before this worker started. */
self.addEventListener('message', ({ data }) => caches.open(CACHE).then(cache => cache.addAll(data)))
self.addEventListener('fetch', event => {
  if (event.request.method !== 'GET' || !event.request.url.startsWith(self.registration.scope)) return
  event.respondWith((async () => {
    const cache = await caches.open(CACHE), kept = await cache.match(event.request, { ignoreSearch: true })
    if (kept) return kept
    const answer = await fetch(event.request)
    if (answer.status === 200) await cache.put(event.request.url.split('?')[0], answer.clone())
    return answer
  })())
})
