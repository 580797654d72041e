// The measures of the selected tree.

import { h, section } from "../shared/dom";
import { formatCostChange, formatPercent } from "../shared/format";
import { measureItems, type Measure } from "../shared/measure-list";
import type { TreeState } from "./state";

export function measuresSection(state: TreeState): HTMLElement {
  const list = h("dl", { class: "measures" });
  const draw = () => list.replaceChildren(...measureItems(treeMeasures(state)));
  draw();
  state.on(["tree"], draw);
  return section("measures", "How good is this explanation?", list);
}

function treeMeasures(state: TreeState): Measure[] {
  const { agreement, costRatio, conditions, questions, mostQuestions, leaves, columns } = state.tree.measures;
  const { reference, columnsInData } = state.data;
  const measures: Measure[] = [];
  if (agreement !== null)
    measures.push([
      formatPercent(agreement),
      `agreement with ${reference}`,
      `Share of rows that have the same cluster in the tree and in ${reference}.`,
    ]);
  if (costRatio !== null)
    measures.push([
      formatCostChange(costRatio),
      `cost compared with ${reference}`,
      "The cost adds up how far rows are from the center of their cluster, in the columns of the model. The lower it is, the more similar the rows of a cluster are.",
    ]);
  measures.push(
    [
      conditions.toFixed(2),
      "conditions per row",
      "Average number of conditions in the rule of a row. Conditions that follow from others are not counted.",
    ],
    [
      questions.toFixed(2),
      "questions per row",
      `Average number of questions that the tree asks about a row. The maximum is ${mostQuestions}.`,
    ],
    [String(leaves), "leaves", "End points of the tree. A cluster with several leaves is described by several rules."],
    [
      `${columns} of ${columnsInData}`,
      "columns used",
      "Columns that occur in the questions of the tree. The tree ignores the other columns.",
    ],
  );
  return measures;
}
