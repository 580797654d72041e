// Entry point: reads the payload and builds the page.

import { regionsHeader, regionsSections } from "./regions/page";
import { RegionsState } from "./regions/state";
import { defineClusterColors } from "./shared/colors";
import { h } from "./shared/dom";
import { onPrint } from "./shared/printing";
import { rememberSource } from "./shared/save-copy";
import { setLanguage, t } from "./texts";
import { treeHeader } from "./tree/header";
import { treeSections } from "./tree/page";
import { TreeState } from "./tree/state";
import type { RegionsPayload, TreePayload } from "./types";

/** The noun for rows if none was given. */
const DEFAULT_ROWS = "rows";
/** More levels of regions than this share one link. */
const MAX_LEVEL_LINKS = 4;

function start(): void {
  rememberSource();
  const page = document.getElementById("page")!;
  const reportId = page.dataset.id ?? "";
  const data: TreePayload | RegionsPayload = JSON.parse(document.getElementById("payload")!.textContent!);
  setLanguage(data.language);
  if (data.rowsAre === DEFAULT_ROWS) data.rowsAre = t.rowsDefault;
  if (data.reference !== null) data.reference = t.reference(data.reference);
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
  const levels = sections.filter(({ dataset }) => dataset.short !== undefined);
  const hasManyLevels = levels.length > MAX_LEVEL_LINKS;
  const links = sections
    .filter((section) => !hasManyLevels || section === levels[0] || section.dataset.short === undefined)
    .map((section) => {
      const levelText = hasManyLevels && section === levels[0] ? t.links.levels : section.dataset.short;
      return h("a", { href: `#${section.id}` }, levelText ?? t.links[section.id] ?? section.id);
    });
  page.append(
    h("a", { class: "skip", href: "#main" }, t.skip),
    header,
    h("nav", { "aria-label": t.sections }, ...links),
    h("main", { id: "main", tabindex: -1 }, ...sections),
    h("footer", {}, t.footer),
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
