// The levels one after the other: a picture of its regions, and what they say.

import { chip } from "../chip";
import { color } from "../colors";
import { h, s, section, styled } from "../dom";
import { across, chance, frame, here, inside, key, mark, numberTicks, picture, upwards, type Scale } from "../plot";
import type { Level } from "../types";
import { count, many, percent, unbroken } from "../words";
import { consult, valuesAt } from "./route";
import type { RegionsState } from "./state";

export function levels(state: RegionsState): HTMLElement[] {
  return state.data.levels.map((level, i) => {
    const part = section(
      `level-${i + 1}`,
      `Level ${i + 1}: ${state.levelName(i)}`,
      h("p", { class: "note" }, levelWords(level)),
      h("div", { class: "two level" }, figure(state, level, i), pieces(state, level)),
    );
    part.dataset.short = `Level ${i + 1}`;
    return part;
  });
}

function levelWords(level: Level): string {
  const rest = level.reached - level.answered;
  const passed = rest ? `; the other ${count(rest)} (grey) go on to the next level` : "";
  const wrong = level.error === null ? "" : ` In training, ${percent(level.error)} of its answers were wrong`;
  const held = level.heldOutError === null ? "." : `, of rows held out ${percent(level.heldOutError)}.`;
  return `${many(level.reached, "row")} come here, ${count(level.answered)} lie in a region${passed}.${wrong}${wrong && held}`;
}

function figure(state: RegionsState, level: Level, number: number): HTMLElement {
  const { data, names } = state;
  if (level.columns.length > 2) return h("p", {}, `It looks at ${state.levelName(number)}, which no picture shows.`);
  const isFlat = level.columns.length === 1;
  const typed = s("g", {});
  let drawTyped = () => {};
  const plot = picture(isFlat ? 230 : 460, 0.58, (svg, width, height) => {
    const labels = level.columns.map((c) => data.columns[c].name);
    const [wide, tall] = [level.window[0], level.window[1] ?? [0, 1]];
    const x = across(wide[0], wide[1], width);
    const y = upwards(tall[0], tall[1], height);
    const [xs, ys] = level.points.values;
    const clouds: string[][] = [...data.clusters, null].map(() => []);
    level.points.answers.forEach((c, i) => {
      const at: [number, number] = [x.at(xs[i]), y.at(ys ? ys[i] : 0.5 + 0.8 * chance(i))];
      clouds[c < 0 ? data.clusters.length : c].push(mark(Math.max(c, 0), ...at, c < 0 ? 2.4 : 3.3));
    });
    const isDim = (c: number | null) => state.lit !== null && state.lit !== c;
    const cloud = (c: number | null, d: string[], fill: string) =>
      styled(s("path", { class: `cloud${c === null ? " passed" : ""}${isDim(c) ? " dim" : ""}`, d: d.join("") }), { fill });
    svg.setAttribute("aria-label", `Rows by ${labels.join(" and ")}, with the regions of this level`);
    svg.replaceChildren(
      ...frame(x, y, numberTicks(x, width / 75), isFlat ? [] : numberTicks(y), labels, width, height),
      cloud(null, clouds[data.clusters.length], "var(--band)"),
      ...shaded(level, x, y, data.clusters.length).map((d, c) =>
        styled(s("path", { class: `shade${isDim(c) ? " dim" : ""}`, d }), { fill: color(c) }),
      ),
      ...boxes(level, x, y).map(([answer, d]) => {
        const shape = s("path", { class: `piece${isDim(answer) ? " dim" : ""}`, d });
        return styled(shape, { fill: color(answer) });
      }),
      ...level.outlines.map(({ answer, points }) => {
        const line = points.map(([px, py]) => `${x.at(inside(px, x)).toFixed(1)} ${y.at(inside(py, y)).toFixed(1)}`);
        const shape = s("path", { class: `region${answer !== null && isDim(answer) ? " dim" : ""}`, d: `M${line.join("L")}Z` });
        return styled(shape, { fill: answer === null ? "none" : color(answer) });
      }),
      ...data.clusters.map((_, c) => cloud(c, clouds[c], color(c))),
      typed,
    );
    drawTyped = () => {
      const at = typedAt(state, level, number);
      typed.replaceChildren(...(at ? [here(x.at(inside(at[0], x)), y.at(isFlat ? 0.5 : inside(at[1], y)))] : []));
    };
    drawTyped();
  });
  const legend = h("div", { class: "legend" });
  const drawLegend = () => {
    const told = data.clusters.flatMap((_, c) =>
      level.pieces.some((piece) => piece.answer === c) ? [h("span", { class: "key" }, key(c, color(c)), ` ${names.of(c)}`)] : [],
    );
    const passed = h("span", { class: "key" }, key(0, "var(--band)"), " passed on");
    legend.replaceChildren(...told, ...(level.answered < level.reached ? [passed] : []));
  };
  state.on("lit", plot.redraw);
  state.on("row", () => drawTyped());
  names.on(drawLegend);
  plot.redraw();
  drawLegend();
  return h("figure", {}, plot.element, legend);
}

/** The cells that get each answer, where the regions have no simple shape. */
function shaded(level: Level, x: Scale, y: Scale, n: number): string[] {
  const parts: string[][] = Array.from({ length: n }, () => []);
  level.shades?.forEach((runs, row, { length }) => {
    const [bottom, top] = [row, row + 1].map((r) => y.at(y.low + (r / length) * (y.high - y.low)));
    const cells = runs.reduce((sum, v, i) => sum + (i % 2 ? v : 0), 0);
    const at = (cell: number) => x.at(x.low + (cell / cells) * (x.high - x.low)).toFixed(1);
    let start = 0;
    for (let i = 0; i < runs.length; i += 2) {
      const end = start + runs[i + 1];
      if (runs[i] >= 0) parts[runs[i]].push(`M${at(start)} ${bottom.toFixed(1)}H${at(end)}V${top.toFixed(1)}H${at(start)}Z`);
      start = end;
    }
  });
  return parts.map((part) => part.join(""));
}

/** The parts of boxes that get different answers, each with its answer. */
function boxes(level: Level, x: Scale, y: Scale): [number, string][] {
  return level.pieces.flatMap(({ region, answer, bounds }) => {
    const isAlone = level.pieces.every((other) => other.region !== region || other.answer === answer);
    if (!bounds || isAlone) return [];
    const ends = (i: number, scale: Scale) => {
      // A single column has a picture whose height means nothing; regions leave a little of it.
      const [low, high] = bounds[i] ?? [0.02, 0.98];
      return [scale.at(inside(low ?? -Infinity, scale)), scale.at(inside(high ?? Infinity, scale))].map((v) => v.toFixed(1));
    };
    const [[left, right], [bottom, top]] = [ends(0, x), ends(1, y)];
    return [[answer, `M${left} ${bottom}H${right}V${top}H${left}Z`] as [number, string]];
  });
}

/** Where the row that was typed in lies; null if there is none, or it does not come so far. */
function typedAt(state: RegionsState, level: Level, number: number): number[] | null {
  if (state.row === null) return null;
  const { level: last } = consult(state.data, state.row);
  return last >= 0 && last < number ? null : valuesAt(level, state.row);
}

function pieces(state: RegionsState, level: Level): HTMLElement {
  const list = h("ul", { class: "ways" });
  const draw = () =>
    list.replaceChildren(
      ...level.pieces.map((piece) => {
        const right = piece.purity === null ? "" : `, ${percent(piece.purity)} right`;
        return h("li", {}, chip(state.names, piece.answer), ` ${unbroken(piece.text)} `, h("span", { class: "aside" }, `${many(piece.rows, "row")}${right}`));
      }),
    );
  state.names.on(draw);
  draw();
  return list;
}
