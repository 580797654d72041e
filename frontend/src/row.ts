// "Explain a row": values in, the path, the cluster and the ways out.

import { h, refill, section, styled } from "./dom";
import { parsePasted } from "./paste";
import { route, waysOut, type Row } from "./route";
import type { State } from "./state";
import { answer, many, question } from "./words";

export function explainRow(state: State): HTMLElement {
  const { data } = state;
  const fields = h("div", { class: "fields" });
  const result = h("div", { class: "result", role: "status" });
  const form = h("form", { class: "row-form", autocomplete: "off" }, fields);
  const example = h("select", {});
  const pasted = h("textarea", { rows: 2, placeholder: "with or without a header line", spellcheck: "false" });
  const said = h("p", { class: "note", role: "status" });
  const inputs = new Map<number, HTMLInputElement | HTMLSelectElement>();
  const typed = new Map<number, string>();

  function asked(): number[] {
    const used = new Set(state.tree.nodes.flatMap((node) => (node.column === undefined ? [] : [node.column])));
    return [...used];
  }

  function drawFields(): void {
    for (const [c, input] of inputs) typed.set(c, input.value);
    inputs.clear();
    fields.replaceChildren(
      ...asked().map((c) => {
        const column = data.columns[c];
        const input =
          column.kind === "number"
            ? h("input", { type: "text", inputmode: "decimal", placeholder: column.fill === null ? `${column.low} to ${column.high}` : `missing counts as ${column.fill}` })
            : h("select", {}, ...column.values.map((value, v) => h("option", { value: v }, value)), h("option", { value: column.values.length }, "something else"));
        const kept = typed.get(c);
        if (kept !== undefined) input.value = kept;
        input.addEventListener("input", explain);
        inputs.set(c, input);
        return h("label", { class: "field" }, h("span", {}, column.name), input);
      }),
    );
    if (!inputs.size) fields.append(h("p", { class: "note" }, "The tree asks nothing: every row is in the one cluster."));
    drawExamples();
    explain();
  }

  function drawExamples(): void {
    const kept = example.value;
    const options = state.tree.clusters.flatMap((facts, c) =>
      facts.typical.length && asked().every((column) => column < facts.typical[0].length)
        ? [h("option", { value: c }, `a typical row of ${state.name(c)}`)]
        : [],
    );
    example.replaceChildren(h("option", { value: "" }, "choose…"), ...options);
    example.value = kept;
    if (example.selectedIndex < 0) example.value = "";
    exampleField.hidden = options.length === 0;
  }

  function set(c: number, value: string | number | null): void {
    const input = inputs.get(c);
    const column = data.columns[c];
    if (!input) return;
    if (column.kind === "number") input.value = value === null ? "" : String(value);
    else {
      const at = column.values.indexOf(String(value ?? "missing"));
      input.value = String(at < 0 ? column.values.length : at);
    }
  }

  function read(): { row: Row; wrong: string | null } {
    const row: Row = new Map();
    let wrong: string | null = null;
    for (const [c, input] of inputs) {
      const column = data.columns[c];
      const text = input.value.trim();
      const value = text === "" ? column.fill : Number(text);
      const bad = value === null || !Number.isFinite(value);
      input.setAttribute("aria-invalid", String(bad && text !== ""));
      if (!bad) row.set(c, value);
      else if (wrong === null)
        wrong = text === "" ? `Fill in ${column.name}.` : `${column.name}: “${text}” is not a number; write it like 12.5.`;
    }
    return { row, wrong };
  }

  function explain(): void {
    const { tree } = state;
    const { row, wrong } = read();
    if (wrong !== null) {
      const isEmpty = [...inputs.values()].every((input) => input instanceof HTMLSelectElement || input.value.trim() === "");
      result.replaceChildren(h("p", { class: "note" }, isEmpty ? "Fill in the values of a row, or choose a typical one." : wrong));
      state.pin(null);
      return;
    }
    const path = route(tree, row);
    const leaf = path[path.length - 1];
    const cluster = tree.nodes[leaf].cluster!;
    state.pin(path);
    refill(
      result,
      h("p", { class: "verdict" }, "This row is in ", chip(cluster), h("span", { class: "unseen verdict-label" }, ` (label ${data.clusters[cluster].label})`), "."),
      path.length > 1 && h("ol", { class: "steps" }, ...path.slice(0, -1).map((node, i) => step(node, path[i + 1], row))),
      ways(row, cluster),
    );
  }

  function step(i: number, next: number, row: Row): HTMLElement {
    const node = state.tree.nodes[i];
    const column = data.columns[node.column!];
    const value = row.get(node.column!)!;
    const now = column.kind === "number" ? `it is ${value}` : `it is ${column.values[value] ?? "something else"}`;
    return h("li", {}, `${question(node, data.columns)} `, h("strong", {}, answer(node, node.left === next)), `, ${now}`);
  }

  function ways(row: Row, from: number): HTMLElement | null {
    const found = waysOut(state.tree, data.columns, row, from);
    if (!found.length) return null;
    const line = (way: (typeof found)[number]) =>
      h("li", {}, chip(way.cluster), " ", way.changes.map((change) => change.words).join(" and "));
    const box = h("div", {}, h("h3", {}, "What would have to change for another cluster"), h("ul", { class: "ways" }, ...found.slice(0, 6).map(line)));
    if (found.length > 6)
      box.append(h("details", {}, h("summary", {}, many(found.length - 6, "further cluster")), h("ul", { class: "ways" }, ...found.slice(6).map(line))));
    return box;
  }

  function chip(cluster: number): HTMLElement {
    const { color, ink } = data.clusters[cluster];
    return styled(h("span", { class: "chip" }, state.name(cluster)), { "--cluster": color, "--ink": ink });
  }

  const exampleField = h("label", { class: "field" }, h("span", {}, "Start from"), example);
  example.addEventListener("change", () => {
    if (example.value === "") return;
    const row = state.tree.clusters[Number(example.value)].typical[0];
    for (const c of inputs.keys()) set(c, row[c]);
    explain();
  });
  pasted.addEventListener("input", () => {
    const { values, message } = parsePasted(pasted.value, data, [...inputs.keys()]);
    said.textContent = message;
    for (const [c, value] of values) set(c, value);
    if (values.size) explain();
  });
  form.addEventListener("submit", (event: Event) => event.preventDefault());
  state.on(["tree"], drawFields);
  state.on(["names"], () => {
    drawExamples();
    explain();
  });
  drawFields();

  return section(
    "row",
    "Explain a row",
    h("p", { class: "note" }, "What you type stays in this page."),
    h(
      "div",
      { class: "two" },
      h("div", {}, exampleField, form, h("label", { class: "field" }, h("span", {}, "Or paste a row from a table"), pasted), said),
      result,
    ),
  );
}
