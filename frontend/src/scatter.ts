// Two columns at a time, with the cuts of the tree.

import { color } from "./colors";
import { h, s, section, styled } from "./dom";
import { onScreen } from "./paper";
import { across, chance, clip, frame, inside, key, mark, numberTicks, picture, upwards, type Scale, type Tick } from "./plot";
import type { State } from "./state";
import type { Column } from "./types";
import { count } from "./words";

interface Range {
  column: number;
  low: number;
  high: number;
}

export function scatter(state: State): HTMLElement | null {
  const { data } = state;
  const shown = data.columns.flatMap((column, i) => (column.shown ? [i] : []));
  if (!data.points.rows || !shown.length) return null;
  const [x0, y0] = firstPair(data.columns, shown);
  const choose = (label: string, value: number) => {
    const select = h("select", {}, ...shown.map((i) => h("option", { value: i, selected: i === value }, data.columns[i].name)));
    return { select, label: h("label", { class: "field" }, h("span", {}, label), select) };
  };
  const [x, y] = [choose("Across", x0), choose("Up", y0)];
  const legend = h("div", { class: "legend" });
  let only: number | null = null;

  const plot = picture(560, 1, (svg, width, height) => {
    const ranges = [range(data.columns, Number(x.select.value)), range(data.columns, Number(y.select.value))];
    const px = across(ranges[0].low, ranges[0].high, width);
    const py = upwards(ranges[1].low, ranges[1].high, height);
    const columns = ranges.map(({ column }) => data.columns[column]);
    const names = columns.map((column) => column.name);
    svg.replaceChildren(
      s("title", {}, `Rows by ${names[0]} and ${names[1]}, coloured by cluster, with the cuts of the tree`),
      ...frame(px, py, ticks(columns[0], ranges[0], width / 75), ticks(columns[1], ranges[1], 6), names, width, height),
      ...clouds(ranges, px, py),
      ...cuts(state, ranges[0], ranges[1]).map(([x1, y1, x2, y2]) =>
        s("path", { class: "cut", d: `M${px.at(x1)} ${py.at(y1)}L${px.at(x2)} ${py.at(y2)}` }),
      ),
    );
  });

  function clouds([ax, ay]: Range[], px: Scale, py: Scale): SVGElement[] {
    const [xs, ys] = [data.points.values[ax.column], data.points.values[ay.column]];
    const parts: string[][] = data.clusters.map(() => []);
    const size = data.points.rows > 800 ? 2.6 : 3.6;
    state.tree.points.forEach((c, row) => {
      const [vx, vy] = [xs[row], ys[row]];
      if (vx === null || vy === null) return;
      const [jx, jy] = [jitter(data.columns[ax.column], 2 * row), jitter(data.columns[ay.column], 2 * row + 1)];
      parts[c].push(mark(c, px.at(inside(vx + jx, ax)), py.at(inside(vy + jy, ay)), size));
    });
    return data.clusters.map((_, c) =>
      styled(s("path", { class: `cloud${only !== null && only !== c ? " dim" : ""}`, d: parts[c].join("") }), { fill: color(c) }),
    );
  }

  function drawLegend(): void {
    const choose = (c: number) => () => {
      only = only === c ? null : c;
      draw();
      (legend.children[c] as HTMLElement).focus();
    };
    legend.replaceChildren(
      ...data.clusters.map((_, c) =>
        h("button", { type: "button", "aria-pressed": String(only === c), click: choose(c) }, key(c, color(c)), state.name(c)),
      ),
    );
  }

  function draw(): void {
    plot.redraw();
    drawLegend();
  }

  x.select.addEventListener("change", draw);
  y.select.addEventListener("change", draw);
  state.on(["tree", "names"], draw);
  draw();
  const some = data.points.rows < data.rows ? ` ${count(data.points.rows)} of the rows are drawn.` : "";
  return section(
    "plot",
    "Two columns at a time",
    h(
      "p",
      { class: "note" },
      `Each mark is a row, and a dashed line where the tree cuts one of these two columns.${some} `,
      onScreen("Click on a cluster to see it alone."),
    ),
    h("div", { class: "tools" }, x.label, y.label),
    h("figure", {}, plot.element, legend),
  );
}

/** The two columns of the questions that most rows are asked; else those that differ most. */
function firstPair(columns: Column[], shown: number[]): [number, number] {
  const isNumber = (i: number) => columns[i].kind === "number";
  const order = [...shown.filter(isNumber), ...shown.filter((i) => !isNumber(i))];
  return [order[0], order[1] ?? order[0]];
}

function range(columns: Column[], i: number): Range {
  const column = columns[i];
  if (column.kind === "category") return { column: i, low: -0.6, high: Math.max(column.values.length + (column.others ? 1 : 0) - 0.4, 0.6) };
  const [low, high] = [column.edges[0], column.edges[column.edges.length - 1]];
  const margin = (high - low) * 0.04 || 0.5;
  return { column: i, low: low - margin, high: high + margin };
}

function ticks(column: Column, at: Range, most: number): Tick[] {
  if (column.kind === "number") return numberTicks(at, Math.max(most, 2));
  const words = [...column.values, ...(column.others ? ["other"] : [])];
  return words.map((word, v) => [v, clip(word, 9)]);
}

/** The cuts in two columns, each as long as the questions before it leave it. */
function cuts(state: State, ax: Range, ay: Range): [number, number, number, number][] {
  const found = new Map<string, [number, number, number, number]>();
  const walk = (i: number, box: [number, number, number, number]): void => {
    const node = state.tree.nodes[i];
    if (node.left === undefined) return;
    const [x1, x2, y1, y2] = box;
    const t = node.threshold;
    const go = (a: typeof box, b: typeof box) => {
      walk(node.left!, a);
      walk(node.right!, b);
    };
    if (t === undefined) return go(box, box);
    if (node.column === ax.column) {
      if (t > ax.low && t < ax.high) found.set(`x${t},${y1},${y2}`, [t, y1, t, y2]);
      go([x1, Math.min(x2, t), y1, y2], [Math.max(x1, t), x2, y1, y2]);
    } else if (node.column === ay.column) {
      if (t > ay.low && t < ay.high) found.set(`y${t},${x1},${x2}`, [x1, t, x2, t]);
      go([x1, x2, y1, Math.min(y2, t)], [x1, x2, Math.max(y1, t), y2]);
    } else go(box, box);
  };
  walk(0, [ax.low, ax.high, ay.low, ay.high]);
  return [...found.values()];
}

/** Spreads rows of one category or of one whole number a little; the same for the same row. */
function jitter(column: Column, seed: number): number {
  const isDiscrete = column.kind === "category" || (column.whole && column.high - column.low < 24);
  return isDiscrete ? chance(seed) * 0.5 : 0;
}
