// What trees and regions export in the same way: SQL, the model, statistics of the clusters.

import { t } from "../texts";
import type { ModelFile, SqlDialect } from "../types";
import type { ClusterNames } from "./cluster-names";
import type { ClusterView } from "./cluster-view";
import { textBox, textBoxHeader } from "./copy";
import { h } from "./dom";
import { csvButton, pageName, saveFile, type CsvCell } from "./download";

interface SqlOptions {
  data: { sqlDialects: Record<string, SqlDialect> };
  names: ClusterNames;
  /** SQL by dialect, with the characters U+E000, number, U+E001 for the label of a cluster. */
  sql: () => Record<string, string>;
  onChange: (listener: () => void) => void;
}

/** A box with SQL and a choice of its dialect; empty if there is no SQL. */
export function sqlBox({ data, names, sql, onChange }: SqlOptions): HTMLElement[] {
  const known = sql();
  const dialects = Object.keys(data.sqlDialects).filter((dialect) => dialect in known);
  if (!dialects.length) return [];
  const select = h("select", {}, ...dialects.map((dialect) => h("option", { value: dialect }, dialect)));
  const box = textBox(t.treeAsSql);
  const draw = () => (box.textContent = sqlText(sql(), data.sqlDialects, names, select.value));
  select.addEventListener("change", draw);
  onChange(draw);
  draw();
  const header = textBoxHeader("SQL", t.copySql, box);
  header.insertBefore(h("label", { class: "field" }, h("span", {}, t.dialect), select), header.lastChild);
  return [header, box];
}

/** SQL with names if any cluster has one, else with labels. */
function sqlText(
  sql: Record<string, string>,
  dialects: Record<string, SqlDialect>,
  names: ClusterNames,
  dialect: string,
): string {
  const template = sql[sql[dialect]] ?? sql[dialect];
  if (template === undefined) return t.sqlOfModelOnly;
  const { labels, prefix, hasBackslashes } = dialects[dialect];
  const quote = (text: string) => {
    const escaped = hasBackslashes ? text.replace(/\\/g, "\\\\").replace(/'/g, "\\'") : text.replace(/'/g, "''");
    return `${prefix}'${escaped}'`;
  };
  const literal = (cluster: number) => (names.areNamed ? quote(names.displayName(cluster)) : labels[cluster]);
  return template.replace(/\ue000(\d+)\ue001/g, (_, cluster) => literal(Number(cluster)));
}

/** A button that saves the model with the names of the clusters as labels; null if the page has no model. */
export function modelButton(model: ModelFile | null, names: ClusterNames): HTMLElement | null {
  if (!model) return null;
  const named = () => (names.areNamed ? { ...model, clusters: names.clusters.map((_, c) => names.displayName(c)) } : model);
  const save = () => saveFile(`${pageName()}-model.json`, "application/json", JSON.stringify(named(), null, 1));
  return h("button", { type: "button", class: "secondary", title: t.downloadModelNote, click: save }, t.downloadModel);
}

export function statisticsButton(view: ClusterView): HTMLElement {
  return csvButton("statistics", () => statisticsTable(view), t.downloadStatistics);
}

/** One line per cluster, column and bin or category. */
function statisticsTable({ data, statistics }: ClusterView): CsvCell[][] {
  const lines: CsvCell[][] = [["cluster", "column", "from", "to", "category", "rows", "mean"]];
  data.clusters.forEach(({ label }, c) =>
    data.columns.forEach((column, i) => {
      if (!column.shown) return;
      const { counts, means } = statistics()[c];
      counts[i].forEach((n, bin) => {
        const place: CsvCell[] =
          column.kind === "number" ? [column.edges[bin], column.edges[bin + 1], null] : [null, null, column.values[bin] ?? t.other];
        lines.push([label, column.name, ...place, n, means[i]?.[0] ?? null]);
      });
    }),
  );
  return lines;
}
