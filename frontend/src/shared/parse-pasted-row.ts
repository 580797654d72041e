// Parses a row that was pasted from a table.
//
// Cells are separated by tabs, semicolons or commas. A header line is optional.

import type { DataColumns } from "../types";
import { t } from "../texts";

export interface PastedRow {
  /** Text of the cells, by column. */
  values: Map<number, string>;
  /** A message for the reader about the result. */
  message: string;
}

/** Reads the cells of the columns `wanted`. */
export function parsePastedRow(text: string, data: DataColumns, wanted: number[]): PastedRow {
  const values = new Map<number, string>();
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (!lines.length) return { values, message: "" };
  const separator = ["\t", ";", ","].find((character) => lines[0].includes(character)) ?? ",";
  const [first, second] = lines.slice(0, 2).map((line) => splitCells(line, separator));
  const position = new Map(data.columns.map((column, c) => [column.name, c]));
  const assign = (names: string[], cells: string[]) =>
    names.forEach((name, i) => {
      const c = position.get(name);
      if (c !== undefined && wanted.includes(c) && cells[i] !== undefined) values.set(c, cells[i]);
    });
  if (second && first.some((cell) => position.has(cell))) assign(first, second);
  else if (first.length === data.dataNames.length) assign(data.dataNames, first);
  else if (first.length === wanted.length) wanted.forEach((c, i) => values.set(c, first[i]));
  if (!values.size) {
    const names = wanted.map((c) => data.columns[c].name).join(", ");
    const message = t.foundValues(first.length, wanted.length, names, data.dataNames.length);
    return { values, message };
  }
  const missing = wanted.filter((c) => !values.has(c)).map((c) => data.columns[c].name);
  return {
    values,
    message: missing.length ? t.noValueFor(missing.join(", ")) : t.valuesCopied,
  };
}

/** Splits a line of CSV. Quotes protect separators; a doubled quote is a quote. */
function splitCells(line: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line[i];
    if (character === '"') {
      if (isQuoted && line[i + 1] === '"') cell += line[++i];
      else isQuoted = !isQuoted;
    } else if (character === separator && !isQuoted) {
      cells.push(cell.trim());
      cell = "";
    } else cell += character;
  }
  return [...cells, cell.trim()];
}
