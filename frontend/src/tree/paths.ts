// Paths through a tree, and the bounds that hold on them.

import type { Row, Tree, TreeNode } from "../types";

/** What is known about the value of one column. `is` and `not` are positions of categories. */
export interface Bounds {
  above: number;
  atMost: number;
  is: number | null;
  not: number[];
}

/**
 * The children of a split, "yes" first. A number goes left if it is at most the threshold; a category goes right if
 * it is the value.
 */
export function childrenOf({ left, right, value }: TreeNode): [yes: number, no: number] {
  return value === undefined ? [left!, right!] : [right!, left!];
}

/** The parent of each node; -1 for the root. */
export function parentNodes(tree: Tree): number[] {
  const parents = tree.nodes.map(() => -1);
  tree.nodes.forEach((node, i) => {
    if (node.left !== undefined) parents[node.left] = parents[node.right!] = i;
  });
  return parents;
}

/** The nodes from the root to a node, both included. */
export function pathTo(tree: Tree, node: number): number[] {
  const parents = parentNodes(tree);
  const path = [];
  for (let i = node; i >= 0; i = parents[i]) path.unshift(i);
  return path;
}

/** The nodes from the root to the leaf of a row, as `predict` finds them in Python. */
export function decisionPath(tree: Tree, row: Row): number[] {
  const path = [0];
  for (;;) {
    const node = tree.nodes[path[path.length - 1]];
    if (node.left === undefined) return path;
    path.push(goesLeft(node, row.get(node.column!)!) ? node.left : node.right!);
  }
}

function goesLeft(node: TreeNode, value: number): boolean {
  return node.value === undefined ? value <= node.threshold! : value !== node.value;
}

/** The bounds that hold for all rows of a node, by column. */
export function boundsAt(tree: Tree, node: number): Map<number, Bounds> {
  const path = pathTo(tree, node);
  const boundsByColumn = new Map<number, Bounds>();
  for (let i = 0; i + 1 < path.length; i++) {
    const split = tree.nodes[path[i]];
    const isLeft = split.left === path[i + 1];
    const bounds = boundsByColumn.get(split.column!) ?? { above: -Infinity, atMost: Infinity, is: null, not: [] };
    if (split.value !== undefined) {
      if (isLeft) bounds.not.push(split.value);
      else bounds.is = split.value;
    } else if (isLeft) bounds.atMost = Math.min(bounds.atMost, split.threshold!);
    else bounds.above = Math.max(bounds.above, split.threshold!);
    boundsByColumn.set(split.column!, bounds);
  }
  return boundsByColumn;
}

export function leavesOf(tree: Tree, cluster: number): number[] {
  return tree.nodes.flatMap((node, i) => (node.cluster === cluster ? [i] : []));
}

/** The columns that the splits of a tree use. */
export function splitColumns(tree: Tree): number[] {
  return [...new Set(tree.nodes.flatMap((node) => (node.column === undefined ? [] : [node.column])))];
}

/** The clusters of the leaves below a node, with their numbers of rows. Clusters without rows are left out. */
export function clustersBelow(tree: Tree, i: number): [cluster: number, rows: number][] {
  const rows = new Map<number, number>();
  const stack = [i];
  while (stack.length) {
    const node = tree.nodes[stack.pop()!];
    if (node.cluster !== undefined) rows.set(node.cluster, (rows.get(node.cluster) ?? 0) + node.rows);
    else stack.push(node.right!, node.left!);
  }
  return [...rows].filter(([, n]) => n > 0).sort((a, b) => a[0] - b[0]);
}
