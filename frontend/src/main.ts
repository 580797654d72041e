import { cards } from "./cards";
import { setColors } from "./colors";
import { copies } from "./copies";
import { h } from "./dom";
import { made } from "./made";
import { measures } from "./measures";
import { aroundPrinting } from "./paper";
import { regionsSections, regionsTop } from "./regions/page";
import { RegionsState } from "./regions/state";
import { explainRow } from "./row";
import { scatter } from "./scatter";
import { slider } from "./slider";
import { State } from "./state";
import { treeTop } from "./top";
import { treeSection } from "./tree";
import type { Payload, RegionsPayload } from "./types";

function start(): void {
  const page = document.getElementById("page")!;
  const identity = page.dataset.id ?? "";
  const data: Payload | RegionsPayload = JSON.parse(document.getElementById("payload")!.textContent!);
  // "k-means" is not to be torn apart at the end of a line.
  if (data.reference !== null) data.reference = data.reference.replace(/^k-/, "k\u2011");
  setColors(data.clusters);
  if ("kind" in data) {
    const state = new RegionsState(data, identity);
    show(page, regionsTop(state), regionsSections(state));
  } else {
    const state = new State(data, identity);
    show(page, treeTop(state), treeSections(state));
  }
}

function treeSections(state: State): HTMLElement[] {
  return [
    treeSection(state, slider(state)),
    cards(state),
    scatter(state),
    explainRow(state),
    measures(state),
    copies(state),
    made(state.data.made),
  ].filter((part): part is HTMLElement => part !== null);
}

function show(page: HTMLElement, head: HTMLElement, sections: HTMLElement[]): void {
  const links = sections.map((part) =>
    h("a", { href: `#${part.id}` }, part.dataset.short ?? part.querySelector("h2")!.textContent!),
  );
  page.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the report"),
    head,
    h("nav", { "aria-label": "Parts of the report" }, ...links),
    h("main", { id: "main", tabindex: -1 }, ...sections),
    h("footer", {}, "Made with pellucid. This file needs no network and sends nothing."),
  );
  let closed: HTMLDetailsElement[] = [];
  aroundPrinting(
    () => {
      closed = [...document.querySelectorAll("details")].filter((part) => !part.open);
      for (const part of closed) part.open = true;
    },
    () => {
      for (const part of closed) part.open = false;
    },
  );
}

start();
