// Fewer conditions or a closer copy: the trees along the trade-off.

import { h, refill, s } from "./dom";
import type { State } from "./state";
import { costChange, number, percent } from "./words";

const W = 420;
const H = 130;
const PAD = { left: 58, right: 14, top: 12, bottom: 34 };

export function slider(state: State): { panel: HTMLElement; back: HTMLElement } | null {
  const { data } = state;
  if (data.trees.length < 2) return null;
  const input = h("input", { type: "range", min: 0, max: data.trees.length - 1, step: 1, value: state.treeIndex, id: "trade-off", "aria-describedby": "trade-off-words" });
  const words = h("p", { id: "trade-off-words", class: "slider-words" });
  const back = h("button", { type: "button", class: "quiet" }, "Back to the model's own tree");
  const chart = s("svg", { viewBox: `0 0 ${W} ${H}`, class: "trade-off", "aria-hidden": "true" });

  const measured = data.trees.map((tree) => tree.measures);
  const costs = measured.map((m) => m.costRatio);
  const hasCosts = costs.every((cost) => cost !== null);

  function draw(): void {
    const m = measured[state.treeIndex];
    const parts = [`${m.conditions.toFixed(2)} conditions per row`];
    if (m.costRatio !== null) parts.push(`cost ${costChange(m.costRatio)}`);
    if (m.agreement !== null) parts.push(`${percent(m.agreement)} of the rows as in ${data.reference}`);
    words.textContent = `Tree ${state.treeIndex + 1} of ${data.trees.length}: ${parts.join(", ")}${state.treeIndex === data.own ? " (the model's own)" : ""}.`;
    input.setAttribute("aria-valuetext", words.textContent);
    input.value = String(state.treeIndex);
    back.classList.toggle("away", state.treeIndex === data.own);
    back.disabled = state.treeIndex === data.own;
    if (hasCosts) drawChart();
  }

  function drawChart(): void {
    const xs = measured.map((m) => m.conditions);
    const ys = costs as number[];
    const scale = (values: number[], from: number, to: number) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return (v: number) => from + (high > low ? (v - low) / (high - low) : 0.5) * (to - from);
    };
    const px = scale(xs, PAD.left + 8, W - PAD.right - 8);
    const py = scale(ys, H - PAD.bottom - 6, PAD.top + 6);
    const line = measured.map((_, i) => `${i ? "L" : "M"}${px(xs[i])} ${py(ys[i])}`).join("");
    const [low, high] = [Math.min(...ys), Math.max(...ys)];
    refill(
      chart,
      s("path", { class: "frame", d: `M${PAD.left} ${PAD.top}V${H - PAD.bottom}H${W - PAD.right}` }),
      s("text", { x: PAD.left - 6, y: py(high) + 4, "text-anchor": "end" }, costChange(high)),
      high > low && s("text", { x: PAD.left - 6, y: py(low) + 4, "text-anchor": "end" }, costChange(low)),
      s("text", { x: px(Math.min(...xs)), y: H - PAD.bottom + 14, "text-anchor": "middle" }, number(Math.min(...xs))),
      s("text", { x: px(Math.max(...xs)), y: H - PAD.bottom + 14, "text-anchor": "middle" }, number(Math.max(...xs))),
      s("text", { x: (PAD.left + W - PAD.right) / 2, y: H - 4, "text-anchor": "middle" }, "conditions per row, against cost"),
      s("path", { class: "line", d: line }),
      ...measured.map((_, i) => s("circle", { cx: px(xs[i]), cy: py(ys[i]), r: i === state.treeIndex ? 6 : 3.5, class: i === state.treeIndex ? "now" : "" })),
    );
  }

  input.addEventListener("input", () => state.chooseTree(Number(input.value)));
  back.addEventListener("click", () => {
    state.chooseTree(data.own);
    input.focus();
  });
  state.on(["tree"], draw);
  draw();
  const panel = h(
    "div",
    { class: "slider", role: "group", "aria-label": "Simpler or closer" },
    h(
      "div",
      {},
      h("label", { for: "trade-off", class: "ends" }, h("span", {}, "← shorter rules"), h("span", {}, `closer to ${data.reference} →`)),
      input,
      words,
    ),
    hasCosts && chart,
  );
  return { panel, back };
}
