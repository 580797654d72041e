// The section from which the rules and the SQL of the selected tree can be copied.

import { textBox, textBoxHeader } from "../shared/copy";
import { h, section } from "../shared/dom";
import { csvButton, type CsvCell } from "../shared/download";
import { modelButton, sqlBox, statisticsButton } from "../shared/exports";
import { ruleText } from "./rule-text";
import type { TreeState } from "./state";
import { t } from "../texts";

export function copyRulesSection(state: TreeState): HTMLElement {
  const { data, names } = state;
  const rules = textBox(t.theRules);
  const draw = () => {
    rules.textContent = data.clusters
      .map((_, c) => `${state.clusterName(c)}: ${ruleText(state.tree.rules[c])}`)
      .join("\n");
  };
  const onChange = (listener: () => void) => state.on(["tree", "names"], listener);
  onChange(draw);
  draw();
  return section(
    "copy",
    t.exportTitle,
    textBoxHeader(t.allRules, t.copyRules, rules),
    rules,
    ...sqlBox({ data, names, sql: () => state.tree.sql, onChange }),
    h("h3", { class: "screen-only" }, t.downloads),
    h(
      "div",
      { class: "toolbar" },
      modelButton(data.model, names),
      csvButton("rules", () => rulesTable(state), t.downloadRules),
      statisticsButton(state.view),
    ),
  );
}

function rulesTable({ data, tree, names }: TreeState): CsvCell[][] {
  const rows = data.clusters.map((cluster, c) => [cluster.label, names.customName(c), ruleText(tree.rules[c]), tree.clusters[c].rows]);
  return [["cluster", "name", "rule", "rows"], ...rows];
}
