// The page of a model of regions.

import { card } from "../card";
import { copyHead, textBox } from "../copies";
import { copyButton, h, section } from "../dom";
import { featureKey } from "../features";
import { made } from "../made";
import { figures, type Figure } from "../measures";
import { onScreen } from "../paper";
import { drawSizes, header, rowsOf } from "../top";
import { count, percent, unbroken } from "../words";
import { levels } from "./levels";
import { explainRow } from "./row";
import type { RegionsState } from "./state";

export function regionsTop(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const sizes = h("div", { class: "sizes" });
  const draw = () => drawSizes(sizes, names, data.facts.map(({ rows }) => rows));
  names.on(draw);
  draw();
  const n = data.clusters.length;
  const headline = `${count(n)} ${n === 1 ? names.noun : state.nouns} of ${rowsOf(data.rows, data.rowsAre)}`;
  return header(data.title, headline, h("p", { class: "lead" }, leadWords(state)), sizes);
}

function leadWords({ data, names }: RegionsState): string {
  const share = (rows: number) => percent(rows / Math.max(data.rows, 1));
  const isOne = data.levels.length === 1;
  const columns = data.levels.every((level) => level.columns.length <= 2) ? "one or two columns" : "a few columns";
  const pictures = isOne ? `One picture of ${columns} tells where they are` : `${count(data.levels.length)} pictures of ${columns}, looked at in turn, tell where they are`;
  const left = data.rows - data.answered;
  const { answer, byNeighbours } = data.leftover;
  if (!data.levels.length) {
    const so = answer === null ? "none gets an answer" : `all are taken for ${names.plain(answer).toLowerCase()}`;
    return `No region was found in which they could be told apart, so ${so}.`;
  }
  const rest = byNeighbours ? "are answered by what most of their neighbours speak for" : answer === null ? "get no answer" : `are taken for ${names.plain(answer).toLowerCase()}`;
  const others = left ? `; the other ${share(left)} ${rest}` : "";
  const right = data.measures.error === null ? "" : ` In training ${percent(1 - data.measures.error)} of those in a region were told rightly.`;
  return `${pictures}. ${share(data.answered)} of the ${data.rowsAre} lie in a region of ${isOne ? "it" : "one of them"}${others}.${right}`;
}

export function regionsSections(state: RegionsState): HTMLElement[] {
  return [...levels(state), cards(state), explainRow(state), measures(state), take(state), made(state.data.made)];
}

function cards(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const all = data.clusters.map((_, c) => {
    const places = data.levels.flatMap((level, i) =>
      level.pieces.filter((piece) => piece.answer === c).map((piece) => ({ number: i + 1, level, piece })),
    );
    const lines = places.map(({ number, piece }) => h("li", { value: number }, unbroken(piece.text)));
    const rule = h("div", { class: "rule" }, ...(lines.length ? [h("ol", {}, ...lines)] : ["No region says this."]));
    const text = () => places.map(({ number, piece }) => `${number}. ${piece.text}`).join("\n") || "nowhere";
    return card({
      names,
      cluster: c,
      facts: data.facts[c],
      columns: data.columns,
      allRows: data.rows,
      rule,
      below: [h("div", { class: "tools" }, copyButton("Copy places", () => `${names.of(c)}:\n${text()}`))],
      asked: new Set(places.flatMap(({ level }) => level.columns)),
      cuts: (column) => {
        const ends = places.flatMap(({ level, piece }) => piece.bounds?.[level.columns.indexOf(column)] ?? []);
        return [...new Set(ends.filter((end): end is number => end !== null))];
      },
      point: (isOn) => state.light(isOn ? c : null),
    });
  });
  return section(
    "clusters",
    `The ${state.nouns}`,
    h(
      "p",
      { class: "note" },
      `Where each ${names.noun} is: the number is the level, and a row belongs to the first place, of any colour, that holds it. `,
      onScreen("Click on a name to change it; this browser keeps it."),
    ),
    featureKey(names.noun, "end of a region"),
    h("div", { class: "cards" }, ...all),
  );
}

function measures({ data, names }: RegionsState): HTMLElement {
  const { coverage, error, heldOutError, effort } = data.measures;
  const columns = new Set(data.levels.flatMap((level) => level.columns)).size;
  const rows: Figure[] = [[percent(coverage), "of the training rows in a region", "The others lie where the regions do not tell them apart well enough."]];
  if (error !== null) rows.push([percent(error), "of the answers wrong", `Share of the training rows in a region that belong to another ${names.noun} than it says.`]);
  if (heldOutError !== null) rows.push([percent(heldOutError), "wrong of rows held out", "The same for rows that the regions were not drawn from, which is what to expect of new ones."]);
  rows.push(
    [String(data.levels.length), data.levels.length === 1 ? "level" : "levels", "Pictures that are looked at in turn, until one has a region around the row."],
    [effort.toFixed(2), "comparisons per row", "What it takes to place an average row: the regions that are looked at, each counted by its columns."],
    [`${columns} of ${data.columnsInData}`, "columns used", "How many of the columns the levels look at; the others do not matter."],
  );
  return section("measures", "How good is this explanation?", h("dl", { class: "measures" }, ...figures(rows)));
}

function take({ data }: RegionsState): HTMLElement {
  const rules = textBox("The levels in words");
  rules.textContent = data.rules;
  return section("take", "Take it along", copyHead("All levels", "Copy levels", rules), rules);
}
