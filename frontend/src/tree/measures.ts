// The measures of the selected tree.

import { columnsUsed } from "../shared/data-panel";
import { breakable, h, section } from "../shared/dom";
import { csvButton, tableRows } from "../shared/download";
import { formatCostChange, formatCount, formatFixed, formatPercent } from "../shared/format";
import { measureItems, type Measure } from "../shared/measure-list";
import { questionText } from "./node-text";
import type { TreeState } from "./state";
import { t } from "../texts";

export function measuresSection(state: TreeState): HTMLElement {
  const list = h("dl", { class: "measures" });
  const draw = () => list.replaceChildren(...measureItems(treeMeasures(state)));
  draw();
  state.on(["tree"], draw);
  return section("measures", t.measuresTitle, list, stabilityDetails(state), guaranteeDetails(state));
}

/** The proven bound on the cost; null if there is none. */
function guaranteeDetails({ data }: TreeState): HTMLElement | null {
  if (!data.guarantee) return null;
  const { ratio, bound, comparedWith, formula, source } = data.guarantee;
  const text = t.guaranteeText(formatFixed(ratio, 3), comparedWith, formatFixed(bound, 1), formula, source);
  return h("details", { class: "guarantee" }, h("summary", {}, t.guaranteeTitle), h("p", {}, text));
}

/** How often the tree of the model returns on other draws of the rows; null if this is not known. */
function stabilityDetails(state: TreeState): HTMLElement | null {
  const { stability, trees, own, columns, rowsAre } = state.data;
  if (!stability) return null;
  const { draws, refit, fraction, agreement, ari, questions, clusters } = stability;
  const number = (text: string) => h("td", { class: "number" }, text);
  const table = (heads: readonly string[], rows: [HTMLElement, ...string[]][]) =>
    h(
      "table",
      { class: "numbers" },
      h("thead", {}, h("tr", {}, ...heads.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, ...rows.map(([name, ...texts]) => h("tr", {}, name, ...texts.map(number)))),
    );
  const rowHead = (text: string) => h("th", { scope: "row" }, breakable(text));
  const asked = table(
    t.stabilityHeads,
    questions.map(([node, returns, used]) => [
      rowHead(questionText(trees[own].nodes[node], columns)),
      formatCount(returns),
      formatCount(used),
    ]),
  );
  const stays = h("div", {});
  const drawClusters = () =>
    stays.replaceChildren(
      table(
        [t.stabilityCluster, t.stabilityStay(rowsAre)],
        clusters.map((share, i) => [rowHead(state.clusterName(i)), share === null ? "–" : formatPercent(share)]),
      ),
    );
  drawClusters();
  state.on(["names"], drawClusters);
  const drawn = t.stabilityDraws(formatCount(draws), fraction === null ? null : formatPercent(fraction), rowsAre, refit);
  return h(
    "details",
    { class: "stability" },
    h("summary", {}, t.stabilityTitle(rowsAre)),
    h("p", {}, `${drawn} ${t.stabilityText(formatPercent(agreement), formatFixed(ari, 2), rowsAre)}`),
    questions.length > 0 && asked,
    h("p", { class: "note small" }, t.stabilityNote(rowsAre)),
    stays,
    csvButton("stability", () => tableRows(asked)),
  );
}

function treeMeasures(state: TreeState): Measure[] {
  const { agreement, costRatio, conditions, questions, mostQuestions, leaves, columns } = state.tree.measures;
  const { reference, columnsInData, rowsAre, table } = state.data;
  const measures: Measure[] = [];
  if (agreement !== null)
    measures.push([
      formatPercent(agreement),
      t.agreementName(reference),
      t.agreementText(rowsAre, reference),
    ]);
  if (costRatio !== null)
    measures.push([
      formatCostChange(costRatio),
      t.costCompared(reference),
      t.costText(state.data.objective),
    ]);
  measures.push(
    [
      formatFixed(conditions, 2),
      t.conditionsName,
      t.conditionsText,
    ],
    [
      formatFixed(questions, 2),
      t.questionsName,
      t.questionsText(String(mostQuestions)),
    ],
    [String(leaves), t.leavesName, t.leavesText],
    [
      t.partOf(String(columns), formatCount(table ? columnsUsed(table) : columnsInData)),
      t.columnsUsedName,
      t.columnsUsedText,
    ],
  );
  return measures;
}
