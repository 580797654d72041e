// One column in a cluster card: its distribution in the cluster and in all rows, and the difference as text.

import type { CategoryColumn, ClusterStatistics, Column, NumberColumn } from "../types";
import { formatRounded, isDate } from "./column-format";
import { breakable, h, setStyle, svg } from "./dom";
import { formatCount, formatNumber, formatPercent } from "./format";
import { axisPosition, hasSeparateIntegers, thresholdPosition } from "./plot";
import { t, type Noun } from "../texts";

const WIDTH = 240;
const HEIGHT = 46;
/** Bins of single integers have a label each if there are at most so many. */
const MAX_LABELLED_BINS = 8;
/** Number of categories that are drawn. */
const MAX_CATEGORIES = 5;

/** `i` is the position of the column; `thresholds` are those of the rules of the cluster. */
export function columnDistribution(
  column: Column,
  statistics: ClusterStatistics,
  i: number,
  totalRows: number,
  thresholds: number[],
): HTMLElement {
  const counts = statistics.counts[i];
  const text =
    column.kind === "number"
      ? describeNumbers(column, statistics.apart[i], statistics.means[i])
      : describeCategories(column, counts, statistics.rows);
  const chart =
    column.kind === "number" && !isBinary(column)
      ? histogram(column, counts, thresholds)
      : categoryBars(asCategories(column), counts, totalRows, statistics.rows);
  const name = h("span", { class: "distribution-name", title: column.name }, breakable(column.name));
  return h(
    "div",
    { class: "distribution" },
    h("div", { class: "distribution-header" }, name, h("span", { class: "distribution-text" }, text)),
    chart,
  );
}

/** The legend of the histograms in the cards. */
export function distributionLegend(noun: Noun, thresholdText: string, rowsAre: string): HTMLElement {
  const symbol = (...parts: SVGElement[]) =>
    svg("svg", { viewBox: "0 0 26 16", width: 26, height: 16, "aria-hidden": "true" }, ...parts);
  return h(
    "div",
    { class: "distribution-legend" },
    h("span", {}, symbol(svg("path", { class: "legend-in-cluster", d: "M2 16V7h7V2h8v14Z" })), t.rowsOfThe(rowsAre, noun)),
    h("span", {}, symbol(svg("path", { class: "legend-in-all", d: "M2 12h7V5h8v5h7" })), t.allRows(rowsAre)),
    h("span", {}, symbol(svg("path", { class: "threshold", d: "M13 0V16" })), thresholdText),
  );
}

/** `difference` is the difference of the two means in standard deviations. */
function describeNumbers(
  column: NumberColumn,
  difference: number | null,
  means: ClusterStatistics["means"][number],
): string {
  if (difference === null || !means) return "";
  const [inCluster, inOthers] = means;
  // The mean of zeros and ones is a share.
  if (isBinary(column) && inCluster !== null && inOthers !== null)
    return t.hereAndOthers(formatPercent(inCluster), formatPercent(inOthers));
  const size = Math.abs(difference);
  // Averages of skewed columns can differ a lot although the difference in standard deviations is small.
  const ratio = inCluster && inOthers && inCluster * inOthers > 0 ? inCluster / inOthers : 1;
  const isSimilar = size < 0.2 && Math.max(ratio, 1 / ratio) < 1.25;
  const word = isSimilar ? t.aboutSame : compareWord(column, difference);
  // The difference is that of the scale of the axis: on a logarithmic one, few large numbers count less.
  const isOpposite = !isSimilar && inCluster !== null && inOthers !== null && (inCluster - inOthers) * difference < 0;
  const comparison = isOpposite ? t.onLogScale(word) : word;
  return t.averages(comparison, formatRounded(column, inCluster), formatRounded(column, inOthers));
}

/** "much higher", "slightly earlier"; `difference` is in standard deviations. */
export function compareWord(column: NumberColumn, difference: number): string {
  const size = Math.abs(difference);
  const isTime = isDate(column) || column.format.kind === "year";
  return t.comparison(size < 0.6 ? "slight" : size < 1.5 ? "clear" : "large", difference > 0, isTime);
}

/** Whether all values are 0 or 1. */
export function isBinary(column: NumberColumn): boolean {
  return column.whole && column.low >= 0 && column.high <= 1 && column.low < column.high;
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
  if (best < 0) return t.sameAsOthers;
  const ratio = inOthers(best) > 0 ? inCluster(best) / inOthers(best) : 0;
  const ratioText = ratio > 1.5 ? t.timesAsOften(formatNumber(Number(ratio.toPrecision(2)))) : "";
  const shares = t.hereAndOthers(formatPercent(inCluster(best)), formatPercent(inOthers(best)));
  return `${column.values[best]}: ${shares}${ratioText}`;
}

function histogram(column: NumberColumn, counts: number[], thresholds: number[]): Element {
  const { edges, unit } = column;
  const [low, high] = [edges[0], edges[edges.length - 1]];
  const [start, end] = [axisPosition(low, unit), axisPosition(high, unit)];
  const x = (value: number) => ((axisPosition(value, unit) - start) / (end - start)) * WIDTH;
  /** Shares of the rows by width of the bin, because bins of integers on a logarithmic axis differ in width. */
  const densities = (values: number[]) => {
    const sum = Math.max(
      values.reduce((a, b) => a + b, 0),
      1,
    );
    return values.map((n, b) => n / sum / (x(edges[b + 1]) - x(edges[b])));
  };
  const inCluster = densities(counts);
  const inAll = densities(column.all);
  const highest = Math.max(...inCluster, ...inAll, 1e-9);
  const y = (density: number) => (HEIGHT - (HEIGHT - 2) * (density / highest)).toFixed(2);
  const p = (b: number) => x(edges[b]).toFixed(2);
  const bars = inCluster.flatMap((density, b) =>
    density > 0 ? [`M${p(b)} ${HEIGHT}V${y(density)}H${p(b + 1)}V${HEIGHT}Z`] : [],
  );
  const outline = inAll.map((density, b) => `${b ? "L" : "M"}${p(b)} ${y(density)}H${p(b + 1)}`).join("");
  // The line of a threshold at an end of the axis is moved inside.
  const lineX = (value: number) => Math.min(Math.max(x(thresholdPosition(column, value)), 1), WIDTH - 1).toFixed(2);
  const chart = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "histogram", "aria-hidden": "true" },
    svg("path", { d: bars.join(""), class: "in-cluster" }),
    svg("path", { d: outline, class: "in-all" }),
    ...thresholds.map((threshold) => svg("path", { d: `M${lineX(threshold)} 0V${HEIGHT}`, class: "threshold" })),
  );
  if (hasSeparateIntegers(column) && counts.length <= MAX_LABELLED_BINS) {
    const labels = counts.map((_, b) => h("span", {}, formatRounded(column, Math.ceil(edges[b]))));
    return h("div", { class: "chart" }, chart, h("div", { class: "bin-labels" }, ...labels));
  }
  const [first, last] = axisEnds(column);
  const scaleNote = unit === null ? null : h("span", { class: "scale-note" }, t.logScale);
  return h(
    "div",
    { class: "chart" },
    chart,
    h("div", { class: "axis-ends" }, h("span", {}, first), scaleNote, h("span", {}, last)),
  );
}

/** The ends of an axis as text. They say whether rows lie beyond. */
function axisEnds(column: NumberColumn): [string, string] {
  const { edges, beyond, low, high, whole } = column;
  const last = edges[edges.length - 1];
  // The outermost bins of integers may contain some that are not among the values.
  const isLowInFirstBin = low > edges[0] && low < edges[1];
  const isHighInLastBin = high > edges[edges.length - 2] && high < last;
  const start = formatRounded(column, isLowInFirstBin ? low : whole ? Math.ceil(edges[0]) : edges[0]);
  const end = formatRounded(column, isHighInLastBin ? high : whole ? Math.floor(last) : last);
  return [
    beyond[0] ? t.orLess(start, formatRounded(column, low)) : start,
    beyond[1] ? t.orMore(end, formatRounded(column, high)) : end,
  ];
}

type Categories = Pick<CategoryColumn, "values" | "others" | "all">;

/** A column of zeros and ones has two categories. */
function asCategories(column: Column): Categories {
  if (column.kind === "category") return column;
  const values = column.name.includes(" is ") ? [t.no, t.yes] : ["0", "1"];
  return { values, others: 0, all: column.all };
}

/** One bar per category, with a mark at the share in all rows. */
function categoryBars(column: Categories, counts: number[], totalRows: number, rows: number): Element {
  const label = (v: number) => (v < column.values.length ? column.values[v] : t.others(column.others, formatCount(column.others)));
  const inCluster = (v: number) => counts[v] / Math.max(rows, 1);
  const inAll = (v: number) => column.all[v] / Math.max(totalRows, 1);
  const largest = (v: number) => Math.max(inCluster(v), inAll(v));
  const shown = counts
    .map((_, v) => v)
    .sort((a, b) => largest(b) - largest(a))
    .slice(0, MAX_CATEGORIES);
  const description = (v: number) => t.hereAndAll(formatPercent(inCluster(v)), formatPercent(inAll(v)));
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
