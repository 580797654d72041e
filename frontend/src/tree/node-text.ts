// The nodes of a tree as text.

import { formatThreshold } from "../shared/column-format";
import { displayRule, formatPercent, pluralize } from "../shared/format";
import type { Column, Tree, TreeNode } from "../types";
import { boundsAt, clustersBelow, type Bounds } from "./paths";
import type { TreeState } from "./state";

/** Number of clusters that the description of a split names. */
const MAX_CLUSTERS = 6;

/** The question of a split in two parts. The second part must not be truncated. */
export function questionParts(split: TreeNode, columns: Column[]): [string, string] {
  const column = columns[split.column!];
  if (column.kind === "category") return [column.name, `is ${column.values[split.value!]}?`];
  // "cyl = 4?" if 4 is the only value up to the threshold, and "cyl ≤ 6?" if there are several.
  const values = (column.format.values ?? []).filter((value) => value <= split.threshold!);
  if (values.length === 1) return [column.name, `= ${values[0]}?`];
  const threshold = values.length ? Math.max(...values) : split.threshold!;
  return [column.name, `≤ ${formatThreshold(column, threshold)}?`];
}

export function questionText(split: TreeNode, columns: Column[]): string {
  return questionParts(split, columns).join(" ");
}

/** The answer that leads to a child. "Yes" is left for numbers and right for categories. */
export function answerTo(split: TreeNode, isLeft: boolean): "yes" | "no" {
  return (split.value === undefined) === isLeft ? "yes" : "no";
}

/** What the reader sees below the tree when pointing at a node. */
export function describeNode(state: TreeState, i: number): string {
  const { data, tree } = state;
  const node = tree.nodes[i];
  const conditions = node.rule !== undefined ? displayRule(node.rule) : conditionsAt(tree, data.columns, i);
  const rows = `${pluralize(node.rows, "row")} (${formatPercent(node.rows / Math.max(data.rows, 1))})`;
  if (node.cluster !== undefined) {
    const where = i === 0 ? `all ${rows}` : `${rows} with ${conditions}`;
    let text = `${state.clusterName(node.cluster)}: ${where}. `;
    if (node.rows > 0 && node.purity !== null && node.purity !== undefined)
      text += `${formatPercent(node.purity)} of them have the same cluster in ${data.reference}. `;
    return `${text}Click or press Enter to see the cluster.`;
  }
  const clusters = clustersBelow(tree, i).map(
    ([cluster, n]) => `${state.clusterName(cluster)} ${formatPercent(n / Math.max(node.rows, 1))}`,
  );
  const hidden = clusters.length - MAX_CLUSTERS;
  const list = hidden > 0 ? [...clusters.slice(0, MAX_CLUSTERS), `${hidden} more`] : clusters;
  const reached = i === 0 ? `All ${rows} start here.` : `${rows} reach this question: those with ${conditions}.`;
  return `${reached} Their clusters: ${list.join(", ")}.`;
}

/** The conditions on the path to a node. */
function conditionsAt(tree: Tree, columns: Column[], node: number): string {
  return [...boundsAt(tree, node)].map(([c, bounds]) => boundsText(columns[c], bounds)).join(" and ");
}

function boundsText(column: Column, bounds: Bounds): string {
  if (column.kind === "category") {
    if (bounds.is !== null) return `${column.name} is ${column.values[bounds.is]}`;
    const values = bounds.not.map((v) => column.values[v]);
    if (values.length === 1) return `${column.name} is not ${values[0]}`;
    return `${column.name} is none of ${values.join(", ")}`;
  }
  const [above, atMost] = [bounds.above, bounds.atMost].map((value) => formatThreshold(column, value));
  if (bounds.above === -Infinity) return `${column.name} ≤ ${atMost}`;
  if (bounds.atMost === Infinity) return `${column.name} > ${above}`;
  return `${above} < ${column.name} ≤ ${atMost}`;
}
