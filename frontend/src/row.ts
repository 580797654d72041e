// "Explain a row": values in, the path, the cluster and the ways out.

import { verdict, waysOutList } from "./chip";
import { h, refill, section } from "./dom";
import { RowForm } from "./form";
import { answer, question } from "./questions";
import { route, waysOut } from "./route";
import type { State } from "./state";
import type { Row } from "./types";

export const ROW_NOTE = "What you type stays in this page.";
export const ROW_HINT = "Fill in the values of a row, or choose a typical one.";

export function explainRow(state: State): HTMLElement {
  const { data } = state;
  const result = h("div", { class: "result", role: "status" });
  const form = new RowForm(data, explain);

  function ask(): void {
    const nodes = state.tree.nodes;
    form.ask([...new Set(nodes.flatMap((node) => (node.column === undefined ? [] : [node.column])))]);
    offer();
    explain();
  }

  function offer(): void {
    const { clusters } = state.tree;
    form.offer(
      clusters.flatMap(({ typical }, c) =>
        typical.length ? [{ label: `a typical row of ${state.name(c)}`, values: typical[0] }] : [],
      ),
    );
  }

  function explain(): void {
    const { tree } = state;
    const { row, wrong } = form.read();
    if (wrong !== null) {
      result.replaceChildren(h("p", { class: "note" }, wrong || ROW_HINT));
      state.pin(null);
      return;
    }
    const path = route(tree, row);
    const cluster = tree.nodes[path[path.length - 1]].cluster!;
    state.pin(path.length > 1 ? path : null);
    refill(
      result,
      verdict(state.names, cluster),
      path.length > 1
        ? h("ol", { class: "steps" }, ...path.slice(0, -1).map((node, i) => step(node, path[i + 1], row)))
        : h("p", { class: "note" }, "The tree asks nothing: every row is in the one cluster."),
      waysOutList(state.names, waysOut(tree, data.columns, row, cluster)),
    );
  }

  function step(i: number, next: number, row: Row): HTMLElement {
    const node = state.tree.nodes[i];
    const column = data.columns[node.column!];
    const value = row.get(node.column!)!;
    const now = column.kind === "number" ? `it is ${value}` : `it is ${column.values[value] ?? "something else"}`;
    return h("li", {}, `${question(node, data.columns)} `, h("strong", {}, answer(node, node.left === next)), `, ${now}`);
  }

  state.on(["tree"], ask);
  state.on(["names"], () => {
    offer();
    explain();
  });
  ask();
  return section(
    "row",
    "Explain a row",
    h("p", { class: "note" }, ROW_NOTE),
    h("div", { class: "two" }, form.element, result),
  );
}
