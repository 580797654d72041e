// Two clusters side by side: the largest differences as sentences with effect sizes and distributions.

import { clusterColor } from "../shared/colors";
import { compareWord, isBinary } from "../shared/column-distribution";
import { formatRounded } from "../shared/column-format";
import { h, replaceContent, section, setStyle, svg } from "../shared/dom";
import { formatFixed, formatPercent, formatRows } from "../shared/format";
import { axisPosition } from "../shared/plot";
import { clusterBadge } from "../shared/row-result";
import { t } from "../texts";
import type { CategoryColumn, ClusterStatistics, Column, NumberColumn } from "../types";
import { questionText } from "./node-text";
import { childrenOf, leavesOf, pathTo } from "./paths";
import type { TreeState } from "./state";

/** Number of differences that are shown. */
const MAX_SHOWN = 6;
/** Smallest effect size that is a difference. */
const MIN_EFFECT = 0.2;
/** Number of questions that are listed if clusters have several leaves. */
const MAX_QUESTIONS = 3;
const WIDTH = 240;
const HEIGHT = 40;

interface Difference {
  column: number;
  /** In standard deviations, or the difference of two shares; 0.5 of the latter count as one of the former. */
  size: number;
  sentence: string;
  effect: string;
}

/** Null if there is only one cluster. */
export function compareSection(state: TreeState): HTMLElement | null {
  const { data } = state;
  if (data.clusters.length < 2) return null;
  const choice = (label: string) => {
    const select = h("select", {});
    select.addEventListener("change", draw);
    return { select, field: h("label", { class: "field" }, h("span", {}, label), select) };
  };
  const result = h("div", { class: "comparison", role: "status" });
  const [first, second] = [choice(t.compareFirst), choice(t.compareSecond)];

  function fill(): void {
    [first, second].forEach(({ select }, i) => {
      const selected = select.value || String(i);
      select.replaceChildren(...data.clusters.map((_, c) => h("option", { value: c }, state.clusterName(c))));
      select.value = selected;
    });
  }

  function draw(): void {
    const [a, b] = [Number(first.select.value), Number(second.select.value)];
    const { clusters } = state.tree;
    const found = data.columns
      .flatMap((column, i) => (column.shown ? [describe(state, column, i, a, b)] : []))
      .filter((difference): difference is Difference => difference !== null)
      .sort((x, y) => y.size - x.size);
    const large = found.filter(({ size }) => size >= MIN_EFFECT).slice(0, MAX_SHOWN);
    const similar = found.filter(({ size }) => size < MIN_EFFECT).map(({ column }) => data.columns[column].name);
    const rows = (c: number) => formatRows(clusters[c].rows, data.rowsAre);
    replaceContent(
      result,
      h("p", {}, clusterBadge(state.names, a), " ", clusterBadge(state.names, b)),
      h("p", {}, `${t.compareSizes(state.clusterName(a), rows(a), state.clusterName(b), rows(b))} ${separation(state, a, b)}`),
      large.length
        ? h("ul", { class: "differences" }, ...large.map((difference) => item(state, difference, a, b)))
        : h("p", { class: "note" }, t.noDifference),
      large.length > 0 && similar.length > 0 && h("p", { class: "note" }, t.similarColumns(similar.join(", "))),
    );
  }

  fill();
  draw();
  state.on(["names"], fill);
  state.on(["tree", "names"], draw);
  return section(
    "compare",
    t.compareTitle,
    h("p", { class: "note" }, t.compareNote),
    h("div", { class: "toolbar" }, first.field, second.field),
    result,
  );
}

/** The question of the tree at which two clusters part, or some of them if they have several leaves. */
function separation(state: TreeState, a: number, b: number): string {
  const { tree, data } = state;
  const splits = new Map<number, [isFirstYes: boolean, pairs: number]>();
  for (const one of leavesOf(tree, a)) {
    const path = pathTo(tree, one);
    for (const other of leavesOf(tree, b)) {
      const otherPath = pathTo(tree, other);
      const at = path.findIndex((node, i) => node !== otherPath[i]);
      if (at < 1) continue;
      const split = path[at - 1];
      const isYes = childrenOf(tree.nodes[split])[0] === path[at];
      splits.set(split, [isYes, (splits.get(split)?.[1] ?? 0) + 1]);
    }
  }
  if (!splits.size) return "";
  const names = [state.clusterName(a), state.clusterName(b)];
  if (splits.size === 1) {
    const [[split, [isFirstYes]]] = splits;
    const [yes, no] = isFirstYes ? names : [names[1], names[0]];
    return t.separatedBy(questionText(tree.nodes[split], data.columns), yes, no);
  }
  const order = [...splits].sort((x, y) => y[1][1] - x[1][1]).slice(0, MAX_QUESTIONS);
  return t.separatedBySeveral(order.map(([split]) => `“${questionText(tree.nodes[split], data.columns)}”`).join(", "));
}

/** The difference of two clusters in a column; null if one of them has no values. */
function describe(state: TreeState, column: Column, i: number, a: number, b: number): Difference | null {
  const [first, second] = [state.tree.clusters[a], state.tree.clusters[b]];
  const names: [string, string] = [state.clusterName(a), state.clusterName(b)];
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
  const effect = (mean - otherMean) / (column.spread || 1);
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

function item(state: TreeState, { column, sentence, effect }: Difference, a: number, b: number): HTMLElement {
  return h(
    "li",
    {},
    h("span", {}, `${sentence} (${effect}).`),
    distributions(state.data.columns[column], column, state.tree.clusters, a, b),
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
