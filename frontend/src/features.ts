// A column in a card: its distribution in the cluster against all rows, and the difference in words.

import { h, s, styled } from "./dom";
import type { CategoryColumn, ClusterFacts, Column, NumberColumn } from "./types";
import { many, number, percent } from "./words";

const WIDTH = 240;
const HEIGHT = 46;

/** `cuts` are where the rules of the cluster cut the column. */
export function feature(column: Column, facts: ClusterFacts, i: number, allRows: number, cuts: number[]): HTMLElement {
  const counts = facts.counts[i];
  const chart =
    column.kind === "number" ? histogram(column, counts, cuts) : categories(column, counts, allRows, facts.rows);
  const words =
    column.kind === "number" ? numberWords(column, facts.apart[i], facts.means[i]) : categoryWords(column, counts, facts.rows);
  const name = h("span", { class: "feature-name", title: column.name }, column.name);
  return h(
    "div",
    { class: "feature" },
    h("div", { class: "feature-head" }, name, h("span", { class: "feature-words" }, words)),
    chart,
  );
}

/** What the pictures in the cards mean. */
export function featureKey(noun: string, cut: string): HTMLElement {
  const picture = (...parts: SVGElement[]) =>
    s("svg", { viewBox: "0 0 26 16", width: 26, height: 16, "aria-hidden": "true" }, ...parts);
  return h(
    "div",
    { class: "feature-key" },
    h("span", {}, picture(s("path", { class: "key-here", d: "M2 16V7h7V2h8v14Z" })), `rows of the ${noun}`),
    h("span", {}, picture(s("path", { class: "key-all", d: "M2 12h7V5h8v5h7" })), "all rows"),
    h("span", {}, picture(s("path", { class: "cut", d: "M13 0V16" })), cut),
  );
}

function numberWords(column: NumberColumn, apart: number | null, means: [number | null, number | null] | null): string {
  if (apart === null || !means) return "";
  const [here, others] = means;
  // A mean of noughts and ones is a share.
  if (column.whole && column.low === 0 && column.high === 1 && here !== null && others !== null)
    return `${percent(here)} here, others ${percent(others)}`;
  const size = Math.abs(apart);
  const much = size < 0.6 ? "a little " : size < 1.5 ? "" : "much ";
  const degree = size < 0.2 ? "about the same" : `${much}${apart > 0 ? "higher" : "lower"}`;
  return `${degree}: ${number(here)} on average, others ${number(others)}`;
}

function categoryWords(column: CategoryColumn, counts: number[], rows: number): string {
  const all = column.all.reduce((a, b) => a + b, 0);
  const here = (v: number) => (rows ? counts[v] / rows : 0);
  const there = (v: number) => (all > rows ? (column.all[v] - counts[v]) / (all - rows) : 0);
  let best = -1;
  column.values.forEach((_, v) => {
    if (here(v) - there(v) > (best < 0 ? 0 : here(best) - there(best))) best = v;
  });
  if (best < 0) return "as everywhere";
  const isLifted = there(best) > 0 && here(best) > 1.5 * there(best);
  const lift = isLifted ? `, ${Number((here(best) / there(best)).toPrecision(2))} times as often` : "";
  return `${column.values[best]}: ${percent(here(best))} here, others ${percent(there(best))}${lift}`;
}

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
  const isEvery = column.whole && counts.length < 24;
  const ends = isEvery ? [Math.ceil(low), Math.floor(high)] : [low, high];
  return h("div", { class: "chart" }, picture, h("div", { class: "ends" }, ...ends.map((end) => h("span", {}, number(end)))));
}

function categories(column: CategoryColumn, counts: number[], allRows: number, rows: number): Element {
  const label = (v: number) => (v < column.values.length ? column.values[v] : many(column.others, "other"));
  const here = (v: number) => counts[v] / Math.max(rows, 1);
  const all = (v: number) => column.all[v] / Math.max(allRows, 1);
  const shown = counts
    .map((_, v) => v)
    .sort((a, b) => Math.max(here(b), all(b)) - Math.max(here(a), all(a)))
    .slice(0, 5);
  return h(
    "div",
    { class: "chart categories" },
    ...shown.flatMap((v) => [
      h("span", { class: "category", title: label(v) }, label(v)),
      h(
        "span",
        { class: "track", role: "img", "aria-label": `${percent(here(v))} here, ${percent(all(v))} of all rows` },
        styled(h("i", { class: "here" }), { width: `${100 * here(v)}%` }),
        styled(h("i", { class: "mark" }), { left: `calc(${100 * all(v)}% - 1px)` }),
      ),
    ]),
  );
}
