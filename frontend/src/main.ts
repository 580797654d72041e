import { cards } from "./cards";
import { copies } from "./copies";
import { h } from "./dom";
import { made, measures } from "./measures";
import { explainRow } from "./row";
import { scatter } from "./scatter";
import { slider } from "./slider";
import { State } from "./state";
import { top } from "./top";
import { treeSection } from "./tree";
import type { Payload } from "./types";

function start(): void {
  const page = document.getElementById("page")!;
  const data: Payload = JSON.parse(document.getElementById("payload")!.textContent!);
  const state = new State(data, page.dataset.id ?? "");
  const sections = [
    treeSection(state, slider(state)),
    cards(state),
    scatter(state),
    explainRow(state),
    measures(state),
    copies(state),
    made(state),
  ].filter((part): part is HTMLElement => part !== null);
  const links = sections.map((part) =>
    h("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent!),
  );
  page.append(
    h("a", { class: "skip", href: "#main" }, "Skip to the report"),
    top(state),
    h("nav", { "aria-label": "Parts of the report" }, ...links),
    h("main", { id: "main", tabindex: -1 }, ...sections),
    h("footer", {}, "Made with pellucid. This file needs no network and sends nothing."),
  );
  window.addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
}

start();
