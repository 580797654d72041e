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
  const { reference, columnsInData, rowsAre } = state.data;
  const measures: Measure[] = [];
  if (agreement !== null)
    measures.push([
      formatPercent(agreement),
      `agreement with ${reference}`,
      `Share of ${rowsAre} that have the same cluster in the tree and in ${reference}.`,
    ]);
  if (costRatio !== null)
    measures.push([
      formatCostChange(costRatio),
      `cost compared with ${reference}`,
      costText(state.data.objective),
    ]);
  measures.push(
    [
      conditions.toFixed(2),
      "conditions per row",
      "Average conditions per rule, without redundant ones.",
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

function costText(objective: string): string {
  const distance =
    objective === "kmedians"
      ? "the absolute differences between the rows and the median of their cluster"
      : "the squared distances of the rows from the mean of their cluster";
  return `The cost is the sum of ${distance}, in the columns of the model. The lower it is, the more similar the rows of a cluster are.`;
}
