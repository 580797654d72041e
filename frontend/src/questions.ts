// Questions, answers and conditions of a tree in words.

import { boundsAt, type Bounds } from "./paths";
import type { Column, Node, Tree } from "./types";

/** A question in two parts, the second of which must never be cut. */
export function questionParts(node: Node, columns: Column[]): [string, string] {
  const column = columns[node.column!];
  if (column.kind === "category") return [column.name, `is ${column.values[node.value!]}?`];
  return [column.name, `≤ ${node.threshold}?`];
}

export function question(node: Node, columns: Column[]): string {
  return questionParts(node, columns).join(" ");
}

/** The answer that leads to one child; the left one is where a number is at most the threshold. */
export function answer(node: Node, isLeft: boolean): "yes" | "no" {
  return (node.value === undefined) === isLeft ? "yes" : "no";
}

export function boundsInWords(column: Column, bounds: Bounds): string {
  if (column.kind === "category") {
    if (bounds.is !== null) return `${column.name} is ${column.values[bounds.is]}`;
    const words = bounds.not.map((v) => column.values[v]);
    return words.length === 1 ? `${column.name} is not ${words[0]}` : `${column.name} is none of ${words.join(", ")}`;
  }
  if (bounds.above === -Infinity) return `${column.name} ≤ ${bounds.most}`;
  if (bounds.most === Infinity) return `${column.name} > ${bounds.above}`;
  return `${bounds.above} < ${column.name} ≤ ${bounds.most}`;
}

export function conditionsAt(tree: Tree, columns: Column[], node: number): string {
  const parts = [...boundsAt(tree, node)].map(([c, bounds]) => boundsInWords(columns[c], bounds));
  return parts.join(" and ");
}
