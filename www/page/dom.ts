// Small helpers over the document.

/** The element with this id, which the page's HTML has. */
export function need<T extends HTMLElement = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

export function button(id: string, onClick: () => void): HTMLButtonElement {
  const element = need<HTMLButtonElement>(id);
  element.addEventListener('click', onClick);
  return element;
}

/** Says something to screen readers that sighted readers see already. */
export function announce(text: string): void {
  need('announce').textContent = text;
}

/** Gives the browser a file to save. */
export function save(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000); // the download has begun by then
}
