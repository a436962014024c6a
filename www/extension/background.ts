// Chromium's service worker: opens the panel, keeps the host alive, passes on what was chosen. It holds nothing, so the
// browser may stop it at any time.
import { offerMenus } from './menus.js';
import { isMessage, type Message } from './messages.js';

let creating: Promise<void> | undefined;

offerMenus((power, text, title, windowId) => {
  // First and at once: the browser opens a panel only while it handles a click.
  if (windowId !== undefined) void chrome.sidePanel?.open({ windowId });
  const message: Message = { to: 'host', type: 'work', power, text, title };
  void wake().then(() => chrome.runtime.sendMessage(message));
});
void chrome.sidePanel?.setPanelBehavior({ openPanelOnActionClick: true });

chrome.runtime.onMessage.addListener((message, _sender, answer) => {
  if (!isMessage(message, 'background')) return false;
  void wake().then(() => answer(true));
  return true;
});

/** Makes the host's document, unless it is there. */
async function wake(): Promise<void> {
  if ((await chrome.runtime.getContexts({ contextTypes: ['OFFSCREEN_DOCUMENT'] })).length) return;
  creating ??= chrome
    .offscreen!.createDocument({
      url: 'extension/offscreen.html',
      reasons: ['WORKERS'],
      justification: 'The language model runs in a worker on this device.',
    })
    .finally(() => (creating = undefined));
  await creating;
}
