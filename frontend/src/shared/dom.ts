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
