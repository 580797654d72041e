// How the report came about.

import { h, section } from "./dom";

export function made(facts: Record<string, string>): HTMLElement {
  const rows = Object.entries(facts).map(([name, value]) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)),
  );
  return section(
    "made",
    "How it was made",
    h("p", { class: "note" }, "With the same data, parameters and versions, the same file comes out."),
    h("details", {}, h("summary", {}, "Parameters and versions"), h("table", { class: "made" }, h("tbody", {}, ...rows))),
  );
}
