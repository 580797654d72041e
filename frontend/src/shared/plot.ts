// Parts that all plots of rows share: scales, axes, markers, and a size that follows the page width.

import type { NumberColumn } from "../types";
import { formatRounded, isDate } from "./column-format";
import { setStyle, svg } from "./dom";
import { formatNumber } from "./format";
import { onPrint, PRINT_PAGE } from "./printing";

const PADDING = { left: 58, right: 16, top: 12, bottom: 56 };
/** Average width of a letter of a tick. */
const TICK_LETTER = 7.2;
const DAYS_PER_YEAR = 365.25;
const DAYS_PER_MONTH = DAYS_PER_YEAR / 12;

/** Values below `low` or above `high` are outside the plot. */
export interface Range {
  low: number;
  high: number;
}

/** Maps the values of an axis to pixels. */
export interface Scale extends Range {
  toPixel: (value: number) => number;
}

/** `unit` is that of a logarithmic axis; null for a linear axis. */
export function xScale({ low, high }: Range, width: number, unit: number | null = null, left = PADDING.left): Scale {
  return scale({ low, high }, left, width - PADDING.right, unit);
}

/** Space for the ticks and the title of a vertical axis. */
export function leftPadding(ticks: Tick[]): number {
  const longest = Math.max(0, ...ticks.map(([, label]) => label.length));
  return Math.max(PADDING.left, Math.round(longest * TICK_LETTER) + 34);
}

export function yScale({ low, high }: Range, height: number, unit: number | null = null): Scale {
  return scale({ low, high }, height - PADDING.bottom, PADDING.top, unit);
}

function scale({ low, high }: Range, first: number, last: number, unit: number | null): Scale {
  const [start, end] = [axisPosition(low, unit), axisPosition(high, unit)];
  return { low, high, toPixel: (v) => first + ((axisPosition(v, unit) - start) / (end - start)) * (last - first) };
}

/** The position of a value on a linear or a logarithmic axis. */
export function axisPosition(value: number, unit: number | null): number {
  return unit === null ? value : Math.log1p(Math.max(value / unit, -0.9));
}

/** Columns of integers with a smaller range than this have one bin and one line of marks per integer. */
const MAX_SEPARATE_INTEGERS = 24;

/** Whether the plots separate the integers of a column. */
export function hasSeparateIntegers(column: NumberColumn): boolean {
  return column.whole && column.high - column.low < MAX_SEPARATE_INTEGERS;
}

/** Where a threshold is drawn: between two integers if the plots separate them. */
export function thresholdPosition(column: NumberColumn, threshold: number): number {
  return hasSeparateIntegers(column) ? Math.floor(threshold) + 0.5 : threshold;
}

/** The value at a position. */
export function axisValue(position: number, unit: number | null): number {
  return unit === null ? position : unit * Math.expm1(position);
}

/** The nearest value in the range. */
export function clamp(value: number, { low, high }: Range): number {
  return Math.min(Math.max(value, low), high);
}

export interface Plot {
  element: SVGSVGElement;
  redraw: () => void;
}

/**
 * A plot that is redrawn when its width changes, so that its text keeps its size.
 *
 * @param maxHeight - in pixels
 * @param printShare - share of the page width that the plot takes in print
 * @param draw - draws the content of the element
 */
export function responsivePlot(
  maxHeight: number,
  printShare: number,
  draw: (element: SVGSVGElement, width: number, height: number) => void,
): Plot {
  const element = svg("svg", { class: "plot", role: "img" });
  let width = 760;
  const redraw = () => {
    const height = Math.round(Math.min(maxHeight, Math.max(0.62 * width, 270)));
    element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw(element, width, height);
  };
  const redrawAt = (newWidth: number) => {
    width = newWidth;
    redraw();
  };
  new ResizeObserver(([entry]) => {
    const newWidth = Math.round(entry.contentRect.width);
    if (newWidth >= 1 && newWidth !== width) redrawAt(newWidth);
  }).observe(element);
  let screenWidth = width;
  onPrint(
    () => {
      screenWidth = width;
      redrawAt(Math.round(printShare * PRINT_PAGE.width));
    },
    () => redrawAt(screenWidth),
  );
  return { element, redraw };
}

/** A position on an axis and its label. */
export type Tick = [value: number, label: string];

/** An axis with its ticks and its title. The vertical axis of a plot of one column has no title. */
export interface Axis {
  scale: Scale;
  ticks: Tick[];
  title?: string;
}

export function drawAxes(x: Axis, y: Axis, width: number, height: number): SVGElement[] {
  const [bottom, right, left] = [height - PADDING.bottom, width - PADDING.right, leftPadding(y.ticks)];
  const center = [(left + right) / 2, (PADDING.top + bottom) / 2];
  const rows = tickRows(x, right - left);
  const xTicks = x.ticks.map(([value, label], i) => {
    const at = x.scale.toPixel(value);
    return svg(
      "g",
      { class: "tick" },
      svg("path", { d: `M${at} ${PADDING.top}V${bottom}` }),
      svg(
        "text",
        { x: at, y: bottom + 15 + (i % rows.count) * 14, "text-anchor": "middle" },
        truncate(label, rows.maxLength),
      ),
    );
  });
  const yTicks = y.ticks.map(([value, label]) => {
    const at = y.scale.toPixel(value);
    return svg(
      "g",
      { class: "tick" },
      svg("path", { d: `M${left} ${at}H${right}` }),
      svg("text", { x: left - 8, y: at + 4, "text-anchor": "end" }, label),
    );
  });
  const xTitle = { class: "axis", x: center[0], y: height - 7, "text-anchor": "middle" };
  const yTitle = { class: "axis", transform: `translate(13 ${center[1]}) rotate(-90)`, "text-anchor": "middle" };
  const titles = [];
  if (x.title !== undefined) titles.push(svg("text", xTitle, truncate(x.title, Math.floor(width / 11))));
  if (y.title !== undefined) titles.push(svg("text", yTitle, truncate(y.title, Math.floor(height / 11))));
  return [...xTicks, ...yTicks, ...titles];
}

/** In how many rows the labels of a horizontal axis are written, and how long they may be, so that none overlap. */
function tickRows({ ticks }: Axis, width: number): { count: number; maxLength: number } {
  const longest = Math.max(1, ...ticks.map(([, label]) => label.length));
  const slot = width / Math.max(ticks.length, 1) / TICK_LETTER;
  const count = longest + 1 <= slot ? 1 : 2;
  return { count, maxLength: Math.max(2, Math.min(longest, Math.floor(count * slot) - 1)) };
}

/** About `count` ticks at round numbers. Integers have ticks at integers only. */
export function numberTicks({ low, high }: Range, count = 6, isWhole = false): Tick[] {
  const minStep = Math.max((high - low) / count, isWhole ? 1 : 0);
  const power = 10 ** Math.floor(Math.log10(minStep));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= minStep * (1 - 1e-9))!;
  const ticks: Tick[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
    const rounded = Number(value.toPrecision(10));
    ticks.push([rounded, formatNumber(rounded)]);
  }
  return ticks;
}

/** About `count` ticks of a column of numbers or dates. */
export function columnTicks(column: NumberColumn, range: Range, count: number, unit: number | null): Tick[] {
  if (isDate(column)) return dateTicks(range, count);
  if (unit !== null) return logTicks(column, range, count, unit);
  const ticks = numberTicks(range, count, column.whole);
  return ticks.map(([value]) => [value, formatRounded(column, value)]);
}

/** Zero, powers of ten, and, if there is space, their multiples by 2 and 5. */
function logTicks(column: NumberColumn, { low, high }: Range, count: number, unit: number): Tick[] {
  const powers: number[] = [];
  for (let power = unit; power <= high; power *= 10) powers.push(power);
  const candidates = [0, ...powers, ...powers.map((v) => 2 * v), ...powers.map((v) => 5 * v), low, high];
  const minDistance = (axisPosition(high, unit) - axisPosition(low, unit)) / (1.4 * count);
  const chosen: number[] = [];
  for (const value of candidates) {
    const position = axisPosition(value, unit);
    const isFree = chosen.every((other) => Math.abs(axisPosition(other, unit) - position) >= minDistance);
    if (value >= low && value <= high && value >= column.low && isFree) chosen.push(Number(value.toPrecision(3)));
  }
  return chosen.sort((a, b) => a - b).map((value) => [value, formatRounded(column, value)]);
}

/** Ticks at the first days of years or months, or at days. */
function dateTicks({ low, high }: Range, count: number): Tick[] {
  const minStep = (high - low) / count;
  const toDays = (year: number, month: number) => Date.UTC(year, month, 1) / 86_400_000;
  const ticks: Tick[] = [];
  if (minStep <= DAYS_PER_MONTH / 2) {
    const step = [1, 2, 7, 14].find((days) => days >= minStep) ?? 14;
    for (let day = Math.ceil(low / step) * step; day <= high; day += step)
      ticks.push([day, new Date(day * 86_400_000).toISOString().slice(5, 10)]);
    return ticks;
  }
  const start = new Date(low * 86_400_000);
  const months = [1, 2, 3, 6].find((n) => n * DAYS_PER_MONTH >= minStep);
  const years = [1, 2, 5, 10, 20, 50, 100].find((n) => n * DAYS_PER_YEAR >= minStep) ?? 100;
  const step = months ?? 12 * years;
  const first = start.getUTCFullYear() - (start.getUTCFullYear() % (months ? 1 : years));
  for (let month = 0; toDays(first, month) <= high; month += step) {
    const day = toDays(first, month);
    const text = new Date(day * 86_400_000).toISOString();
    if (day >= low) ticks.push([day, months ? text.slice(0, 7) : text.slice(0, 4)]);
  }
  return ticks;
}

/** A pseudo-random number from -0.5 to 0.5 that depends on the seed only. */
export function seededRandom(seed: number): number {
  let x = (seed + 1) * 2654435761;
  x = ((x >>> 16) ^ x) * 73244475;
  return (((x >>> 16) ^ x) >>> 0) / 2 ** 32 - 0.5;
}

/** The path of a marker. Its shape depends on the cluster, so that clusters differ not only in colour. */
export function markerPath(cluster: number, x: number, y: number, r: number): string {
  const p = (v: number) => v.toFixed(1);
  switch (cluster % 5) {
    case 0: // circle
      return `M${p(x - r)} ${p(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    case 1: // square
      return `M${p(x - 0.9 * r)} ${p(y - 0.9 * r)}h${1.8 * r}v${1.8 * r}h${-1.8 * r}Z`;
    case 2: // triangle
      return `M${p(x)} ${p(y - 1.2 * r)}l${1.15 * r} ${2.1 * r}h${-2.3 * r}Z`;
    case 3: // diamond
      return `M${p(x)} ${p(y - 1.3 * r)}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}Z`;
    default: // triangle that points down
      return `M${p(x)} ${p(y + 1.2 * r)}l${1.15 * r} ${-2.1 * r}h${-2.3 * r}Z`;
  }
}

export function legendMarker(cluster: number, fill: string): SVGElement {
  const shape = setStyle(svg("path", { d: markerPath(cluster, 0, 0, 4.6) }), { fill });
  return svg("svg", { viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, shape);
}

/** Marks the position of the row that the reader has entered. */
export function crosshair(x: number, y: number): SVGElement {
  const lines = svg("path", { d: `M${x - 14} ${y}h28M${x} ${y - 14}v28` });
  return svg("g", { class: "entered-row" }, svg("circle", { cx: x, cy: y, r: 9 }), lines);
}

export function truncate(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
