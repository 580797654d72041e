// Files that the reader can save: tables as CSV, and other texts.

import { h } from "./dom";
import { t } from "../texts";

export function saveFile(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = h("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** The name of the file of this page, without its ending. */
export function pageName(): string {
  const file = decodeURIComponent(location.pathname.split("/").pop() ?? "");
  return file.replace(/\.html?$/i, "") || "report";
}

export type CsvCell = string | number | null;

/** A button that saves a table as CSV. */
export function csvButton(name: string, rows: () => CsvCell[][], label: string = t.downloadCsv): HTMLButtonElement {
  const save = () => saveFile(`${pageName()}-${name}.csv`, "text/csv", csvText(rows()));
  return h("button", { type: "button", class: "secondary", click: save }, label);
}

/** The byte order mark makes spreadsheet programs read the file as UTF-8. */
function csvText(rows: CsvCell[][]): string {
  return `\ufeff${rows.map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  // A spreadsheet program would execute a text like "=1+1".
  const text = /^[=+\-@\t\r]/.test(cell) && !Number.isFinite(Number(cell)) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** The texts of a table of the page. */
export function tableRows(table: HTMLTableElement): CsvCell[][] {
  return [...table.rows].map((row) => [...row.cells].map((cell) => (cell.textContent ?? "").replace(/\u00a0/g, " ").trim()));
}
