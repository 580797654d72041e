// The card of one cluster, whatever the model: name, size, rule, what sets it apart, typical rows.

import { color, ink } from "./colors";
import { h, styled } from "./dom";
import { feature } from "./features";
import type { Names } from "./names";
import type { ClusterFacts, Column } from "./types";
import { exact, many, percent } from "./words";

const FIRST = 4;

export interface CardOf {
  names: Names;
  cluster: number;
  facts: ClusterFacts;
  columns: Column[];
  allRows: number;
  /** Its rule, as shown. */
  rule: HTMLElement;
  /** Below the rule: buttons, and a picture if there is one. */
  below: (HTMLElement | null)[];
  /** Columns that its rule is about. */
  asked: Set<number>;
  /** Where its rule cuts a column. */
  cuts: (column: number) => number[];
  /** Called when it is pointed at or in focus, and when no longer. */
  point: (isOn: boolean) => void;
}

export function card(of: CardOf): HTMLElement {
  const { names, cluster: c, facts, columns } = of;
  const { label } = names.clusters[c];
  const shown = order(of);
  const features = (part: number[]) =>
    h("div", { class: "features" }, ...part.map((i) => feature(columns[i], facts, i, of.allRows, of.cuts(i))));
  const element = h(
    "article",
    {
      class: "card",
      id: `card-${c}`,
      tabindex: -1,
      "aria-label": names.plain(c),
      mouseenter: () => of.point(true),
      mouseleave: () => of.point(false),
      focusin: () => of.point(true),
      focusout: () => of.point(false),
    },
    h("div", { class: "card-head" }, h("span", { class: "swatch" }, label), nameField(names, c)),
    size(facts.rows, of.allRows),
    of.rule,
    ...of.below,
    facts.rows > 0 && shown.length > 0 && h("h3", {}, "What sets it apart"),
    facts.rows > 0 && features(shown.slice(0, FIRST)),
    facts.rows > 0 &&
      shown.length > FIRST &&
      h("details", { class: "more" }, h("summary", {}, many(shown.length - FIRST, "more column")), features(shown.slice(FIRST))),
    facts.typical.length > 0 && typical(of, shown.slice(0, 8)),
  );
  return styled(element, { "--cluster": color(c), "--ink": ink(c) });
}

function nameField(names: Names, c: number): HTMLElement {
  const name = h("input", {
    class: "name",
    type: "text",
    value: names.givenTo(c),
    placeholder: names.plain(c),
    maxlength: 80,
    "aria-label": `Name of ${names.noun} ${names.clusters[c].label}`,
    autocomplete: "off",
    spellcheck: "false",
  });
  name.addEventListener("input", () => names.rename(c, name.value));
  return name;
}

function size(rows: number, allRows: number): HTMLElement {
  const share = rows / Math.max(allRows, 1);
  const bar = h("span", { class: "bar", "aria-hidden": "true" }, styled(h("i", {}), { width: `${100 * share}%` }));
  return h("p", { class: "size" }, h("strong", {}, many(rows, "row")), ` · ${percent(share)} of all`, bar);
}

/** Columns of the rule first, then those that differ most. */
function order({ facts, columns, asked }: CardOf): number[] {
  const size = (i: number) => Math.abs(facts.apart[i] ?? 0);
  const bySize = (a: number, b: number) => size(b) - size(a);
  const all = columns.flatMap((column, i) => (column.shown && i < facts.apart.length ? [i] : []));
  const ofRule = all.filter((i) => asked.has(i)).sort(bySize);
  const rest = all.filter((i) => !asked.has(i) && size(i) > 0.05);
  // A rule of many columns would leave no room for what it does not say.
  return [...ofRule.slice(0, FIRST - 1), ...[...ofRule.slice(FIRST - 1), ...rest].sort(bySize)];
}

function typical({ names, cluster, facts, columns }: CardOf, shown: number[]): HTMLElement {
  const cell = (value: number | string | null) =>
    typeof value === "number" ? h("td", { class: "number" }, exact(value)) : h("td", {}, value ?? "missing");
  const label = `Typical rows of ${names.noun} ${names.clusters[cluster].label}`;
  return h(
    "details",
    {},
    h("summary", {}, "Typical rows"),
    h(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...shown.map((i) => h("th", { scope: "col" }, columns[i].name)))),
        h("tbody", {}, ...facts.typical.map((row) => h("tr", {}, ...shown.map((i) => cell(row[i]))))),
      ),
    ),
  );
}
