// The clusters of a tree, a card each.

import { card } from "./card";
import { copyButton, h, section } from "./dom";
import { featureKey } from "./features";
import { onScreen } from "./paper";
import { boundsAt, leavesOf, pathTo } from "./paths";
import type { State } from "./state";
import { trend } from "./trend";
import type { Rule } from "./types";
import { many, unbroken } from "./words";

const MOST_RULES = 4;

export function cards(state: State): HTMLElement {
  const grid = h("div", { class: "cards" });
  const draw = () => grid.replaceChildren(...state.data.clusters.map((_, c) => treeCard(state, c)));
  draw();
  state.on(["tree"], draw);
  return section(
    "clusters",
    "The clusters",
    h("p", { class: "note" }, onScreen("Click on a name to change it; this browser keeps it.")),
    featureKey("cluster", "cut of its rule"),
    grid,
  );
}

function treeCard(state: State, c: number): HTMLElement {
  const { data, tree } = state;
  const rules = tree.rules[c];
  const leaves = leavesOf(tree, c);
  const nodes = leaves.flatMap((leaf) => pathTo(tree, leaf));
  const bounds = leaves.map((leaf) => boundsAt(tree, leaf));
  const tools = h(
    "div",
    { class: "tools" },
    copyButton("Copy rule", () => `${state.name(c)}: ${ruleText(rules)}`),
    h("button", { type: "button", class: "quiet", click: () => showInTree(state, nodes) }, "Show in the tree"),
  );
  return card({
    names: state.names,
    cluster: c,
    facts: tree.clusters[c],
    columns: data.columns,
    allRows: data.rows,
    rule: ruleList(rules),
    below: [tools, data.trends && trend(data.trends, c)],
    asked: new Set(bounds.flatMap((at) => [...at.keys()])),
    cuts: (i) => {
      const ends = bounds.flatMap((at) => [at.get(i)?.above, at.get(i)?.most]);
      return [...new Set(ends.filter((end): end is number => end !== undefined && Number.isFinite(end)))];
    },
    point: (isOn) => state.light(isOn ? nodes : null),
  });
}

function showInTree(state: State, nodes: number[]): void {
  state.pin(nodes);
  document.getElementById("tree")?.scrollIntoView({ block: "start" });
}

export function ruleText(rules: Rule[]): string {
  if (!rules.length) return "never";
  return rules.length === 1 ? rules[0].text : rules.map((rule) => `(${rule.text})`).join(" or ");
}

function ruleList(rules: Rule[]): HTMLElement {
  const line = (rule: Rule) => h("li", {}, ...unbroken(rule.text).split(" and ").flatMap(joined));
  if (!rules.length) return h("div", { class: "rule" }, "No row of the tree ends here.");
  const box = h("div", { class: "rule" }, h("ul", {}, ...rules.slice(0, MOST_RULES).map(line)));
  const rest = rules.slice(MOST_RULES);
  if (rest.length)
    box.append(h("details", {}, h("summary", {}, `or ${many(rest.length, "further rule")}`), h("ul", {}, ...rest.map(line))));
  return box;
}

function joined(text: string, i: number): (Node | string)[] {
  return i === 0 ? [text] : [h("span", { class: "and" }, " and "), text];
}
