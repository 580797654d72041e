// The section from which the rules and the SQL of the selected tree can be copied.

import { textBox, textBoxHeader } from "../shared/copy";
import { h, section } from "../shared/dom";
import { ruleText } from "./rule-text";
import type { TreeState } from "./state";

export function copyRulesSection(state: TreeState): HTMLElement {
  const { data } = state;
  const known = data.trees[data.own].sql;
  const dialects = Object.keys(data.sqlDialects).filter((dialect) => dialect in known);
  const dialectSelect = h("select", {}, ...dialects.map((dialect) => h("option", { value: dialect }, dialect)));
  const rules = textBox("The rules");
  const sql = textBox("The tree as SQL");
  const draw = () => {
    rules.textContent = data.clusters
      .map((_, c) => `${state.clusterName(c)}: ${ruleText(state.tree.rules[c])}`)
      .join("\n");
    sql.textContent = sqlText(state, dialectSelect.value);
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
  return section("copy", "Export", ...parts);
}

/** The SQL of the selected tree. It has names if any cluster has one, else labels. */
function sqlText({ data, tree, names }: TreeState, dialect: string): string {
  const template = tree.sql[tree.sql[dialect]] ?? tree.sql[dialect];
  if (template === undefined) return "This report contains SQL for your model only.";
  const { labels, prefix, hasBackslashes } = data.sqlDialects[dialect];
  const quote = (text: string) => {
    const escaped = hasBackslashes ? text.replace(/\\/g, "\\\\").replace(/'/g, "\\'") : text.replace(/'/g, "''");
    return `${prefix}'${escaped}'`;
  };
  const literal = (cluster: number) => (names.areNamed ? quote(names.displayName(cluster)) : labels[cluster]);
  return template.replace(/\ue000(\d+)\ue001/g, (_, cluster) => literal(Number(cluster)));
}
