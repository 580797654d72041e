// Entry point: reads the payload and builds the page.

import { regionsHeader, regionsSections } from "./regions/page";
import { RegionsState } from "./regions/state";
import { defineClusterColors } from "./shared/colors";
import { h } from "./shared/dom";
import { onPrint } from "./shared/printing";
import { rememberSource } from "./shared/save-copy";
import { treeHeader } from "./tree/header";
import { treeSections } from "./tree/page";
import { TreeState } from "./tree/state";
import type { RegionsPayload, TreePayload } from "./types";

/** Texts of the links at the top, by section. */
const LINK_TEXTS: Record<string, string> = {
  tree: "Tree",
  clusters: "Clusters",
  plot: "Scatter plot",
  row: "Explain a row",
  data: "Data",
  measures: "Quality",
  copy: "Export",
  provenance: "Parameters",
};

function start(): void {
  rememberSource();
  const page = document.getElementById("page")!;
  const reportId = page.dataset.id ?? "";
  const data: TreePayload | RegionsPayload = JSON.parse(document.getElementById("payload")!.textContent!);
  // A non-breaking hyphen keeps "k-means" on one line.
  if (data.reference !== null) data.reference = data.reference.replace(/^k-/, "k\u2011");
  defineClusterColors(data.clusters);
  if ("kind" in data) {
    const state = new RegionsState(data, reportId);
    showPage(page, regionsHeader(state), regionsSections(state));
  } else {
    const state = new TreeState(data, reportId);
    showPage(page, treeHeader(state), treeSections(state));
  }
  openDetailsInPrint();
}

function showPage(page: HTMLElement, header: HTMLElement, sections: HTMLElement[]): void {
  const links = sections.map((section) =>
    h("a", { href: `#${section.id}` }, section.dataset.short ?? LINK_TEXTS[section.id] ?? section.id),
  );
  page.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the report"),
    header,
    h("nav", { "aria-label": "Sections of the report" }, ...links),
    h("main", { id: "main", tabindex: -1 }, ...sections),
    h("footer", {}, "Created with pellucid. This file works offline and sends no data."),
  );
}

/** Prints the content of closed details, too. */
function openDetailsInPrint(): void {
  let closed: HTMLDetailsElement[] = [];
  onPrint(
    () => {
      closed = [...document.querySelectorAll("details")].filter((details) => !details.open);
      for (const details of closed) details.open = true;
    },
    () => {
      for (const details of closed) details.open = false;
    },
  );
}

start();
