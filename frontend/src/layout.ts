// Where the nodes of a tree go, and the bands between them.

import type { Column, Tree } from "./types";

export interface Placed {
  x: number;
  /** Of the middle. */
  y: number;
  width: number;
  height: number;
  depth: number;
  /** The band from the parent. */
  path: string;
  thickness: number;
}

export interface Layout {
  nodes: Map<number, Placed>;
  width: number;
  height: number;
  isOutline: boolean;
}

const LEAF_WIDTH = 168;
const NARROWEST = 158;
const WIDEST = 290;
const GAP = 54;
/** Width of a letter, on average. */
const LETTER = 8.4;
const MOST_WIDTH = 220;

export function place(tree: Tree, columns: Column[], folded: Set<number>, width: number, isDense = false): Layout {
  const visible: [number, number][] = [];
  const walk = (i: number, depth: number): void => {
    visible.push([i, depth]);
    const node = tree.nodes[i];
    if (node.left !== undefined && !folded.has(i)) {
      walk(node.left, depth + 1);
      walk(node.right!, depth + 1);
    }
  };
  walk(0, 0);
  const depth = Math.max(...visible.map(([, d]) => d));
  const leafWidth = isDense ? 140 : LEAF_WIDTH;
  const pitch = Math.min(WIDEST, (width - leafWidth) / Math.max(depth, 1));
  const names = visible.flatMap(([i]) => columns[tree.nodes[i].column ?? -1]?.name ?? []);
  const longest = Math.max(0, ...names.map((name) => name.length));
  // A word is better not broken.
  const longestWord = Math.max(0, ...names.flatMap((name) => name.split(" ")).map((word) => word.length));
  const least = Math.max(NARROWEST, Math.min(LETTER * longestWord + 30 + GAP, MOST_WIDTH + GAP));
  if (pitch < least) return outline(tree, visible, width, isDense);
  const isTall = LETTER * longest > Math.min(pitch - GAP, MOST_WIDTH) - 30;
  return across(tree, folded, visible, pitch, width, leafWidth, isTall);
}

function across(
  tree: Tree,
  folded: Set<number>,
  visible: [number, number][],
  pitch: number,
  width: number,
  leafWidth: number,
  isTall: boolean,
): Layout {
  const isEnd = (i: number) => tree.nodes[i].left === undefined || folded.has(i);
  const ends = visible.filter(([i]) => isEnd(i)).length;
  const height = isTall ? 70 : 54;
  const slot = height + (ends > 16 ? 10 : 16);
  const most = 44;
  const nodes = new Map<number, Placed>();
  let next = slot / 2;
  // Children come after their parent, so that backwards every child is placed before it.
  const y = new Map<number, number>();
  for (const [i] of visible) {
    if (isEnd(i)) {
      y.set(i, next);
      next += slot;
    }
  }
  for (const [i] of [...visible].reverse()) {
    if (!isEnd(i)) y.set(i, (y.get(tree.nodes[i].left!)! + y.get(tree.nodes[i].right!)!) / 2);
  }
  const total = Math.max(tree.nodes[0].rows, 1);
  const thick = (i: number) => Math.max(1.5, (most * tree.nodes[i].rows) / total);
  for (const [i, depth] of visible) {
    const isLeaf = tree.nodes[i].left === undefined;
    const box = {
      x: depth * pitch,
      y: y.get(i)!,
      width: isLeaf ? leafWidth : Math.min(pitch - GAP, MOST_WIDTH),
      height,
      depth,
      path: "",
      thickness: thick(i),
    };
    nodes.set(i, box);
  }
  for (const [i] of visible) {
    if (isEnd(i)) continue;
    const from = nodes.get(i)!;
    const { left, right } = tree.nodes[i];
    let at = from.y - (thick(left!) + thick(right!)) / 2;
    for (const child of [left!, right!]) {
      const to = nodes.get(child)!;
      const x = from.x + from.width;
      const start = at + to.thickness / 2;
      at += to.thickness;
      const middle = (x + to.x) / 2;
      to.path = `M${x - 1} ${start} C${middle} ${start} ${middle} ${to.y} ${to.x + 1} ${to.y}`;
    }
  }
  return { nodes, width, height: next - slot / 2 + 4, isOutline: false };
}

function outline(tree: Tree, visible: [number, number][], width: number, isDense: boolean): Layout {
  const height = isDense ? 30 : width > 700 ? 36 : 44;
  const slot = height + (isDense ? 4 : 6);
  const most = 10;
  const deepest = Math.max(...visible.map(([, d]) => d));
  const indent = Math.min(22, (0.3 * width) / Math.max(deepest, 1));
  const total = Math.max(tree.nodes[0].rows, 1);
  const nodes = new Map<number, Placed>();
  visible.forEach(([i, depth], place) => {
    nodes.set(i, {
      x: depth * indent,
      y: slot * place + slot / 2,
      width: width - depth * indent,
      height,
      depth,
      path: "",
      thickness: Math.max(1.5, Math.min(indent * 0.6, (most * tree.nodes[i].rows) / total)),
    });
  });
  for (const [i] of visible) {
    const node = tree.nodes[i];
    const from = nodes.get(i)!;
    for (const child of [node.left, node.right]) {
      const to = child === undefined ? undefined : nodes.get(child);
      if (!to) continue;
      const x = from.x + indent / 2;
      to.path = `M${x} ${from.y + height / 2} V${to.y} H${to.x}`;
    }
  }
  return { nodes, width, height: slot * visible.length, isOutline: true };
}
