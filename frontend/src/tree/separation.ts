// How the tree separates two clusters.

import { t } from "../texts";
import { questionText } from "./node-text";
import { childrenOf, leavesOf, pathTo } from "./paths";
import type { TreeState } from "./state";

/** Number of questions that are listed if clusters have several leaves. */
const MAX_QUESTIONS = 3;

/** The question of the tree at which two clusters part, or some of them if they have several leaves. */
export function separationText(state: TreeState, a: number, b: number): string {
  const { tree, data } = state;
  const splits = new Map<number, [isFirstYes: boolean, pairs: number]>();
  for (const one of leavesOf(tree, a)) {
    const path = pathTo(tree, one);
    for (const other of leavesOf(tree, b)) {
      const otherPath = pathTo(tree, other);
      const at = path.findIndex((node, i) => node !== otherPath[i]);
      if (at < 1) continue;
      const split = path[at - 1];
      const isYes = childrenOf(tree.nodes[split])[0] === path[at];
      splits.set(split, [isYes, (splits.get(split)?.[1] ?? 0) + 1]);
    }
  }
  if (!splits.size) return "";
  const names = [a, b].map((cluster) => state.names.nameInSentence(cluster));
  if (splits.size === 1) {
    const [[split, [isFirstYes]]] = splits;
    const [yes, no] = isFirstYes ? names : [names[1], names[0]];
    return t.separatedBy(questionText(tree.nodes[split], data.columns), yes, no);
  }
  const order = [...splits].sort((x, y) => y[1][1] - x[1][1]).slice(0, MAX_QUESTIONS);
  return t.separatedBySeveral(order.map(([split]) => t.quoted(questionText(tree.nodes[split], data.columns))).join(", "));
}
