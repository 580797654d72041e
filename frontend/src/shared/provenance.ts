// The section with the parameters and versions that produced the report.

import { h, section } from "./dom";

export function provenanceSection(entries: Record<string, string>): HTMLElement {
  const rows = Object.entries(entries).map(([name, value]) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)),
  );
  const table = h("table", { class: "provenance" }, h("tbody", {}, ...rows));
  return section(
    "provenance",
    "How this report was created",
    h("p", { class: "note" }, "The same data, parameters and versions always give the same file."),
    h("details", {}, h("summary", {}, "Parameters and versions"), table),
  );
}
