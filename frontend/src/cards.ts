// A card for each cluster: its name, its rule, what sets it apart, and typical rows.

import { copyButton, h, s, section, styled } from "./dom";
import type { State } from "./state";
import type { CategoryColumn, NumberColumn } from "./types";
import { boundsAt, exact, leavesOf, many, number, pathTo, percent } from "./words";

const FIRST = 4;
const MOST_RULES = 4;

export function cards(state: State): HTMLElement {
  const grid = h("div", { class: "cards" });
  const draw = () => grid.replaceChildren(...state.data.clusters.map((_, c) => card(state, c)));
  draw();
  state.on(["tree"], draw);
  return section(
    "clusters",
    "The clusters",
    h(
      "p",
      { class: "note" },
      "Coloured: the rows of the cluster. Grey outline: all rows. Names can be changed; this browser keeps them.",
    ),
    grid,
  );
}

function card(state: State, c: number): HTMLElement {
  const { data, tree } = state;
  const cluster = data.clusters[c];
  const facts = tree.clusters[c];
  const rules = tree.rules[c];
  const nodes = leavesOf(tree, c).flatMap((leaf) => pathTo(tree, leaf));
  const name = h("input", {
    class: "name",
    type: "text",
    value: state.givenName(c),
    placeholder: `Cluster ${cluster.label}`,
    maxlength: 80,
    "aria-label": `Name of cluster ${cluster.label}`,
    autocomplete: "off",
    spellcheck: "false",
  });
  name.addEventListener("input", () => state.rename(c, name.value));
  const share = facts.rows / Math.max(data.rows, 1);
  const shown = [...order(state, c)];
  const element = h(
    "article",
    {
      class: "card",
      id: `card-${c}`,
      tabindex: -1,
      "aria-label": `Cluster ${cluster.label}`,
      mouseenter: () => state.light(nodes),
      mouseleave: () => state.light(null),
      focusin: () => state.light(nodes),
      focusout: () => state.light(null),
    },
    h("div", { class: "card-head" }, h("span", { class: "swatch" }, cluster.label), name),
    h("p", { class: "size" }, h("strong", {}, many(facts.rows, "row")), ` · ${percent(share)} of all`, sizeBar(share)),
    ruleList(rules),
    h(
      "div",
      { class: "tools" },
      copyButton("Copy rule", () => `${state.name(c)}: ${ruleText(rules)}`),
      h("button", { type: "button", class: "quiet", click: () => showInTree(state, nodes) }, "Show in the tree"),
    ),
    facts.rows > 0 && h("h3", {}, "What sets it apart"),
    facts.rows > 0 && h("div", { class: "features" }, ...shown.slice(0, FIRST).map((i) => feature(state, c, i))),
    facts.rows > 0 &&
      shown.length > FIRST &&
      h(
        "details",
        {},
        h("summary", {}, many(shown.length - FIRST, "more column")),
        h("div", { class: "features" }, ...shown.slice(FIRST).map((i) => feature(state, c, i))),
      ),
    facts.typical.length > 0 && typical(state, c, shown),
  );
  return styled(element, { "--cluster": cluster.color, "--ink": cluster.ink });
}

function showInTree(state: State, nodes: number[]): void {
  state.pin(nodes);
  document.getElementById("tree")?.scrollIntoView({ block: "start" });
}

function sizeBar(share: number): HTMLElement {
  return h("span", { class: "bar", "aria-hidden": "true" }, styled(h("i", {}), { width: `${100 * share}%` }));
}

export function ruleText(rules: { text: string }[]): string {
  if (!rules.length) return "never";
  return rules.length === 1 ? rules[0].text : rules.map((rule) => `(${rule.text})`).join(" or ");
}

function ruleList(rules: { text: string; rows: number }[]): HTMLElement {
  const line = (rule: { text: string }) => h("li", {}, ...rule.text.split(" and ").flatMap(joined));
  const box = h("div", { class: "rule" });
  if (!rules.length) return h("div", { class: "rule" }, "No row of the tree ends here.");
  box.append(h("ul", {}, ...rules.slice(0, MOST_RULES).map(line)));
  if (rules.length > MOST_RULES) {
    const rest = rules.slice(MOST_RULES);
    box.append(h("details", {}, h("summary", {}, `or ${many(rest.length, "further rule")}`), h("ul", {}, ...rest.map(line))));
  }
  return box;
}

function joined(text: string, i: number): (Node | string)[] {
  return i === 0 ? [text] : [h("span", { class: "and" }, " and "), text];
}

/** Columns of a card: those of its rule first, then those that differ most. */
function* order(state: State, c: number): Generator<number> {
  const { data, tree } = state;
  const facts = tree.clusters[c];
  const size = (i: number) => Math.abs(facts.apart[i] ?? 0);
  const inRule = new Set(leavesOf(tree, c).flatMap((leaf) => [...boundsAt(tree, leaf).keys()]));
  const all = data.columns.flatMap((column, i) => (column.shown && i < facts.apart.length ? [i] : []));
  const asked = all.filter((i) => inRule.has(i)).sort((a, b) => size(b) - size(a));
  const rest = all.filter((i) => !inRule.has(i) && size(i) > 0.05).sort((a, b) => size(b) - size(a));
  // A rule of many columns would leave no room for what it does not say.
  yield* asked.slice(0, FIRST - 1);
  yield* [...asked.slice(FIRST - 1), ...rest].sort((a, b) => size(b) - size(a));
}

function feature(state: State, c: number, i: number): HTMLElement {
  const { data, tree } = state;
  const column = data.columns[i];
  const facts = tree.clusters[c];
  const chart =
    column.kind === "number"
      ? histogram(column, facts.counts[i], cutsOf(state, c, i))
      : categories(column, facts.counts[i], data.rows, facts.rows);
  const words =
    column.kind === "number" ? numberWords(facts.apart[i], facts.means[i]) : categoryWords(column, facts.counts[i], facts.rows);
  return h(
    "div",
    { class: "feature" },
    h("div", { class: "feature-head" }, h("span", { class: "feature-name", title: column.name }, column.name), h("span", { class: "feature-words" }, words)),
    chart,
  );
}

function numberWords(apart: number | null, means: [number | null, number | null] | null): string {
  if (apart === null || !means) return "";
  const size = Math.abs(apart);
  const degree = size < 0.2 ? "about the same" : `${size < 0.6 ? "a little " : size < 1.5 ? "" : "much "}${apart > 0 ? "higher" : "lower"}`;
  return `${degree}: ${number(means[0])} on average, others ${number(means[1])}`;
}

function categoryWords(column: CategoryColumn, counts: number[], rows: number): string {
  const all = column.all.reduce((a, b) => a + b, 0);
  let best = -1;
  let most = 0;
  counts.forEach((n, v) => {
    if (v >= column.values.length || !rows) return;
    const here = n / rows;
    const there = all > rows ? (column.all[v] - n) / (all - rows) : 0;
    if (Math.abs(here - there) > most) [best, most] = [v, Math.abs(here - there)];
  });
  if (best < 0) return "as everywhere";
  const here = counts[best] / rows;
  const there = all > rows ? (column.all[best] - counts[best]) / (all - rows) : 0;
  const lift = there > 0 && here > there ? `, ${Number((here / there).toPrecision(2))} times as often` : "";
  return `${column.values[best]}: ${percent(here)} here, others ${percent(there)}${lift}`;
}

function cutsOf(state: State, c: number, i: number): number[] {
  const cuts = new Set<number>();
  for (const leaf of leavesOf(state.tree, c)) {
    const bounds = boundsAt(state.tree, leaf).get(i);
    if (bounds) [bounds.above, bounds.most].filter(Number.isFinite).forEach((cut) => cuts.add(cut));
  }
  return [...cuts];
}

const WIDTH = 240;
const HEIGHT = 46;

function histogram(column: NumberColumn, counts: number[], cuts: number[]): Element {
  const sum = (values: number[]) => Math.max(values.reduce((a, b) => a + b, 0), 1);
  const here = counts.map((n) => n / sum(counts));
  const all = column.all.map((n) => n / sum(column.all));
  const top = Math.max(...here, ...all, 1e-9);
  const step = WIDTH / counts.length;
  const y = (share: number) => HEIGHT - (HEIGHT - 2) * (share / top);
  const bars = here.flatMap((share, b) => (share > 0 ? [`M${b * step} ${HEIGHT}V${y(share)}h${step}V${HEIGHT}Z`] : []));
  const outline = all.map((share, b) => `${b ? "L" : "M"}${b * step} ${y(share)}H${(b + 1) * step}`).join("");
  const low = column.edges[0];
  const high = column.edges[column.edges.length - 1];
  const at = (value: number) => Math.min(Math.max(((value - low) / (high - low)) * WIDTH, 1), WIDTH - 1);
  const picture = s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", class: "histogram", "aria-hidden": "true" },
    s("path", { d: bars.join(""), class: "here" }),
    s("path", { d: outline, class: "all" }),
    ...cuts.map((cut) => s("path", { d: `M${at(cut)} 0V${HEIGHT}`, class: "cut" })),
  );
  return h(
    "div",
    { class: "chart" },
    picture,
    h("div", { class: "ends" }, h("span", {}, number(column.whole && counts.length < 24 ? Math.ceil(low) : low)), h("span", {}, number(column.whole && counts.length < 24 ? Math.floor(high) : high))),
  );
}

function categories(column: CategoryColumn, counts: number[], allRows: number, rows: number): Element {
  const label = (v: number) => (v < column.values.length ? column.values[v] : `${many(column.others, "other")}`);
  const shown = counts
    .map((_, v) => v)
    .sort((a, b) => Math.max(counts[b] / Math.max(rows, 1), column.all[b] / allRows) - Math.max(counts[a] / Math.max(rows, 1), column.all[a] / allRows))
    .slice(0, 5);
  return h(
    "div",
    { class: "chart categories" },
    ...shown.flatMap((v) => {
      const here = counts[v] / Math.max(rows, 1);
      const all = column.all[v] / Math.max(allRows, 1);
      return [
        h("span", { class: "category", title: label(v) }, label(v)),
        h(
          "span",
          { class: "track", role: "img", "aria-label": `${percent(here)} here, ${percent(all)} of all rows` },
          styled(h("i", { class: "here" }), { width: `${100 * here}%` }),
          styled(h("i", { class: "mark" }), { left: `calc(${100 * all}% - 1px)` }),
        ),
      ];
    }),
  );
}

function typical(state: State, c: number, shown: number[]): HTMLElement {
  const { data, tree } = state;
  const columns = shown.slice(0, 8);
  const cell = (value: number | string | null) =>
    typeof value === "number" ? h("td", { class: "number" }, exact(value)) : h("td", {}, value ?? "missing");
  return h(
    "details",
    {},
    h("summary", {}, "Typical rows"),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": `Typical rows of cluster ${data.clusters[c].label}` },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...columns.map((i) => h("th", { scope: "col" }, data.columns[i].name)))),
        h("tbody", {}, ...tree.clusters[c].typical.map((row) => h("tr", {}, ...columns.map((i) => cell(row[i]))))),
      ),
    ),
  );
}
