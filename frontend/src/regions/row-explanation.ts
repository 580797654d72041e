// "Explain a row" for regions: the levels that the row passes, its cluster, and changes that lead to other clusters.

import { h, replaceContent, section } from "../shared/dom";
import { formatPercent } from "../shared/format";
import { ROW_HINT, ROW_NOTE, RowForm } from "../shared/row-form";
import { counterfactualList, predictedCluster } from "../shared/row-result";
import type { Row } from "../types";
import { findCounterfactuals } from "./counterfactuals";
import { canEvaluate, predict, type Prediction } from "./predict";
import type { RegionsState } from "./state";

export function rowSection(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const result = h("div", { class: "result", role: "status" });
  const form = new RowForm(data, explain);

  function updateNames(): void {
    form.setExamples(data.facts, names);
    explain();
  }

  function explain(): void {
    const { row, error } = form.read();
    if (error !== null) {
      result.replaceChildren(h("p", { class: "note" }, error || ROW_HINT));
      state.setRow(null);
      return;
    }
    const prediction = predict(data, row);
    state.setRow(row);
    replaceContent(
      result,
      resultLine(prediction),
      h("ol", { class: "steps" }, ...levelSteps(row, prediction)),
      !prediction.isUnknown && counterfactualList(names, findCounterfactuals(data, row, prediction.cluster)),
    );
  }

  function resultLine({ cluster, isUnknown }: Prediction): HTMLElement {
    if (cluster !== null) return predictedCluster(names, cluster);
    return h("p", { class: "verdict" }, isUnknown ? "This page cannot tell." : "This row gets no answer.");
  }

  /** One line per level that was evaluated, and one line if no region contains the row. */
  function levelSteps(row: Row, prediction: Prediction): HTMLElement[] {
    const last = prediction.level < 0 ? data.levels.length - 1 : prediction.level;
    const lines = data.levels.slice(0, last + 1).map((level, i) => {
      const values = level.columns.map((c) => `${data.columns[c].name} ${row.get(c)}`).join(", ");
      const outcome = i === prediction.level ? levelOutcome(prediction) : "in no region, passed on";
      return h("li", {}, `Level ${i + 1} (${values}): `, h("strong", {}, outcome));
    });
    if (prediction.level < 0) lines.push(h("li", {}, leftoverText()));
    return lines;
  }

  function levelOutcome({ level, region, cluster, isUnknown }: Prediction): string {
    if (isUnknown)
      return "it compares with training rows that are not in this page; model.explain(row) tells it in Python";
    const part = data.levels[level].pieces.find((piece) => piece.region === region && piece.answer === cluster);
    return part ? part.text : "in a region, in a part without training rows";
  }

  function leftoverText(): string {
    const { answer, purity } = data.leftover;
    if (answer === null) return "No level has a region around it, so it gets no answer.";
    return `No level has a region around it. ${formatPercent(purity)} of such rows in training were ${names.displayName(answer)}, so it is taken for that.`;
  }

  form.setColumns([...new Set(data.levels.flatMap((level) => level.columns))]);
  names.onChange(updateNames);
  updateNames();
  const limitation = data.levels.every(canEvaluate)
    ? ""
    : " Levels that look at neighbours among the training rows cannot be followed here.";
  return section(
    "row",
    "Explain a row",
    h("p", { class: "note" }, `${ROW_NOTE} A cross marks the row in the pictures above.${limitation}`),
    h("div", { class: "two-columns" }, form.element, result),
  );
}
