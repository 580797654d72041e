// Two columns at a time, with the cuts of the tree.

import { h, s, section, styled } from "./dom";
import type { State } from "./state";
import type { Column } from "./types";
import { number } from "./words";

const W = 760;
const H = 470;
const PAD = { left: 64, right: 16, top: 14, bottom: 48 };

interface Axis {
  column: number;
  low: number;
  high: number;
}

export function scatter(state: State): HTMLElement | null {
  const { data } = state;
  if (!data.points.rows) return null;
  const shown = data.columns.flatMap((column, i) => (column.shown ? [i] : []));
  if (!shown.length) return null;
  const [x0, y0] = firstPair(state, shown);
  const choose = (label: string, value: number) => {
    const select = h("select", {}, ...shown.map((i) => h("option", { value: i, selected: i === value }, data.columns[i].name)));
    return { select, label: h("label", { class: "field" }, h("span", {}, label), select) };
  };
  const x = choose("Across", x0);
  const y = choose("Up", y0);
  const picture = s("svg", { viewBox: `0 0 ${W} ${H}`, class: "scatter", role: "img" });
  const legend = h("div", { class: "legend" });
  let only: number | null = null;

  function draw(): void {
    const across = axis(data.columns, Number(x.select.value));
    const up = axis(data.columns, Number(y.select.value));
    const px = (v: number) => PAD.left + ((v - across.low) / (across.high - across.low)) * (W - PAD.left - PAD.right);
    const py = (v: number) => H - PAD.bottom - ((v - up.low) / (up.high - up.low)) * (H - PAD.top - PAD.bottom);
    const names = [data.columns[across.column].name, data.columns[up.column].name];
    picture.replaceChildren(
      s("title", {}, `Rows by ${names[0]} and ${names[1]}, coloured by cluster, with the cuts of the tree`),
      ...ticks(data.columns[across.column], across).map(([v, text]) =>
        s("g", { class: "tick" }, s("path", { d: `M${px(v)} ${PAD.top}V${H - PAD.bottom}` }), s("text", { x: px(v), y: H - PAD.bottom + 16, "text-anchor": "middle" }, text)),
      ),
      ...ticks(data.columns[up.column], up).map(([v, text]) =>
        s("g", { class: "tick" }, s("path", { d: `M${PAD.left} ${py(v)}H${W - PAD.right}` }), s("text", { x: PAD.left - 8, y: py(v) + 4, "text-anchor": "end" }, text)),
      ),
      s("text", { class: "axis", x: (PAD.left + W - PAD.right) / 2, y: H - 8, "text-anchor": "middle" }, clip(names[0], 60)),
      s("text", { class: "axis", transform: `translate(14 ${(PAD.top + H - PAD.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, clip(names[1], 44)),
      ...clouds(across, up, px, py),
      ...cuts(state, across, up).map(([x1, y1, x2, y2]) =>
        s("path", { class: "cut", d: `M${px(x1)} ${py(y1)}L${px(x2)} ${py(y2)}` }),
      ),
    );
    legend.replaceChildren(
      ...data.clusters.map((cluster, c) =>
        styled(
          h(
            "button",
            {
              type: "button",
              "aria-pressed": String(only === c),
              click: () => {
                only = only === c ? null : c;
                draw();
                (legend.children[c] as HTMLElement).focus();
              },
            },
            s("svg", { viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, styled(s("path", { d: mark(c, 0, 0, 4.6) }), { fill: cluster.color })),
            state.name(c),
          ),
          { "--cluster": cluster.color },
        ),
      ),
    );
  }

  function clouds(across: Axis, up: Axis, px: (v: number) => number, py: (v: number) => number): SVGElement[] {
    const xs = data.points.values[across.column];
    const ys = data.points.values[up.column];
    const parts: string[][] = data.clusters.map(() => []);
    const size = data.points.rows > 800 ? 2.6 : 3.6;
    state.tree.points.forEach((c, row) => {
      const [vx, vy] = [xs[row], ys[row]];
      if (vx === null || vy === null) return;
      const [jx, jy] = [jitter(data.columns[across.column], 2 * row), jitter(data.columns[up.column], 2 * row + 1)];
      const at = (v: number, axis: Axis) => Math.min(Math.max(v, axis.low), axis.high);
      parts[c].push(mark(c, px(at(vx + jx, across)), py(at(vy + jy, up)), size));
    });
    return data.clusters.map((cluster, c) =>
      styled(s("path", { class: `cloud${only !== null && only !== c ? " dim" : ""}`, d: parts[c].join("") }), { fill: cluster.color }),
    );
  }

  x.select.addEventListener("change", draw);
  y.select.addEventListener("change", draw);
  state.on(["tree", "names"], draw);
  draw();
  const some = data.points.rows < data.rows ? ` ${number(data.points.rows)} of the rows are drawn.` : "";
  return section(
    "plot",
    "Two columns at a time",
    h("p", { class: "note" }, `Each mark is a row. Lines are the cuts of the tree in these two columns.${some}`),
    h("div", { class: "tools" }, x.label, y.label),
    h("figure", {}, picture, legend),
  );
}

/** The two columns of the questions that most rows are asked; else those that differ most. */
function firstPair(state: State, shown: number[]): [number, number] {
  const isNumber = (i: number) => state.data.columns[i].kind === "number";
  const order = [...shown.filter(isNumber), ...shown.filter((i) => !isNumber(i))];
  return [order[0], order[1] ?? order[0]];
}

function axis(columns: Column[], i: number): Axis {
  const column = columns[i];
  if (column.kind === "category") return { column: i, low: -0.6, high: Math.max(column.values.length + (column.others ? 1 : 0) - 0.4, 0.6) };
  const [low, high] = [column.edges[0], column.edges[column.edges.length - 1]];
  const margin = (high - low) * 0.04 || 0.5;
  return { column: i, low: low - margin, high: high + margin };
}

function ticks(column: Column, { low, high }: Axis): [number, string][] {
  if (column.kind === "category") {
    const words = [...column.values, ...(column.others ? ["other"] : [])];
    return words.map((word, v) => [v, clip(word, 10)]);
  }
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough)!;
  const found: [number, string][] = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step) {
    const rounded = Number(v.toPrecision(10));
    found.push([rounded, number(rounded)]);
  }
  return found;
}

/** The cuts in two columns, each as long as the questions before it leave it. */
function cuts(state: State, across: Axis, up: Axis): [number, number, number, number][] {
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
    if (node.column === across.column) {
      if (t > across.low && t < across.high) found.set(`x${t},${y1},${y2}`, [t, y1, t, y2]);
      go([x1, Math.min(x2, t), y1, y2], [Math.max(x1, t), x2, y1, y2]);
    } else if (node.column === up.column) {
      if (t > up.low && t < up.high) found.set(`y${t},${x1},${x2}`, [x1, t, x2, t]);
      go([x1, x2, y1, Math.min(y2, t)], [x1, x2, Math.max(y1, t), y2]);
    } else go(box, box);
  };
  walk(0, [across.low, across.high, up.low, up.high]);
  return [...found.values()];
}

/** Spreads rows of one category or of one whole number a little; the same for the same row. */
function jitter(column: Column, seed: number): number {
  const isDiscrete = column.kind === "category" || (column.whole && column.high - column.low < 24);
  if (!isDiscrete) return 0;
  let x = (seed + 1) * 2654435761;
  x = ((x >>> 16) ^ x) * 73244475;
  return ((((x >>> 16) ^ x) >>> 0) / 2 ** 32 - 0.5) * 0.5;
}

/** A mark whose shape, too, tells the cluster. */
function mark(cluster: number, x: number, y: number, r: number): string {
  const p = (v: number) => v.toFixed(1);
  switch (cluster % 5) {
    case 0:
      return `M${p(x - r)} ${p(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
    case 1:
      return `M${p(x - 0.9 * r)} ${p(y - 0.9 * r)}h${1.8 * r}v${1.8 * r}h${-1.8 * r}Z`;
    case 2:
      return `M${p(x)} ${p(y - 1.2 * r)}l${1.15 * r} ${2.1 * r}h${-2.3 * r}Z`;
    case 3:
      return `M${p(x)} ${p(y - 1.3 * r)}l${1.3 * r} ${1.3 * r}l${-1.3 * r} ${1.3 * r}l${-1.3 * r} ${-1.3 * r}Z`;
    default:
      return `M${p(x)} ${p(y + 1.2 * r)}l${1.15 * r} ${-2.1 * r}h${-2.3 * r}Z`;
  }
}

function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
