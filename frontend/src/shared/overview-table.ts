// A table of all clusters and columns: means and most frequent categories, shaded by their difference.

import type { ClusterView } from "./cluster-view";
import { formatRounded } from "./column-format";
import { breakable, h, setStyle } from "./dom";
import { csvButton, tableRows } from "./download";
import { formatFixed, formatPercent, formatRows } from "./format";
import { pictureButtons } from "./picture";
import { onPrint } from "./printing";
import { clusterBadge } from "./row-result";
import type { CategoryColumn, ClusterStatistics, Column } from "../types";
import { t } from "../texts";

/** Differences above this many standard deviations have the same colour. */
const MAX_DIFFERENCE = 3;
/** Opacity of the strongest colour. */
const MAX_OPACITY = 0.55;
/** Number of columns that are shown without a click. */
const VISIBLE_COLUMNS = 10;
const YES = /^(yes|true|1|y|t)$/i;
/** Number of clusters that fit beside each other on paper. */
const CLUSTERS_ON_PAPER = 6;

interface Cell {
  text: string;
  /** In standard deviations; null if it is not known. */
  difference: number | null;
}

export function overviewTable(view: ClusterView): HTMLElement {
  const { data, names } = view;
  const table = h("table", { class: "overview" });
  const more = h("button", { type: "button", class: "secondary" });
  let isComplete = false;
  const fill = (target: HTMLElement, selected: number[], shown: number[]) => {
    const clusters = selected.map((c) => view.statistics()[c]);
    const heads = selected.map((c) => h("th", { scope: "col" }, h("a", { href: `#card-${c}` }, clusterBadge(names, c))));
    const sizes = clusters.map(({ rows }) => h("td", {}, formatPercent(rows / Math.max(data.rows, 1))));
    target.replaceChildren(
      h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, t.allRows(data.rowsAre)), ...heads)),
      h(
        "tbody",
        {},
        h("tr", {}, h("th", { scope: "row" }, t.shareRow(data.rowsAre)), h("td", {}, formatRows(data.rows, data.rowsAre)), ...sizes),
        ...shown.map((i) => columnRow(data.columns[i], i, clusters)),
      ),
    );
  };
  const described = new Set(
    data.table?.columns.flatMap(({ name, role }) => (role === "profile" ? [name] : [])) ?? [],
  );
  const everyCluster = data.clusters.map((_, c) => c);
  const shownColumns = () => {
    const order = orderedColumns(data.columns, view.statistics(), described);
    return isComplete ? order : order.slice(0, VISIBLE_COLUMNS);
  };
  const draw = () => {
    const n = data.columns.filter(({ shown }) => shown).length;
    more.hidden = n <= VISIBLE_COLUMNS;
    more.textContent = isComplete ? t.showFewer : t.showMore(String(n));
    fill(table, everyCluster, shownColumns());
  };
  more.addEventListener("click", () => {
    isComplete = !isComplete;
    draw();
  });
  view.onChange(draw);
  draw();
  const scroll = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t.overviewLabel }, table);
  // On paper, the clusters of a wide table are divided among several tables.
  const printed = () => {
    const n = Math.ceil(everyCluster.length / CLUSTERS_ON_PAPER);
    const size = Math.ceil(everyCluster.length / Math.max(n, 1));
    return Array.from({ length: n }, (_, i) => {
      const part = h("table", { class: "overview" });
      fill(part, everyCluster.slice(i * size, (i + 1) * size), shownColumns());
      return part;
    });
  };
  onPrint(
    () => everyCluster.length > CLUSTERS_ON_PAPER && scroll.replaceChildren(...printed()),
    () => scroll.replaceChildren(table),
  );
  return h(
    "div",
    { class: "overview-block" },
    h(
      "p",
      { class: "note" },
      t.overviewNote(data.rowsAre),
      setStyle(h("span", { class: "swatch" }, t.higher), { background: shade(0.6 * MAX_DIFFERENCE) }),
      " ",
      setStyle(h("span", { class: "swatch" }, t.lower), { background: shade(-0.6 * MAX_DIFFERENCE) }),
    ),
    scroll,
    h("div", { class: "toolbar" }, more, csvButton("overview", () => tableRows(table)), pictureButtons("overview", table)),
  );
}

/** Columns that are described but not clustered, then those with the largest difference. */
function orderedColumns(columns: Column[], clusters: ClusterStatistics[], described: Set<string>): number[] {
  const size = (i: number) =>
    described.has(columns[i].name) ? Infinity : Math.max(...clusters.map(({ apart }) => Math.abs(apart[i] ?? 0)));
  const bySize = (a: number, b: number) => (size(a) === size(b) ? a - b : size(b) - size(a));
  return columns.flatMap((column, i) => (column.shown ? [i] : [])).sort(bySize);
}

function columnRow(column: Column, i: number, clusters: ClusterStatistics[]): HTMLElement {
  const cells = clusters.map((statistics) => clusterCell(column, i, statistics));
  const cellClass = column.kind === "category" ? { class: "category-cell" } : {};
  return h(
    "tr",
    {},
    h("th", { scope: "row", title: column.name }, breakable(column.name)),
    h("td", cellClass, overallText(column)),
    ...cells.map(({ text, difference }) => {
      const cell = h("td", { ...cellClass, title: describeDifference(difference) }, text);
      return difference === null ? cell : setStyle(cell, { background: shade(difference) });
    }),
  );
}

function overallText(column: Column): string {
  if (column.kind === "number") return formatRounded(column, column.mean);
  return column.all.length ? categoryText(column, column.all).text : "–";
}

function clusterCell(column: Column, i: number, { rows, apart, means, counts }: ClusterStatistics): Cell {
  if (!rows) return { text: "–", difference: null };
  if (column.kind === "number")
    return { text: formatRounded(column, means[i]?.[0]), difference: apart[i] };
  const { text, position } = categoryText(column, counts[i]);
  const total = column.all.reduce((a, b) => a + b, 0);
  const share = column.all[position] / Math.max(total, 1);
  const inOthers = (column.all[position] - counts[i][position]) / Math.max(total - rows, 1);
  const deviation = Math.sqrt(share * (1 - share)) || 1;
  return { text, difference: (counts[i][position] / rows - inOthers) / deviation };
}

/** The most frequent category; of two categories always the same one, "yes" or the rarer one. */
function categoryText({ values, all, others }: CategoryColumn, counts: number[]): { text: string; position: number } {
  const total = counts.reduce((a, b) => a + b, 0);
  const yes = values.findIndex((value) => YES.test(value));
  const rarer = yes >= 0 ? yes : all.indexOf(Math.min(...all));
  const position = values.length === 2 && !others ? rarer : counts.indexOf(Math.max(...counts));
  return { text: `${values[position] ?? t.other} (${formatPercent(counts[position] / Math.max(total, 1))})`, position };
}

function describeDifference(difference: number | null): string | null {
  if (difference === null) return null;
  return t.deviation(formatFixed(Math.abs(difference), 1), difference < 0);
}

/** Blue for higher, orange for lower. */
function shade(difference: number): string {
  const opacity = (Math.min(Math.abs(difference) / MAX_DIFFERENCE, 1) * MAX_OPACITY).toFixed(3);
  return difference < 0 ? `rgba(214, 126, 0, ${opacity})` : `rgba(0, 110, 180, ${opacity})`;
}
