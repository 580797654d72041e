// The top: what was found, in words and a few figures.

import { h } from "./dom";
import type { State } from "./state";
import { costWords, count, many, percent } from "./words";

export function top(state: State): HTMLElement {
  const { data } = state;
  const lead = h("p", { class: "lead" });
  const draw = () => (lead.textContent = leadWords(state));
  draw();
  state.on(["tree"], draw);
  return h(
    "header",
    { class: "top" },
    h("p", { class: "kicker" }, data.title ? "Clusters, explained" : "Report"),
    h("h1", {}, data.title ?? `${many(data.clusters.length, "cluster")}, explained`),
    lead,
  );
}

export function leadWords(state: State): string {
  const { data, tree } = state;
  const { measures } = tree;
  const filled = tree.clusters.filter((cluster) => cluster.rows > 0).length;
  const questions = many(measures.leaves - 1, "question");
  let words = `${many(filled, "cluster")} of ${many(data.rows, "row")}. `;
  if (measures.agreement !== null) {
    words += `This tree of ${questions} gives ${measures.agreement === 1 ? "all rows" : `${percent(measures.agreement)} of the rows`} the same cluster as ${data.reference}`;
    words += measures.costRatio === null ? ". " : `, ${costWords(measures.costRatio)}. `;
  } else words += `A tree of ${questions} tells them apart. `;
  words += `It looks at ${count(measures.columns)} of ${many(data.columnsInData, "column")}; `;
  words += `why a row is where it is takes ${measures.conditions.toFixed(1)} conditions on average.`;
  return words;
}
