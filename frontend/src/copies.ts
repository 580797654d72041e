// The rules and the SQL to take along.

import { copyButton, h, section } from "./dom";
import { ruleText } from "./cards";
import type { State } from "./state";

export function copies(state: State): HTMLElement {
  const { data } = state;
  const dialects = Object.keys(data.trees[data.own].sql);
  const choice = h("select", {}, ...dialects.map((dialect) => h("option", { value: dialect }, dialect)));
  const rules = h("pre", { tabindex: 0, role: "region", "aria-label": "The rules" });
  const sql = h("pre", { tabindex: 0, role: "region", "aria-label": "The tree as SQL" });
  const draw = () => {
    rules.textContent = data.clusters.map((_, c) => `${state.name(c)}: ${ruleText(state.tree.rules[c])}`).join("\n");
    sql.textContent = state.tree.sql[choice.value] ?? "";
  };
  choice.addEventListener("change", draw);
  state.on(["tree", "names"], draw);
  draw();
  return section(
    "take",
    "Take it along",
    h("div", { class: "copy-head" }, h("h3", {}, "All rules"), copyButton("Copy rules", () => rules.textContent ?? "")),
    rules,
    dialects.length > 0 &&
      h(
        "div",
        { class: "copy-head" },
        h("h3", {}, "As SQL"),
        h("label", { class: "field" }, h("span", {}, "for"), choice),
        copyButton("Copy SQL", () => sql.textContent ?? ""),
      ),
    dialects.length > 0 && sql,
  );
}
