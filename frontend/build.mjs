// Bundles the page into src/pellucid/report/. With --check, it only reports whether these files are up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const outputFolder = new URL("../src/pellucid/report/", import.meta.url);
const isCheck = process.argv.includes("--check");
const options = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none" };
const browsers = ["chrome100", "firefox100", "safari15"];

async function bundle(source, targetOptions) {
  const entryPoint = fileURLToPath(new URL(source, import.meta.url));
  const { outputFiles } = await build({ ...options, ...targetOptions, entryPoints: [entryPoint] });
  return outputFiles[0].text;
}

const files = {
  "page.js": await bundle("src/main.ts", { format: "iife", target: "es2020" }),
  "page.css": await bundle("src/style.css", { target: browsers }),
};

for (const [name, text] of Object.entries(files)) {
  // The files are inserted into script and style elements, which such a tag would end.
  if (/<\/(script|style)/i.test(text)) throw new Error(`${name} contains an end tag`);
  const file = new URL(name, outputFolder);
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`src/pellucid/report/${name} is out of date: run make report`);
    process.exitCode = 1;
  }
}
