// The page of a regions report: its header and its sections.

import { clusterCard } from "../shared/cluster-card";
import { distributionLegend } from "../shared/column-distribution";
import { copyButton, textBox, textBoxHeader } from "../shared/copy";
import { dataSection, warningBox } from "../shared/data-panel";
import { h, section } from "../shared/dom";
import { formatCount, formatPercent, formatRows, displayRule } from "../shared/format";
import { measureItems, type Measure } from "../shared/measure-list";
import { namesToolbar } from "../shared/names-toolbar";
import { drawSizeBar, pageHeader } from "../shared/page-header";
import { provenanceSection } from "../shared/provenance";
import { levelSections } from "./levels";
import { rowSection } from "./row-explanation";
import type { RegionsState } from "./state";

export function regionsHeader(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const sizeBar = h("div", { class: "size-bar" });
  const draw = () =>
    drawSizeBar(
      sizeBar,
      names,
      data.facts.map(({ rows }) => rows),
      data.rowsAre,
    );
  names.onChange(draw);
  draw();
  const n = data.clusters.length;
  const headline = `${formatCount(n)} ${n === 1 ? names.noun : state.pluralNoun} of ${formatRows(data.rows, data.rowsAre)}`;
  return pageHeader(data.title, headline, h("p", { class: "summary" }, summaryText(state)), warningBox(data), sizeBar);
}

function summaryText({ data, names, pluralNoun }: RegionsState): string {
  const { levels, leftover, measures, rows, rowsAre, answered } = data;
  const share = (n: number) => formatPercent(n / Math.max(rows, 1));
  let assignment = "are not assigned";
  if (leftover.byNeighbours) assignment = "are assigned by a vote of their neighbours";
  else if (leftover.answer !== null) assignment = `are assigned to ${names.defaultName(leftover.answer)}`;
  if (!levels.length) return `No region separates the ${pluralNoun}, so all ${rowsAre} ${assignment}.`;
  const levelCount = levels.length === 1 ? "One level of regions locates" : `${formatCount(levels.length)} levels of regions locate`;
  const correct = measures.error === null ? "" : ` (${formatPercent(1 - measures.error)} of them correctly)`;
  const text = `${levelCount} the ${pluralNoun}. ${share(answered)} of the ${rowsAre} fall in a region${correct}`;
  return answered < rows ? `${text}; the other ${share(rows - answered)} ${assignment}.` : `${text}.`;
}

export function regionsSections(state: RegionsState): HTMLElement[] {
  return [
    ...levelSections(state),
    clusterCardsSection(state),
    rowSection(state),
    dataSection(state.data),
    measuresSection(state),
    copyLevelsSection(state),
    provenanceSection(state.data.made),
  ].filter((section): section is HTMLElement => section !== null);
}

function clusterCardsSection(state: RegionsState): HTMLElement {
  const { data, names } = state;
  return section(
    "clusters",
    `The ${state.pluralNoun}`,
    h(
      "p",
      { class: "note" },
      "Regions are numbered by level; a row belongs to the first region that contains it.",
    ),
    namesToolbar(names),
    distributionLegend(names.noun, "boundary of a region", data.rowsAre),
    h("div", { class: "cards" }, ...data.clusters.map((_, c) => regionsClusterCard(state, c))),
  );
}

function regionsClusterCard(state: RegionsState, cluster: number): HTMLElement {
  const { data, names } = state;
  const parts = data.levels.flatMap((level, i) =>
    level.pieces.filter(({ answer }) => answer === cluster).map((part) => ({ level, number: i + 1, part })),
  );
  const items = parts.map(({ number, part }) => h("li", { value: number }, displayRule(part.text)));
  const rule = h(
    "div",
    { class: "rule" },
    items.length ? h("ol", {}, ...items) : `There is no region for this ${names.noun}.`,
  );
  const text = parts.map(({ number, part }) => `${number}. ${part.text}`).join("\n") || "no region";
  return clusterCard({
    names,
    cluster,
    statistics: data.facts[cluster],
    columns: data.columns,
    totalRows: data.rows,
    rowsAre: data.rowsAre,
    rule,
    belowRule: [
      h(
        "div",
        { class: "toolbar" },
        copyButton("Copy regions", () => `${names.displayName(cluster)}:\n${text}`),
      ),
    ],
    ruleColumns: new Set(parts.flatMap(({ level }) => level.columns)),
    thresholds: (column) => {
      const bounds = parts.flatMap(({ level, part }) => part.bounds?.[level.columns.indexOf(column)] ?? []);
      return [...new Set(bounds.filter((bound): bound is number => bound !== null))];
    },
    onHover: (isHovered) => state.highlight(isHovered ? cluster : null),
  });
}

function measuresSection({ data, names }: RegionsState): HTMLElement {
  const { coverage, error, heldOutError, effort } = data.measures;
  const columns = new Set(data.levels.flatMap((level) => level.columns)).size;
  const measures: Measure[] = [
    [
      formatPercent(coverage),
      "of the training rows in a region",
      "For the other rows, no region with a low enough error was found.",
    ],
  ];
  if (error !== null)
    measures.push([
      formatPercent(error),
      "error rate on training rows",
      `Share of the training rows in a region that get the wrong ${names.noun}.`,
    ]);
  if (heldOutError !== null)
    measures.push([
      formatPercent(heldOutError),
      "error rate on held-out rows",
      "The same for rows that were not used to find the regions. Expect this error rate for new rows.",
    ]);
  measures.push(
    [
      String(data.levels.length),
      data.levels.length === 1 ? "level" : "levels",
      "Levels are checked in order until a region contains the row.",
    ],
    [
      effort.toFixed(2),
      "comparisons per row",
      "Average effort to assign a row. Each region that is checked counts once for each of its columns.",
    ],
    [
      `${columns} of ${data.columnsInData}`,
      "columns used",
      "Columns that the levels use. The other columns are ignored.",
    ],
  );
  return section(
    "measures",
    "How good is this explanation?",
    h("dl", { class: "measures" }, ...measureItems(measures)),
  );
}

function copyLevelsSection({ data }: RegionsState): HTMLElement {
  const text = textBox("The levels as text");
  text.textContent = data.rules;
  return section("copy", "Export", textBoxHeader("All levels", "Copy levels", text), text);
}
