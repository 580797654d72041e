// Figures, each with a sentence that says what it is.

import { h, section } from "./dom";
import type { State } from "./state";
import { costChange, percent } from "./words";

export type Figure = [value: string, name: string, sentence: string];

export function figures(rows: Figure[]): HTMLElement[] {
  return rows.map(([value, name, sentence]) =>
    h("div", {}, h("dt", {}, h("span", { class: "figure" }, value), name), h("dd", {}, sentence)),
  );
}

export function measures(state: State): HTMLElement {
  const list = h("dl", { class: "measures" });
  const draw = () => list.replaceChildren(...figures(ofTree(state)));
  draw();
  state.on(["tree"], draw);
  return section("measures", "How good is this explanation?", list);
}

function ofTree(state: State): Figure[] {
  const { measures: m } = state.tree;
  const { reference, columnsInData } = state.data;
  const rows: Figure[] = [];
  if (m.agreement !== null)
    rows.push([
      percent(m.agreement),
      `agreement with ${reference}`,
      `Share of the rows that the tree puts into the cluster that ${reference} put them into.`,
    ]);
  if (m.costRatio !== null)
    rows.push([
      costChange(m.costRatio),
      `cost against ${reference}`,
      `How much farther rows are from the middle of their cluster in the tree than in ${reference}, by the columns of the model.`,
    ]);
  rows.push(
    [m.conditions.toFixed(2), "conditions per row", "How many conditions the rule of an average row needs, those left out that follow from others."],
    [m.questions.toFixed(2), "questions per row", `How many questions the tree asks of an average row; ${m.mostQuestions} at the most.`],
    [String(m.leaves), "leaves", "Ends of the tree; a cluster that has several is described by several rules."],
    [`${m.columns} of ${columnsInData}`, "columns used", "How many of the columns the tree asks about; the others do not matter for it."],
  );
  return rows;
}
