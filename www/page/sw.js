// Keeps the page for times without a network, and gives every answer the headers that isolate a page and bind its workers to
// its policy, so that a host which cannot set headers need not. The network comes first: what is kept is never older than what
// was last seen.
const NAME = 'fairhand-page-VERSION';
/** @type {string[]} */
const FILES = [];

/** As pkg-config/headers.json has them. @type {Record<string, string>} */
const HEADERS = {};
const scope = /** @type {any} */ (globalThis);

scope.addEventListener('install', (/** @type {any} */ event) => {
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => scope.skipWaiting()));
});

scope.addEventListener('activate', (/** @type {any} */ event) => {
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith('fairhand-page-') && name !== NAME).map((name) => caches.delete(name))))
      .then(() => scope.clients.claim()),
  );
});

scope.addEventListener('fetch', (/** @type {any} */ event) => {
  /** @type {Request} */
  const request = event.request;
  const { origin, pathname } = new URL(request.url);
  // Models have a cache of their own.
  if (request.method !== 'GET' || origin !== location.origin || pathname.includes('/models/') || request.headers.has('range')) return;
  event.respondWith(answer(request));
});

/** @param {Request} request */
async function answer(request) {
  const cache = await caches.open(NAME);
  try {
    const response = await fetch(request);
    if (response.ok && response.type === 'basic') await cache.put(request, response.clone()).catch(() => {});
    return headed(response);
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return headed(kept);
    throw error;
  }
}

/** @param {Response} response */
function headed(response) {
  if (response.type !== 'basic' && response.type !== 'default') return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  const body = [204, 304].includes(response.status) ? null : response.body;
  return new Response(body, { status: response.status, statusText: response.statusText, headers });
}
