// Numbers in words.

export const count = (n: number): string => n.toLocaleString("en-GB");

export function many(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

export function percent(share: number): string {
  const value = 100 * share;
  if (value === 0 || value === 100) return `${value}\u00a0%`;
  if (value < 0.1) return "under 0.1\u00a0%";
  if (value > 99.9) return "over 99.9\u00a0%";
  return `${value < 10 || value > 99 ? value.toFixed(1) : Math.round(value)}\u00a0%`;
}

export function number(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0"; // not "-0"
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
  return value.toLocaleString("en-GB", size >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
}

/** A number of the data as it is, but for digits that only a computer needs. */
export function exact(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toPrecision(6);
  return value.toLocaleString("en-GB", { maximumSignificantDigits: 15, maximumFractionDigits: 4, useGrouping: false } as Intl.NumberFormatOptions);
}

/** A rule in which no line ends between a sign and its number. */
export function unbroken(rule: string): string {
  return rule.replace(/(≤|>|=|±) (?=-?\d)/g, "$1\u00a0").replace(/(\d) </g, "$1\u00a0<");
}

/** What more a tree costs than the reference. */
export function costWords(ratio: number): string {
  const more = 100 * (ratio - 1);
  if (Math.abs(more) < 0.05) return "at the same cost";
  const size = Math.abs(more) < 10 ? Math.abs(more).toFixed(1) : count(Math.round(Math.abs(more)));
  return `at ${size}\u00a0% ${more > 0 ? "more" : "less"} cost`;
}

export function costChange(ratio: number): string {
  const more = 100 * (ratio - 1);
  if (Math.abs(more) < 0.05) return "±0\u00a0%";
  return `${more > 0 ? "+" : "−"}${Math.abs(more) < 10 ? Math.abs(more).toFixed(1) : count(Math.round(Math.abs(more)))}\u00a0%`;
}
