// A pasted row: cells with tabs, semicolons or commas between them, maybe below a header.

import type { DataColumns } from "./types";

export function parsePasted(text: string, data: DataColumns, asked: number[]): { values: Map<number, string>; message: string } {
  const values = new Map<number, string>();
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (!lines.length) return { values, message: "" };
  const separator = ["\t", ";", ","].find((mark) => lines[0].includes(mark)) ?? ",";
  const cells = lines.map((line) => split(line, separator));
  const names = new Map(data.columns.map((column, c) => [column.name, c]));
  if (cells.length > 1 && cells[0].some((cell) => names.has(cell))) {
    cells[0].forEach((name, i) => {
      const c = names.get(name);
      if (c !== undefined && asked.includes(c) && cells[1][i] !== undefined) values.set(c, cells[1][i]);
    });
  } else if (cells[0].length === data.dataNames.length) {
    data.dataNames.forEach((name, i) => {
      const c = names.get(name);
      if (c !== undefined && asked.includes(c)) values.set(c, cells[0][i]);
    });
  } else if (cells[0].length === asked.length) asked.forEach((c, i) => values.set(c, cells[0][i]));
  const missing = asked.filter((c) => !values.has(c)).map((c) => data.columns[c].name);
  if (!values.size)
    return { values, message: `Found ${cells[0].length} values; a row has ${data.dataNames.length || data.columnsInData}. Paste the header line too.` };
  return { values, message: missing.length ? `Not found: ${missing.join(", ")}.` : "Taken over." };
}

function split(line: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let i = 0; i < line.length; i++) {
    const mark = line[i];
    if (mark === '"') {
      if (isQuoted && line[i + 1] === '"') cell += line[++i];
      else isQuoted = !isQuoted;
    } else if (mark === separator && !isQuoted) {
      cells.push(cell.trim());
      cell = "";
    } else cell += mark;
  }
  return [...cells, cell.trim()];
}
