// The part of a plot that is shown: buttons, keys, and a rectangle that the reader draws with the mouse.

import { h, svg } from "./dom";
import { axisPosition, axisValue, clamp, type Range, type Scale } from "./plot";
import { t } from "../texts";

/** Share of an axis that one step of zooming removes or adds. */
const ZOOM_STEP = 0.5;
/** A rectangle that is smaller than this, in pixels, is a click and not a part to zoom in. */
const MIN_ZOOM_PIXELS = 10;

type AxisName = "x" | "y";

const FULL: Record<AxisName, Range> = { x: { low: 0, high: 1 }, y: { low: 0, high: 1 } };

export class PlotZoom {
  readonly buttons: HTMLButtonElement[];
  /** The part that is shown, as shares of both axes. */
  private part = FULL;
  private scales: Record<AxisName, Scale> | null = null;
  private dragStart: { x: number; y: number } | null = null;
  private readonly selection = svg("rect", { class: "zoom-selection" });

  /** `draw` draws the plot; it calls `drawn` with the scales of both axes. */
  constructor(
    private readonly element: SVGSVGElement,
    private readonly draw: () => void,
    private readonly axes: AxisName[] = ["x", "y"],
  ) {
    const button = (label: string, click: () => void) =>
      h("button", { type: "button", class: "secondary", click }, label);
    this.buttons = [
      button(t.zoomIn, () => this.scale(ZOOM_STEP)),
      button(t.zoomOut, () => this.scale(1 / ZOOM_STEP)),
      button(t.resetZoom, () => this.show(FULL)),
    ];
    element.setAttribute("tabindex", "0");
    element.addEventListener("pointerdown", (event) => this.onPointerDown(event));
    element.addEventListener("pointermove", (event) => this.isDragging && this.drawSelection(event));
    element.addEventListener("pointerup", (event) => this.onPointerUp(event));
    element.addEventListener("dblclick", () => this.show(FULL));
    element.addEventListener("keydown", (event) => this.onKeyDown(event));
  }

  get isFull(): boolean {
    return this.part === FULL;
  }

  get isDragging(): boolean {
    return this.dragStart !== null;
  }

  /** Shows the whole plot at the next drawing. */
  reset(): void {
    this.part = FULL;
  }

  /** The part of an axis that is shown. */
  range(axis: AxisName, range: Range, unit: number | null = null): Range {
    const { low, high } = this.part[axis];
    if (low <= 0 && high >= 1) return range;
    const [start, end] = [axisPosition(range.low, unit), axisPosition(range.high, unit)];
    const at = (share: number) => axisValue(start + share * (end - start), unit);
    return { low: at(low), high: at(high) };
  }

  /** Must be called at the end of each drawing. */
  drawn(x: Scale, y: Scale): void {
    this.scales = { x, y };
    this.buttons.slice(1).forEach((button) => (button.disabled = this.isFull));
  }

  /** The position of the pointer in the coordinates of the plot. */
  position(event: PointerEvent): { x: number; y: number; scale: number; box: DOMRect } {
    const box = this.element.getBoundingClientRect();
    const scale = this.element.viewBox.baseVal.width / box.width;
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale, scale, box };
  }

  private show(next: Record<AxisName, Range>): void {
    const isFull = [next.x, next.y].every(({ low, high }) => low <= 0 && high >= 1);
    this.part = isFull ? FULL : next;
    this.draw();
  }

  /** Changes one part by a function of each axis. */
  private change(changed: (part: Range, axis: AxisName) => Range): void {
    const next = { ...this.part };
    for (const axis of this.axes) next[axis] = changed(this.part[axis], axis);
    this.show(next);
  }

  /** Changes the length of the axes by a factor and keeps their centers. */
  private scale(factor: number): void {
    this.change(({ low, high }) => {
      const length = Math.min((high - low) * factor, 1);
      const start = Math.min(Math.max((low + high - length) / 2, 0), 1 - length);
      return { low: start, high: start + length };
    });
  }

  /** Moves the part that is shown by shares of its size. */
  private pan(by: Record<AxisName, number>): void {
    this.change(({ low, high }, axis) => {
      const start = Math.min(Math.max(low + by[axis] * (high - low), 0), 1 - (high - low));
      return { low: start, high: start + (high - low) };
    });
  }

  private onPointerDown(event: PointerEvent): void {
    // On touch screens, dragging scrolls the page.
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    this.dragStart = this.position(event);
    this.element.setPointerCapture(event.pointerId);
    event.preventDefault();
  }

  private drawSelection(event: PointerEvent): void {
    const { x, y } = this.position(event);
    const start = this.dragStart!;
    const box = {
      x: Math.min(x, start.x),
      y: Math.min(y, start.y),
      width: Math.abs(x - start.x),
      height: Math.abs(y - start.y),
    };
    for (const [name, value] of Object.entries(box)) this.selection.setAttribute(name, String(value));
    this.element.append(this.selection);
  }

  private onPointerUp(event: PointerEvent): void {
    if (!this.dragStart || !this.scales) return;
    const [start, end, scales] = [this.dragStart, this.position(event), this.scales];
    this.dragStart = null;
    this.selection.remove();
    if (this.axes.some((axis) => Math.abs(end[axis] - start[axis]) < MIN_ZOOM_PIXELS)) return;
    this.change((part, axis) => {
      const { low, high, toPixel } = scales[axis];
      const [first, last] = [toPixel(low), toPixel(high)];
      const shares = [start[axis], end[axis]].map((pixel) => clamp((pixel - first) / (last - first), FULL.x));
      const at = (share: number) => part.low + share * (part.high - part.low);
      return { low: at(Math.min(...shares)), high: at(Math.max(...shares)) };
    });
  }

  /** The keys + and - zoom, 0 shows the whole plot, the arrow keys move the part that is shown. */
  private onKeyDown(event: KeyboardEvent): void {
    const steps: Record<string, Record<AxisName, number>> = {
      ArrowLeft: { x: -0.25, y: 0 },
      ArrowRight: { x: 0.25, y: 0 },
      ArrowUp: { x: 0, y: 0.25 },
      ArrowDown: { x: 0, y: -0.25 },
    };
    if (event.key === "+") this.scale(ZOOM_STEP);
    else if (event.key === "-") this.scale(1 / ZOOM_STEP);
    else if (event.key === "0") this.show(FULL);
    else if (event.key in steps && !this.isFull) this.pan(steps[event.key]);
    else return;
    event.preventDefault();
  }
}
