// The section from which the rules and the SQL of the selected tree can be copied.

import { textBox, textBoxHeader } from "../shared/copy";
import { h, section } from "../shared/dom";
import { csvButton, pageName, saveFile, type CsvCell } from "../shared/download";
import { ruleText } from "./rule-text";
import type { TreeState } from "./state";
import { t } from "../texts";

export function copyRulesSection(state: TreeState): HTMLElement {
  const { data } = state;
  const known = data.trees[data.own].sql;
  const dialects = Object.keys(data.sqlDialects).filter((dialect) => dialect in known);
  const dialectSelect = h("select", {}, ...dialects.map((dialect) => h("option", { value: dialect }, dialect)));
  const rules = textBox(t.theRules);
  const sql = textBox(t.treeAsSql);
  const draw = () => {
    rules.textContent = data.clusters
      .map((_, c) => `${state.clusterName(c)}: ${ruleText(state.tree.rules[c])}`)
      .join("\n");
    sql.textContent = sqlText(state, dialectSelect.value);
  };
  dialectSelect.addEventListener("change", draw);
  state.on(["tree", "names"], draw);
  draw();
  const parts = [textBoxHeader(t.allRules, t.copyRules, rules), rules];
  if (dialects.length) {
    const header = textBoxHeader("SQL", t.copySql, sql);
    header.insertBefore(h("label", { class: "field" }, h("span", {}, t.dialect), dialectSelect), header.lastChild);
    parts.push(header, sql);
  }
  parts.push(h("h3", {}, t.downloads), downloads(state));
  return section("copy", t.exportTitle, ...parts);
}

function downloads(state: TreeState): HTMLElement {
  const { data } = state;
  const saveModel = () => saveFile(`${pageName()}-model.json`, "application/json", JSON.stringify(modelWithNames(state), null, 1));
  const model = h("button", { type: "button", class: "secondary", title: t.downloadModelNote, click: saveModel }, t.downloadModel);
  return h(
    "div",
    { class: "toolbar" },
    data.model && model,
    csvButton("rules", () => rulesTable(state), t.downloadRules),
    csvButton("statistics", () => statisticsTable(state), t.downloadStatistics),
  );
}

/** The model with the names of the clusters as labels, if any cluster has a name. */
function modelWithNames({ data, names }: TreeState): unknown {
  if (!data.model || !names.areNamed) return data.model;
  return { ...data.model, clusters: data.clusters.map((_, c) => names.displayName(c)) };
}

function rulesTable({ data, tree, names }: TreeState): CsvCell[][] {
  const rows = data.clusters.map((cluster, c) => [cluster.label, names.customName(c), ruleText(tree.rules[c]), tree.clusters[c].rows]);
  return [["cluster", "name", "rule", "rows"], ...rows];
}

/** One line per cluster, column and bin or category. */
function statisticsTable({ data, tree }: TreeState): CsvCell[][] {
  const lines: CsvCell[][] = [["cluster", "column", "from", "to", "category", "rows", "mean"]];
  data.clusters.forEach(({ label }, c) =>
    data.columns.forEach((column, i) => {
      if (!column.shown) return;
      const { counts, means } = tree.clusters[c];
      counts[i].forEach((n, bin) => {
        const place: CsvCell[] =
          column.kind === "number" ? [column.edges[bin], column.edges[bin + 1], null] : [null, null, column.values[bin] ?? t.other];
        lines.push([label, column.name, ...place, n, means[i]?.[0] ?? null]);
      });
    }),
  );
  return lines;
}

/** The SQL of the selected tree. It has names if any cluster has one, else labels. */
function sqlText({ data, tree, names }: TreeState, dialect: string): string {
  const template = tree.sql[tree.sql[dialect]] ?? tree.sql[dialect];
  if (template === undefined) return t.sqlOfModelOnly;
  const { labels, prefix, hasBackslashes } = data.sqlDialects[dialect];
  const quote = (text: string) => {
    const escaped = hasBackslashes ? text.replace(/\\/g, "\\\\").replace(/'/g, "\\'") : text.replace(/'/g, "''");
    return `${prefix}'${escaped}'`;
  };
  const literal = (cluster: number) => (names.areNamed ? quote(names.displayName(cluster)) : labels[cluster]);
  return template.replace(/\ue000(\d+)\ue001/g, (_, cluster) => literal(Number(cluster)));
}
