// The header of a tree report.

import { h } from "../shared/dom";
import { describeCost, formatCount, formatPercent, formatRows, pluralize } from "../shared/format";
import { drawSizeBar, pageHeader } from "../shared/page-header";
import type { Tree, TreePayload } from "../types";
import type { TreeState } from "./state";

export function treeHeader(state: TreeState): HTMLElement {
  const { data } = state;
  // The summaries of all trees take the same space, so that the slider does not move when the tree changes.
  const summaries = data.trees.map((tree) => h("span", {}, summaryText(data, tree)));
  const sizeBar = h("div", { class: "size-bar" });
  const draw = () => {
    summaries.forEach((summary, i) => summary.classList.toggle("invisible", i !== state.treeIndex));
    drawSizeBar(sizeBar, state.names, state.tree.clusters.map(({ rows }) => rows));
  };
  draw();
  state.on(["tree", "names"], draw);
  const headline = `${pluralize(data.clusters.length, "cluster")} of ${formatRows(data.rows, data.rowsAre)}`;
  return pageHeader(data.title, headline, h("p", { class: "summary" }, ...summaries), sizeBar);
}

function summaryText(data: TreePayload, tree: Tree): string {
  const { leaves, agreement, costRatio, columns, conditions } = tree.measures;
  if (leaves === 1) return `There is nothing to ask: all ${data.rowsAre} are in one cluster.`;
  const questions = pluralize(leaves - 1, "question");
  let text = `A tree of ${questions} tells them apart. `;
  if (agreement !== null) {
    const rows = agreement === 1 ? `all ${data.rowsAre}` : `${formatPercent(agreement)} of the ${data.rowsAre}`;
    const cost = costRatio === null ? "" : `, ${describeCost(costRatio)}`;
    text = `This tree of ${questions} gives ${rows} the same cluster as ${data.reference}${cost}. `;
  }
  const empty = tree.clusters.filter((cluster) => cluster.rows === 0).length;
  if (empty) text += `${pluralize(empty, "cluster")} of it ${empty === 1 ? "has" : "have"} no rows here. `;
  text += `It looks at ${formatCount(columns)} of ${pluralize(data.columnsInData, "column")}; `;
  return `${text}why a row is where it is takes ${conditions.toFixed(1)} conditions on average.`;
}
