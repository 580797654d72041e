// The slider that selects a tree between short rules and high agreement with the reference.

import { h, replaceContent, svg } from "../shared/dom";
import { pictureButtons } from "../shared/picture";
import { formatCostChange, formatCount, formatFixed, formatNumber, formatPercent } from "../shared/format";
import type { Tree, TreeMeasures, TreePayload } from "../types";
import type { TreeState } from "./state";
import { t } from "../texts";

const WIDTH = 340;
const HEIGHT = 150;
/** Agreement of the trees of the slider, unless that of the model is lower; as in report/model_view.py. */
const MIN_AGREEMENT = 0.75;
const PADDING = { left: 62, right: 14, top: 10, bottom: 36 };

/** Null if there is only one tree. */
export function tradeOffSlider(state: TreeState): HTMLElement | null {
  const { data } = state;
  if (data.trees.length < 2) return null;
  const slider = h("input", {
    type: "range",
    min: 0,
    max: data.trees.length - 1,
    step: 1,
    value: state.treeIndex,
    id: "trade-off",
    list: "trade-off-model",
    "aria-describedby": "trade-off-text",
  });
  const modelTick = h("datalist", { id: "trade-off-model" }, h("option", { value: data.own }));
  const description = h("p", { id: "trade-off-text", class: "slider-text" });
  const resetButton = h("button", { type: "button", class: "secondary" }, t.backToModel);
  const chart = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "trade-off", "aria-hidden": "true" });

  function draw(): void {
    const isModelTree = state.treeIndex === data.own;
    const { measures } = state.tree;
    const parts = [t.conditionsPerRow(formatFixed(measures.conditions, 2))];
    if (measures.costRatio !== null) parts.push(t.cost(formatCostChange(measures.costRatio)));
    if (measures.agreement !== null)
      parts.push(t.agreementWith(formatPercent(measures.agreement), data.reference));
    const title = t.treeOf(state.treeIndex + 1, data.trees.length, originText(state.tree));
    replaceContent(description, h("strong", {}, title), h("br"), `${parts.join(", ")}.`);
    slider.setAttribute("aria-valuetext", `${title}: ${parts.join(", ")}`);
    slider.value = String(state.treeIndex);
    resetButton.classList.toggle("invisible", isModelTree);
    resetButton.disabled = isModelTree;
    drawChart(chart, state);
  }

  slider.addEventListener("input", () => state.selectTree(Number(slider.value)));
  resetButton.addEventListener("click", () => {
    state.selectTree(data.own);
    slider.focus();
  });
  state.on(["tree"], draw);
  draw();
  const ends = [h("span", {}, t.shorterRules), h("span", {}, t.closerTo(data.reference))];
  const omission = t.omittedTrees(data.reference, formatPercent(Math.min(MIN_AGREEMENT, data.trees[data.own].measures.agreement ?? 1)));
  return h(
    "div",
    { class: "slider", role: "group", "aria-label": t.tradeOffLabel },
    h(
      "div",
      {},
      h("label", { for: "trade-off", class: "axis-ends" }, ...ends),
      slider,
      modelTick,
      description,
      resetButton,
    ),
    h("figure", {}, chart, pictureButtons("trade-off", chart)),
    data.steps.kinds.length > 0 && h("p", { class: "slider-note" }, `${stepsText(data)} ${omission}`),
  );
}

/** Where a tree comes from. */
function originText({ kind, amount }: Tree): string {
  return kind === null ? t.yourModel : t.origins[kind](formatNumber(amount));
}

function stepsText({ steps }: TreePayload): string {
  const sentences = steps.kinds.map((kind) => t.kinds[kind]);
  if (steps.sample !== null) sentences.push(t.searchSample(formatCount(steps.sample)));
  return sentences.join(" ");
}

/** One value per tree: the lower, the closer the tree is to the reference. */
interface Loss {
  name: string;
  values: number[];
  format: (value: number) => string;
}

/** The cost, or the disagreement with the reference if the cost is unknown; null if both are unknown. */
function lossOf(trees: TreeMeasures[]): Loss | null {
  const costs = trees.map((measures) => measures.costRatio);
  if (costs.every((cost) => cost !== null))
    return { name: t.costName, values: costs as number[], format: formatCostChange };
  const agreements = trees.map((measures) => measures.agreement);
  if (agreements.some((share) => share === null)) return null;
  return { name: t.rowsInAnotherCluster, values: agreements.map((share) => 1 - share!), format: formatPercent };
}

/** Draws the loss of all trees against their conditions per row. */
function drawChart(chart: SVGElement, { data, treeIndex }: TreeState): void {
  const measures = data.trees.map((tree) => tree.measures);
  const loss = lossOf(measures);
  if (!loss) return;
  const xs = measures.map(({ conditions }) => conditions);
  const ys = loss.values;
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const scale = (min: number, max: number, from: number, to: number) => (value: number) =>
    from + (max > min ? (value - min) / (max - min) : 0.5) * (to - from);
  const x = scale(left, right, PADDING.left + 10, WIDTH - PADDING.right - 10);
  const y = scale(low, high, HEIGHT - PADDING.bottom - 8, PADDING.top + 8);
  // More digits if both ends would have the same text.
  const formatX = (value: number) =>
    formatNumber(left) === formatNumber(right) ? formatFixed(value, 3) : formatNumber(value);
  const xLabel = (value: number) =>
    svg("text", { x: x(value), y: HEIGHT - PADDING.bottom + 15, "text-anchor": "middle" }, formatX(value));
  const yLabel = (value: number) =>
    svg("text", { x: PADDING.left - 6, y: y(value) + 4, "text-anchor": "end" }, loss.format(value));
  const line = xs.map((_, i) => `${i ? "L" : "M"}${x(xs[i])} ${y(ys[i])}`).join("");
  const dot = (i: number) => {
    const isSelected = i === treeIndex;
    return svg("circle", { cx: x(xs[i]), cy: y(ys[i]), r: isSelected ? 6 : 3.5, class: isSelected && "selected" });
  };
  replaceContent(
    chart,
    svg("path", {
      class: "frame",
      d: `M${PADDING.left} ${PADDING.top}V${HEIGHT - PADDING.bottom}H${WIDTH - PADDING.right}`,
    }),
    yLabel(high),
    high > low && yLabel(low),
    xLabel(left),
    right > left && xLabel(right),
    svg(
      "text",
      { x: (PADDING.left + WIDTH - PADDING.right) / 2, y: HEIGHT - 5, "text-anchor": "middle" },
      t.tradeOffAxes(loss.name),
    ),
    svg("path", { class: "line", d: line }),
    svg("circle", { cx: x(xs[data.own]), cy: y(ys[data.own]), r: 9.5, class: "model-ring" }),
    ...xs.map((_, i) => dot(i)),
    // Again, so that no other dot covers the selected one.
    dot(treeIndex),
  );
}
