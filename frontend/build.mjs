// Bundles the page into src/pellucid/report/, and copies the texts that Python writes into src/pellucid/_utils/.
// With --check, it only reports whether these files are up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const packageFolder = new URL("../src/pellucid/", import.meta.url);
const isCheck = process.argv.includes("--check");
const options = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none" };
const browsers = ["chrome100", "firefox100", "safari15"];

async function bundle(source, targetOptions) {
  const entryPoint = fileURLToPath(new URL(source, import.meta.url));
  const { outputFiles } = await build({ ...options, ...targetOptions, entryPoints: [entryPoint] });
  return outputFiles[0].text;
}

/** The texts for Python, as JSON. */
async function textsInPython() {
  const script = await bundle("src/texts/in-python.ts", { format: "esm", target: "es2020" });
  const { default: texts } = await import(`data:text/javascript;charset=utf-8,${encodeURIComponent(script)}`);
  return `${JSON.stringify(texts, null, 1)}\n`;
}

const files = {
  "report/page.js": await bundle("src/main.ts", { format: "iife", target: "es2020" }),
  "report/page.css": await bundle("src/style.css", { target: browsers }),
  "_utils/texts.json": await textsInPython(),
};

for (const [name, text] of Object.entries(files)) {
  // The files are inserted into script and style elements, which such a tag would end.
  if (/<\/(script|style)/i.test(text)) throw new Error(`${name} contains an end tag`);
  const file = new URL(name, packageFolder);
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`src/pellucid/${name} is out of date: run make report`);
    process.exitCode = 1;
  }
}
