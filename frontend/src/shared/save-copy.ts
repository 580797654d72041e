// Saves the page as a new file that contains the names of the clusters.

import type { ClusterNames } from "./cluster-names";
import { pageName, saveFile } from "./download";

/** The end of the start tag of the payload. */
const PAYLOAD_START = 'id="payload">';

/** The page as it was before the script has changed it. */
let source = "";

/** Must be called before the page is changed. */
export function rememberSource(): void {
  source = document.documentElement.outerHTML;
}

export function saveCopy(names: ClusterNames): void {
  saveFile(`${pageName()}-named.html`, "text/html", pageWithNames(names));
}

/** The source of the page with the names in its payload. */
function pageWithNames(names: ClusterNames): string {
  const start = source.indexOf(PAYLOAD_START) + PAYLOAD_START.length;
  // The payload has no other "<".
  const end = source.indexOf("<", start);
  const data = JSON.parse(source.slice(start, end));
  const named: string[] = data.clusters.map((_: unknown, c: number) => names.customName(c));
  data.clusters.forEach((cluster: { name: string | null }, c: number) => (cluster.name = named[c] || null));
  const escapes: Record<string, string> = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026" };
  const payload = JSON.stringify(data).replace(/[<>&]/g, (character) => escapes[character]);
  // Another identifier, so that names in the storage of the browser do not replace those of the copy.
  const page = `${source.slice(0, start)}${payload}${source.slice(end)}`;
  return `<!doctype html>\n${page.replace(/(<div id="page" data-id=")([^"]*)"/, `$1$2-${hash(named.join("\n"))}"`)}\n`;
}

/** A short number that depends on the text. */
function hash(text: string): string {
  let value = 0;
  for (const character of text) value = (31 * value + character.codePointAt(0)!) >>> 0;
  return value.toString(36);
}
