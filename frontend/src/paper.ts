// Printing: what a page holds, and what is said on the screen only.

import { h } from "./dom";

/** A page of A4 or Letter without its margins, in pixels. */
export const PAPER = { width: 672, height: 860 };

/** Words that mean nothing on paper. */
export function onScreen(words: string): HTMLElement {
  return h("span", { class: "on-screen" }, words);
}

/** Calls one function before the page is printed, and another when it is back on the screen. */
export function aroundPrinting(before: () => void, after: () => void): void {
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
}
