// The header of a tree report.

import { warningBox } from "../shared/data-panel";
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
    drawSizeBar(
      sizeBar,
      state.names,
      state.tree.clusters.map(({ rows }) => rows),
      data.rowsAre,
    );
  };
  draw();
  state.on(["tree", "names"], draw);
  const headline = `${pluralize(data.clusters.length, "cluster")} of ${formatRows(data.rows, data.rowsAre)}`;
  return pageHeader(data.title, headline, h("p", { class: "summary" }, ...summaries), warningBox(data), sizeBar);
}

function summaryText(data: TreePayload, tree: Tree): string {
  const { leaves, agreement, costRatio, columns, conditions } = tree.measures;
  if (leaves === 1) return `All ${data.rowsAre} are in one cluster, so there is nothing to explain.`;
  const questions = pluralize(leaves - 1, "yes/no question");
  let text = `A decision tree with ${questions} describes these clusters. `;
  if (agreement !== null) {
    const rows = agreement === 1 ? `all ${data.rowsAre}` : `${formatPercent(agreement)} of the ${data.rowsAre}`;
    const cost = costRatio === null ? "" : `, ${describeCost(costRatio)}`;
    text = `This decision tree with ${questions} assigns ${rows} to the same clusters as ${data.reference}${cost}. `;
  }
  const empty = tree.clusters.filter((cluster) => cluster.rows === 0).length;
  if (empty) text += `${formatCount(empty)} of its clusters ${empty === 1 ? "contains" : "contain"} no ${data.rowsAre}. `;
  text += `It uses ${formatCount(columns)} of ${pluralize(data.columnsInData, "column")}. `;
  return `${text}On average, ${conditions.toFixed(1)} conditions explain the cluster of a row.`;
}
