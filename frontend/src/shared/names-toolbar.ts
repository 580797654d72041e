// The line above the cluster cards: how to name clusters, and a button that saves the page with the names.

import type { ClusterNames } from "./cluster-names";
import { h } from "./dom";
import { saveCopy } from "./save-copy";

export function namesToolbar(names: ClusterNames): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "secondary", click: () => saveCopy(names) },
    "Save a copy of this page with the names",
  );
  const note = h("p", { class: "note" }, "Click a name to edit it (saved in this browser only).");
  return h("div", { class: "toolbar names-toolbar" }, note, button);
}
