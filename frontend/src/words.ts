// Numbers and conditions in words.

import type { Column, Node, Tree } from "./types";

export const count = (n: number): string => n.toLocaleString("en-GB");

export function many(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

export function percent(share: number): string {
  const value = 100 * share;
  if (value === 0 || value === 100) return `${value}\u00a0%`;
  if (value < 0.1) return "under 0.1\u00a0%";
  if (value > 99.9) return "over 99.9\u00a0%";
  return `${value < 10 || value > 99 ? value.toFixed(1) : Math.round(value)}\u00a0%`;
}

export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0"; // not "-0"
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
  return value.toLocaleString("en-GB", size >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

/** A number of the data as it is, but for digits that only a computer needs. */
export function exact(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toPrecision(6);
  return value.toLocaleString("en-GB", { maximumSignificantDigits: 15, maximumFractionDigits: 4, useGrouping: false } as Intl.NumberFormatOptions);
}

/** A rule in which no line ends between a sign and its number. */
export function unbroken(rule: string): string {
  return rule.replace(/(≤|>|=|±) (?=-?\d)/g, "$1\u00a0").replace(/(\d) </g, "$1\u00a0<");
}

/** What more a tree costs than the reference. */
export function costWords(ratio: number): string {
  const more = 100 * (ratio - 1);
  if (Math.abs(more) < 0.05) return "at the same cost";
  const size = Math.abs(more) < 10 ? Math.abs(more).toFixed(1) : count(Math.round(Math.abs(more)));
  return `at ${size}\u00a0% ${more > 0 ? "more" : "less"} cost`;
}

export function costChange(ratio: number): string {
  const more = 100 * (ratio - 1);
  if (Math.abs(more) < 0.05) return "±0\u00a0%";
  return `${more > 0 ? "+" : "−"}${Math.abs(more) < 10 ? Math.abs(more).toFixed(1) : count(Math.round(Math.abs(more)))}\u00a0%`;
}

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

export function leavesOf(tree: Tree, cluster: number): number[] {
  return tree.nodes.flatMap((node, i) => (node.cluster === cluster ? [i] : []));
}
