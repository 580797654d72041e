// Down the tree with one row, and what would have to change for another cluster.

import type { WayOut } from "./chip";
import { boundsAt, type Bounds } from "./paths";
import type { Column, Row, Tree } from "./types";

export function route(tree: Tree, row: Row): number[] {
  const path = [0];
  for (;;) {
    const at = path[path.length - 1];
    const node = tree.nodes[at];
    if (node.left === undefined) return path;
    const value = row.get(node.column!)!;
    const goesLeft = node.value === undefined ? value <= node.threshold! : value !== node.value;
    path.push(goesLeft ? node.left : node.right!);
  }
}

interface Change {
  words: string;
  /** In standard deviations. */
  size: number;
}

interface Way {
  cluster: number;
  changes: Change[];
}

/** For every other cluster, the leaf that takes the fewest changes, and of these the smallest. */
export function waysOut(tree: Tree, columns: Column[], row: Row, from: number): WayOut[] {
  const best = new Map<number, Way>();
  const size = (way: Way) => way.changes.reduce((sum, change) => sum + change.size, 0);
  const compare = (a: Way, b: Way) => a.changes.length - b.changes.length || size(a) - size(b);
  tree.nodes.forEach(({ cluster }, leaf) => {
    if (cluster === undefined || cluster === from) return;
    const bounds = boundsAt(tree, leaf);
    if (![...bounds.values()].every(isPossible)) return;
    const way = { cluster, changes: [...bounds].flatMap(([c, b]) => change(columns[c], row.get(c)!, b) ?? []) };
    const known = best.get(cluster);
    if (!known || compare(way, known) < 0) best.set(cluster, way);
  });
  const words = (way: Way) => way.changes.map((change) => change.words).join(" and ");
  return [...best.values()].sort(compare).map((way) => ({ cluster: way.cluster, words: words(way) }));
}

function isPossible(bounds: Bounds): boolean {
  return bounds.above < bounds.most && (bounds.is === null || !bounds.not.includes(bounds.is));
}

function change(column: Column, value: number, bounds: Bounds): Change | null {
  if (column.kind === "category") {
    const now = column.values[value] ?? "something else";
    if (bounds.is !== null && value !== bounds.is)
      return { words: `${column.name} ${column.values[bounds.is]} instead of ${now}`, size: 1 };
    if (bounds.is === null && bounds.not.includes(value)) return { words: `${column.name} other than ${now}`, size: 1 };
    return null;
  }
  const scale = column.spread || 1;
  const between = Number.isFinite(bounds.above) && Number.isFinite(bounds.most);
  if (value <= bounds.above) {
    const upTo = between ? ` (up to ${bounds.most})` : "";
    return { words: `${column.name} above ${bounds.above}${upTo} instead of ${value}`, size: (bounds.above - value) / scale };
  }
  if (value > bounds.most) {
    const downTo = between ? ` (but above ${bounds.above})` : "";
    return { words: `${column.name} ${bounds.most} or less${downTo} instead of ${value}`, size: (value - bounds.most) / scale };
  }
  return null;
}
