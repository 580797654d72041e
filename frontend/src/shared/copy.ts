// Copying text to the clipboard.

import { h } from "./dom";
import { t } from "../texts";

/** How long a button confirms that it has copied, in milliseconds. */
const CONFIRMATION_TIME = 1600;

/** A button that copies a text and confirms it. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "secondary" }, label);
  const status = h("span", { class: "visually-hidden", role: "status" });
  button.append(status);
  button.addEventListener("click", async () => {
    const isCopied = await copyToClipboard(text());
    button.firstChild!.textContent = isCopied ? t.copied : t.notCopied;
    status.textContent = isCopied ? t.copied : t.notCopied;
    setTimeout(() => {
      button.firstChild!.textContent = label;
      status.textContent = "";
    }, CONFIRMATION_TIME);
  });
  return button;
}

/** A box of preformatted text that can be scrolled. */
export function textBox(label: string): HTMLElement {
  return h("pre", { tabindex: 0, role: "region", "aria-label": label });
}

/** The title above a text box, with a button that copies the text. */
export function textBoxHeader(title: string, buttonLabel: string, box: HTMLElement): HTMLElement {
  return h(
    "div",
    { class: "text-box-header" },
    h("h3", {}, title),
    copyButton(buttonLabel, () => box.textContent ?? ""),
  );
}

async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers may not offer the clipboard API to pages that are opened from a file.
    const area = h("textarea", { class: "visually-hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}
