// What is used of the browser's extension interface. https://developer.chrome.com/docs/extensions/reference/api
interface ExtensionEvent<A extends unknown[]> {
  addListener(listener: (...args: A) => unknown): void;
}

declare const chrome: {
  runtime: {
    onInstalled: ExtensionEvent<[]>;
    onMessage: ExtensionEvent<[message: unknown, sender: unknown, answer: (value: unknown) => void]>;
    sendMessage(message: unknown): Promise<unknown>;
    getContexts(filter: { contextTypes: string[] }): Promise<unknown[]>;
  };
  contextMenus: {
    create(item: { id: string; title: string; contexts: string[] }): void;
    removeAll(): Promise<void>;
    onClicked: ExtensionEvent<[info: { menuItemId: string; selectionText?: string }, tab?: { windowId: number; title?: string }]>;
  };
  /** Chromium alone. */
  sidePanel?: { open(options: { windowId: number }): Promise<void>; setPanelBehavior(options: { openPanelOnActionClick: boolean }): Promise<void> };
  offscreen?: { createDocument(options: { url: string; reasons: string[]; justification: string }): Promise<void> };
  /** Firefox alone. */
  sidebarAction?: { open(): Promise<void>; toggle(): Promise<void> };
  action: { onClicked: ExtensionEvent<[]> };
};
