// The top: what was found, in words, and how large the clusters are.

import { color, ink } from "./colors";
import { h, styled } from "./dom";
import type { Names } from "./names";
import type { State } from "./state";
import type { Payload, Tree } from "./types";
import { costWords, count, many, percent } from "./words";

export function treeTop(state: State): HTMLElement {
  const { data } = state;
  // Room for the longest, so that the slider does not move under the pointer.
  const leads = data.trees.map((tree) => leadWords(data, tree));
  const lead = h("p", { class: "lead" }, ...leads.map((words) => h("span", {}, words)));
  const sizes = h("div", { class: "sizes" });
  const draw = () => {
    lead.querySelectorAll("span").forEach((words, i) => words.classList.toggle("away", i !== state.treeIndex));
    drawSizes(sizes, state.names, state.tree.clusters.map(({ rows }) => rows));
  };
  draw();
  state.on(["tree", "names"], draw);
  const headline = `${many(data.clusters.length, "cluster")} of ${rowsOf(data.rows, data.rowsAre)}`;
  return header(data.title, headline, lead, sizes);
}

export function header(title: string | null, headline: string, lead: HTMLElement, sizes: HTMLElement): HTMLElement {
  return h(
    "header",
    { class: "top" },
    h("p", { class: "kicker" }, title ?? "Clusters, explained"),
    h("h1", {}, headline),
    lead,
    sizes,
  );
}

/** "12,430 customers", or rows where nobody said what they are. */
export function rowsOf(n: number, rowsAre: string): string {
  return n === 1 ? "1 row" : `${count(n)} ${rowsAre}`;
}

function leadWords(data: Payload, tree: Tree): string {
  const { measures } = tree;
  if (measures.leaves === 1) return `There is nothing to ask: all ${data.rowsAre} are in one cluster.`;
  const questions = many(measures.leaves - 1, "question");
  let words = `A tree of ${questions} tells them apart. `;
  if (measures.agreement !== null) {
    const who = measures.agreement === 1 ? `all ${data.rowsAre}` : `${percent(measures.agreement)} of the ${data.rowsAre}`;
    const price = measures.costRatio === null ? "" : `, ${costWords(measures.costRatio)}`;
    words = `This tree of ${questions} gives ${who} the same cluster as ${data.reference}${price}. `;
  }
  const empty = tree.clusters.filter((cluster) => cluster.rows === 0).length;
  if (empty) words += `${many(empty, "cluster")} of it ${empty === 1 ? "has" : "have"} no rows here. `;
  words += `It looks at ${count(measures.columns)} of ${many(data.columnsInData, "column")}; `;
  return `${words}why a row is where it is takes ${measures.conditions.toFixed(1)} conditions on average.`;
}

/** A bar of all rows, a part for each cluster that leads to its card. */
export function drawSizes(bar: HTMLElement, names: Names, rows: number[]): void {
  const total = Math.max(rows.reduce((a, b) => a + b, 0), 1);
  bar.replaceChildren(
    ...rows.flatMap((n, c) => {
      if (!n) return [];
      const { label } = names.clusters[c];
      const share = n / total;
      const given = names.givenTo(c);
      const short = share > 0.009 * given.length ? given || label : label;
      const text = `${names.of(c)}: ${many(n, "row")}, ${percent(share)}`;
      const part = h("a", { href: `#card-${c}`, title: text, "aria-label": text }, share > 0.03 && h("span", {}, short));
      return [styled(part, { "--cluster": color(c), "--ink": ink(c), "flex-grow": String(n) })];
    }),
  );
}
