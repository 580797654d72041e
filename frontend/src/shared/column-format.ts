// Values of a column as text, and text as values.

import type { NumberColumn } from "../types";
import { t } from "../texts";
import { formatExactly, formatNumber, formatValue } from "./format";

const DAY = 86_400_000;

export function isDate({ format }: NumberColumn): boolean {
  return format.kind === "date" || format.kind === "datetime";
}

/** A number with about three digits, for averages and axes. */
export function formatRounded(column: NumberColumn, value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return isDate(column) ? formatDay(value, false) : withUnit(column, formatNumber(value));
}

/** A value of the data. */
export function formatIn(column: NumberColumn, value: number): string {
  return isDate(column) ? formatDay(value, column.format.kind === "datetime") : withUnit(column, formatValue(value));
}

/** A threshold with all its digits. */
export function formatThreshold(column: NumberColumn, value: number): string {
  if (isDate(column)) return formatDay(value, column.format.kind === "datetime");
  return withUnit(column, formatExactly(value));
}

function withUnit({ format }: NumberColumn, number: string): string {
  const { prefix = "", suffix = "" } = format;
  return number.startsWith("-") ? `-${prefix}${number.slice(1)}${suffix}` : `${prefix}${number}${suffix}`;
}

/** Days since 1970-01-01 as a date, with the time of day if it is wanted and not midnight. */
function formatDay(days: number, hasTime: boolean): string {
  const time = new Date(hasTime ? Math.round((days * DAY) / 1000) * 1000 : Math.floor(days) * DAY);
  if (Number.isNaN(time.getTime())) return formatNumber(days);
  const text = time.toISOString().replace(/:00\.000Z$/, "").replace(/\.000Z$/, "");
  return hasTime ? text.replace("T00:00", "").replace("T", " ") : text.slice(0, 10);
}

/** The number that a text stands for; NaN if it is none. */
export function parseIn(column: NumberColumn, text: string): number {
  if (isDate(column)) return parseDay(text);
  const { prefix = "", suffix = "" } = column.format;
  let number = text.trim().replace(/[\s'’_]/g, "").replace("−", "-");
  for (const unit of [prefix.trim(), suffix.trim(), "$", "€", "£", "%"]) if (unit) number = number.replace(unit, "");
  return number === "" ? NaN : t.locale.decimal === "," ? parseWithComma(column, number) : parseWithPoint(number);
}

/** Commas separate thousands; a single comma before other than three digits is a decimal comma. */
function parseWithPoint(number: string): number {
  if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(number)) return Number(number.replace(/,/g, ""));
  return Number(/^-?\d*,\d+$/.test(number) ? number.replace(",", ".") : number);
}

/** Points separate thousands. "1.500" can also be a number with a decimal point: the range of the column decides. */
function parseWithComma(column: NumberColumn, number: string): number {
  if (/^-?\d*(\.\d{3})*,\d+$/.test(number)) return Number(number.replace(/\./g, "").replace(",", "."));
  if (/^-?\d{1,3}(\.\d{3}){2,}$/.test(number)) return Number(number.replace(/\./g, ""));
  if (!/^-?[1-9]\d{0,2}\.\d{3}$/.test(number)) return Number(number);
  const isInRange = (value: number) => value >= column.low && value <= column.high;
  const [grouped, plain] = [Number(number.replace(".", "")), Number(number)];
  return isInRange(plain) && !isInRange(grouped) ? plain : grouped;
}

/** A number as the reader would type it. */
export function editableText(value: number): string {
  return String(value).replace(".", t.locale.decimal);
}

function parseDay(text: string): number {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?)?/.exec(text.trim());
  if (!match) return NaN;
  const [year, month, day, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return Date.UTC(year, month - 1, day, hours, minutes, seconds) / DAY;
}
