// Bundles the page; with --check, only says whether the shipped files are current.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const shipped = new URL("../src/pellucid/report/", import.meta.url);
const common = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none" };
const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const script = await build({ ...common, entryPoints: [here("src/main.ts")], format: "iife", target: "es2020" });
const style = await build({ ...common, entryPoints: [here("src/style.css")], target: ["chrome100", "firefox100", "safari15"] });
const files = { "page.js": script.outputFiles[0].text, "page.css": style.outputFiles[0].text };

let stale = false;
for (const [name, text] of Object.entries(files)) {
  if (/<\/(script|style)/i.test(text)) throw new Error(`${name} holds an end tag`);
  const path = new URL(name, shipped);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (readFileSync(path, "utf8") !== text) {
    console.error(`src/pellucid/report/${name} is not what the sources give: run make report`);
    stale = true;
  }
}
process.exit(stale ? 1 : 0);
