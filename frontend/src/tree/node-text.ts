// The nodes of a tree as text.

import { displayRule, formatPercent, formatRows } from "../shared/format";
import type { Column, TreeNode } from "../types";
import { clustersBelow } from "./paths";
import type { TreeState } from "./state";
import { t } from "../texts";

/** Number of clusters that the description of a split names. */
const MAX_CLUSTERS = 6;

/** The question of a split in two parts. The second part must not be truncated. */
export function questionParts(split: TreeNode, columns: Column[]): [string, string] {
  return [columns[split.column!].name, `${displayRule(split.question!)}?`];
}

export function questionText(split: TreeNode, columns: Column[]): string {
  return questionParts(split, columns).join(" ");
}

/** The answer that leads to a child. "Yes" is left for numbers and right for categories. */
export function answerTo(split: TreeNode, isLeft: boolean): string {
  return (split.value === undefined) === isLeft ? t.yes : t.no;
}

/** What the reader sees below the tree when pointing at a node. */
export function describeNode(state: TreeState, i: number): string {
  const { data, tree } = state;
  const node = tree.nodes[i];
  const conditions = displayRule(node.rule!);
  const rows = `${formatRows(node.rows, data.rowsAre)} (${formatPercent(node.rows / Math.max(data.rows, 1))})`;
  if (node.cluster !== undefined) {
    const where = i === 0 ? t.nodeAll(rows) : t.nodeWith(rows, conditions);
    let text = `${state.clusterName(node.cluster)}: ${where}. `;
    if (node.rows > 0 && node.purity !== null && node.purity !== undefined)
      text += t.nodePurity(formatPercent(node.purity), data.reference);
    return `${text}${t.nodeClick}`;
  }
  const clusters = clustersBelow(tree, i).map(
    ([cluster, n]) => `${state.names.nameInSentence(cluster)} ${formatPercent(n / Math.max(node.rows, 1))}`,
  );
  const hidden = clusters.length - MAX_CLUSTERS;
  const list = hidden > 0 ? [...clusters.slice(0, MAX_CLUSTERS), t.more(String(hidden))] : clusters;
  const reached = i === 0 ? t.allStart(rows) : t.rowsReach(rows, conditions);
  return `${reached} ${t.theirClusters(list.join(", "))}`;
}
