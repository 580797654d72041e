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
      `Share of the rows that the tree puts into the cluster that ${reference} put them into.`,
    ]);
  if (costRatio !== null)
    measures.push([
      formatCostChange(costRatio),
      `cost against ${reference}`,
      `How much farther rows are from the middle of their cluster in the tree than in ${reference}, by the columns of the model.`,
    ]);
  measures.push(
    [
      conditions.toFixed(2),
      "conditions per row",
      "How many conditions the rule of an average row needs, those left out that follow from others.",
    ],
    [
      questions.toFixed(2),
      "questions per row",
      `How many questions the tree asks of an average row; ${mostQuestions} at the most.`,
    ],
    [String(leaves), "leaves", "Ends of the tree; a cluster that has several is described by several rules."],
    [
      `${columns} of ${columnsInData}`,
      "columns used",
      "How many of the columns the tree asks about; the others do not matter for it.",
    ],
  );
  return measures;
}
