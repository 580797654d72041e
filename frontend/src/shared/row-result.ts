// The result of "Explain a row": the cluster of the row, and changes that lead to other clusters.

import type { ClusterNames } from "./cluster-names";
import { clusterStyle } from "./colors";
import { breakable, h, setStyle } from "./dom";
import { t } from "../texts";

/** A change of the row that leads to another cluster. */
export interface Counterfactual {
  cluster: number;
  text: string;
}

/** Number of counterfactuals that are shown without a click. */
const MAX_VISIBLE = 6;

/** The name of a cluster on a background of its colour. */
export function clusterBadge(names: ClusterNames, cluster: number): HTMLElement {
  return setStyle(h("span", { class: "badge" }, breakable(names.displayName(cluster))), clusterStyle(cluster));
}

/** "This row belongs to ...". The label is added for screen readers, because the reader may have changed the name. */
export function predictedCluster(names: ClusterNames, cluster: number): HTMLElement {
  const label = h("span", { class: "visually-hidden verdict-label" }, t.label(names.clusters[cluster].label));
  return h("p", { class: "verdict" }, t.belongsTo, clusterBadge(names, cluster), label, t.belongsToEnd);
}

/** `reachable` are the clusters that some change of any column leads to. */
export function counterfactualList(
  names: ClusterNames,
  counterfactuals: Counterfactual[],
  reachable: number[] = [],
): HTMLElement | null {
  const found = new Set(counterfactuals.map(({ cluster }) => cluster));
  const others = reachable.filter((cluster) => !found.has(cluster)).map((cluster) => names.nameInSentence(cluster));
  if (!counterfactuals.length && !others.length) return null;
  const item = ({ cluster, text }: Counterfactual) => h("li", {}, clusterBadge(names, cluster), ` ${text}`);
  const list = (part: Counterfactual[]) => h("ul", { class: "badge-list" }, ...part.map(item));
  const rest = counterfactuals.slice(MAX_VISIBLE);
  const more = h("details", {}, h("summary", {}, t.more(String(rest.length))), list(rest));
  const title = h("h3", {}, t.changesTo(names.noun));
  return h("div", {}, title, list(counterfactuals.slice(0, MAX_VISIBLE)), rest.length > 0 && more, others.length > 0 && h("p", { class: "note" }, t.unreachable(others.join(", "))));
}
