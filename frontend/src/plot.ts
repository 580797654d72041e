// What pictures of rows share: marks, axes, and a size that follows the screen.

import { s, styled } from "./dom";
import { aroundPrinting, PAPER } from "./paper";
import { number } from "./words";

export const PAD = { left: 60, right: 14, top: 12, bottom: 46 };

/** From where to where an axis reaches, in the data and on the screen. */
export interface Scale {
  low: number;
  high: number;
  at: (value: number) => number;
}

export function across(low: number, high: number, width: number): Scale {
  return { low, high, at: (v) => PAD.left + ((v - low) / (high - low)) * (width - PAD.left - PAD.right) };
}

export function upwards(low: number, high: number, height: number): Scale {
  return { low, high, at: (v) => height - PAD.bottom - ((v - low) / (high - low)) * (height - PAD.top - PAD.bottom) };
}

export function inside(value: number, { low, high }: { low: number; high: number }): number {
  return Math.min(Math.max(value, low), high);
}

/**
 * A picture that is drawn anew when its width changes, so that its text keeps its size. On paper it
 * takes `onPaper` of the width of the page.
 */
export function picture(tallest: number, onPaper: number, draw: (svg: SVGSVGElement, width: number, height: number) => void): {
  element: SVGSVGElement;
  redraw: () => void;
} {
  const element = s("svg", { class: "scatter", role: "img" });
  let width = 760;
  const redraw = () => {
    const height = Math.round(Math.min(tallest, Math.max(0.62 * width, 270)));
    element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    draw(element, width, height);
  };
  new ResizeObserver(([entry]) => {
    const now = Math.round(entry.contentRect.width);
    if (now < 1 || now === width) return;
    width = now;
    redraw();
  }).observe(element);
  let onScreen = width;
  const draws = (to: number) => {
    width = to;
    redraw();
  };
  aroundPrinting(
    () => {
      onScreen = width;
      draws(Math.round(onPaper * PAPER.width));
    },
    () => draws(onScreen),
  );
  return { element, redraw };
}

export type Tick = [number, string];

export function frame(x: Scale, y: Scale, xTicks: Tick[], yTicks: Tick[], names: string[], width: number, height: number): SVGElement[] {
  const [bottom, right] = [height - PAD.bottom, width - PAD.right];
  const middle = [(PAD.left + right) / 2, (PAD.top + bottom) / 2];
  return [
    ...xTicks.map(([v, text]) =>
      s(
        "g",
        { class: "tick" },
        s("path", { d: `M${x.at(v)} ${PAD.top}V${bottom}` }),
        s("text", { x: x.at(v), y: bottom + 16, "text-anchor": "middle" }, text),
      ),
    ),
    ...yTicks.map(([v, text]) =>
      s(
        "g",
        { class: "tick" },
        s("path", { d: `M${PAD.left} ${y.at(v)}H${right}` }),
        s("text", { x: PAD.left - 8, y: y.at(v) + 4, "text-anchor": "end" }, text),
      ),
    ),
    s("text", { class: "axis", x: middle[0], y: height - 8, "text-anchor": "middle" }, clip(names[0], Math.floor(width / 11))),
    ...(names.length > 1
      ? [
          s(
            "text",
            { class: "axis", transform: `translate(13 ${middle[1]}) rotate(-90)`, "text-anchor": "middle" },
            clip(names[1], Math.floor(height / 11)),
          ),
        ]
      : []),
  ];
}

export function numberTicks({ low, high }: { low: number; high: number }, most = 6): Tick[] {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough)!;
  const found: Tick[] = [];
  for (let v = Math.ceil(low / step) * step; v <= high; v += step) {
    const rounded = Number(v.toPrecision(10));
    found.push([rounded, number(rounded)]);
  }
  return found;
}

/** A number from -0.5 to 0.5, the same for the same seed. */
export function chance(seed: number): number {
  let x = (seed + 1) * 2654435761;
  x = ((x >>> 16) ^ x) * 73244475;
  return (((x >>> 16) ^ x) >>> 0) / 2 ** 32 - 0.5;
}

/** A mark whose shape, too, tells the cluster. */
export function mark(cluster: number, x: number, y: number, r: number): string {
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

export function key(cluster: number, fill: string): SVGElement {
  const shape = styled(s("path", { d: mark(cluster, 0, 0, 4.6) }), { fill });
  return s("svg", { viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, shape);
}

/** Where the row that the reader typed lies. */
export function here(x: number, y: number): SVGElement {
  return s("g", { class: "this-row" }, s("circle", { cx: x, cy: y, r: 9 }), s("path", { d: `M${x - 14} ${y}h28M${x} ${y - 14}v28` }));
}

export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
