// The header of a tree report.

import { columnsUsed, warningBox } from "../shared/data-panel";
import { h } from "../shared/dom";
import { describeCost, displayRule, formatCount, formatFixed, formatPercent, formatRows } from "../shared/format";
import { drawSentences, drawSizeBar, pageHeader } from "../shared/page-header";
import type { Rule, Tree, TreePayload } from "../types";
import type { TreeState } from "./state";
import { t } from "../texts";

export function treeHeader(state: TreeState): HTMLElement {
  const { data } = state;
  // The summaries of all trees take the same space, so that the slider does not move when the tree changes.
  const summaries = data.trees.map((tree) => h("span", {}, summaryText(data, tree)));
  const sizeBar = h("div", { class: "size-bar" });
  const sentences = data.trees.map(() => h("ul", { class: "sentences" }));
  const draw = () => {
    for (const texts of [summaries, sentences])
      texts.forEach((text, i) => text.classList.toggle("invisible", i !== state.treeIndex));
    const counts = state.tree.clusters.map(({ rows }) => rows);
    drawSizeBar(sizeBar, state.names, counts, data.rowsAre);
    data.trees.forEach(({ clusters, rules }, i) => {
      const sizes = clusters.map(({ rows }) => rows);
      drawSentences(sentences[i], state.names, sizes, rules.map(firstRule), data.rowsAre);
    });
  };
  draw();
  state.on(["tree", "names"], draw);
  const headline = t.headline(
    t.clusterCount(data.clusters.length, formatCount(data.clusters.length), "cluster"),
    formatRows(data.rows, data.rowsAre),
  );
  return pageHeader(data.title, "cluster", headline, h("p", { class: "summary" }, ...summaries), warningBox(data), sizeBar, h("div", { class: "stack" }, ...sentences));
}

/** The rule for most rows of a cluster, and how many further ones it has. */
function firstRule(rules: Rule[]): string {
  if (!rules.length) return t.noRule;
  const [first, ...others] = [...rules].sort((a, b) => b.rows - a.rows);
  const text = displayRule(first.text);
  return others.length ? `${text}, ${t.moreRules(others.length, formatCount(others.length))}` : text;
}

function summaryText(data: TreePayload, tree: Tree): string {
  const { leaves, agreement, costRatio, columns, conditions } = tree.measures;
  if (leaves === 1) return t.oneCluster(data.rowsAre);
  const questions = t.questions(leaves - 1, formatCount(leaves - 1));
  let text = t.treeDescribes(questions);
  if (agreement !== null) {
    const rows = agreement === 1 ? t.allRows(data.rowsAre) : t.shareOfRows(formatPercent(agreement), data.rowsAre);
    const cost = costRatio === null ? "" : describeCost(costRatio);
    text = t.treeAssigns(questions, rows, data.reference, cost);
  }
  const empty = tree.clusters.filter((cluster) => cluster.rows === 0).length;
  if (empty) text += t.emptyClusters(empty, formatCount(empty), data.rowsAre);
  const inData = data.table ? columnsUsed(data.table) : data.columnsInData;
  text += t.columnsOf(formatCount(columns), inData, formatCount(inData));
  return `${text}${t.averageConditions(formatFixed(conditions, 1))}`;
}
