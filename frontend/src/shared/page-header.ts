// The header of the page: title, headline, summary and a bar of the cluster sizes.

import type { ClusterNames } from "./cluster-names";
import { clusterStyle } from "./colors";
import { breakable, h, setStyle } from "./dom";
import { formatPercent, formatRows } from "./format";
import { t } from "../texts";
import type { Noun } from "../texts/en";

/** Clusters with a sentence in the header. */
const MAX_SENTENCES = 12;
/** Smallest share of a bar segment that has a text. */
const MIN_TEXT_SHARE = 0.03;
/** Share of the bar that a letter takes. */
const LETTER_SHARE = 0.009;

export function pageHeader(
  title: string | null,
  noun: Noun,
  headline: string,
  summary: HTMLElement,
  warnings: HTMLElement | null,
  sizeBar: HTMLElement,
  sentences: HTMLElement | null = null,
): HTMLElement {
  return h(
    "header",
    { class: "page-header" },
    h("p", { class: "report-title" }, title ?? t.clustersExplained(noun)),
    h("h1", {}, headline),
    summary,
    warnings ?? "",
    sizeBar,
    sentences ?? "",
  );
}

/** Writes one sentence per cluster: its name, its size and its rule. */
export function drawSentences(list: HTMLElement, names: ClusterNames, rowCounts: number[], rules: string[], rowsAre: string): void {
  const total = Math.max(rowCounts.reduce((a, b) => a + b, 0), 1);
  const items = rowCounts.slice(0, MAX_SENTENCES).map((n, c) => {
    const text = t.clusterSentence(formatRows(n, rowsAre), formatPercent(n / total), rules[c]);
    const name = setStyle(h("a", { class: "badge", href: `#card-${c}` }, breakable(names.displayName(c))), clusterStyle(c));
    return h("li", {}, name, h("span", {}, ` ${text}`));
  });
  const hidden = rowCounts.length - items.length;
  list.replaceChildren(...items, ...(hidden > 0 ? [h("li", {}, t.more(String(hidden)))] : []));
}

/** Draws one segment per cluster. Each segment links to the card of its cluster. */
export function drawSizeBar(bar: HTMLElement, names: ClusterNames, rowCounts: number[], rowsAre: string): void {
  const total = Math.max(
    rowCounts.reduce((a, b) => a + b, 0),
    1,
  );
  bar.replaceChildren(
    ...rowCounts.flatMap((n, c) => {
      if (!n) return [];
      const { label } = names.clusters[c];
      const share = n / total;
      const customName = names.customName(c);
      const shortName = share > LETTER_SHARE * customName.length ? customName || label : label;
      const text = `${names.displayName(c)}: ${formatRows(n, rowsAre)}, ${formatPercent(share)}`;
      const segment = h(
        "a",
        { href: `#card-${c}`, title: text, "aria-label": text },
        share > MIN_TEXT_SHARE && h("span", {}, shortName),
      );
      return [setStyle(segment, { ...clusterStyle(c), "flex-grow": String(n) })];
    }),
  );
}
