// Fewer conditions or a closer copy: the trees along the trade-off.

import { h, refill, s } from "./dom";
import type { State } from "./state";
import type { Measures } from "./types";
import { costChange, number, percent } from "./words";

const W = 340;
const H = 150;
const PAD = { left: 62, right: 14, top: 10, bottom: 36 };

export function slider(state: State): HTMLElement | null {
  const { data } = state;
  if (data.trees.length < 2) return null;
  const last = data.trees.length - 1;
  const input = h("input", { type: "range", min: 0, max: last, step: 1, value: state.treeIndex, id: "trade-off", list: "trade-off-own", "aria-describedby": "trade-off-words" });
  const own = h("datalist", { id: "trade-off-own" }, h("option", { value: data.own }));
  const words = h("p", { id: "trade-off-words", class: "slider-words" });
  const back = h("button", { type: "button", class: "quiet" }, "Back to the model's own tree");
  const chart = s("svg", { viewBox: `0 0 ${W} ${H}`, class: "trade-off", "aria-hidden": "true" });

  function draw(): void {
    const isOwn = state.treeIndex === data.own;
    const { measures: m, origin } = state.tree;
    const parts = [`${m.conditions.toFixed(2)} conditions per row`];
    if (m.costRatio !== null) parts.push(`cost ${costChange(m.costRatio)}`);
    if (m.agreement !== null) parts.push(`${percent(m.agreement)} of the rows as in ${data.reference}`);
    const where = `Tree ${state.treeIndex + 1} of ${data.trees.length}, ${isOwn ? "the model's own" : origin}`;
    refill(words, h("strong", {}, where), h("br"), `${parts.join(", ")}.`);
    input.setAttribute("aria-valuetext", `${where}: ${parts.join(", ")}`);
    input.value = String(state.treeIndex);
    back.classList.toggle("away", isOwn);
    back.disabled = isOwn;
    drawChart(chart, state);
  }

  input.addEventListener("input", () => state.chooseTree(Number(input.value)));
  back.addEventListener("click", () => {
    state.chooseTree(data.own);
    input.focus();
  });
  state.on(["tree"], draw);
  draw();
  const ends = [h("span", {}, "← shorter rules"), h("span", {}, `closer to ${data.reference} →`)];
  return h(
    "div",
    { class: "slider", role: "group", "aria-label": "Simpler or closer" },
    h("div", {}, h("label", { for: "trade-off", class: "ends" }, ...ends), input, own, words, back),
    chart,
    data.steps !== "" && h("p", { class: "steps-note" }, `${data.steps} Trees that are both longer and worse than another are left out.`),
  );
}

/** How a tree is judged: by its cost, or where none is known by the rows it puts elsewhere. */
function prices(all: Measures[]): { values: number[]; say: (value: number) => string; name: string } | null {
  const costs = all.map((m) => m.costRatio);
  if (costs.every((cost) => cost !== null)) return { values: costs as number[], say: costChange, name: "cost" };
  const agreements = all.map((m) => m.agreement);
  if (agreements.some((share) => share === null)) return null;
  return { values: agreements.map((share) => 1 - share!), say: percent, name: "rows elsewhere" };
}

function drawChart(chart: SVGElement, { data, treeIndex }: State): void {
  const all = data.trees.map((tree) => tree.measures);
  const price = prices(all);
  if (!price) return;
  const xs = all.map((m) => m.conditions);
  const ys = price.values;
  const ends = (values: number[]) => [Math.min(...values), Math.max(...values)];
  const scale = (values: number[], from: number, to: number) => {
    const [low, high] = ends(values);
    return (v: number) => from + (high > low ? (v - low) / (high - low) : 0.5) * (to - from);
  };
  const px = scale(xs, PAD.left + 10, W - PAD.right - 10);
  const py = scale(ys, H - PAD.bottom - 8, PAD.top + 8);
  const [[left, right], [low, high]] = [ends(xs), ends(ys)];
  const say = (v: number) => (number(left) === number(right) ? v.toFixed(3) : number(v));
  const line = all.map((_, i) => `${i ? "L" : "M"}${px(xs[i])} ${py(ys[i])}`).join("");
  const dot = (i: number) => {
    const kind = `${i === treeIndex ? "now " : ""}${i === data.own ? "own" : ""}`;
    return s("circle", { cx: px(xs[i]), cy: py(ys[i]), r: i === treeIndex ? 6 : 3.5, class: kind });
  };
  refill(
    chart,
    s("path", { class: "frame", d: `M${PAD.left} ${PAD.top}V${H - PAD.bottom}H${W - PAD.right}` }),
    s("text", { x: PAD.left - 6, y: py(high) + 4, "text-anchor": "end" }, price.say(high)),
    high > low && s("text", { x: PAD.left - 6, y: py(low) + 4, "text-anchor": "end" }, price.say(low)),
    s("text", { x: px(left), y: H - PAD.bottom + 15, "text-anchor": "middle" }, say(left)),
    right > left && s("text", { x: px(right), y: H - PAD.bottom + 15, "text-anchor": "middle" }, say(right)),
    s("text", { x: (PAD.left + W - PAD.right) / 2, y: H - 5, "text-anchor": "middle" }, `conditions per row, against ${price.name}`),
    s("path", { class: "line", d: line }),
    s("circle", { cx: px(xs[data.own]), cy: py(ys[data.own]), r: 9.5, class: "ring" }),
    ...all.map((_, i) => dot(i)),
    dot(treeIndex),
  );
}
