// What there is to say of one node of the tree.

import { conditionsAt } from "./questions";
import type { State } from "./state";
import type { Tree } from "./types";
import { many, percent } from "./words";

const MOST_CLUSTERS = 6;

/** The clusters that are still possible at a node, with the rows that end there. */
export function clustersBelow(tree: Tree, i: number): [number, number][] {
  const rows = new Map<number, number>();
  const stack = [i];
  while (stack.length) {
    const node = tree.nodes[stack.pop()!];
    if (node.cluster !== undefined) rows.set(node.cluster, (rows.get(node.cluster) ?? 0) + node.rows);
    else stack.push(node.right!, node.left!);
  }
  return [...rows].filter(([, n]) => n > 0).sort((a, b) => a[0] - b[0]);
}

export function describeNode(state: State, i: number): string {
  const { data, tree } = state;
  const node = tree.nodes[i];
  const where = node.rule ?? conditionsAt(tree, data.columns, i);
  const rows = `${many(node.rows, "row")} (${percent(node.rows / Math.max(data.rows, 1))})`;
  if (node.cluster !== undefined) {
    const isKnown = node.purity !== null && node.purity !== undefined;
    const pure = isKnown ? ` ${percent(node.purity!)} of them are in this cluster in ${data.reference}, too.` : "";
    return `${state.name(node.cluster)}: ${rows} with ${where}.${pure} Enter or click: its card.`;
  }
  const parts = clustersBelow(tree, i).map(([cluster, n]) => `${state.name(cluster)} ${percent(n / Math.max(node.rows, 1))}`);
  const rest = parts.length - MOST_CLUSTERS;
  const first = rest > 0 ? [...parts.slice(0, MOST_CLUSTERS), `${rest} more`] : parts;
  const come = i === 0 ? `All ${rows} begin here.` : `${rows} come here: those with ${where}.`;
  return `${come} They end in: ${first.join(", ")}.`;
}
