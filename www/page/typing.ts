// Text that is put into the text area, as if it had been typed: the browser's own undo takes it back.

/** Beyond this length the browser's undo costs more than a moment, and the page's own button has to do. */
const MAX_TYPED = 200_000;

/** Whether text is being put there by the page itself; the area's `input` events then come of that. */
export let isPutting = false;

/** Puts `text` in the place of the range from `from` to `to`, where the browser can take it back. */
export function put(area: HTMLTextAreaElement, text: string, from = 0, to = area.value.length): void {
  const whole = area.value.slice(0, from) + text + area.value.slice(to);
  if (whole === area.value) return;
  // On a touch screen the focus would bring up the keyboard.
  const held = document.activeElement as HTMLElement | null;
  if (Math.max(whole.length, area.value.length) <= MAX_TYPED && !matchMedia('(pointer: coarse)').matches) {
    isPutting = true;
    area.focus({ preventScroll: true });
    area.setSelectionRange(from, to);
    // Deprecated, and the only way by which a page's change enters the browser's list of what can be undone.
    if (text) document.execCommand('insertText', false, text);
    else document.execCommand('delete');
    isPutting = false;
    if (held && held !== area) held.focus({ preventScroll: true });
  }
  if (area.value !== whole) area.value = whole;
}
