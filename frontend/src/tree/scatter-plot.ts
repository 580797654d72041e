// The scatter plot of two columns, with the thresholds of the selected tree.

import { clusterColor } from "../shared/colors";
import { formatIn, formatRounded } from "../shared/column-format";
import { h, replaceContent, section, setStyle, svg } from "../shared/dom";
import { categoryName, formatCount, pluralize } from "../shared/format";
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
import { screenOnly } from "../shared/printing";
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

/** A row with the position of its mark in the plot. */
interface Mark {
  row: number;
  cluster: number;
  x: number;
  y: number;
  /** Whether the row lies beyond the axes, so that its mark is an arrow at the edge. */
  isBeyond: boolean;
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
    const logField = h("label", { class: "check" }, logBox, " log scale");
    const unit = () => (logBox.checked ? unitOf(data.columns[Number(select.value)]) : null);
    const update = () => logField.classList.toggle("invisible", unitOf(data.columns[Number(select.value)]) === null);
    for (const input of [select, logBox]) input.addEventListener("change", () => (update(), draw()));
    update();
    return { select, unit, fields: [h("label", { class: "field" }, h("span", {}, label), select), logField] };
  };
  const [xChoice, yChoice] = [axisChoice("Horizontal axis", firstX), axisChoice("Vertical axis", firstY)];
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
    const [xRange, yRange] = [columnRange(xColumn, xUnit), columnRange(yColumn, yUnit)];
    const yTicks = ticksOf(yColumn, yRange, 6, yUnit).map(([v, label]): Tick => [v, truncate(label, MAX_TICK_LENGTH)]);
    const x = xScale(xRange, width, xUnit, leftPadding(yTicks));
    const y = yScale(yRange, height, yUnit);
    const title = (column: Column, unit: number | null) => (unit === null ? column.name : `${column.name} (log scale)`);
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
      ...thresholdLines(state, xIndex, yIndex, xRange, yRange).map(([x1, y1, x2, y2]) =>
        svg("path", { class: "threshold", d: `M${x.toPixel(x1)} ${y.toPixel(y1)}L${x.toPixel(x2)} ${y.toPixel(y2)}` }),
      ),
    );
    beyondNote.textContent = describeBeyond(xIndex, yIndex, xRange, yRange);
  });

  function placeMarks(xIndex: number, yIndex: number, x: Scale, y: Scale): Mark[] {
    const [xs, ys] = [data.points.values[xIndex], data.points.values[yIndex]];
    return state.tree.points.flatMap((cluster, row) => {
      const [xValue, yValue] = [xs[row], ys[row]];
      if (xValue === null || yValue === null) return [];
      const xJittered = xValue + jitter(data.columns[xIndex], 2 * row);
      const yJittered = yValue + jitter(data.columns[yIndex], 2 * row + 1);
      const isBeyond = clamp(xJittered, x) !== xJittered || clamp(yJittered, y) !== yJittered;
      return [{ row, cluster, x: x.toPixel(clamp(xJittered, x)), y: y.toPixel(clamp(yJittered, y)), isBeyond }];
    });
  }

  /** One path per cluster with the marks of its rows, and one with the arrows of rows beyond the axes. */
  function drawRows(): SVGElement[] {
    const size = data.points.rows > 800 ? 2.6 : 3.6;
    return data.clusters.flatMap((_, c) => {
      const isDimmed = selectedCluster !== null && selectedCluster !== c;
      const own = marks.filter(({ cluster }) => cluster === c);
      const paths = (isBeyond: boolean) =>
        own.filter((mark) => mark.isBeyond === isBeyond).map((mark) => markerPath(c, mark.x, mark.y, isBeyond ? 4.6 : size));
      const inside = svg("path", { class: `row-markers${isDimmed ? " dimmed" : ""}`, d: paths(false).join("") });
      const beyond = svg("path", { class: `row-markers beyond${isDimmed ? " dimmed" : ""}`, d: paths(true).join("") });
      return [setStyle(inside, { fill: clusterColor(c) }), setStyle(beyond, { stroke: clusterColor(c) })];
    });
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
        texts.push(`${pluralize(below.length, "row")} below (down to ${formatRounded(column, Math.min(...below))})`);
      if (above.length)
        texts.push(`${pluralize(above.length, "row")} above (up to ${formatRounded(column, Math.max(...above))})`);
      return texts.length ? [`${column.name}: ${texts.join(", ")}`] : [];
    });
    if (!parts.length) return "";
    return `Rings at the edge are rows beyond the axis. ${parts.join("; ")}.`;
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
    const box = plot.element.getBoundingClientRect();
    const scale = plot.element.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
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
  const sampleNote =
    data.points.rows < data.rows
      ? ` The plot shows ${formatCount(data.points.rows)} of ${formatCount(data.rows)} rows.`
      : "";
  return section(
    "plot",
    "Scatter plot",
    h(
      "p",
      { class: "note" },
      `Each mark is one row. Dashed lines are thresholds of the tree in these two columns.${sampleNote} `,
      screenOnly("Hover a mark to see the row. Click a cluster to highlight it."),
    ),
    h("div", { class: "toolbar" }, ...xChoice.fields, ...yChoice.fields),
    h("figure", { class: "with-tooltip" }, plot.element, tooltip, beyondNote, legend),
  );
}

function plotLabel(x: Column, y: Column): string {
  return `Rows by ${x.name} and ${y.name}, coloured by cluster, with the thresholds of the tree`;
}

function unitOf(column: Column): number | null {
  return column.kind === "number" ? column.unit : null;
}

function valueText(column: Column, value: number | null): string {
  if (value === null) return "missing";
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

function ticksOf(column: Column, range: Range, count: number, unit: number | null): Tick[] {
  if (column.kind === "number") return columnTicks(column, range, Math.max(count, 2), unit);
  const labels = [...column.values, ...(column.others ? ["other"] : [])];
  return labels.map((label, v) => [v, label]);
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
