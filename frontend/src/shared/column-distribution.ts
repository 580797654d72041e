// One column in a cluster card: its distribution in the cluster and in all rows, and the difference as text.

import type { CategoryColumn, ClusterStatistics, Column, NumberColumn } from "../types";
import { h, setStyle, svg } from "./dom";
import { formatNumber, formatPercent, pluralize } from "./format";

const WIDTH = 240;
const HEIGHT = 46;
/** Number of categories that are drawn. */
const MAX_CATEGORIES = 5;
/** Columns of integers with fewer bins than this have one bin per integer. */
const MAX_INTEGER_BINS = 24;

/** `i` is the position of the column; `thresholds` are those of the rules of the cluster. */
export function columnDistribution(
  column: Column,
  statistics: ClusterStatistics,
  i: number,
  totalRows: number,
  thresholds: number[],
): HTMLElement {
  const counts = statistics.counts[i];
  const [chart, text] =
    column.kind === "number"
      ? [histogram(column, counts, thresholds), describeNumbers(column, statistics.apart[i], statistics.means[i])]
      : [categoryBars(column, counts, totalRows, statistics.rows), describeCategories(column, counts, statistics.rows)];
  const name = h("span", { class: "distribution-name", title: column.name }, column.name);
  return h(
    "div",
    { class: "distribution" },
    h("div", { class: "distribution-header" }, name, h("span", { class: "distribution-text" }, text)),
    chart,
  );
}

/** The legend of the histograms in the cards. */
export function distributionLegend(noun: string, thresholdText: string): HTMLElement {
  const symbol = (...parts: SVGElement[]) =>
    svg("svg", { viewBox: "0 0 26 16", width: 26, height: 16, "aria-hidden": "true" }, ...parts);
  return h(
    "div",
    { class: "distribution-legend" },
    h("span", {}, symbol(svg("path", { class: "legend-in-cluster", d: "M2 16V7h7V2h8v14Z" })), `rows of the ${noun}`),
    h("span", {}, symbol(svg("path", { class: "legend-in-all", d: "M2 12h7V5h8v5h7" })), "all rows"),
    h("span", {}, symbol(svg("path", { class: "threshold", d: "M13 0V16" })), thresholdText),
  );
}

/** `difference` is the difference of the two means in standard deviations. */
function describeNumbers(
  column: NumberColumn,
  difference: number | null,
  means: [number | null, number | null] | null,
): string {
  if (difference === null || !means) return "";
  const [inCluster, inOthers] = means;
  const isBinary = column.whole && column.low === 0 && column.high === 1;
  // The mean of zeros and ones is a share.
  if (isBinary && inCluster !== null && inOthers !== null)
    return `${formatPercent(inCluster)} here, ${formatPercent(inOthers)} in other rows`;
  const size = Math.abs(difference);
  const degree = size < 0.6 ? "slightly " : size < 1.5 ? "" : "much ";
  const comparison = size < 0.2 ? "about the same" : `${degree}${difference > 0 ? "higher" : "lower"}`;
  return `${comparison}: average ${formatNumber(inCluster)}, other rows ${formatNumber(inOthers)}`;
}

/** Names the category whose share is most above its share in the other rows. */
function describeCategories(column: CategoryColumn, counts: number[], rows: number): string {
  const totalRows = column.all.reduce((a, b) => a + b, 0);
  const inCluster = (v: number) => (rows ? counts[v] / rows : 0);
  const inOthers = (v: number) => (totalRows > rows ? (column.all[v] - counts[v]) / (totalRows - rows) : 0);
  let best = -1;
  column.values.forEach((_, v) => {
    if (inCluster(v) - inOthers(v) > (best < 0 ? 0 : inCluster(best) - inOthers(best))) best = v;
  });
  if (best < 0) return "same as in other rows";
  const ratio = inOthers(best) > 0 ? inCluster(best) / inOthers(best) : 0;
  const ratioText = ratio > 1.5 ? `, ${Number(ratio.toPrecision(2))} times as often` : "";
  const shares = `${formatPercent(inCluster(best))} here, ${formatPercent(inOthers(best))} in other rows`;
  return `${column.values[best]}: ${shares}${ratioText}`;
}

function histogram(column: NumberColumn, counts: number[], thresholds: number[]): Element {
  const shares = (values: number[]) => {
    const sum = Math.max(
      values.reduce((a, b) => a + b, 0),
      1,
    );
    return values.map((n) => n / sum);
  };
  const inCluster = shares(counts);
  const inAll = shares(column.all);
  const highest = Math.max(...inCluster, ...inAll, 1e-9);
  const binWidth = WIDTH / counts.length;
  const y = (share: number) => HEIGHT - (HEIGHT - 2) * (share / highest);
  const bars = inCluster.flatMap((share, b) =>
    share > 0 ? [`M${b * binWidth} ${HEIGHT}V${y(share)}h${binWidth}V${HEIGHT}Z`] : [],
  );
  const outline = inAll.map((share, b) => `${b ? "L" : "M"}${b * binWidth} ${y(share)}H${(b + 1) * binWidth}`).join("");
  const low = column.edges[0];
  const high = column.edges[column.edges.length - 1];
  const x = (value: number) => Math.min(Math.max(((value - low) / (high - low)) * WIDTH, 1), WIDTH - 1);
  const chart = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "histogram", "aria-hidden": "true" },
    svg("path", { d: bars.join(""), class: "in-cluster" }),
    svg("path", { d: outline, class: "in-all" }),
    ...thresholds.map((threshold) => svg("path", { d: `M${x(threshold)} 0V${HEIGHT}`, class: "threshold" })),
  );
  // Bins of single integers begin and end halfway between two integers.
  const hasIntegerBins = column.whole && counts.length < MAX_INTEGER_BINS;
  const range = hasIntegerBins ? [Math.ceil(low), Math.floor(high)] : [low, high];
  const axis = h("div", { class: "axis-ends" }, ...range.map((value) => h("span", {}, formatNumber(value))));
  return h("div", { class: "chart" }, chart, axis);
}

/** One bar per category, with a mark at the share in all rows. */
function categoryBars(column: CategoryColumn, counts: number[], totalRows: number, rows: number): Element {
  const label = (v: number) => (v < column.values.length ? column.values[v] : pluralize(column.others, "other"));
  const inCluster = (v: number) => counts[v] / Math.max(rows, 1);
  const inAll = (v: number) => column.all[v] / Math.max(totalRows, 1);
  const largest = (v: number) => Math.max(inCluster(v), inAll(v));
  const shown = counts
    .map((_, v) => v)
    .sort((a, b) => largest(b) - largest(a))
    .slice(0, MAX_CATEGORIES);
  const description = (v: number) => `${formatPercent(inCluster(v))} here, ${formatPercent(inAll(v))} of all rows`;
  return h(
    "div",
    { class: "chart categories" },
    ...shown.flatMap((v) => [
      h("span", { class: "category", title: label(v) }, label(v)),
      h(
        "span",
        { class: "track", role: "img", "aria-label": description(v) },
        setStyle(h("i", { class: "in-cluster" }), { width: `${100 * inCluster(v)}%` }),
        setStyle(h("i", { class: "in-all-mark" }), { left: `calc(${100 * inAll(v)}% - 1px)` }),
      ),
    ]),
  );
}
