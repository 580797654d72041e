// The section with the parameters and versions that produced the report.

import { h, section } from "./dom";
import { t } from "../texts";

export function provenanceSection(entries: Record<string, string>): HTMLElement {
  const rows = Object.entries(entries).map(([name, value]) =>
    h("tr", {}, h("th", { scope: "row" }, t.made[name] ?? name), h("td", {}, value)),
  );
  const table = h("table", { class: "provenance" }, h("tbody", {}, ...rows));
  return section(
    "provenance",
    t.provenanceTitle,
    h("p", { class: "note" }, t.provenanceNote),
    h("details", {}, h("summary", {}, t.parameters), table),
  );
}
