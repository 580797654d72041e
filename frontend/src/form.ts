// The values of a row: typed, taken from a typical one, or pasted.

import { h } from "./dom";
import { parsePasted } from "./paste";
import type { DataColumns, Row } from "./types";

export interface Example {
  label: string;
  values: (number | string | null)[];
}

export class RowForm {
  readonly element: HTMLElement;
  private readonly fields = h("div", { class: "fields" });
  private readonly example = h("select", {});
  private readonly exampleField = h("label", { class: "field" }, h("span", {}, "Start from"), this.example);
  private readonly inputs = new Map<number, HTMLInputElement | HTMLSelectElement>();
  /** What was typed into columns that are not asked about now. */
  private readonly typed = new Map<number, string>();
  private examples: Example[] = [];

  constructor(private readonly source: DataColumns, private readonly changed: () => void) {
    const pasted = h("textarea", { rows: 2, placeholder: "with or without a header line", spellcheck: "false" });
    const said = h("p", { class: "note", role: "status" });
    pasted.addEventListener("input", () => {
      const { values, message } = parsePasted(pasted.value, source, [...this.inputs.keys()]);
      said.textContent = message;
      for (const [c, value] of values) this.set(c, value);
      if (values.size) changed();
    });
    this.example.addEventListener("change", () => {
      if (this.example.value === "") return;
      const { values } = this.examples[Number(this.example.value)];
      for (const c of this.inputs.keys()) this.set(c, values[c]);
      changed();
    });
    const form = h("form", { class: "row-form", autocomplete: "off" }, this.fields);
    form.addEventListener("submit", (event: Event) => event.preventDefault());
    const paste = h("label", { class: "field" }, h("span", {}, "Or paste a row from a table"), pasted);
    this.element = h("div", {}, this.exampleField, form, paste, said);
  }

  /** Asks for these columns; what was typed stays. */
  ask(columns: number[]): void {
    for (const [c, input] of this.inputs) this.typed.set(c, input.value);
    this.inputs.clear();
    this.fields.replaceChildren(...columns.map((c) => this.field(c)));
  }

  offer(examples: Example[]): void {
    const kept = this.example.value;
    const asked = [...this.inputs.keys()];
    this.examples = examples.filter(({ values }) => asked.every((c) => c < values.length));
    const options = this.examples.map(({ label }, i) => h("option", { value: i }, label));
    this.example.replaceChildren(h("option", { value: "" }, "choose…"), ...options);
    this.example.value = kept;
    if (this.example.selectedIndex < 0) this.example.value = "";
    this.exampleField.hidden = options.length === 0;
  }

  /** The row, and what is wrong with it, if anything; "" if nothing has been typed yet. */
  read(): { row: Row; wrong: string | null } {
    const row: Row = new Map();
    let wrong: string | null = null;
    for (const [c, input] of this.inputs) {
      const column = this.source.columns[c];
      const text = input.value.trim();
      const value = text === "" ? column.fill : Number(text);
      const isBad = value === null || !Number.isFinite(value);
      input.setAttribute("aria-invalid", String(isBad && text !== ""));
      if (!isBad) row.set(c, value);
      else if (wrong === null)
        wrong = text === "" ? `Fill in ${column.name}.` : `${column.name}: “${text}” is not a number; write it like 12.5.`;
    }
    return { row, wrong: wrong !== null && this.isEmpty() ? "" : wrong };
  }

  private isEmpty(): boolean {
    return [...this.inputs.values()].every((input) => input instanceof HTMLSelectElement || input.value.trim() === "");
  }

  private field(c: number): HTMLElement {
    const column = this.source.columns[c];
    const input = column.kind === "number" ? this.numberInput(column.fill, column.low, column.high) : choiceInput(column.values);
    const kept = this.typed.get(c);
    if (kept !== undefined) input.value = kept;
    input.addEventListener("input", this.changed);
    this.inputs.set(c, input);
    return h("label", { class: "field" }, h("span", {}, column.name), input);
  }

  private numberInput(fill: number | null, low: number, high: number): HTMLInputElement {
    const placeholder = fill === null ? `${low} to ${high}` : `missing counts as ${fill}`;
    return h("input", { type: "text", inputmode: "decimal", placeholder });
  }

  private set(c: number, value: string | number | null): void {
    const input = this.inputs.get(c);
    const column = this.source.columns[c];
    if (!input) return;
    if (column.kind === "number") input.value = value === null ? "" : String(value);
    else {
      const at = column.values.indexOf(String(value ?? "missing"));
      input.value = String(at < 0 ? column.values.length : at);
    }
  }
}

function choiceInput(values: string[]): HTMLSelectElement {
  const options = values.map((value, v) => h("option", { value: v }, value));
  return h("select", {}, ...options, h("option", { value: values.length }, "something else"));
}
