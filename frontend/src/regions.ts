// A model of regions: its levels one after the other, as pictures and in words.

import { copyButton, h, s, section, styled } from "./dom";
import { made } from "./measures";
import { chance, clip, mark, numberTicks } from "./scatter";
import type { Level, RegionsPayload } from "./types";
import { count, many, percent } from "./words";

const W = 620;
const H = 420;
const PAD = { left: 62, right: 14, top: 12, bottom: 46 };

/** "cluster", or "class" where nothing is said to have been clustered. */
function noun(data: RegionsPayload, n = 1): string {
  if (data.reference !== null) return n === 1 ? "cluster" : "clusters";
  return n === 1 ? "class" : "classes";
}

function called(data: RegionsPayload, c: number): string {
  const word = noun(data);
  return `${word[0].toUpperCase()}${word.slice(1)} ${data.clusters[c].label}`;
}

export function regionsTop(data: RegionsPayload): HTMLElement {
  const share = (rows: number) => percent(rows / Math.max(data.rows, 1));
  const groups = `${count(data.clusters.length)} ${noun(data, data.clusters.length)}`;
  const isOne = data.levels.length === 1;
  const left = data.rows - data.answered;
  const rest = data.leftover === null ? "get no answer" : `are taken for ${called(data, data.leftover).toLowerCase()}`;
  return h(
    "header",
    { class: "top" },
    h("p", { class: "kicker" }, data.title ? "Regions, explained" : "Report"),
    h("h1", {}, data.title ?? `${groups}, region by region`),
    h(
      "p",
      { class: "lead" },
      `${groups} of ${many(data.rows, "row")}. ${many(data.levels.length, "pair")} of columns ${isOne ? "is" : "are"} looked at${isOne ? "" : " in turn"}; the first with a region that holds a row says which ${noun(data)} it is. ${share(data.answered)} of the rows are in a region${left ? `; the other ${share(left)} ${rest}` : ""}.`,
    ),
  );
}

export function regionsSections(data: RegionsPayload): HTMLElement[] {
  const legend = () =>
    h(
      "div",
      { class: "legend" },
      ...data.clusters.map((cluster, c) =>
        h("span", { class: "key" }, key(cluster.color, c), ` ${called(data, c)}`),
      ),
      h("span", { class: "key" }, key("var(--band)", 0), " passed on"),
    );
  const levels = data.levels.map((level, i) =>
    section(
      `level-${i + 1}`,
      `Level ${i + 1}`,
      h(
        "p",
        { class: "note" },
        `${many(level.reached, "row")} come here; ${count(level.answered)} lie in a region and get their answer, the others (grey) are passed on.${level.error === null ? "" : ` In training, ${percent(level.error)} of the answers were wrong.`}`,
      ),
      h(
        "div",
        { class: "two level" },
        level.names.length <= 2 ? h("figure", {}, picture(data, level), legend()) : h("p", {}, `It looks at ${level.names.join(", ")}, which no picture shows.`),
        pieces(data, level),
      ),
    ),
  );
  return [...levels, clusters(data), made(data.made)];
}

function key(color: string, c: number): SVGElement {
  return s("svg", { viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, styled(s("path", { d: mark(c, 0, 0, 4.6) }), { fill: color }));
}

function picture(data: RegionsPayload, level: Level): SVGElement {
  const [across, up] = [level.window[0], level.window[1] ?? [0, 1]];
  const px = (v: number) => PAD.left + ((v - across[0]) / (across[1] - across[0])) * (W - PAD.left - PAD.right);
  const py = (v: number) => H - PAD.bottom - ((v - up[0]) / (up[1] - up[0])) * (H - PAD.top - PAD.bottom);
  const inside = (v: number, [low, high]: [number, number]) => Math.min(Math.max(v, low), high);
  const [xs, ys] = level.points.values;
  const clouds: string[][] = [...data.clusters.map(() => []), []];
  level.points.answers.forEach((c, i) => {
    const at = mark(Math.max(c, 0), px(xs[i]), py(ys ? ys[i] : 0.5 + 0.8 * chance(i)), c < 0 ? 2.2 : 3.2);
    clouds[c < 0 ? data.clusters.length : c].push(at);
  });
  return s(
    "svg",
    { viewBox: `0 0 ${W} ${H}`, class: "scatter", role: "img", "aria-label": `Rows by ${level.names.join(" and ")}, with the regions of this level` },
    ...numberTicks(...across).map(([v, text]) =>
      s("g", { class: "tick" }, s("path", { d: `M${px(v)} ${PAD.top}V${H - PAD.bottom}` }), s("text", { x: px(v), y: H - PAD.bottom + 16, "text-anchor": "middle" }, text)),
    ),
    ...(ys ? numberTicks(...(up as [number, number])) : []).map(([v, text]) =>
      s("g", { class: "tick" }, s("path", { d: `M${PAD.left} ${py(v)}H${W - PAD.right}` }), s("text", { x: PAD.left - 8, y: py(v) + 4, "text-anchor": "end" }, text)),
    ),
    s("text", { class: "axis", x: (PAD.left + W - PAD.right) / 2, y: H - 8, "text-anchor": "middle" }, clip(level.names[0], 60)),
    ys && s("text", { class: "axis", transform: `translate(14 ${(PAD.top + H - PAD.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, clip(level.names[1], 40)),
    styled(s("path", { class: "cloud passed", d: clouds[data.clusters.length].join("") }), { fill: "var(--band)" }),
    ...data.clusters.map((cluster, c) => styled(s("path", { class: "cloud", d: clouds[c].join("") }), { fill: cluster.color })),
    ...level.shapes.map((shape) => {
      const points = shape.outline.map(([x, y]) => `${px(inside(x, across)).toFixed(1)} ${py(inside(y, up as [number, number])).toFixed(1)}`);
      const color = shape.answer === null ? "none" : data.clusters[shape.answer].color;
      return styled(s("path", { class: "region", d: `M${points.join("L")}Z` }), { fill: color });
    }),
  );
}

function pieces(data: RegionsPayload, level: Level): HTMLElement {
  return h(
    "ul",
    { class: "ways" },
    ...level.pieces.map((piece) =>
      h("li", {}, chip(data, piece.answer), ` ${piece.text} `, h("span", { class: "note" }, `(${many(piece.rows, "row")}${piece.purity === null ? "" : `, ${percent(piece.purity)} right`})`)),
    ),
  );
}

function chip(data: RegionsPayload, c: number): HTMLElement {
  const { color, ink } = data.clusters[c];
  return styled(h("span", { class: "chip" }, called(data, c)), { "--cluster": color, "--ink": ink });
}

function clusters(data: RegionsPayload): HTMLElement {
  const places = (c: number) => data.levels.flatMap((level, i) => level.pieces.filter((piece) => piece.answer === c).map((piece) => ({ level: i + 1, ...piece })));
  const text = (c: number) => places(c).map((place) => `${place.level}. ${place.text}`).join("\n") || "nowhere";
  const cards = data.clusters.map((cluster, c) =>
    styled(
      h(
        "article",
        { class: "card" },
        h("h3", {}, h("span", { class: "swatch" }, cluster.label), ` ${called(data, c)}`),
        h("p", { class: "size" }, h("strong", {}, many(cluster.rows, "row")), ` · ${percent(cluster.rows / Math.max(data.rows, 1))} of all`),
        h("div", { class: "rule" }, ...(places(c).length ? [h("ol", {}, ...places(c).map((place) => h("li", { value: place.level }, place.text)))] : ["No region says this."])),
        copyButton("Copy places", () => `${called(data, c)}:\n${text(c)}`),
      ),
      { "--cluster": cluster.color, "--ink": cluster.ink },
    ),
  );
  return section("clusters", `Where each ${noun(data)} is`, h("p", { class: "note" }, "The number is the level: a row belongs to the first place, of any colour, that holds it."), h("div", { class: "cards" }, ...cards));
}
