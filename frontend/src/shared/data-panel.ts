// The section that says what was done to the data and why the number of clusters was chosen, and the warnings.

import { t } from "../texts";
import type { ClusterNumber, ColumnFacts, DataNotes, TableFacts } from "../types";
import { breakable, h, section, svg } from "./dom";
import { csvButton, tableRows } from "./download";
import { formatCount, formatFixed, formatNumber, formatPercent } from "./format";
import { pictureButtons } from "./picture";

const WIDTH = 340;
const HEIGHT = 130;
const PADDING = { left: 46, right: 14, top: 12, bottom: 34 };
/** Number of pairs or columns that a sentence names. */
const MAX_NAMED = 8;
/** Skewness above which a column is called skewed. */
const SKEWED = 2;
const [HIGH_AGREEMENT, LOW_AGREEMENT] = [0.95, 0.8];
const [HIGH_SILHOUETTE, LOW_SILHOUETTE] = [0.5, 0.25];
const STABLE = 0.8;

/** How well the rules describe the clusters. */
interface Quality {
  agreement: number | null;
  reference: string;
}

/** A box at the top of the page; null if there are no warnings. */
export function warningBox({ warnings }: DataNotes): HTMLElement | null {
  if (!warnings.length) return null;
  const title = t.warnings(warnings.length, formatCount(warnings.length));
  const list = h("ul", {}, ...warnings.map((text) => h("li", {}, text)));
  return h("div", { class: "warnings", role: "note", "aria-label": title }, h("strong", {}, title), list);
}

/** Null if there is nothing to show. `quality` is null if no rules describe a reference. */
export function dataSection(notes: DataNotes, quality: Quality | null): HTMLElement | null {
  const { decisions, numberOfClusters, table } = notes;
  if (!decisions.length && !numberOfClusters.length && !table) return null;
  const log = h("ul", { class: "decisions" }, ...decisions.map((text) => h("li", {}, text)));
  return section(
    "data",
    t.dataTitle,
    h("p", { class: "note" }, t.dataNote),
    table && tableSummary(table),
    h("ul", { class: "verdicts" }, ...verdicts(table, quality).map((text) => h("li", {}, text))),
    table && columnTable(table),
    numberOfClusters.length > 0 && h("h3", {}, t.numberTitle),
    numberOfClusters.length > 0 && h("p", {}, whyNumber(numberOfClusters)),
    numberOfClusters.length > 0 && numberTable(numberOfClusters),
    decisions.length > 0 && h("details", { open: !table }, h("summary", {}, t.log), log),
  );
}

/** Number of columns that were clustered, of a table with these facts. */
export function columnsUsed({ columns, furtherColumns }: TableFacts): number {
  return columns.filter(({ role }) => ["number", "category", "date"].includes(role)).length + furtherColumns;
}

/** Rows and columns that were read, used and left out. */
function tableSummary(table: TableFacts): HTMLElement {
  const { rowsRead, rowsUsed, dropped, columns } = table;
  const item = (value: string, name: string, details: string) =>
    h("div", {}, h("dt", {}, h("span", { class: "measure-value" }, value), name), h("dd", {}, details));
  const ignored = columns.filter(({ role }) => role === "ignored");
  const filled = columns.filter((column) => column.filled !== null && column.missing);
  const names = (some: ColumnFacts[], text: (column: ColumnFacts) => string) => shortList(some.map(text));
  const items = [
    item(formatCount(rowsRead), t.rowsRead, ""),
    item(formatCount(rowsUsed), t.rowsUsed, formatPercent(rowsUsed / Math.max(rowsRead, 1))),
  ];
  if (rowsUsed < rowsRead)
    items.push(
      item(
        formatCount(rowsRead - rowsUsed),
        t.rowsDropped,
        dropped.map(({ reason, rows }) => t.dropReasons[reason](formatCount(rows))).join(", "),
      ),
    );
  items.push(item(formatCount(columnsUsed(table)), t.columnsUsed, ""));
  if (ignored.length)
    items.push(
      item(
        formatCount(ignored.length),
        t.columnsIgnored,
        names(ignored, ({ name, reason }) => (reason ? `${name}: ${t.ignoredBecause[reason] ?? reason}` : name)),
      ),
    );
  if (filled.length)
    items.push(
      item(
        formatCount(filled.reduce((sum, { missing }) => sum + missing!, 0)),
        t.valuesFilled,
        names(filled, ({ name, missing, filled: value }) => `${name}: ${t.filledWith(formatCount(missing!), formatNumber(value))}`),
      ),
    );
  return h("dl", { class: "measures" }, ...items);
}

function shortList(texts: string[]): string {
  const hidden = texts.length - MAX_NAMED;
  return [...texts.slice(0, MAX_NAMED), ...(hidden > 0 ? [t.more(formatCount(hidden))] : [])].join(", ");
}

/** Sentences that judge the result and the data. */
function verdicts(table: TableFacts | null, quality: Quality | null): string[] {
  const level = (value: number, high: number, low: number) => (value >= high ? "high" : value >= low ? "medium" : "low");
  const found: string[] = [];
  if (quality && quality.agreement !== null)
    found.push(
      t.agreementVerdict(
        formatPercent(quality.agreement),
        quality.agreement === 1 ? "exact" : level(quality.agreement, HIGH_AGREEMENT, LOW_AGREEMENT),
        quality.reference,
      ),
    );
  if (!table) return found;
  const { silhouette, stability, duplicates, correlated, columns } = table;
  if (silhouette !== null)
    found.push(t.separationVerdict(formatFixed(silhouette, 2), level(silhouette, HIGH_SILHOUETTE, LOW_SILHOUETTE)));
  if (stability !== null) found.push(t.stabilityVerdict(formatFixed(stability, 2), stability >= STABLE));
  if (duplicates.length) found.push(t.duplicates(shortList(duplicates.map(([a, b]) => t.sameAs(a, b)))));
  if (correlated.length)
    found.push(t.correlated(shortList(correlated.map(([a, b, r]) => t.correlation(a, b, formatFixed(r, 2))))));
  const skewed = columns.filter(({ skew }) => skew !== null && Math.abs(skew) > SKEWED);
  if (skewed.length) found.push(t.skewed(shortList(skewed.map(({ name }) => name))));
  return found;
}

function columnTable({ columns, furtherColumns }: TableFacts): HTMLElement {
  const heads = t.columnHeads;
  const roleText = ({ role, reason }: ColumnFacts) =>
    `${t.roles[role]}${reason ? `: ${t.ignoredBecause[reason] ?? reason}` : ""}`;
  const count = (value: number | null) => h("td", { class: "number" }, value === null ? "–" : formatCount(value));
  const table = h(
    "table",
    { class: "numbers columns" },
    h("thead", {}, h("tr", {}, ...Object.values(heads).map((text) => h("th", { scope: "col" }, text)))),
    h(
      "tbody",
      {},
      ...columns.map((column) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, breakable(column.name)),
          h("td", {}, roleText(column)),
          h("td", {}, column.scale === null ? "–" : t.scales[column.scale]),
          count(column.missing),
          count(column.values),
          h("td", { class: "number" }, column.skew === null ? "–" : formatFixed(column.skew, 1)),
          count(column.extreme),
        ),
      ),
    ),
  );
  return h(
    "details",
    { class: "column-facts" },
    h("summary", {}, `${t.columnsTable} (${formatCount(columns.length + furtherColumns)})`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t.columnsTable }, table),
    furtherColumns > 0 && h("p", { class: "note small" }, t.more(formatCount(furtherColumns))),
    h("p", { class: "note small" }, t.columnNotes.extreme),
    csvButton("columns", () => tableRows(table)),
  );
}

function whyNumber(rows: ClusterNumber[]): string {
  const chosen = rows.find((row) => row.chosen);
  if (!chosen) return "";
  if (rows.length === 1 || chosen.score === null || chosen.stability === null) return t.givenNumber(String(chosen.k));
  return t.whyNumber(String(chosen.k), formatFixed(chosen.score, 3), formatFixed(chosen.stability, 2));
}

interface TableColumn {
  title: string;
  text: (row: ClusterNumber) => string;
  isKnown: (row: ClusterNumber) => boolean;
}

function numberTable(rows: ClusterNumber[]): HTMLElement {
  const optional = (key: "total" | "score" | "smallest" | "stability" | "agreement" | "cost", text: (v: number) => string) => ({
    title: t.numberHeads[key],
    text: (row: ClusterNumber) => (row[key] === null ? "–" : text(row[key]!)),
    isKnown: (row: ClusterNumber) => row[key] !== null,
  });
  const columns: TableColumn[] = [
    { title: t.numberHeads.clusters, text: ({ k, chosen }) => `${k}${chosen ? t.chosen : ""}`, isKnown: () => true },
    optional("total", (v) => formatFixed(v, 3)),
    optional("score", (v) => formatFixed(v, 3)),
    // A share, or a number of rows.
    optional("smallest", (v) => (v < 1 ? formatPercent(v) : formatCount(v))),
    optional("stability", (v) => formatFixed(v, 2)),
    optional("agreement", formatPercent),
    optional("cost", (v) => `+${formatPercent(Math.max(v - 1, 0))}`),
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
  const chart = scoreChart(rows);
  const figure = chart && h("figure", {}, chart, h("div", { class: "toolbar" }, pictureButtons("numbers", chart)));
  const scroll = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t.numberTitle }, table);
  return h("div", { class: "two-columns" }, h("div", {}, scroll, csvButton("numbers", () => tableRows(table))), figure);
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
    svg("text", { x: PADDING.left - 8, y: y(score) + 4, "text-anchor": "end" }, formatFixed(score, 2));
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
    svg("text", { x: (PADDING.left + WIDTH) / 2, y: HEIGHT - 2, "text-anchor": "middle" }, t.scoreByNumber),
  );
}
