// Saves parts of the page as pictures. A part is copied into one SVG without style sheets: boxes, lines of text and
// the SVG elements that it contains.

import { h, svg } from "./dom";
import { pageName, saveFile } from "./download";
import { t } from "../texts";

/** Elements that are not part of a picture. */
const SKIPPED = ".visually-hidden, button, .toolbar, .picture-buttons, .screen-only, details, .tooltip, .collapse-sign";
const SHAPE_PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "fill-opacity", "vector-effect"];
const TEXT_PROPERTIES = ["font-family", "font-size", "font-weight", "text-anchor"];
const MARGIN = 12;
/** Average width of a bold letter, in font sizes. */
const LETTER_WIDTH = 0.6;
/** Pixels of a PNG file per pixel of the page. */
const PNG_SCALE = 2;

/** Buttons that save an element as SVG and as PNG. */
export function pictureButtons(name: string, element: Element): HTMLElement {
  const button = (format: "SVG" | "PNG") =>
    h(
      "button",
      {
        type: "button",
        class: "secondary",
        "aria-label": t.downloadAs(format),
        title: t.downloadAs(format),
        click: () => savePicture(`${pageName()}-${name}`, element, format),
      },
      format,
    );
  return h("span", { class: "picture-buttons" }, button("SVG"), button("PNG"));
}

/** A list of pictures to choose from, and buttons that save the selected one. */
export function pictureChoice(name: string, pictures: [name: string, element: Element][]): HTMLElement {
  const select = h("select", {}, ...pictures.map(([label], i) => h("option", { value: i }, label)));
  const button = (format: "SVG" | "PNG") => {
    const save = () => {
      const i = Number(select.value);
      savePicture(`${pageName()}-${name}${i ? `-${fileName(pictures[i][0])}` : ""}`, pictures[i][1], format);
    };
    const label = t.downloadAs(format);
    return h("button", { type: "button", class: "secondary", "aria-label": label, title: label, click: save }, format);
  };
  return h(
    "div",
    { class: "toolbar picture-choice" },
    h("label", { class: "field" }, h("span", {}, t.picture), select),
    h("span", { class: "picture-buttons" }, button("SVG"), button("PNG")),
  );
}

/** A text without the characters that a file name must not have. */
function fileName(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
}

function savePicture(name: string, element: Element, format: "SVG" | "PNG"): void {
  const picture = withOpenDetails(element, () => copyAsSvg(element));
  const text = new XMLSerializer().serializeToString(picture);
  if (format === "SVG") return saveFile(`${name}.svg`, "image/svg+xml", text);
  const image = new Image();
  image.addEventListener("load", () => {
    const canvas = h("canvas", { width: PNG_SCALE * image.width, height: PNG_SCALE * image.height });
    const context = canvas.getContext("2d")!;
    context.scale(PNG_SCALE, PNG_SCALE);
    context.drawImage(image, 0, 0);
    canvas.toBlob((blob) => blob && saveFile(`${name}.png`, "image/png", blob), "image/png");
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

/** Opens the details that contain an element, so that it has a size, while a function is called. */
function withOpenDetails<T>(element: Element, work: () => T): T {
  const closed: HTMLDetailsElement[] = [];
  for (let details = element.closest("details"); details; details = details.parentElement?.closest("details") ?? null)
    if (!details.open) closed.push(details);
  for (const details of closed) details.open = true;
  const result = work();
  for (const details of closed) details.open = false;
  return result;
}

/** A copy of an element as SVG, with the colours that it has now. */
export function copyAsSvg(element: Element): SVGSVGElement {
  const box = element.getBoundingClientRect();
  const [width, height] = [Math.ceil(box.width) + 2 * MARGIN, Math.ceil(box.height) + 2 * MARGIN];
  const background = getComputedStyle(document.documentElement).getPropertyValue("--surface").trim() || "#fff";
  const picture = svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}` },
    svg("rect", { width, height, fill: background }),
  );
  // Positions on the screen are relative to the window.
  const origin = { x: box.left - MARGIN, y: box.top - MARGIN };
  picture.append(...copyElement(element, origin));
  return picture;
}

interface Origin {
  x: number;
  y: number;
}

function copyElement(element: Element, origin: Origin): SVGElement[] {
  const style = getComputedStyle(element);
  if (element.matches(SKIPPED) || style.display === "none" || style.visibility === "hidden") return [];
  if (element instanceof SVGSVGElement) return [copySvg(element, origin)];
  const parts = [copyBox(element, style, origin), copyMark(element, origin)].filter((part) => part !== null);
  if (element instanceof HTMLTextAreaElement) return [...parts, ...copyInput(element, style, origin)];
  for (const child of element.childNodes) {
    if (child instanceof Element) parts.push(...copyElement(child, origin));
    else if (child instanceof Text) parts.push(...copyText(child, style, origin));
  }
  return parts;
}

function isTransparent(color: string): boolean {
  return color === "transparent" || /^rgba\(.*, 0\)$/.test(color);
}

/** The background and the border of an element. */
function copyBox(element: Element, style: CSSStyleDeclaration, origin: Origin): SVGElement | null {
  const box = element.getBoundingClientRect();
  const border = parseFloat(style.borderLeftWidth) || 0;
  const hasBorder = border > 0 && !isTransparent(style.borderLeftColor);
  if (isTransparent(style.backgroundColor) && !hasBorder) return null;
  return svg("rect", {
    x: box.left - origin.x + border / 2,
    y: box.top - origin.y + border / 2,
    width: Math.max(box.width - border, 0),
    height: Math.max(box.height - border, 0),
    rx: parseFloat(style.borderTopLeftRadius) || 0,
    fill: isTransparent(style.backgroundColor) ? "none" : style.backgroundColor,
    stroke: hasBorder ? style.borderLeftColor : "none",
    "stroke-width": border,
  });
}

/** The coloured mark at an edge of an element, which the style sheet adds. */
function copyMark(element: Element, origin: Origin): SVGElement | null {
  const style = getComputedStyle(element, "::before");
  if (style.content === "none" || style.position !== "absolute" || isTransparent(style.backgroundColor)) return null;
  const box = element.getBoundingClientRect();
  const { width, height, left, top } = style;
  return svg("rect", {
    x: box.left - origin.x + (parseFloat(left) || 0),
    y: box.top - origin.y + (parseFloat(top) || 0),
    width: parseFloat(width),
    height: parseFloat(height),
    fill: style.backgroundColor,
  });
}

function copySvg(source: SVGSVGElement, origin: Origin): SVGElement {
  const copy = source.cloneNode(true) as SVGSVGElement;
  const originals = source.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((element, i) => {
    const style = getComputedStyle(originals[i]);
    for (const name of [...SHAPE_PROPERTIES, ...TEXT_PROPERTIES]) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
    element.removeAttribute("style");
    element.removeAttribute("class");
  });
  const box = source.getBoundingClientRect();
  for (const [name, value] of Object.entries({
    x: box.left - origin.x,
    y: box.top - origin.y,
    width: box.width,
    height: box.height,
  }))
    copy.setAttribute(name, String(value));
  copy.setAttribute("overflow", "visible");
  copy.removeAttribute("class");
  copy.removeAttribute("style");
  return copy;
}

function textElement(text: string, x: number, baseline: number, style: CSSStyleDeclaration): SVGElement {
  return svg(
    "text",
    { x, y: baseline, fill: style.color, "font-family": style.fontFamily, "font-size": style.fontSize, "font-weight": style.fontWeight },
    text,
  );
}

/** One text element per line. The browser has broken the lines, so the words are compared by their positions. */
function copyText(node: Text, style: CSSStyleDeclaration, origin: Origin): SVGElement[] {
  const range = document.createRange();
  // The page cuts off lines of texts that are too long.
  const parent = node.parentElement!.getBoundingClientRect();
  const end = style.overflow === "visible" ? Infinity : parent.bottom + 2;
  const lines: { text: string; box: DOMRect }[] = [];
  for (const match of node.data.matchAll(/\S+/g)) {
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    const box = range.getBoundingClientRect();
    if (!box.width || box.bottom > end) continue;
    const line = lines[lines.length - 1];
    if (line && Math.abs(line.box.top - box.top) < box.height / 2) line.text += ` ${match[0]}`;
    else lines.push({ text: match[0], box });
  }
  return lines.map(({ text, box }) =>
    textElement(text, box.left - origin.x, box.bottom - origin.y - 0.22 * box.height, style),
  );
}

/** The text of an input. Its lines are broken by the average width of a letter. */
function copyInput(area: HTMLTextAreaElement, style: CSSStyleDeclaration, origin: Origin): SVGElement[] {
  const box = area.getBoundingClientRect();
  const size = parseFloat(style.fontSize);
  const maxLength = (box.width - 12) / (LETTER_WIDTH * size);
  const lines: string[] = [""];
  for (const word of (area.value || area.placeholder).split(/\s+/)) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length >= maxLength) lines.push(word);
    else lines[last] += `${lines[last] && " "}${word}`;
  }
  return lines.map((line, i) =>
    textElement(line, box.left - origin.x + 6, box.top - origin.y + 4 + size * (1 + 1.3 * i), style),
  );
}
