// The page of a regions report: its header and its sections.

import { cardGrid, clusterCard } from "../shared/cluster-card";
import { distributionLegend } from "../shared/column-distribution";
import { copyButton, textBox, textBoxHeader } from "../shared/copy";
import { compareSection } from "../shared/compare-clusters";
import { dataSection, warningBox } from "../shared/data-panel";
import { h, section } from "../shared/dom";
import { csvButton, type CsvCell } from "../shared/download";
import { modelButton, sqlBox, statisticsButton } from "../shared/exports";
import { copiedRule, formatCount, formatFixed, formatPercent, formatRows, displayRule } from "../shared/format";
import { measureItems, type Measure } from "../shared/measure-list";
import { namesToolbar } from "../shared/names-toolbar";
import { overviewTable } from "../shared/overview-table";
import { drawSentences, drawSizeBar, pageHeader } from "../shared/page-header";
import { provenanceSection } from "../shared/provenance";
import { levelSections } from "./levels";
import { rowSection } from "./row-explanation";
import type { RegionsState } from "./state";
import { t } from "../texts";

export function regionsHeader(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const sizeBar = h("div", { class: "size-bar" });
  const sentences = h("ul", { class: "sentences" });
  const sizes = data.facts.map(({ rows }) => rows);
  const rules = data.clusters.map((_, c) => largestRegion(state, c));
  const draw = () => {
    drawSizeBar(sizeBar, names, sizes, data.rowsAre);
    drawSentences(sentences, names, sizes, rules, data.rowsAre);
  };
  names.onChange(draw);
  draw();
  const n = data.clusters.length;
  const headline = t.headline(t.clusterCount(n, formatCount(n), names.noun), formatRows(data.rows, data.rowsAre));
  return pageHeader(data.title, names.noun, headline, h("p", { class: "summary" }, summaryText(state)), warningBox(data), sizeBar, sentences);
}

/** The regions of a cluster with the numbers of their levels. */
function regionsOf({ data }: RegionsState, cluster: number) {
  return data.levels.flatMap((level, i) =>
    level.pieces.filter(({ answer }) => answer === cluster).map((part) => ({ level, number: i + 1, part })),
  );
}

/** The largest region of a cluster, the number of others, and of its rows that are in no region. */
function largestRegion(state: RegionsState, cluster: number): string {
  const [first, ...others] = regionsOf(state, cluster).sort((a, b) => b.part.rows - a.part.rows);
  if (!first) return t.noRegion;
  const parts = [t.regionOfLevel(first.number, displayRule(first.part.text))];
  if (others.length) parts.push(t.moreRegions(others.length, formatCount(others.length)));
  const inside = [first, ...others].reduce((sum, region) => sum + region.part.rows, 0);
  const outside = state.data.facts[cluster].rows - inside;
  if (outside > 0) parts.push(t.ofTheseInNoRegion(formatRows(outside, state.data.rowsAre)));
  return parts.join(", ");
}

function summaryText({ data, names }: RegionsState): string {
  const { levels, leftover, measures, rows, rowsAre, answered } = data;
  const share = (n: number) => formatPercent(n / Math.max(rows, 1));
  let assignment = t.notAssigned;
  if (leftover.byNeighbours) assignment = t.byNeighbours;
  else if (leftover.answer !== null) assignment = t.assignedTo(names.defaultName(leftover.answer));
  if (!levels.length) return t.noRegions(names.noun, rowsAre, assignment);
  const correct = measures.error === null ? null : formatPercent(1 - measures.error);
  const text = t.levelsLocate(levels.length, formatCount(levels.length), names.noun, share(answered), rowsAre, correct);
  return answered < rows ? `${text}${t.theOthers(share(rows - answered), assignment)}.` : `${text}.`;
}

export function regionsSections(state: RegionsState): HTMLElement[] {
  return [
    ...levelSections(state),
    clusterCardsSection(state),
    compareSection(state.view),
    rowSection(state),
    dataSection(state.data, null),
    measuresSection(state),
    copyLevelsSection(state),
    provenanceSection(state.data.made),
  ].filter((section): section is HTMLElement => section !== null);
}

function clusterCardsSection(state: RegionsState): HTMLElement {
  const { data, names } = state;
  return section(
    "clusters",
    t.clustersTitle(names.noun),
    h(
      "p",
      { class: "note" },
      t.regionsNote,
    ),
    overviewTable(state.view),
    namesToolbar(names),
    distributionLegend(names.noun, t.regionBoundary, data.rowsAre),
    h("div", { class: "cards" }, ...cardGrid(data.clusters.map((_, c) => regionsClusterCard(state, c)))),
  );
}

function regionsClusterCard(state: RegionsState, cluster: number): HTMLElement {
  const { data, names } = state;
  const parts = regionsOf(state, cluster);
  const items = parts.map(({ number, part }) => h("li", { value: number }, displayRule(part.text)));
  const rule = h(
    "div",
    { class: "rule" },
    items.length ? h("ol", {}, ...items) : t.noRegionFor(names.noun),
  );
  const text = parts.map(({ number, part }) => `${number}. ${copiedRule(part.text)}`).join("\n") || t.noRegion;
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
        copyButton(t.copyRegions, () => `${names.displayName(cluster)}:\n${text}`),
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
      t.coverageName,
      t.coverageText,
    ],
  ];
  if (error !== null)
    measures.push([
      formatPercent(error),
      t.errorName,
      t.errorText(names.noun),
    ]);
  if (heldOutError !== null)
    measures.push([
      formatPercent(heldOutError),
      t.heldOutName,
      t.heldOutText,
    ]);
  measures.push(
    [
      String(data.levels.length),
      t.levelsName(data.levels.length),
      t.levelsText,
    ],
    [
      formatFixed(effort, 2),
      t.effortName,
      t.effortText,
    ],
    [
      t.partOf(String(columns), formatCount(data.columnsInData)),
      t.columnsUsedName,
      t.levelColumnsText,
    ],
  );
  return section(
    "measures",
    t.measuresTitle,
    h("dl", { class: "measures" }, ...measureItems(measures)),
  );
}

function copyLevelsSection(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const text = textBox(t.levelsAsText);
  text.textContent = copiedRule(data.rules);
  return section(
    "copy",
    t.exportTitle,
    textBoxHeader(t.allLevels, t.copyLevels, text),
    text,
    ...sqlBox({ data, names, sql: () => data.sql, onChange: (listener) => names.onChange(listener) }),
    h("h3", { class: "screen-only" }, t.downloads),
    h(
      "div",
      { class: "toolbar" },
      modelButton(data.model, names),
      csvButton("regions", () => regionsTable(state), t.downloadRegions),
      statisticsButton(state.view),
    ),
  );
}

function regionsTable({ data, names }: RegionsState): CsvCell[][] {
  const rows = data.levels.flatMap(({ pieces }, level) =>
    pieces.map(({ answer, text, rows, purity }): CsvCell[] => [
      level + 1,
      data.clusters[answer].label,
      names.customName(answer),
      text,
      rows,
      purity,
    ]),
  );
  return [["level", "cluster", "name", "region", "rows", "purity"], ...rows];
}
