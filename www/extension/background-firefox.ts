// Firefox's background page: it may have workers, so the host lives in it.
import { handle, startHost } from './host.js';
import { offerMenus } from './menus.js';
import { isMessage } from './messages.js';

void startHost();
offerMenus((power, text, title) => {
  void chrome.sidebarAction?.open();
  void handle({ to: 'host', type: 'work', power, text, title });
});
chrome.action.onClicked.addListener(() => chrome.sidebarAction?.toggle());
chrome.runtime.onMessage.addListener((message, _sender, answer) => {
  if (!isMessage(message, 'background')) return false;
  answer(true);
  return false;
});
