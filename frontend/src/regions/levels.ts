// One section per level: a plot of its regions, and their descriptions.

import { clusterColor } from "../shared/colors";
import { isBinary } from "../shared/column-distribution";
import { h, section, setStyle, svg } from "../shared/dom";
import { formatCount, formatPercent, displayRule } from "../shared/format";
import {
  clamp,
  columnTicks,
  crosshair,
  drawAxes,
  leftPadding,
  legendMarker,
  markerPath,
  responsivePlot,
  seededRandom,
  xScale,
  yScale,
  type Range,
  type Scale,
  type Tick,
} from "../shared/plot";
import { pictureButtons } from "../shared/picture";
import { PlotZoom } from "../shared/plot-zoom";
import { clusterBadge } from "../shared/row-result";
import type { Column, Level } from "../types";
import { levelValues, predict } from "./predict";
import type { RegionsState } from "./state";
import { t } from "../texts";

const MAX_HEIGHT = 460;
/** A plot of one column is lower; its vertical axis has no meaning and goes from 0 to 1. */
const MAX_HEIGHT_ONE_COLUMN = 230;
/** How far outside the plot corners of regions may lie, in lengths of the axis. */
const MAX_LENGTHS = 1000;
/** Share of the page width that a plot takes in print. */
const PRINT_SHARE = 0.58;
/** Colour of rows that lie in no region. */
const NO_REGION_COLOR = "var(--neutral)";

export function levelSections(state: RegionsState): HTMLElement[] {
  return state.data.levels.map((level, i) => {
    const element = section(
      `level-${i + 1}`,
      t.levelTitle(i + 1, state.levelName(i)),
      h("p", { class: "note" }, levelSummary(level)),
      h("div", { class: "two-columns level" }, levelPlot(state, level, i), regionList(state, level)),
    );
    element.dataset.short = t.level(i + 1);
    return element;
  });
}

function levelSummary(level: Level): string {
  const { reached, answered, error, heldOutError } = level;
  let text = t.reachLevel(reached, formatCount(reached), formatCount(answered));
  if (answered < reached) text += t.leftForNext(formatCount(reached - answered));
  if (error === null) return text;
  return text + t.levelErrors(formatPercent(error), heldOutError === null ? null : formatPercent(heldOutError));
}

function levelPlot(state: RegionsState, level: Level, levelIndex: number): HTMLElement {
  const { data, names } = state;
  const columnNames = level.columns.map((c) => data.columns[c].name);
  if (columnNames.length > 2)
    return h("p", {}, t.tooManyColumns(state.levelName(levelIndex)));
  const hasOneColumn = columnNames.length === 1;
  const rowMarker = svg("g", {});
  let drawRowMarker = () => {};
  const maxHeight = hasOneColumn ? MAX_HEIGHT_ONE_COLUMN : MAX_HEIGHT;
  const plot = responsivePlot(maxHeight, PRINT_SHARE, (element, width, height) => {
    const [xWindow, yWindow] = [level.window[0], level.window[1] ?? [0, 1]];
    const xRange = zoom.range("x", { low: xWindow[0], high: xWindow[1] });
    const yRange = zoom.range("y", { low: yWindow[0], high: yWindow[1] });
    const yTicks = hasOneColumn ? [] : levelTicks(data.columns[level.columns[1]], yRange, 6);
    const xTicks = levelTicks(data.columns[level.columns[0]], xRange, width / 75);
    const x = xScale(xRange, width, null, leftPadding(yTicks));
    const y = yScale(yRange, height);
    const dimmed = (cluster: number | null) =>
      state.highlighted !== null && state.highlighted !== cluster ? " dimmed" : "";
    const filledPath = (className: string, d: string, fill: string) =>
      setStyle(svg("path", { class: className, d }), { fill });
    const markers = rowMarkers(level, data.clusters.length, x, y);
    element.setAttribute("aria-label", t.levelPlotLabel(columnNames.join(t.and)));
    element.replaceChildren(
      ...drawAxes(
        { scale: x, ticks: xTicks, title: columnNames[0] },
        { scale: y, ticks: yTicks, title: columnNames[1] },
        width,
        height,
      ),
      filledPath(`row-markers no-region${dimmed(null)}`, markers.noRegion, NO_REGION_COLOR),
      clipped(
        x,
        y,
        ...gridPaths(level, x, y, data.clusters.length).map((d, c) =>
          filledPath(`region-grid${dimmed(c)}`, d, clusterColor(c)),
        ),
        ...boxPaths(level, x, y).map(([cluster, d]) =>
          filledPath(`region-part${dimmed(cluster)}`, d, clusterColor(cluster)),
        ),
        ...level.outlines.map(({ answer, points }) => {
          const corners = points.map(([px, py]) => `${pixel(px, x)} ${pixel(py, y)}`);
          const [className, fill] =
            answer === null ? ["region", "none"] : [`region${dimmed(answer)}`, clusterColor(answer)];
          return filledPath(className, `M${corners.join("L")}Z`, fill);
        }),
      ),
      ...markers.clusters.map((d, c) => filledPath(`row-markers${dimmed(c)}`, d, clusterColor(c))),
      rowMarker,
    );
    drawRowMarker = () => {
      const values = enteredValues(state, level, levelIndex);
      if (!values || (!zoom.isFull && isOutside(values, x, y))) return rowMarker.replaceChildren();
      const yValue = hasOneColumn ? 0.5 : clamp(values[1], y);
      rowMarker.replaceChildren(crosshair(x.toPixel(clamp(values[0], x)), y.toPixel(yValue)));
    };
    drawRowMarker();
    zoom.drawn(x, y);
  });
  const zoom = new PlotZoom(plot.element, plot.redraw, hasOneColumn ? ["x"] : ["x", "y"]);
  const legend = h("div", { class: "legend" });
  const drawLegend = () => {
    const entries = data.clusters.flatMap((_, c) => {
      if (!level.pieces.some((part) => part.answer === c)) return [];
      return [h("span", { class: "legend-entry" }, legendMarker(c, clusterColor(c)), ` ${names.displayName(c)}`)];
    });
    if (level.answered < level.reached)
      entries.push(h("span", { class: "legend-entry" }, legendMarker(0, NO_REGION_COLOR), ` ${t.inNoRegion}`));
    legend.replaceChildren(...entries);
  };
  state.on("highlight", plot.redraw);
  state.on("row", () => drawRowMarker());
  names.onChange(drawLegend);
  plot.redraw();
  drawLegend();
  const figure = h("figure", {}, plot.element, legend);
  figure.append(h("div", { class: "toolbar picture-toolbar" }, ...zoom.buttons, pictureButtons(`level-${levelIndex + 1}`, figure)));
  return figure;
}

/** "no" and "yes" for a column that says whether a row has a category. */
function levelTicks(column: Column, range: Range, count: number): Tick[] {
  if (column.kind === "category") return [];
  if (isBinary(column) && column.name.includes(" is ")) return [[0, t.no], [1, t.yes]];
  return columnTicks(column, range, count, null);
}

/** Paths with the markers of the sampled rows. */
function rowMarkers(level: Level, nClusters: number, x: Scale, y: Scale): { clusters: string[]; noRegion: string } {
  const [xs, ys] = level.points.values;
  const clusters = Array.from({ length: nClusters }, () => "");
  let noRegion = "";
  level.points.answers.forEach((cluster, i) => {
    const [vx, vy] = [xs[i], ys ? ys[i] : 0.5 + 0.8 * seededRandom(i)];
    if (vx < x.low || vx > x.high || vy < y.low || vy > y.high) return;
    const [px, py] = [x.toPixel(vx), y.toPixel(vy)];
    if (cluster < 0) noRegion += markerPath(0, px, py, 2.4);
    else clusters[cluster] += markerPath(cluster, px, py, 3.3);
  });
  return { clusters, noRegion };
}

/** Whether the values of a row lie outside the part that is shown. */
function isOutside(values: number[], x: Scale, y: Scale): boolean {
  return [x, y].some(({ low, high }, axis) => axis < values.length && (values[axis] < low || values[axis] > high));
}

/** The pixel of a value. Values far outside the plot, such as the ends of open boxes, are moved nearer. */
function pixel(value: number, scale: Scale): string {
  const far = MAX_LENGTHS * (scale.high - scale.low);
  return scale.toPixel(clamp(value, { low: scale.low - far, high: scale.high + far })).toFixed(1);
}

/** Elements that are cut at the axes. */
function clipped(x: Scale, y: Scale, ...children: SVGElement[]): SVGElement {
  const [left, top] = [x.toPixel(x.low), y.toPixel(y.high)];
  const [width, height] = [x.toPixel(x.high) - left, y.toPixel(y.low) - top];
  return svg("svg", { x: left, y: top, width, height, viewBox: `${left} ${top} ${width} ${height}` }, ...children);
}

/** One path per cluster with its cells of the grid. Levels with a grid have regions without a simple shape. */
function gridPaths(level: Level, x: Scale, y: Scale, nClusters: number): string[] {
  const paths = Array.from({ length: nClusters }, () => "");
  // The grid covers the whole plot, also where only a part of it is shown.
  const [xFull, yFull] = [level.window[0], level.window[1] ?? [0, 1]];
  level.shades?.forEach((runs, row, { length: nRows }) => {
    const [bottom, top] = [row, row + 1].map((r) => pixel(yFull[0] + (r / nRows) * (yFull[1] - yFull[0]), y));
    const nCells = runs.reduce((sum, v, i) => sum + (i % 2 ? v : 0), 0);
    const cellStart = (cell: number) => pixel(xFull[0] + (cell / nCells) * (xFull[1] - xFull[0]), x);
    let start = 0;
    for (let i = 0; i < runs.length; i += 2) {
      const [cluster, end] = [runs[i], start + runs[i + 1]];
      const [left, right] = [cellStart(start), cellStart(end)];
      if (cluster >= 0) paths[cluster] += `M${left} ${bottom}H${right}V${top}H${left}Z`;
      start = end;
    }
  });
  return paths;
}

/** The parts of boxes that contain several clusters, each with its cluster. */
function boxPaths(level: Level, x: Scale, y: Scale): [cluster: number, path: string][] {
  return level.pieces.flatMap(({ region, answer, bounds }) => {
    const isOnlyCluster = level.pieces.every((other) => other.region !== region || other.answer === answer);
    if (!bounds || isOnlyCluster) return [];
    // The box of a single column fills almost the whole height of the plot.
    const [[xLow, xHigh], [yLow, yHigh]] = [bounds[0], bounds[1] ?? [0.02, 0.98]];
    const [left, right] = [pixel(xLow ?? -Infinity, x), pixel(xHigh ?? Infinity, x)];
    const [bottom, top] = [pixel(yLow ?? -Infinity, y), pixel(yHigh ?? Infinity, y)];
    const path: [number, string] = [answer, `M${left} ${bottom}H${right}V${top}H${left}Z`];
    return [path];
  });
}

/** The values of the entered row in a level; null if there is no row, or if an earlier level covers it. */
function enteredValues(state: RegionsState, level: Level, levelIndex: number): number[] | null {
  if (state.row === null) return null;
  const { level: decidingLevel } = predict(state.data, state.row);
  return decidingLevel >= 0 && decidingLevel < levelIndex ? null : levelValues(level, state.row);
}

function regionList(state: RegionsState, level: Level): HTMLElement {
  const list = h("ul", { class: "badge-list" });
  const draw = () =>
    list.replaceChildren(
      ...level.pieces.map(({ answer, text, rows, purity }) => {
        const purityText = purity === null ? null : formatPercent(purity);
        const size = h("span", { class: "region-size" }, t.rowsCorrect(rows, formatCount(rows), purityText));
        return h("li", {}, clusterBadge(state.names, answer), ` ${displayRule(text)} `, size);
      }),
    );
  state.names.onChange(draw);
  draw();
  return list;
}
