// The section from which the rules and the SQL of the selected tree can be copied.

import { textBox, textBoxHeader } from "../shared/copy";
import { h, section } from "../shared/dom";
import { ruleText } from "./rule-text";
import type { TreeState } from "./state";

export function copyRulesSection(state: TreeState): HTMLElement {
  const { data } = state;
  const dialects = Object.keys(data.trees[data.own].sql);
  const dialectSelect = h("select", {}, ...dialects.map((dialect) => h("option", { value: dialect }, dialect)));
  const rules = textBox("The rules");
  const sql = textBox("The tree as SQL");
  const draw = () => {
    rules.textContent = data.clusters
      .map((_, c) => `${state.clusterName(c)}: ${ruleText(state.tree.rules[c])}`)
      .join("\n");
    sql.textContent = state.tree.sql[dialectSelect.value] ?? "This report contains SQL for the model's own tree only.";
  };
  dialectSelect.addEventListener("change", draw);
  state.on(["tree", "names"], draw);
  draw();
  const parts = [textBoxHeader("All rules", "Copy rules", rules), rules];
  if (dialects.length) {
    const header = textBoxHeader("SQL", "Copy SQL", sql);
    header.insertBefore(h("label", { class: "field" }, h("span", {}, "dialect"), dialectSelect), header.lastChild);
    parts.push(header, sql);
  }
  return section("copy", "Copy the rules", ...parts);
}
