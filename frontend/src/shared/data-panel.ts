// The section that says what was done to the data and why the number of clusters was chosen, and the warnings.

import type { ClusterNumber, DataNotes } from "../types";
import { h, section, svg } from "./dom";
import { formatCount, formatPercent } from "./format";

const WIDTH = 340;
const HEIGHT = 130;
const PADDING = { left: 46, right: 14, top: 12, bottom: 34 };

/** A box at the top of the page; null if there are no warnings. */
export function warningBox({ warnings }: DataNotes): HTMLElement | null {
  if (!warnings.length) return null;
  const title = warnings.length === 1 ? "Warning" : `${formatCount(warnings.length)} warnings`;
  const list = h("ul", {}, ...warnings.map((text) => h("li", {}, text)));
  return h("div", { class: "warnings", role: "note", "aria-label": title }, h("strong", {}, title), list);
}

/** Null if there is nothing to show. */
export function dataSection(notes: DataNotes): HTMLElement | null {
  const { decisions, numberOfClusters } = notes;
  if (!decisions.length && !numberOfClusters.length) return null;
  return section(
    "data",
    "Data and decisions",
    decisions.length > 0 &&
      h("p", { class: "note" }, "How the table was read and prepared. Each line is one decision."),
    decisions.length > 0 && h("ul", { class: "decisions" }, ...decisions.map((text) => h("li", {}, text))),
    numberOfClusters.length > 0 && h("h3", {}, "Number of clusters"),
    numberOfClusters.length > 0 && numberTable(numberOfClusters),
  );
}

interface TableColumn {
  title: string;
  text: (row: ClusterNumber) => string;
  isKnown: (row: ClusterNumber) => boolean;
}

function numberTable(rows: ClusterNumber[]): HTMLElement {
  const optional = (key: "score" | "smallest" | "stability" | "agreement", title: string, text: (v: number) => string) => ({
    title,
    text: (row: ClusterNumber) => (row[key] === null ? "–" : text(row[key]!)),
    isKnown: (row: ClusterNumber) => row[key] !== null,
  });
  const columns: TableColumn[] = [
    { title: "clusters", text: ({ k, chosen }) => `${k}${chosen ? " (chosen)" : ""}`, isKnown: () => true },
    optional("score", "score", (v) => v.toFixed(2)),
    // A share, or a number of rows.
    optional("smallest", "smallest cluster", (v) => (v < 1 ? formatPercent(v) : formatCount(v))),
    optional("stability", "stability", (v) => v.toFixed(2)),
    optional("agreement", "agreement", formatPercent),
  ];
  const shown = columns.filter(({ isKnown }) => rows.some(isKnown));
  const table = h(
    "table",
    { class: "numbers" },
    h("thead", {}, h("tr", {}, ...shown.map(({ title }) => h("th", { scope: "col" }, title)))),
    h(
      "tbody",
      {},
      ...rows.map((row) =>
        h("tr", { class: row.chosen && "chosen" }, ...shown.map(({ text }) => h("td", { class: "number" }, text(row)))),
      ),
    ),
  );
  return h("div", { class: "two-columns" }, h("div", { class: "scroll", tabindex: 0 }, table), scoreChart(rows));
}

/** The score by number of clusters; null if there are fewer than two scores. */
function scoreChart(rows: ClusterNumber[]): SVGElement | null {
  const known = rows.filter((row) => row.score !== null).sort((a, b) => a.k - b.k);
  if (known.length < 2) return null;
  const scores = known.map(({ score }) => score!);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  const [first, last] = [known[0].k, known[known.length - 1].k];
  const x = (k: number) => PADDING.left + ((k - first) / (last - first || 1)) * (WIDTH - PADDING.left - PADDING.right);
  const y = (score: number) =>
    HEIGHT - PADDING.bottom - ((score - low) / (high - low || 1)) * (HEIGHT - PADDING.top - PADDING.bottom);
  const line = known.map(({ k, score }, i) => `${i ? "L" : "M"}${x(k)} ${y(score!)}`).join("");
  const label = (score: number) =>
    svg("text", { x: PADDING.left - 8, y: y(score) + 4, "text-anchor": "end" }, score.toFixed(2));
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "trade-off score-chart", "aria-hidden": "true" },
    label(high),
    high > low && label(low),
    svg("path", { class: "line", d: line }),
    ...known.map(({ k, score, chosen }) =>
      svg("circle", { cx: x(k), cy: y(score!), r: chosen ? 6 : 3.5, class: chosen && "selected" }),
    ),
    ...known.map(({ k }) => svg("text", { x: x(k), y: HEIGHT - PADDING.bottom + 18, "text-anchor": "middle" }, k)),
    svg("text", { x: (PADDING.left + WIDTH) / 2, y: HEIGHT - 2, "text-anchor": "middle" }, "score by number of clusters"),
  );
}
