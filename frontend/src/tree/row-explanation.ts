// t.rowTitle for a tree: the path of the row, its cluster, and changes that lead to other clusters.

import { formatIn } from "../shared/column-format";
import { h, replaceContent, section } from "../shared/dom";
import { categoryName } from "../shared/format";
import { RowForm } from "../shared/row-form";
import { counterfactualList, predictedCluster } from "../shared/row-result";
import type { Row } from "../types";
import { findCounterfactuals } from "./counterfactuals";
import { answerTo, questionText } from "./node-text";
import { decisionPath, splitColumns } from "./paths";
import type { TreeState } from "./state";
import { t } from "../texts";

export function rowSection(state: TreeState): HTMLElement {
  const { data } = state;
  const result = h("div", { class: "result", role: "status" });
  /** Whether the reader has entered a row. Only then its path is highlighted in the tree. */
  let isEntered = false;
  const form = new RowForm(data, () => {
    isEntered = true;
    explain();
  });

  function updateForm(): void {
    form.setColumns(splitColumns(state.tree));
    updateNames();
    if (!isEntered) form.selectLargest(state.tree.clusters);
    explain();
  }

  function updateNames(): void {
    form.setExamples(state.tree.clusters, state.names);
  }

  function explain(): void {
    const { tree } = state;
    const { row, error } = form.read();
    const pin = (nodes: number[] | null) => isEntered && state.pin(nodes);
    if (error !== null) {
      result.replaceChildren(h("p", { class: "note" }, error || t.rowHint));
      pin(null);
      return;
    }
    const path = decisionPath(tree, row);
    const cluster = tree.nodes[path[path.length - 1]].cluster!;
    const hasSplits = path.length > 1;
    pin(hasSplits ? path : null);
    replaceContent(
      result,
      predictedCluster(state.names, cluster),
      hasSplits
        ? h("ol", { class: "steps" }, ...path.slice(0, -1).map((node, i) => pathStep(node, path[i + 1], row)))
        : h("p", { class: "note" }, t.noQuestions),
      counterfactuals(row, cluster),
    );
  }

  function counterfactuals(row: Row, cluster: number): HTMLElement | null {
    const find = (fixed: ReadonlySet<number>) => findCounterfactuals(state.tree, data.columns, row, cluster, fixed);
    const reachable = form.fixed.size ? find(new Set()).map((found) => found.cluster) : [];
    return counterfactualList(state.names, find(form.fixed), reachable);
  }

  /** One question with the answer of the row. */
  function pathStep(i: number, next: number, row: Row): HTMLElement {
    const split = state.tree.nodes[i];
    const column = data.columns[split.column!];
    const value = row.get(split.column!)!;
    const valueText = column.kind === "number" ? formatIn(column, value) : categoryName(column, value);
    const answer = answerTo(split, split.left === next);
    return h("li", {}, `${questionText(split, data.columns)} `, h("strong", {}, answer), t.theValueIs(valueText));
  }

  state.on(["tree"], updateForm);
  state.on(["names"], () => {
    updateNames();
    explain();
  });
  updateForm();
  return section(
    "row",
    t.rowTitle,
    h("p", { class: "note" }, t.rowNote),
    h("div", { class: "two-columns" }, form.element, result),
  );
}
