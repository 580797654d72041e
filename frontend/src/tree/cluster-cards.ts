// The cards of all clusters of the selected tree.

import { cardGrid, clusterCard } from "../shared/cluster-card";
import { distributionLegend } from "../shared/column-distribution";
import { copyButton } from "../shared/copy";
import { breakable, h, section } from "../shared/dom";
import { displayRule, formatCount } from "../shared/format";
import { namesToolbar } from "../shared/names-toolbar";
import { overviewTable } from "../shared/overview-table";
import type { Rule } from "../types";
import { boundsAt, leavesOf, pathTo } from "./paths";
import { ruleText } from "./rule-text";
import type { TreeState } from "./state";
import { timeSeriesChart, timeSeriesNote } from "./time-series";
import { t } from "../texts";

/** Number of rules that are shown without a click. */
const MAX_VISIBLE_RULES = 4;

export function clusterCardsSection(state: TreeState): HTMLElement {
  const grid = h("div", { class: "cards" });
  const draw = () => grid.replaceChildren(...cardGrid(state.data.clusters.map((_, c) => treeClusterCard(state, c))));
  draw();
  state.on(["tree"], draw);
  return section(
    "clusters",
    t.clustersTitle("cluster"),
    overviewTable(state.view),
    namesToolbar(state.names),
    distributionLegend("cluster", t.thresholdInRules, state.data.rowsAre),
    ...(state.data.trends ? [timeSeriesNote(state.data.trends)] : []),
    grid,
  );
}

function treeClusterCard(state: TreeState, cluster: number): HTMLElement {
  const { data, tree } = state;
  const rules = tree.rules[cluster];
  const leaves = leavesOf(tree, cluster);
  const pathNodes = leaves.flatMap((leaf) => pathTo(tree, leaf));
  const leafBounds = leaves.map((leaf) => boundsAt(tree, leaf));
  const buttons = h(
    "div",
    { class: "toolbar" },
    copyButton(t.copyRule, () => `${state.clusterName(cluster)}: ${ruleText(rules)}`),
    h("button", { type: "button", class: "secondary", click: () => showInTree(state, pathNodes) }, t.showInTree),
  );
  return clusterCard({
    names: state.names,
    cluster,
    statistics: tree.clusters[cluster],
    columns: data.columns,
    totalRows: data.rows,
    rowsAre: data.rowsAre,
    rule: ruleList(rules),
    belowRule: [buttons, data.trends && timeSeriesChart(data.trends, cluster)],
    ruleColumns: new Set(leafBounds.flatMap((bounds) => [...bounds.keys()])),
    thresholds: (column) => {
      const values = leafBounds.flatMap((bounds) => [bounds.get(column)?.above, bounds.get(column)?.atMost]);
      return [...new Set(values.filter((value): value is number => value !== undefined && Number.isFinite(value)))];
    },
    onHover: (isHovered) => state.highlight(isHovered ? pathNodes : null),
  });
}

function showInTree(state: TreeState, nodes: number[]): void {
  state.pin(nodes);
  document.getElementById("tree")?.scrollIntoView({ block: "start" });
}

function ruleList(rules: Rule[]): HTMLElement {
  if (!rules.length) return h("div", { class: "rule" }, t.noLeaf);
  const item = (rule: Rule) => h("li", { "data-or": t.or.trimStart() }, ...conditionParts(rule));
  const visible = rules.slice(0, MAX_VISIBLE_RULES);
  const hidden = rules.slice(MAX_VISIBLE_RULES);
  const box = h("div", { class: "rule" }, h("ul", {}, ...visible.map(item)));
  if (hidden.length) {
    const summary = h("summary", {}, t.moreRules(hidden.length, formatCount(hidden.length)));
    box.append(h("details", {}, summary, h("ul", {}, ...hidden.map(item))));
  }
  return box;
}

/** The conditions of a rule, joined by an "and" with its own style. */
function conditionParts(rule: Rule): (Node | string)[] {
  return displayRule(rule.text)
    .split(t.and)
    .flatMap((condition, i) => (i === 0 ? [breakable(condition)] : [h("span", { class: "and" }, t.and), breakable(condition)]));
}
