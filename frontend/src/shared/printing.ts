// Printing: the size of a page, text that is not printed, and events.

import { h } from "./dom";

/** The printable area of an A4 or Letter page, in pixels. */
export const PRINT_PAGE = { width: 672, height: 860 };

/** Text that is shown on the screen but not printed. */
export function screenOnly(text: string): HTMLElement {
  return h("span", { class: "screen-only" }, text);
}

/** Calls `before` when printing starts, and `after` when it has ended. */
export function onPrint(before: () => void, after: () => void): void {
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
}
