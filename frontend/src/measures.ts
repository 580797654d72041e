// What the tree is worth, each figure with a sentence that says what it is.

import { h, section } from "./dom";
import type { State } from "./state";
import { costChange, percent } from "./words";

export function measures(state: State): HTMLElement {
  const list = h("dl", { class: "measures" });
  const draw = () => {
    const { measures: m } = state.tree;
    const { reference } = state.data;
    const rows: [string, string, string][] = [];
    if (m.agreement !== null)
      rows.push([percent(m.agreement), `agreement with ${reference}`, `Share of the rows that the tree puts into the cluster that ${reference} put them into.`]);
    if (m.costRatio !== null)
      rows.push([costChange(m.costRatio), `cost against ${reference}`, `How much farther rows are from the middle of their cluster in the tree than in ${reference}, in the measure that was clustered by.`]);
    rows.push(
      [m.conditions.toFixed(2), "conditions per row", "How many conditions the rule of an average row needs, those left out that follow from others."],
      [m.questions.toFixed(2), "questions per row", `How many questions the tree asks of an average row; ${m.mostQuestions} at the most.`],
      [String(m.leaves), "leaves", "Ends of the tree; a cluster that has several is described by several rules."],
      [`${m.columns} of ${state.data.columnsInData}`, "columns used", "How many of the columns the tree asks about; the others do not matter for it."],
    );
    list.replaceChildren(
      ...rows.map(([value, name, sentence]) =>
        h("div", {}, h("dt", {}, h("span", { class: "figure" }, value), name), h("dd", {}, sentence)),
      ),
    );
  };
  draw();
  state.on(["tree"], draw);
  return section("measures", "How good is this explanation?", list);
}

export function made(state: State): HTMLElement {
  const rows = Object.entries(state.data.made).map(([name, value]) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)),
  );
  return section(
    "made",
    "How it was made",
    h("p", { class: "note" }, "With the same data, parameters and versions, the same file comes out."),
    h("details", {}, h("summary", {}, "Parameters and versions"), h("table", { class: "made" }, h("tbody", {}, ...rows))),
  );
}
