// The entries in the menu of a selection.
import { POWERS, type Power } from './messages.js';

export type Chosen = (power: Power, text: string, title: string, windowId: number | undefined) => void;

export function offerMenus(chosen: Chosen): void {
  chrome.runtime.onInstalled.addListener(async () => {
    await chrome.contextMenus.removeAll();
    for (const [id, title] of Object.entries(POWERS)) chrome.contextMenus.create({ id, title, contexts: ['selection'] });
  });
  chrome.contextMenus.onClicked.addListener(({ menuItemId, selectionText }, tab) => {
    if (selectionText?.trim() && menuItemId in POWERS) chosen(menuItemId as Power, selectionText, tab?.title ?? '', tab?.windowId);
  });
}
