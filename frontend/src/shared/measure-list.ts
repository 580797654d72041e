// A list of measures, each with a sentence that explains it.

import { h } from "./dom";

export type Measure = [value: string, name: string, explanation: string];

export function measureItems(measures: Measure[]): HTMLElement[] {
  return measures.map(([value, name, explanation]) =>
    h("div", {}, h("dt", {}, h("span", { class: "measure-value" }, value), name), h("dd", {}, explanation)),
  );
}
