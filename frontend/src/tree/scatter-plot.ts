// The scatter plot of two columns, with the thresholds of the selected tree.

import { clusterColor } from "../shared/colors";
import { formatIn, formatRounded } from "../shared/column-format";
import { h, replaceContent, section, setStyle, svg } from "../shared/dom";
import { categoryName, formatCount } from "../shared/format";
import { pictureButtons } from "../shared/picture";
import {
  axisPosition,
  axisValue,
  clamp,
  columnTicks,
  drawAxes,
  hasSeparateIntegers,
  leftPadding,
  legendMarker,
  markerPath,
  responsivePlot,
  seededRandom,
  thresholdPosition,
  truncate,
  xScale,
  yScale,
  type Range,
  type Scale,
  type Tick,
} from "../shared/plot";
import { PlotZoom } from "../shared/plot-zoom";
import { screenOnly } from "../shared/printing";
import { t } from "../texts";
import type { Column } from "../types";
import { separatingColumns } from "./separating-columns";
import type { TreeState } from "./state";

const MAX_HEIGHT = 560;
/** Distance to a mark, in pixels, within which its row is described. */
const HOVER_DISTANCE = 14;
/** Letters of a label of the vertical axis. */
const MAX_TICK_LENGTH = 14;
/** Number of columns in the description of a row. */
const MAX_HOVER_COLUMNS = 8;
/** Size of the arrow of a row beyond the axes. */
const ARROW = 5;

/** A row with the position of its mark in the plot. */
interface Mark {
  row: number;
  cluster: number;
  x: number;
  y: number;
  /** The direction of the arrow of a row that lies beyond the axes: -1, 0 or 1 on both axes. */
  beyond: [number, number];
}

/** Null if the report contains no rows to draw. */
export function scatterPlotSection(state: TreeState): HTMLElement | null {
  const { data } = state;
  const shown = data.columns.flatMap((column, i) => (column.shown ? [i] : []));
  if (!data.points.rows || !shown.length) return null;
  const [firstX, firstY] = separatingColumns(data, shown);
  const axisChoice = (label: string, selected: number) => {
    const options = shown.map((i) => h("option", { value: i, selected: i === selected }, data.columns[i].name));
    const select = h("select", {}, ...options);
    const logBox = h("input", { type: "checkbox", checked: true });
    const logField = h("label", { class: "check" }, logBox, ` ${t.logScale}`);
    const unit = () => (logBox.checked ? unitOf(data.columns[Number(select.value)]) : null);
    const update = () => logField.classList.toggle("invisible", unitOf(data.columns[Number(select.value)]) === null);
    for (const input of [select, logBox]) input.addEventListener("change", () => (update(), zoom.reset(), draw()));
    update();
    return { select, unit, fields: [h("label", { class: "field" }, h("span", {}, label), select), logField] };
  };
  const [xChoice, yChoice] = [axisChoice(t.horizontalAxis, firstX), axisChoice(t.verticalAxis, firstY)];
  const legend = h("div", { class: "legend" });
  const beyondNote = h("p", { class: "note small" });
  const tooltip = h("div", { class: "tooltip", hidden: true });
  let marks: Mark[] = [];
  /** The only cluster that is not dimmed; null if none is dimmed. */
  let selectedCluster: number | null = null;

  const plot = responsivePlot(MAX_HEIGHT, 1, (element, width, height) => {
    const [xIndex, yIndex] = [Number(xChoice.select.value), Number(yChoice.select.value)];
    const [xColumn, yColumn] = [data.columns[xIndex], data.columns[yIndex]];
    const [xUnit, yUnit] = [xChoice.unit(), yChoice.unit()];
    const xRange = zoom.range("x", columnRange(xColumn, xUnit), xUnit);
    const yRange = zoom.range("y", columnRange(yColumn, yUnit), yUnit);
    const yTicks = ticksOf(yColumn, yRange, 6, yUnit).map(([v, label]): Tick => [v, truncate(label, MAX_TICK_LENGTH)]);
    const x = xScale(xRange, width, xUnit, leftPadding(yTicks));
    const y = yScale(yRange, height, yUnit);
    const title = (column: Column, unit: number | null) => (unit === null ? column.name : t.withLogScale(column.name));
    marks = placeMarks(xIndex, yIndex, x, y);
    element.setAttribute("aria-label", plotLabel(xColumn, yColumn));
    element.replaceChildren(
      ...drawAxes(
        { scale: x, ticks: ticksOf(xColumn, xRange, width / 90, xUnit), title: title(xColumn, xUnit) },
        { scale: y, ticks: yTicks, title: title(yColumn, yUnit) },
        width,
        height,
      ),
      ...drawRows(),
      ...(zoom.isFull ? arrowLabels(xIndex, yIndex, width) : []),
      ...thresholdLines(state, xIndex, yIndex, xRange, yRange).map(([x1, y1, x2, y2]) =>
        svg("path", { class: "threshold", d: `M${x.toPixel(x1)} ${y.toPixel(y1)}L${x.toPixel(x2)} ${y.toPixel(y2)}` }),
      ),
    );
    beyondNote.textContent = zoom.isFull ? describeBeyond(xIndex, yIndex, xRange, yRange) : describeZoom(x, y, xIndex, yIndex);
    zoom.drawn(x, y);
  });
  const zoom = new PlotZoom(plot.element, () => draw());

  function placeMarks(xIndex: number, yIndex: number, x: Scale, y: Scale): Mark[] {
    const [xs, ys] = [data.points.values[xIndex], data.points.values[yIndex]];
    return state.tree.points.flatMap((cluster, row) => {
      const [xValue, yValue] = [xs[row], ys[row]];
      if (xValue === null || yValue === null) return [];
      const xJittered = xValue + jitter(data.columns[xIndex], 2 * row);
      const yJittered = yValue + jitter(data.columns[yIndex], 2 * row + 1);
      const beyond: [number, number] = [sideOf(xJittered, x), sideOf(yJittered, y)];
      // A part of the plot shows only the rows in it.
      if (!zoom.isFull && (beyond[0] || beyond[1])) return [];
      return [{ row, cluster, x: x.toPixel(clamp(xJittered, x)), y: y.toPixel(clamp(yJittered, y)), beyond }];
    });
  }

  /** One path per cluster with the marks of its rows, and one with the arrows of rows beyond the axes. */
  function drawRows(): SVGElement[] {
    const size = data.points.rows > 800 ? 2.6 : 3.6;
    return data.clusters.flatMap((_, c) => {
      const isDimmed = selectedCluster !== null && selectedCluster !== c;
      const own = marks.filter(({ cluster }) => cluster === c);
      const inside = own.filter((mark) => !isBeyond(mark)).map((mark) => markerPath(c, mark.x, mark.y, size));
      const arrows = own.filter(isBeyond).map(arrowPath);
      const path = (className: string, parts: string[]) =>
        setStyle(svg("path", { class: `${className}${isDimmed ? " dimmed" : ""}`, d: parts.join("") }), {
          fill: clusterColor(c),
        });
      return [path("row-markers", inside), path("row-markers beyond", arrows)];
    });
  }

  /** The values of rows beyond the axes, beside their arrows, where there is space. */
  function arrowLabels(xIndex: number, yIndex: number, width: number): SVGElement[] {
    const placed: { left: number; right: number; y: number }[] = [];
    const value = (mark: Mark, axis: 0 | 1) => data.points.values[axis ? yIndex : xIndex][mark.row]!;
    // The most extreme rows have their labels first.
    const order = marks.filter(isBeyond).sort((a, b) => extremeness(b) - extremeness(a));
    function extremeness(mark: Mark): number {
      return Math.max(...([0, 1] as const).map((axis) => (mark.beyond[axis] ? distanceOutside(axis ? yIndex : xIndex, value(mark, axis)) : 0)));
    }
    return order.flatMap((mark) => {
      const texts = ([0, 1] as const).flatMap((axis) => {
        const column = data.columns[axis ? yIndex : xIndex];
        return mark.beyond[axis] && column.kind === "number" ? [formatRounded(column, value(mark, axis))] : [];
      });
      const text = texts.join(", ");
      const isLeft = mark.x > width / 2;
      const length = 7 * text.length;
      const x = mark.x + (isLeft ? -10 : 10);
      const box = { left: isLeft ? x - length : x, right: isLeft ? x : x + length, y: mark.y };
      const isFree = placed.every((other) => Math.abs(other.y - box.y) > 13 || other.left > box.right || other.right < box.left);
      if (!isFree) return [];
      placed.push(box);
      return [svg("text", { class: "arrow-label", x, y: mark.y + 4, "text-anchor": isLeft ? "end" : "start" }, text)];
    });
  }

  /** How far a value lies beyond the axis of its column, in lengths of the axis. */
  function distanceOutside(i: number, value: number): number {
    const column = data.columns[i];
    if (column.kind === "category") return 0;
    const { low, high } = columnRange(column, null);
    return Math.max(low - value, value - high) / (high - low || 1);
  }

  function describeZoom(x: Scale, y: Scale, xIndex: number, yIndex: number): string {
    const [xs, ys] = [data.points.values[xIndex], data.points.values[yIndex]];
    const isOutside = (row: number) =>
      xs[row] !== null && ys[row] !== null && (sideOf(xs[row]!, x) !== 0 || sideOf(ys[row]!, y) !== 0);
    const n = xs.filter((_, row) => isOutside(row)).length;
    return t.zoomNote(formatCount(n));
  }

  /** How many of the drawn rows lie beyond the axes, and how far. */
  function describeBeyond(xIndex: number, yIndex: number, xRange: Range, yRange: Range): string {
    const parts = [...new Set([xIndex, yIndex])].flatMap((i) => {
      const column = data.columns[i];
      if (column.kind === "category") return [];
      const range = i === xIndex ? xRange : yRange;
      const values = data.points.values[i].filter((v): v is number => v !== null);
      const below = values.filter((v) => v < range.low);
      const above = values.filter((v) => v > range.high);
      const texts = [];
      if (below.length)
        texts.push(t.rowsBelow(below.length, formatCount(below.length), formatRounded(column, Math.min(...below))));
      if (above.length)
        texts.push(t.rowsAbove(above.length, formatCount(above.length), formatRounded(column, Math.max(...above))));
      return texts.length ? [`${column.name}: ${texts.join(", ")}`] : [];
    });
    if (!parts.length) return "";
    return t.beyondNote(parts.join("; "));
  }

  function drawLegend(): void {
    const toggle = (c: number) => () => {
      selectedCluster = selectedCluster === c ? null : c;
      draw();
      (legend.children[c] as HTMLElement).focus();
    };
    legend.replaceChildren(
      ...data.clusters.map((_, c) =>
        h(
          "button",
          { type: "button", "aria-pressed": String(selectedCluster === c), click: toggle(c) },
          legendMarker(c, clusterColor(c)),
          state.clusterName(c),
        ),
      ),
    );
  }

  function draw(): void {
    tooltip.hidden = true;
    plot.redraw();
    drawLegend();
  }

  /** Describes the row at the pointer. */
  function onPointerMove(event: PointerEvent): void {
    if (zoom.isDragging) return;
    const { x, y, scale, box } = zoom.position(event);
    let nearest: Mark | null = null;
    let best = HOVER_DISTANCE;
    for (const mark of marks) {
      const distance = Math.hypot(mark.x - x, mark.y - y);
      const isHidden = selectedCluster !== null && selectedCluster !== mark.cluster;
      if (distance < best && !isHidden) [nearest, best] = [mark, distance];
    }
    tooltip.hidden = nearest === null;
    if (nearest === null) return;
    replaceContent(tooltip, h("strong", {}, state.clusterName(nearest.cluster)), rowTable(nearest.row));
    const [left, top] = [nearest.x / scale, nearest.y / scale];
    const isRight = left > box.width / 2;
    setStyle(tooltip, {
      left: isRight ? "auto" : `${left + 14}px`,
      right: isRight ? `${box.width - left + 14}px` : "auto",
      top: `${Math.max(0, Math.min(top - 20, box.height - tooltip.offsetHeight))}px`,
    });
  }

  /** The values of a row: first those of the axes, then those of the tree. */
  function rowTable(row: number): HTMLElement {
    const axes = [Number(xChoice.select.value), Number(yChoice.select.value)];
    const columns = [...new Set([...axes, ...shown])].slice(0, MAX_HOVER_COLUMNS);
    const lines = columns.map((i) =>
      h("tr", {}, h("th", { scope: "row" }, truncate(data.columns[i].name, 28)), h("td", {}, valueText(data.columns[i], data.points.values[i][row]))),
    );
    return h("table", {}, h("tbody", {}, ...lines));
  }

  plot.element.addEventListener("pointermove", onPointerMove);
  plot.element.addEventListener("pointerleave", () => (tooltip.hidden = true));
  state.on(["tree", "names"], draw);
  draw();
  const figure = h("figure", { class: "with-tooltip" }, plot.element, tooltip, beyondNote, legend);
  const sampleNote =
    data.points.rows < data.rows
      ? t.plotSample(formatCount(data.points.rows), formatCount(data.rows))
      : "";
  return section(
    "plot",
    t.plotTitle,
    h(
      "p",
      { class: "note" },
      `${t.plotNote}${sampleNote} `,
      screenOnly(t.plotHint),
    ),
    h("div", { class: "toolbar" }, ...xChoice.fields, ...yChoice.fields),
    figure,
    h("div", { class: "toolbar picture-toolbar" }, ...zoom.buttons, pictureButtons("scatter", figure)),
  );
}

function plotLabel(x: Column, y: Column): string {
  return t.plotLabel(x.name, y.name);
}

function unitOf(column: Column): number | null {
  return column.kind === "number" ? column.unit : null;
}

function valueText(column: Column, value: number | null): string {
  if (value === null) return t.missing;
  return column.kind === "number" ? formatIn(column, value) : categoryName(column, value);
}

function columnRange(column: Column, unit: number | null): Range {
  if (column.kind === "category") {
    const categories = column.values.length + (column.others ? 1 : 0);
    return { low: -0.6, high: Math.max(categories - 0.4, 0.6) };
  }
  const [low, high] = [column.edges[0], column.edges[column.edges.length - 1]].map((v) => axisPosition(v, unit));
  const margin = (high - low) * 0.04 || 0.5;
  return { low: axisValue(low - margin, unit), high: axisValue(high + margin, unit) };
}

/** -1 below the range, 1 above it, 0 in it. */
function sideOf(value: number, { low, high }: Range): number {
  return value < low ? -1 : value > high ? 1 : 0;
}

function isBeyond({ beyond }: Mark): boolean {
  return beyond[0] !== 0 || beyond[1] !== 0;
}

/** A triangle that points in the direction of a row beyond the axes. */
function arrowPath({ x, y, beyond: [dx, dy] }: Mark): string {
  const length = Math.hypot(dx, dy);
  // Pixels grow downwards.
  const [ux, uy] = [dx / length, -dy / length];
  const p = (along: number, across: number) =>
    `${(x + along * ux - across * uy).toFixed(1)} ${(y + along * uy + across * ux).toFixed(1)}`;
  return `M${p(ARROW, 0)}L${p(-ARROW, ARROW)}L${p(-ARROW, -ARROW)}Z`;
}

function ticksOf(column: Column, range: Range, count: number, unit: number | null): Tick[] {
  if (column.kind === "number") return columnTicks(column, range, Math.max(count, 2), unit);
  const labels = [...column.values, ...(column.others ? [t.other] : [])];
  return labels.map((label, v): Tick => [v, label]).filter(([v]) => v >= range.low && v <= range.high);
}

type Line = [x1: number, y1: number, x2: number, y2: number];

/** The thresholds of the tree in two columns. Each line ends where an earlier split in one of them ends it. */
function thresholdLines(state: TreeState, xIndex: number, yIndex: number, xRange: Range, yRange: Range): Line[] {
  const lines = new Map<string, Line>();
  const visit = (i: number, x: Range, y: Range): void => {
    const node = state.tree.nodes[i];
    if (node.left === undefined) return;
    let [leftX, rightX, leftY, rightY] = [x, x, y, y];
    const column = state.data.columns[node.column!];
    const threshold = column.kind === "number" ? thresholdPosition(column, node.threshold!) : undefined;
    if (threshold !== undefined && node.column === xIndex) {
      if (threshold > xRange.low && threshold < xRange.high)
        lines.set(`x${threshold},${y.low},${y.high}`, [threshold, y.low, threshold, y.high]);
      [leftX, rightX] = splitRange(x, threshold);
    } else if (threshold !== undefined && node.column === yIndex) {
      if (threshold > yRange.low && threshold < yRange.high)
        lines.set(`y${threshold},${x.low},${x.high}`, [x.low, threshold, x.high, threshold]);
      [leftY, rightY] = splitRange(y, threshold);
    }
    visit(node.left, leftX, leftY);
    visit(node.right!, rightX, rightY);
  };
  visit(0, xRange, yRange);
  return [...lines.values()];
}

function splitRange({ low, high }: Range, threshold: number): [Range, Range] {
  return [
    { low, high: Math.min(high, threshold) },
    { low: Math.max(low, threshold), high },
  ];
}

/** A small offset that separates rows with the same category or the same integer. */
function jitter(column: Column, seed: number): number {
  const isDiscrete = column.kind === "category" || hasSeparateIntegers(column);
  return isDiscrete ? seededRandom(seed) * 0.5 : 0;
}
