// Numbers, categories and rules as text.

import type { CategoryColumn } from "../types";
import { t } from "../texts";

/** A whole number with separated thousands. */
export const formatCount = (n: number): string =>
  n.toLocaleString("en-GB", { useGrouping: true }).replace(/,/g, t.locale.group);

/** A number with a fixed number of decimals. */
export const formatFixed = (value: number, digits: number): string =>
  value.toFixed(digits).replace(".", t.locale.decimal);

/** "12,430 customers"; a single row is always called "row". */
export function formatRows(n: number, rowsPlural: string): string {
  return n === 1 ? t.row : `${formatCount(n)} ${rowsPlural}`;
}

export function formatPercent(share: number): string {
  const value = 100 * share;
  if (value === 0 || value === 100) return t.percent(String(value));
  if (value < 0.1) return t.under(t.percent(formatFixed(0.1, 1)));
  if (value > 99.9) return t.over(t.percent(formatFixed(99.9, 1)));
  return t.percent(formatFixed(value, 1));
}

/** A number with about three digits. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0"; // not "-0"
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e12) return value.toExponential(2).replace(".", t.locale.decimal);
  const digits = size >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 };
  return groupDigits(value.toLocaleString("en-GB", { ...digits, useGrouping: false }));
}

/** A value of the data in full, without digits that come from floating-point rounding. */
export function formatValue(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toPrecision(6).replace(".", t.locale.decimal);
  const options = { maximumSignificantDigits: 15, maximumFractionDigits: 4, useGrouping: false };
  return groupDigits(value.toLocaleString("en-GB", options as Intl.NumberFormatOptions));
}

/** A number with all digits. */
export function formatExactly(value: number): string {
  return groupDigits(String(value));
}

/**
 * A number in the notation of the language, from one with a decimal point. Thousands are separated in numbers of five
 * or more digits before the decimal point: "1950", but "19,500".
 */
export function groupDigits(number: string): string {
  const [, start, digits, rest] = /^(\D*)(\d+)(.*)$/.exec(number) ?? [];
  if (digits === undefined) return number;
  const isGrouped = digits.length >= 5 && !rest.startsWith("e");
  const whole = isGrouped ? digits.replace(/\B(?=(\d{3})+$)/g, t.locale.group) : digits;
  return `${start}${whole}${rest.replace(/^\.(?=\d)/, t.locale.decimal)}`;
}

export function categoryName(column: CategoryColumn, position: number): string {
  return column.values[position] ?? t.anotherValue;
}

/** A rule with thousands separators, and without line breaks between a comparison sign and its number. */
export function displayRule(rule: string): string {
  const group = (_: string, sign: string, number: string) => `${sign}\u00a0${groupDigits(number)}`;
  return rule
    .replace(/(≤|≥|>|=|±) ([$€£]?-?\d[\d.]*)/g, group)
    .replace(/(^| )([$€£]?-?\d[\d.]*) (<|≤)/g, (_, before: string, number: string, sign: string) => {
      return `${before}${groupDigits(number)}\u00a0${sign}`;
    });
}

/** A rule as it is shown, for the clipboard and files: with ordinary spaces. */
export function copiedRule(rule: string): string {
  return displayRule(rule).replace(/\u00a0/g, " ");
}

/** The cost of a tree compared with the reference, as part of a sentence. */
export function describeCost(ratio: number): string {
  const change = 100 * (ratio - 1);
  if (isNoChange(change)) return t.sameCost;
  return t.costChange(t.percent(formatChange(change)), change > 0);
}

/** The same as a signed number: "+3.2%". */
export function formatCostChange(ratio: number): string {
  const change = 100 * (ratio - 1);
  if (isNoChange(change)) return t.percent("±0");
  return t.percent(`${change > 0 ? "+" : "−"}${formatChange(change)}`);
}

function isNoChange(percent: number): boolean {
  return Math.abs(percent) < 0.05;
}

function formatChange(percent: number): string {
  const size = Math.abs(percent);
  return size < 10 ? formatFixed(size, 1) : formatCount(Math.round(size));
}
