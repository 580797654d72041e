// Elements without HTML strings: text from the data is only ever text.

type Child = Node | string | number | null | false | undefined;
type Value = string | number | boolean | null | undefined | ((event: any) => void);

function build<E extends Element>(element: E, attributes: Record<string, Value>, children: Child[]): E {
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

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return build(document.createElement(tag), attributes, children);
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Puts new children in the place of those that are there. */
export function refill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  build(element, {}, children);
}

/** Sets custom properties, which a style attribute may not under the page's own policy. */
export function styled<E extends HTMLElement | SVGElement>(element: E, style: Record<string, string>): E {
  for (const [name, value] of Object.entries(style)) element.style.setProperty(name, value);
  return element;
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...children);
}

/** A button that puts a text on the clipboard and says so. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "quiet" }, label);
  const status = h("span", { class: "unseen", role: "status" });
  button.append(status);
  button.addEventListener("click", async () => {
    const done = await toClipboard(text());
    button.firstChild!.textContent = done ? "Copied" : "Could not copy";
    status.textContent = done ? "copied" : "could not copy";
    setTimeout(() => {
      button.firstChild!.textContent = label;
      status.textContent = "";
    }, 1600);
  });
  return button;
}

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Pages that come from a disk may lack the clipboard interface.
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
