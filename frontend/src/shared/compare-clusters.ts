// Two clusters side by side: the largest differences as sentences with effect sizes and distributions.

import { t } from "../texts";
import type { CategoryColumn, ClusterStatistics, Column, NumberColumn } from "../types";
import type { ClusterView } from "./cluster-view";
import { clusterColor } from "./colors";
import { compareWord, isBinary } from "./column-distribution";
import { formatRounded } from "./column-format";
import { h, replaceContent, section, setStyle, svg } from "./dom";
import { formatFixed, formatPercent, formatRows } from "./format";
import { pictureButtons } from "./picture";
import { axisPosition } from "./plot";
import { clusterBadge } from "./row-result";

/** Number of differences that are shown. */
const MAX_SHOWN = 6;
/** Smallest effect size that is a difference. */
const MIN_EFFECT = 0.2;
const WIDTH = 240;
const HEIGHT = 40;

interface Difference {
  column: number;
  /** In standard deviations, or the difference of two shares; 0.5 of the latter count as one of the former. */
  size: number;
  sentence: string;
  effect: string;
}

/** `separation` says how the model separates two clusters. Null if there is only one cluster. */
export function compareSection(
  view: ClusterView,
  separation: (first: number, second: number) => string = () => "",
): HTMLElement | null {
  const { data, names } = view;
  if (data.clusters.length < 2) return null;
  const choice = (label: string) => {
    const select = h("select", {});
    select.addEventListener("change", draw);
    return { select, field: h("label", { class: "field" }, h("span", {}, label), select) };
  };
  const result = h("div", { class: "comparison", role: "status" });
  const [first, second] = [choice(t.compareFirst(names.noun)), choice(t.compareSecond(names.noun))];

  function fill(): void {
    [first, second].forEach(({ select }, i) => {
      const selected = select.value || String(i);
      select.replaceChildren(...data.clusters.map((_, c) => h("option", { value: c }, names.displayName(c))));
      select.value = selected;
    });
  }

  function draw(): void {
    const [a, b] = [Number(first.select.value), Number(second.select.value)];
    const clusters = view.statistics();
    const found = data.columns
      .flatMap((column, i) => (column.shown ? [describe(view, column, i, a, b)] : []))
      .filter((difference): difference is Difference => difference !== null)
      .sort((x, y) => y.size - x.size);
    const large = found.filter(({ size }) => size >= MIN_EFFECT).slice(0, MAX_SHOWN);
    const similar = found.filter(({ size }) => size < MIN_EFFECT).map(({ column }) => data.columns[column].name);
    const rows = (c: number) => formatRows(clusters[c].rows, data.rowsAre);
    replaceContent(
      result,
      h("p", {}, clusterBadge(names, a), " ", clusterBadge(names, b)),
      h("p", {}, `${t.compareSizes(names.nameInSentence(a), rows(a), names.nameInSentence(b), rows(b))} ${separation(a, b)}`),
      large.length
        ? h("ul", { class: "differences" }, ...large.map((difference) => item(view, difference, a, b)))
        : h("p", { class: "note" }, t.noDifference(names.noun)),
      large.length > 0 && similar.length > 0 && h("p", { class: "note" }, t.similarColumns(similar.join(", "))),
    );
  }

  fill();
  draw();
  names.onChange(fill);
  view.onChange(draw);
  return section(
    "compare",
    t.compareTitle(names.noun),
    h("p", { class: "note" }, t.compareNote),
    h("div", { class: "toolbar" }, first.field, second.field),
    result,
    h("div", { class: "toolbar picture-toolbar" }, pictureButtons("comparison", result)),
  );
}

/** The difference of two clusters in a column; null if one of them has no values. */
function describe({ names: clusterNames, statistics }: ClusterView, column: Column, i: number, a: number, b: number): Difference | null {
  const [first, second] = [statistics()[a], statistics()[b]];
  const names: [string, string] = [clusterNames.nameInSentence(a), clusterNames.nameInSentence(b)];
  if (column.kind === "category") return describeShares(column.name, column.values, i, first, second, names);
  if (isBinary(column)) return describeShares(column.name, ["0", "1"], i, first, second, names);
  return describeMeans(column, i, first, second, names);
}

function describeMeans(
  column: NumberColumn,
  i: number,
  first: ClusterStatistics,
  second: ClusterStatistics,
  names: [string, string],
): Difference | null {
  const [mean, otherMean] = [first.means[i]?.[0] ?? null, second.means[i]?.[0] ?? null];
  if (mean === null || otherMean === null) return null;
  const [position, otherPosition] = [first.means[i]?.[2] ?? null, second.means[i]?.[2] ?? null];
  const isLogarithmic = column.axisSpread !== null && position !== null && otherPosition !== null;
  const effect = isLogarithmic
    ? (position! - otherPosition!) / (column.axisSpread || 1)
    : (mean - otherMean) / (column.spread || 1);
  const sentence = t.compareNumbers(
    column.name,
    names[0],
    compareWord(column, effect),
    formatRounded(column, mean),
    names[1],
    formatRounded(column, otherMean),
  );
  return { column: i, size: Math.abs(effect), sentence, effect: t.effectSize(formatFixed(Math.abs(effect), 1)) };
}

function describeShares(
  name: string,
  values: CategoryColumn["values"],
  i: number,
  first: ClusterStatistics,
  second: ClusterStatistics,
  names: [string, string],
): Difference | null {
  if (!first.rows || !second.rows || !first.counts[i].some((n) => n > 0) || !second.counts[i].some((n) => n > 0)) return null;
  const share = ({ counts, rows }: ClusterStatistics, v: number) => counts[i][v] / rows;
  const gap = (v: number) => share(first, v) - share(second, v);
  // Ties go to the category that is more frequent in the first cluster.
  const weight = (v: number) => Math.abs(gap(v)) + (gap(v) > 0 ? 1e-9 : 0);
  const best = values.reduce((found, _, v) => (weight(v) > weight(found) ? v : found), 0);
  const sentence = t.compareCategories(
    name,
    values[best],
    names[0],
    formatPercent(share(first, best)),
    names[1],
    formatPercent(share(second, best)),
  );
  const size = Math.abs(gap(best));
  return { column: i, size: 2 * size, sentence, effect: t.points(String(Math.round(100 * size))) };
}

function item(view: ClusterView, { column, sentence, effect }: Difference, a: number, b: number): HTMLElement {
  return h(
    "li",
    {},
    h("span", {}, `${sentence} (${effect}).`),
    distributions(view.data.columns[column], column, view.statistics(), a, b),
  );
}

/** The shares of both clusters by bin: the first as an area, the second as an outline. */
function distributions(column: Column, i: number, clusters: ClusterStatistics[], a: number, b: number): SVGElement {
  const edges = column.kind === "number" ? column.edges : clusters[a].counts[i].map((_, v) => v).concat(clusters[a].counts[i].length);
  const unit = column.kind === "number" ? column.unit : null;
  const [low, high] = [axisPosition(edges[0], unit), axisPosition(edges[edges.length - 1], unit)];
  const x = (edge: number) => ((axisPosition(edge, unit) - low) / (high - low || 1)) * WIDTH;
  const heights = (c: number) => {
    const counts = clusters[c].counts[i];
    const total = Math.max(counts.reduce((sum, n) => sum + n, 0), 1);
    return counts.map((n, bin) => n / total / Math.max(x(edges[bin + 1]) - x(edges[bin]), 1e-9));
  };
  const [first, second] = [heights(a), heights(b)];
  const highest = Math.max(...first, ...second, 1e-12);
  const y = (height: number) => HEIGHT - (height / highest) * (HEIGHT - 3);
  const area = (values: number[]) =>
    `M0 ${HEIGHT}${values.map((v, bin) => `L${x(edges[bin]).toFixed(1)} ${y(v).toFixed(1)}H${x(edges[bin + 1]).toFixed(1)}`).join("")}V${HEIGHT}Z`;
  const shape = (className: string, values: number[], c: number) =>
    setStyle(svg("path", { class: className, d: area(values) }), { "--cluster": clusterColor(c) });
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "comparison-chart", "aria-hidden": "true" },
    shape("first-cluster", first, a),
    shape("second-cluster", second, b),
  );
}
