// The rules and the SQL to take along.

import { ruleText } from "./cards";
import { copyButton, h, section } from "./dom";
import type { State } from "./state";

export function copies(state: State): HTMLElement {
  const { data } = state;
  const dialects = Object.keys(data.trees[data.own].sql);
  const choice = h("select", {}, ...dialects.map((dialect) => h("option", { value: dialect }, dialect)));
  const rules = textBox("The rules");
  const sql = textBox("The tree as SQL");
  const draw = () => {
    rules.textContent = data.clusters.map((_, c) => `${state.name(c)}: ${ruleText(state.tree.rules[c])}`).join("\n");
    sql.textContent = state.tree.sql[choice.value] ?? "This page has the SQL of the model's own tree only.";
  };
  choice.addEventListener("change", draw);
  state.on(["tree", "names"], draw);
  draw();
  const parts = [copyHead("All rules", "Copy rules", rules), rules];
  if (dialects.length) {
    const head = copyHead("As SQL", "Copy SQL", sql);
    head.insertBefore(h("label", { class: "field" }, h("span", {}, "for"), choice), head.lastChild);
    parts.push(head, sql);
  }
  return section("take", "Take it along", ...parts);
}

export function textBox(label: string): HTMLElement {
  return h("pre", { tabindex: 0, role: "region", "aria-label": label });
}

export function copyHead(title: string, button: string, box: HTMLElement): HTMLElement {
  return h("div", { class: "copy-head" }, h("h3", {}, title), copyButton(button, () => box.textContent ?? ""));
}
