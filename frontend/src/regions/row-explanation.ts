// t.rowTitle for regions: the levels that the row passes, its cluster, and changes that lead to other clusters.

import { formatThreshold } from "../shared/column-format";
import { h, replaceContent, section } from "../shared/dom";
import { displayRule, formatPercent } from "../shared/format";
import { RowForm } from "../shared/row-form";
import { counterfactualList, predictedCluster } from "../shared/row-result";
import type { NumberColumn, Row } from "../types";
import { findCounterfactuals } from "./counterfactuals";
import { canEvaluate, predict, type Prediction } from "./predict";
import type { RegionsState } from "./state";
import { t } from "../texts";

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
      result.replaceChildren(h("p", { class: "note" }, error || t.rowHint));
      state.setRow(null);
      return;
    }
    const prediction = predict(data, row);
    state.setRow(row);
    replaceContent(
      result,
      resultLine(prediction),
      h("ol", { class: "steps" }, ...levelSteps(row, prediction)),
      !prediction.isUnknown && counterfactuals(row, prediction.cluster),
    );
  }

  function counterfactuals(row: Row, cluster: number | null): HTMLElement | null {
    const find = (fixed: ReadonlySet<number>) => findCounterfactuals(data, row, cluster, fixed);
    const reachable = form.fixed.size ? find(new Set()).map((found) => found.cluster) : [];
    return counterfactualList(names, find(form.fixed), reachable);
  }

  function resultLine({ cluster, isUnknown }: Prediction): HTMLElement {
    if (cluster !== null) return predictedCluster(names, cluster);
    return h(
      "p",
      { class: "verdict" },
      isUnknown ? t.cannotAssign : t.rowNotAssigned(names.noun),
    );
  }

  /** One line per level that was evaluated, and one line if no region contains the row. */
  function levelSteps(row: Row, prediction: Prediction): HTMLElement[] {
    const last = prediction.level < 0 ? data.levels.length - 1 : prediction.level;
    const lines = data.levels.slice(0, last + 1).map((level, i) => {
      const values = level.columns.map((c) => `${data.columns[c].name} ${formatThreshold(data.columns[c] as NumberColumn, row.get(c)!)}`).join(", ");
      const outcome = i === prediction.level ? levelOutcome(prediction) : t.inNoRegion;
      return h("li", {}, t.levelStep(i + 1, values), h("strong", {}, outcome));
    });
    if (prediction.level < 0) lines.push(h("li", {}, leftoverText()));
    return lines;
  }

  function levelOutcome({ level, region, cluster, isUnknown }: Prediction): string {
    if (isUnknown) return t.needsTrainingRows;
    const part = data.levels[level].pieces.find((piece) => piece.region === region && piece.answer === cluster);
    return part ? displayRule(part.text) : t.partWithoutRows;
  }

  function leftoverText(): string {
    const { answer, purity } = data.leftover;
    if (answer === null) return t.noRegionNotAssigned(names.noun);
    return t.noRegionAssigned(names.displayName(answer), formatPercent(purity));
  }

  form.setColumns([...new Set(data.levels.flatMap((level) => level.columns))]);
  names.onChange(updateNames);
  form.setExamples(data.facts, names);
  form.selectLargest(data.facts);
  explain();
  const markerNote = data.levels.length ? t.crossNote : "";
  const limitation = data.levels.every(canEvaluate)
    ? ""
    : t.limitationNote;
  return section(
    "row",
    t.rowTitle,
    h("p", { class: "note" }, `${t.rowNote}${markerNote}${limitation}`),
    h("div", { class: "two-columns" }, form.element, result),
  );
}
