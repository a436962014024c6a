// The service worker: the page without a network, and isolation where the host cannot send its headers.
const GUARD = 'fairhand-isolation';

/** Registers it. A page that it could isolate and that is not yet is loaded once more. */
export async function goOffline(): Promise<void> {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return; // not in this browser, or not in this window
  try {
    await serviceWorker.register('sw.js', { scope: './' });
    await serviceWorker.ready;
  } catch {
    return; // the page works as long as there is a network
  }
  if (crossOriginIsolated || sessionStorage.getItem(GUARD)) return;
  sessionStorage.setItem(GUARD, '1');
  location.reload();
}
