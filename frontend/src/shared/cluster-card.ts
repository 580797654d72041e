// The card of one cluster: name, size, rule, distributions of its columns, typical rows.

import type { ClusterStatistics, Column } from "../types";
import type { ClusterNames } from "./cluster-names";
import { clusterStyle } from "./colors";
import { columnDistribution } from "./column-distribution";
import { formatIn } from "./column-format";
import { MAX_PART, breakable, h, setStyle, withBreaks } from "./dom";
import { formatCount, formatPercent, formatRows } from "./format";
import { pictureChoice } from "./picture";
import { t } from "../texts";

/** Number of columns that are shown without a click. */
const VISIBLE_COLUMNS = 4;
/** Number of columns in the table of typical rows. */
const TABLE_COLUMNS = 8;
/** Smallest difference, in standard deviations, for which a column outside the rule is shown. */
const MIN_DIFFERENCE = 0.05;

export interface ClusterCardOptions {
  names: ClusterNames;
  cluster: number;
  statistics: ClusterStatistics;
  columns: Column[];
  totalRows: number;
  /** Plural noun for the rows. */
  rowsAre: string;
  rule: HTMLElement;
  /** Elements below the rule. */
  belowRule: (HTMLElement | null)[];
  /** Columns that occur in the rule. */
  ruleColumns: Set<number>;
  /** Thresholds of the rule in a column. */
  thresholds: (column: number) => number[];
  /** Called with true when the card gets the pointer or the focus, and with false when it loses it. */
  onHover: (isHovered: boolean) => void;
}

/** Cards in a row of a wide page. */
const CARDS_PER_ROW = 3;

/** The grid of the cards. Rows have almost the same number of cards, so that none is alone beside empty space. */
export function cardGrid(cards: HTMLElement[]): HTMLElement[] {
  const rows = Math.ceil(cards.length / CARDS_PER_ROW);
  return Array.from({ length: rows }, (_, row) => {
    const part = cards.filter((_, i) => Math.floor((i * rows) / cards.length) === row);
    return setStyle(h("div", { class: "card-row" }, ...part), { "--cards": String(part.length) });
  });
}

export function clusterCard(options: ClusterCardOptions): HTMLElement {
  const { names, cluster, statistics, columns, totalRows, rowsAre, thresholds, onHover } = options;
  const hasRows = statistics.rows > 0;
  const order = orderedColumns(options);
  const pictures: [name: string, element: Element][] = [];
  const distributions = (part: number[]) => {
    const charts = part.map((i) => columnDistribution(columns[i], statistics, i, totalRows, thresholds(i)));
    pictures.push(...charts.map((chart, position): [string, Element] => [columns[part[position]].name, chart]));
    return h("div", { class: "distributions" }, ...charts);
  };
  const card = h(
    "article",
    {
      class: "card",
      id: `card-${cluster}`,
      tabindex: -1,
      "aria-label": names.defaultName(cluster),
      mouseenter: () => onHover(true),
      mouseleave: () => onHover(false),
      focusin: () => onHover(true),
      focusout: () => onHover(false),
    },
    h(
      "div",
      { class: "card-header" },
      h(
        "span",
        { class: names.isLabelName(cluster) ? "cluster-label visually-hidden" : "cluster-label" },
        names.clusters[cluster].label,
      ),
      nameInput(names, cluster),
    ),
    clusterSize(statistics.rows, totalRows, rowsAre),
    options.rule,
    ...options.belowRule,
    hasRows && order.length > 0 && h("h3", {}, t.howItDiffers(rowsAre)),
    hasRows && distributions(order.slice(0, VISIBLE_COLUMNS)),
    hasRows &&
      order.length > VISIBLE_COLUMNS &&
      h(
        "details",
        { class: "more" },
        h("summary", {}, t.moreColumns(order.length - VISIBLE_COLUMNS, formatCount(order.length - VISIBLE_COLUMNS))),
        distributions(order.slice(VISIBLE_COLUMNS)),
      ),
    statistics.typical.length > 0 && typicalRows(options, order.slice(0, TABLE_COLUMNS)),
  );
  card.append(pictureChoice(`cluster-${names.clusters[cluster].label}`, [[t.wholeCard, card], ...pictures]));
  return setStyle(card, clusterStyle(cluster));
}

function nameInput(names: ClusterNames, cluster: number): HTMLElement {
  // A text area, because long names take several lines.
  const input = h("textarea", {
    class: "name",
    rows: 1,
    // A space without width is a place for a line break.
    placeholder: withBreaks(names.defaultName(cluster), "\u200b"),
    maxlength: 80,
    "aria-label": t.nameOf(names.clusters[cluster].label, names.noun),
    autocomplete: "off",
    spellcheck: "false",
  });
  input.value = names.customName(cluster);
  const fitHeight = () => {
    setStyle(input, { height: "auto" });
    if (input.scrollHeight) setStyle(input, { height: `${input.scrollHeight + 2}px` });
  };
  names.onChange(() => {
    if (document.activeElement === input) return;
    input.value = names.customName(cluster);
    fitHeight();
  });
  input.addEventListener("input", () => {
    input.value = input.value.replace(/\s*\n\s*/g, " ");
    names.rename(cluster, input.value);
    fitHeight();
  });
  input.addEventListener("keydown", (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    input.blur();
  });
  let width = 0;
  new ResizeObserver(() => {
    if (input.clientWidth === width) return;
    width = input.clientWidth;
    fitHeight();
  }).observe(input);
  return input;
}

function clusterSize(rows: number, totalRows: number, rowsAre: string): HTMLElement {
  const share = rows / Math.max(totalRows, 1);
  const bar = h("span", { class: "bar", "aria-hidden": "true" }, setStyle(h("i", {}), { width: `${100 * share}%` }));
  return h(
    "p",
    { class: "size" },
    h("strong", {}, formatRows(rows, rowsAre)),
    ` · ${t.shareOfAll(formatPercent(share), rowsAre)}`,
    bar,
  );
}

/** Columns of the rule first, then the columns with the largest difference. */
function orderedColumns({ statistics, columns, ruleColumns }: ClusterCardOptions): number[] {
  const difference = (i: number) => Math.abs(statistics.apart[i] ?? 0);
  const byDifference = (a: number, b: number) => difference(b) - difference(a);
  const shown = columns.flatMap((column, i) => (column.shown && i < statistics.apart.length ? [i] : []));
  const inRule = shown.filter((i) => ruleColumns.has(i)).sort(byDifference);
  const others = shown.filter((i) => !ruleColumns.has(i) && difference(i) > MIN_DIFFERENCE);
  // One visible place is left to the column with the largest difference, even if the rule has many columns.
  const first = inRule.slice(0, VISIBLE_COLUMNS - 1);
  return [...first, ...[...inRule.slice(VISIBLE_COLUMNS - 1), ...others].sort(byDifference)];
}

function typicalRows({ names, cluster, statistics, columns }: ClusterCardOptions, shown: number[]): HTMLElement {
  const cell = (value: number | string | null, column: Column) =>
    typeof value === "number" && column.kind === "number"
      ? h("td", { class: "number" }, formatIn(column, value))
      : h("td", {}, value ?? t.missing);
  const label = t.typicalRowsOf(names.clusters[cluster].label, names.noun);
  return h(
    "details",
    {},
    h("summary", {}, t.typicalRows),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...shown.map((i) => h("th", { scope: "col" }, breakable(columns[i].name, MAX_PART))))),
        h("tbody", {}, ...statistics.typical.map((row) => h("tr", {}, ...shown.map((i) => cell(row[i], columns[i]))))),
      ),
    ),
  );
}
