// The name of a cluster on its colour.

import { color, ink } from "./colors";
import { h, styled } from "./dom";
import type { Names } from "./names";

export function chip(names: Names, cluster: number): HTMLElement {
  const element = h("span", { class: "chip" }, names.of(cluster));
  return styled(element, { "--cluster": color(cluster), "--ink": ink(cluster) });
}

/** What the page says of a row; the label is there for readers who gave names. */
export function verdict(names: Names, cluster: number): HTMLElement {
  const label = h("span", { class: "unseen verdict-label" }, ` (label ${names.clusters[cluster].label})`);
  return h("p", { class: "verdict" }, "This row is in ", chip(names, cluster), label, ".");
}

export interface WayOut {
  cluster: number;
  words: string;
}

const MOST_WAYS = 6;

/** What would have to change, a line for each other cluster. */
export function waysOutList(names: Names, ways: WayOut[]): HTMLElement | null {
  if (!ways.length) return null;
  const line = (way: WayOut) => h("li", {}, chip(names, way.cluster), ` ${way.words}`);
  const list = (part: WayOut[]) => h("ul", { class: "ways" }, ...part.map(line));
  const rest = ways.slice(MOST_WAYS);
  const more = h("details", {}, h("summary", {}, `${rest.length} further`), list(rest));
  const title = h("h3", {}, `What would have to change for another ${names.noun}`);
  return h("div", {}, title, list(ways.slice(0, MOST_WAYS)), rest.length > 0 && more);
}
