// The measures of the selected tree.

import { h, section } from "../shared/dom";
import { formatCostChange, formatCount, formatFixed, formatPercent } from "../shared/format";
import { measureItems, type Measure } from "../shared/measure-list";
import type { TreeState } from "./state";
import { t } from "../texts";

export function measuresSection(state: TreeState): HTMLElement {
  const list = h("dl", { class: "measures" });
  const draw = () => list.replaceChildren(...measureItems(treeMeasures(state)));
  draw();
  state.on(["tree"], draw);
  return section("measures", t.measuresTitle, list);
}

function treeMeasures(state: TreeState): Measure[] {
  const { agreement, costRatio, conditions, questions, mostQuestions, leaves, columns } = state.tree.measures;
  const { reference, columnsInData, rowsAre } = state.data;
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
      t.partOf(String(columns), formatCount(columnsInData)),
      t.columnsUsedName,
      t.columnsUsedText,
    ],
  );
  return measures;
}
