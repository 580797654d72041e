// The form of "Explain a row". Values can be typed, taken from a typical row, or pasted.

import type { ClusterStatistics, DataColumns, NumberColumn, Row } from "../types";
import type { ClusterNames } from "./cluster-names";
import { editableText, formatIn, isDate, parseIn } from "./column-format";
import { breakable, h } from "./dom";
import { parsePastedRow } from "./parse-pasted-row";
import { t } from "../texts";

/** The category of a missing value in the payload. */
const MISSING = "missing";

/** A row that the reader can start from. */
interface Example {
  label: string;
  cluster: number;
  values: (number | string | null)[];
}

export class RowForm {
  readonly element: HTMLElement;
  private readonly fields = h("div", { class: "fields" });
  private readonly exampleSelect = h("select", {});
  private readonly exampleField = h("label", { class: "field" }, h("span", {}, t.startFrom), this.exampleSelect);
  private readonly inputs = new Map<number, HTMLInputElement | HTMLSelectElement>();
  /** Text of inputs that were removed, by column. It is restored when the column is shown again. */
  private readonly removedText = new Map<number, string>();
  private examples: Example[] = [];
  /** Columns whose values must not change. */
  readonly fixed = new Set<number>();
  private readonly fixedBoxes = h("div", { class: "fixed-columns" });

  constructor(
    private readonly data: DataColumns,
    private readonly onChange: () => void,
  ) {
    const pasteArea = h("textarea", { rows: 2, placeholder: t.pasteHint, spellcheck: "false" });
    const status = h("p", { class: "note", role: "status" });
    pasteArea.addEventListener("input", () => {
      const { values, message } = parsePastedRow(pasteArea.value, data, [...this.inputs.keys()]);
      status.textContent = message;
      for (const [c, value] of values) this.setValue(c, value);
      if (values.size) onChange();
    });
    this.exampleSelect.addEventListener("change", () => {
      if (this.exampleSelect.value === "") return;
      this.fillIn(this.examples[Number(this.exampleSelect.value)]);
      onChange();
    });
    const form = h("form", { class: "row-form", autocomplete: "off" }, this.fields);
    form.addEventListener("submit", (event: Event) => event.preventDefault());
    const pasteField = h("label", { class: "field" }, h("span", {}, t.pasteRow), pasteArea);
    const fixedField = h("fieldset", { class: "fixed-field" }, h("legend", {}, t.heldFixed), h("p", { class: "note small" }, t.heldFixedNote), this.fixedBoxes);
    this.element = h("div", {}, this.exampleField, form, pasteField, status, fixedField);
  }

  /** Shows inputs for these columns. */
  setColumns(columns: number[]): void {
    for (const [c, input] of this.inputs) this.removedText.set(c, input.value);
    this.inputs.clear();
    this.fields.replaceChildren(...columns.map((c) => this.createField(c)));
    this.fixedBoxes.replaceChildren(...columns.map((c) => this.createFixedBox(c)));
  }

  /** Offers one typical row per cluster as a start. */
  setExamples(clusters: ClusterStatistics[], names: ClusterNames): void {
    const selected = this.exampleSelect.value;
    const columns = [...this.inputs.keys()];
    this.examples = clusters
      .flatMap(({ typical }, c) =>
        typical.length ? [{ label: t.typicalRowOf(names.displayName(c)), cluster: c, values: typical[0] }] : [],
      )
      .filter(({ values }) => columns.every((c) => c < values.length));
    const options = this.examples.map(({ label }, i) => h("option", { value: i }, label));
    this.exampleSelect.replaceChildren(h("option", { value: "" }, t.choose), ...options);
    this.exampleSelect.value = selected;
    if (this.exampleSelect.selectedIndex < 0) this.exampleSelect.value = "";
    this.exampleField.hidden = options.length === 0;
  }

  /** Fills in the typical row of the largest cluster that has one. */
  selectLargest(clusters: ClusterStatistics[]): void {
    const rows = (i: number) => clusters[this.examples[i].cluster].rows;
    const largest = this.examples.reduce((best, _, i) => (best < 0 || rows(i) > rows(best) ? i : best), -1);
    if (largest < 0) return;
    this.exampleSelect.value = String(largest);
    this.fillIn(this.examples[largest]);
  }

  private fillIn({ values }: Example): void {
    for (const c of this.inputs.keys()) this.setValue(c, values[c]);
  }

  /** The row and an error message. The error is null if the row is complete, and "" if the form is empty. */
  read(): { row: Row; error: string | null } {
    const row: Row = new Map();
    let error: string | null = null;
    for (const [c, input] of this.inputs) {
      const column = this.data.columns[c];
      const text = input.value.trim();
      const value = text === "" ? column.fill : column.kind === "number" ? parseIn(column, text) : Number(text);
      const isInvalid = value === null || !Number.isFinite(value);
      input.setAttribute("aria-invalid", String(isInvalid && text !== ""));
      if (!isInvalid) row.set(c, value);
      else if (error === null)
        error =
          text === ""
            ? t.enterValue(column.name)
            : (isDate(column as NumberColumn) ? t.notADate : t.notANumber)(column.name, text);
    }
    return { row, error: error !== null && this.isEmpty() ? "" : error };
  }

  private isEmpty(): boolean {
    return [...this.inputs.values()].every((input) => input.value.trim() === "");
  }

  private createField(c: number): HTMLElement {
    const column = this.data.columns[c];
    const input =
      column.kind === "number" ? numberInput(column) : categoryInput(column.values);
    const text = this.removedText.get(c);
    if (text !== undefined) input.value = text;
    input.addEventListener("input", this.onChange);
    this.inputs.set(c, input);
    return h("label", { class: "field" }, h("span", {}, breakable(column.name)), input);
  }

  private createFixedBox(c: number): HTMLElement {
    const box = h("input", { type: "checkbox", checked: this.fixed.has(c) });
    box.addEventListener("change", () => {
      if (box.checked) this.fixed.add(c);
      else this.fixed.delete(c);
      this.onChange();
    });
    return h("label", { class: "check" }, box, ` ${this.data.columns[c].name}`);
  }

  private setValue(c: number, value: string | number | null): void {
    const input = this.inputs.get(c);
    const column = this.data.columns[c];
    if (!input) return;
    if (column.kind === "number") {
      if (typeof value === "number") input.value = isDate(column) ? formatIn(column, value) : editableText(value);
      else input.value = value ?? "";
    } else {
      const position = column.values.indexOf(String(value ?? MISSING));
      input.value = String(position < 0 ? column.values.length : position);
    }
  }
}

function numberInput(column: NumberColumn): HTMLInputElement {
  const { fill, low, high } = column;
  const placeholder =
    fill === null ? t.fromTo(formatIn(column, low), formatIn(column, high)) : t.ifEmpty(formatIn(column, fill));
  return h("input", { type: "text", inputmode: isDate(column) ? "text" : "decimal", placeholder });
}

function categoryInput(values: string[]): HTMLSelectElement {
  const options = values.map((value, v) => h("option", { value: v }, value));
  const empty = h("option", { value: "" }, t.choose);
  return h("select", {}, empty, ...options, h("option", { value: values.length }, t.anotherValue));
}
