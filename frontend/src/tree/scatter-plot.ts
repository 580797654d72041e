// The scatter plot of two columns, with the thresholds of the selected tree.

import { clusterColor } from "../shared/colors";
import { h, section, setStyle, svg } from "../shared/dom";
import { formatCount } from "../shared/format";
import {
  clamp,
  drawAxes,
  legendMarker,
  markerPath,
  numberTicks,
  responsivePlot,
  seededRandom,
  truncate,
  xScale,
  yScale,
  type Range,
  type Scale,
  type Tick,
} from "../shared/plot";
import { screenOnly } from "../shared/printing";
import type { Column } from "../types";
import type { TreeState } from "./state";

const MAX_HEIGHT = 560;
/** Columns of integers with a smaller range than this are jittered. */
const MAX_JITTERED_RANGE = 24;

/** Null if the report contains no rows to draw. */
export function scatterPlotSection(state: TreeState): HTMLElement | null {
  const { data } = state;
  const shown = data.columns.flatMap((column, i) => (column.shown ? [i] : []));
  if (!data.points.rows || !shown.length) return null;
  const [firstX, firstY] = initialColumns(data.columns, shown);
  const columnSelect = (label: string, selected: number) => {
    const options = shown.map((i) => h("option", { value: i, selected: i === selected }, data.columns[i].name));
    const select = h("select", {}, ...options);
    return { select, field: h("label", { class: "field" }, h("span", {}, label), select) };
  };
  const [xChoice, yChoice] = [columnSelect("Horizontal axis", firstX), columnSelect("Vertical axis", firstY)];
  const legend = h("div", { class: "legend" });
  /** The only cluster that is not dimmed; null if none is dimmed. */
  let selectedCluster: number | null = null;

  const plot = responsivePlot(MAX_HEIGHT, 1, (element, width, height) => {
    const [xIndex, yIndex] = [Number(xChoice.select.value), Number(yChoice.select.value)];
    const [xColumn, yColumn] = [data.columns[xIndex], data.columns[yIndex]];
    const [xRange, yRange] = [columnRange(xColumn), columnRange(yColumn)];
    const x = xScale(xRange.low, xRange.high, width);
    const y = yScale(yRange.low, yRange.high, height);
    const title = `Rows by ${xColumn.name} and ${yColumn.name}, coloured by cluster, with the thresholds of the tree`;
    element.replaceChildren(
      svg("title", {}, title),
      ...drawAxes(
        { scale: x, ticks: columnTicks(xColumn, xRange, width / 75), title: xColumn.name },
        { scale: y, ticks: columnTicks(yColumn, yRange, 6), title: yColumn.name },
        width,
        height,
      ),
      ...drawRows(xIndex, yIndex, x, y),
      ...thresholdLines(state, xIndex, yIndex, xRange, yRange).map(([x1, y1, x2, y2]) =>
        svg("path", { class: "threshold", d: `M${x.toPixel(x1)} ${y.toPixel(y1)}L${x.toPixel(x2)} ${y.toPixel(y2)}` }),
      ),
    );
  });

  /** One path per cluster with the markers of its rows. */
  function drawRows(xIndex: number, yIndex: number, x: Scale, y: Scale): SVGElement[] {
    const [xs, ys] = [data.points.values[xIndex], data.points.values[yIndex]];
    const markers: string[][] = data.clusters.map(() => []);
    const size = data.points.rows > 800 ? 2.6 : 3.6;
    state.tree.points.forEach((cluster, row) => {
      const [xValue, yValue] = [xs[row], ys[row]];
      if (xValue === null || yValue === null) return;
      const xJittered = xValue + jitter(data.columns[xIndex], 2 * row);
      const yJittered = yValue + jitter(data.columns[yIndex], 2 * row + 1);
      markers[cluster].push(markerPath(cluster, x.toPixel(clamp(xJittered, x)), y.toPixel(clamp(yJittered, y)), size));
    });
    return markers.map((paths, c) => {
      const isDimmed = selectedCluster !== null && selectedCluster !== c;
      const path = svg("path", { class: `row-markers${isDimmed ? " dimmed" : ""}`, d: paths.join("") });
      return setStyle(path, { fill: clusterColor(c) });
    });
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
    plot.redraw();
    drawLegend();
  }

  xChoice.select.addEventListener("change", draw);
  yChoice.select.addEventListener("change", draw);
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
      screenOnly("Click a cluster to highlight it."),
    ),
    h("div", { class: "toolbar" }, xChoice.field, yChoice.field),
    h("figure", {}, plot.element, legend),
  );
}

/** The first two columns, number columns first. Python puts the columns that most rows are split by first. */
function initialColumns(columns: Column[], shown: number[]): [number, number] {
  const isNumber = (i: number) => columns[i].kind === "number";
  const order = [...shown.filter(isNumber), ...shown.filter((i) => !isNumber(i))];
  return [order[0], order[1] ?? order[0]];
}

function columnRange(column: Column): Range {
  if (column.kind === "category") {
    const categories = column.values.length + (column.others ? 1 : 0);
    return { low: -0.6, high: Math.max(categories - 0.4, 0.6) };
  }
  const [low, high] = [column.edges[0], column.edges[column.edges.length - 1]];
  const margin = (high - low) * 0.04 || 0.5;
  return { low: low - margin, high: high + margin };
}

function columnTicks(column: Column, range: Range, count: number): Tick[] {
  if (column.kind === "number") return numberTicks(range, Math.max(count, 2));
  const labels = [...column.values, ...(column.others ? ["other"] : [])];
  return labels.map((label, v) => [v, truncate(label, 9)]);
}

type Line = [x1: number, y1: number, x2: number, y2: number];

/** The thresholds of the tree in two columns. Each line ends where an earlier split in one of them ends it. */
function thresholdLines(state: TreeState, xIndex: number, yIndex: number, xRange: Range, yRange: Range): Line[] {
  const lines = new Map<string, Line>();
  const visit = (i: number, x: Range, y: Range): void => {
    const node = state.tree.nodes[i];
    if (node.left === undefined) return;
    let [leftX, rightX, leftY, rightY] = [x, x, y, y];
    const { threshold } = node;
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
  const isDiscrete = column.kind === "category" || (column.whole && column.high - column.low < MAX_JITTERED_RANGE);
  return isDiscrete ? seededRandom(seed) * 0.5 : 0;
}
