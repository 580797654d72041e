// Ways through a tree: from the top to a node, and what holds there.

import type { Tree } from "./types";

/** Bounds that hold at a node: for numbers an interval, for categories what is and is not. */
export interface Bounds {
  above: number;
  most: number;
  is: number | null;
  not: number[];
}

export function parents(tree: Tree): number[] {
  const found = tree.nodes.map(() => -1);
  tree.nodes.forEach((node, i) => {
    if (node.left !== undefined) found[node.left] = found[node.right!] = i;
  });
  return found;
}

export function pathTo(tree: Tree, node: number): number[] {
  const up = parents(tree);
  const path = [];
  for (let at = node; at >= 0; at = up[at]) path.unshift(at);
  return path;
}

export function boundsAt(tree: Tree, node: number): Map<number, Bounds> {
  const path = pathTo(tree, node);
  const found = new Map<number, Bounds>();
  for (let i = 0; i + 1 < path.length; i++) {
    const here = tree.nodes[path[i]];
    const isLeft = here.left === path[i + 1];
    const known = found.get(here.column!) ?? { above: -Infinity, most: Infinity, is: null, not: [] };
    if (here.value !== undefined) {
      if (isLeft) known.not.push(here.value);
      else known.is = here.value;
    } else if (isLeft) known.most = Math.min(known.most, here.threshold!);
    else known.above = Math.max(known.above, here.threshold!);
    found.set(here.column!, known);
  }
  return found;
}

export function leavesOf(tree: Tree, cluster: number): number[] {
  return tree.nodes.flatMap((node, i) => (node.cluster === cluster ? [i] : []));
}
