// The page of a regions report: its header and its sections.

import { clusterCard } from "../shared/cluster-card";
import { distributionLegend } from "../shared/column-distribution";
import { copyButton, textBox, textBoxHeader } from "../shared/copy";
import { h, section } from "../shared/dom";
import { formatCount, formatPercent, formatRows, keepComparisonsTogether } from "../shared/format";
import { measureItems, type Measure } from "../shared/measure-list";
import { drawSizeBar, pageHeader } from "../shared/page-header";
import { screenOnly } from "../shared/printing";
import { provenanceSection } from "../shared/provenance";
import { levelSections } from "./levels";
import { rowSection } from "./row-explanation";
import type { RegionsState } from "./state";

export function regionsHeader(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const sizeBar = h("div", { class: "size-bar" });
  const draw = () => drawSizeBar(sizeBar, names, data.facts.map(({ rows }) => rows));
  names.onChange(draw);
  draw();
  const n = data.clusters.length;
  const headline = `${formatCount(n)} ${n === 1 ? names.noun : state.pluralNoun} of ${formatRows(data.rows, data.rowsAre)}`;
  return pageHeader(data.title, headline, h("p", { class: "summary" }, summaryText(state)), sizeBar);
}

function summaryText({ data, names }: RegionsState): string {
  const share = (rows: number) => formatPercent(rows / Math.max(data.rows, 1));
  const isOne = data.levels.length === 1;
  const columns = data.levels.every((level) => level.columns.length <= 2) ? "one or two columns" : "a few columns";
  const pictures = isOne ? `One picture of ${columns} tells where they are` : `${formatCount(data.levels.length)} pictures of ${columns}, looked at in turn, tell where they are`;
  const left = data.rows - data.answered;
  const { answer, byNeighbours } = data.leftover;
  if (!data.levels.length) {
    const so = answer === null ? "none gets an answer" : `all are taken for ${names.defaultName(answer).toLowerCase()}`;
    return `No region was found in which they could be told apart, so ${so}.`;
  }
  const rest = byNeighbours ? "are answered by what most of their neighbours speak for" : answer === null ? "get no answer" : `are taken for ${names.defaultName(answer).toLowerCase()}`;
  const others = left ? `; the other ${share(left)} ${rest}` : "";
  const right = data.measures.error === null ? "" : ` In training ${formatPercent(1 - data.measures.error)} of those in a region were told rightly.`;
  return `${pictures}. ${share(data.answered)} of the ${data.rowsAre} lie in a region of ${isOne ? "it" : "one of them"}${others}.${right}`;
}

export function regionsSections(state: RegionsState): HTMLElement[] {
  return [
    ...levelSections(state),
    clusterCardsSection(state),
    rowSection(state),
    measuresSection(state),
    copyLevelsSection(state),
    provenanceSection(state.data.made),
  ];
}

function clusterCardsSection(state: RegionsState): HTMLElement {
  const { data, names } = state;
  return section(
    "clusters",
    `The ${state.pluralNoun}`,
    h(
      "p",
      { class: "note" },
      `Where each ${names.noun} is: the number is the level, and a row belongs to the first place, of any colour, that holds it. `,
      screenOnly("Click on a name to change it; this browser keeps it."),
    ),
    distributionLegend(names.noun, "end of a region"),
    h("div", { class: "cards" }, ...data.clusters.map((_, c) => regionsClusterCard(state, c))),
  );
}

function regionsClusterCard(state: RegionsState, cluster: number): HTMLElement {
  const { data, names } = state;
  const parts = data.levels.flatMap((level, i) =>
    level.pieces.filter(({ answer }) => answer === cluster).map((part) => ({ level, number: i + 1, part })),
  );
  const items = parts.map(({ number, part }) => h("li", { value: number }, keepComparisonsTogether(part.text)));
  const rule = h("div", { class: "rule" }, items.length ? h("ol", {}, ...items) : "No region says this.");
  const text = parts.map(({ number, part }) => `${number}. ${part.text}`).join("\n") || "nowhere";
  return clusterCard({
    names,
    cluster,
    statistics: data.facts[cluster],
    columns: data.columns,
    totalRows: data.rows,
    rule,
    belowRule: [
      h("div", { class: "toolbar" }, copyButton("Copy places", () => `${names.displayName(cluster)}:\n${text}`)),
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
      "The others lie where the regions do not tell them apart well enough.",
    ],
  ];
  if (error !== null)
    measures.push([
      formatPercent(error),
      "of the answers wrong",
      `Share of the training rows in a region that belong to another ${names.noun} than it says.`,
    ]);
  if (heldOutError !== null)
    measures.push([
      formatPercent(heldOutError),
      "wrong of rows held out",
      "The same for rows that the regions were not drawn from, which is what to expect of new ones.",
    ]);
  measures.push(
    [
      String(data.levels.length),
      data.levels.length === 1 ? "level" : "levels",
      "Pictures that are looked at in turn, until one has a region around the row.",
    ],
    [
      effort.toFixed(2),
      "comparisons per row",
      "What it takes to place an average row: the regions that are looked at, each counted by its columns.",
    ],
    [
      `${columns} of ${data.columnsInData}`,
      "columns used",
      "How many of the columns the levels look at; the others do not matter.",
    ],
  );
  return section("measures", "How good is this explanation?", h("dl", { class: "measures" }, ...measureItems(measures)));
}

function copyLevelsSection({ data }: RegionsState): HTMLElement {
  const text = textBox("The levels in words");
  text.textContent = data.rules;
  return section("copy", "Take it along", textBoxHeader("All levels", "Copy levels", text), text);
}
