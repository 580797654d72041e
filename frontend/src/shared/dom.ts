// Helpers to create DOM elements. Text from the data is always set as text, never parsed as HTML.

type Child = Node | string | number | null | false | undefined;
type AttributeValue = string | number | boolean | null | undefined | ((event: any) => void);
type Attributes = Record<string, AttributeValue>;

/** Sets attributes, adds functions as event listeners and appends the children. */
function build<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
  return element;
}

/** Creates an HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return build(document.createElement(tag), attributes, children);
}

/** Creates an SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Longest part of a name without a place for a line break, in letters, in columns of a table. */
export const MAX_PART = 16;

/** A name with a mark where it may be broken: after "_" and "/", after "." and "-" between letters, and between "a" and "B". */
export function withBreaks(name: string, mark: string): string {
  return name
    .replace(/[_/](?=[^_/\s])/g, `$&${mark}`)
    .replace(/\p{L}[.-](?=\p{L})/gu, `$&${mark}`)
    .replace(/\p{Ll}(?=\p{Lu})/gu, `$&${mark}`);
}

/** A name that is not broken inside a word; parts that are longer than `maxPart` may be broken anywhere. */
export function breakable(name: string, maxPart = Infinity): DocumentFragment {
  const parts = withBreaks(name, "\0").split("\0").flatMap((part) => {
    const letters = [...part];
    if (letters.length <= maxPart) return [part];
    const pieces: string[] = [];
    for (let i = 0; i < letters.length; i += maxPart) pieces.push(letters.slice(i, i + maxPart).join(""));
    return pieces;
  });
  const fragment = document.createDocumentFragment();
  parts.forEach((part, i) => fragment.append(...(i ? [document.createElement("wbr")] : []), part));
  return fragment;
}

/** Like `replaceChildren`, but skips null, false and undefined. */
export function replaceContent(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  build(element, {}, children);
}

/** Sets style properties. The content security policy of the page forbids style attributes. */
export function setStyle<E extends HTMLElement | SVGElement>(element: E, style: Record<string, string>): E {
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value);
  return element;
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}
