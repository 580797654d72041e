// The line above the cluster cards: how to name clusters, and a button that saves the page with the names.

import type { ClusterNames } from "./cluster-names";
import { h } from "./dom";
import { saveCopy } from "./save-copy";
import { t } from "../texts";

export function namesToolbar(names: ClusterNames): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "secondary", click: () => saveCopy(names) },
    t.saveCopy,
  );
  const note = h("p", { class: "note" }, t.namesNote);
  const suggested = h("button", { type: "button", class: "secondary", click: () => names.useSuggested() }, t.suggestedNames);
  const hasSuggested = names.clusters.some((cluster) => cluster.suggested);
  return h("div", { class: "toolbar names-toolbar" }, note, h("span", { class: "toolbar" }, hasSuggested && suggested, button));
}
