// "Explain a row" for regions: the levels that the row passes, its cluster, and changes that lead to other clusters.

import { formatThreshold } from "../shared/column-format";
import { h, replaceContent, section } from "../shared/dom";
import { formatPercent } from "../shared/format";
import { ROW_HINT, ROW_NOTE, RowForm } from "../shared/row-form";
import { counterfactualList, predictedCluster } from "../shared/row-result";
import type { NumberColumn, Row } from "../types";
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
    return h(
      "p",
      { class: "verdict" },
      isUnknown ? "This page cannot assign the row." : `The row is not assigned to a ${names.noun}.`,
    );
  }

  /** One line per level that was evaluated, and one line if no region contains the row. */
  function levelSteps(row: Row, prediction: Prediction): HTMLElement[] {
    const last = prediction.level < 0 ? data.levels.length - 1 : prediction.level;
    const lines = data.levels.slice(0, last + 1).map((level, i) => {
      const values = level.columns.map((c) => `${data.columns[c].name} ${formatThreshold(data.columns[c] as NumberColumn, row.get(c)!)}`).join(", ");
      const outcome = i === prediction.level ? levelOutcome(prediction) : "in no region";
      return h("li", {}, `Level ${i + 1} (${values}): `, h("strong", {}, outcome));
    });
    if (prediction.level < 0) lines.push(h("li", {}, leftoverText()));
    return lines;
  }

  function levelOutcome({ level, region, cluster, isUnknown }: Prediction): string {
    if (isUnknown) return "this level needs training rows that are not in this page; use model.explain(row) in Python";
    const part = data.levels[level].pieces.find((piece) => piece.region === region && piece.answer === cluster);
    return part ? part.text : "in a region, but in a part of it without training rows";
  }

  function leftoverText(): string {
    const { answer, purity } = data.leftover;
    if (answer === null) return `No region contains the row, so it is not assigned to a ${names.noun}.`;
    const name = names.displayName(answer);
    const reason = `${formatPercent(purity)} of the training rows in no region belong to ${name}`;
    return `No region contains the row. It is assigned to ${name}, because ${reason}.`;
  }

  form.setColumns([...new Set(data.levels.flatMap((level) => level.columns))]);
  names.onChange(updateNames);
  form.setExamples(data.facts, names);
  form.selectLargest(data.facts);
  explain();
  const markerNote = data.levels.length ? " A cross marks the row in the plots above." : "";
  const limitation = data.levels.every(canEvaluate)
    ? ""
    : " This page cannot evaluate levels that compare a row with training rows.";
  return section(
    "row",
    "Explain a row",
    h("p", { class: "note" }, `${ROW_NOTE}${markerNote}${limitation}`),
    h("div", { class: "two-columns" }, form.element, result),
  );
}
