// "Explain a row" by regions: the levels it passes, the one that answers, and the ways out.

import { verdict, waysOutList } from "../chip";
import { h, refill, section } from "../dom";
import { RowForm } from "../form";
import { ROW_HINT, ROW_NOTE } from "../row";
import { percent } from "../words";
import { canTell, consult, type Place } from "./route";
import type { RegionsState } from "./state";
import { waysOut } from "./ways";
import type { Row } from "../types";

export function explainRow(state: RegionsState): HTMLElement {
  const { data, names } = state;
  const result = h("div", { class: "result", role: "status" });
  const form = new RowForm(data, explain);

  function offer(): void {
    form.offer(
      data.facts.flatMap(({ typical }, c) =>
        typical.length ? [{ label: `a typical row of ${names.of(c)}`, values: typical[0] }] : [],
      ),
    );
  }

  function explain(): void {
    const { row, wrong } = form.read();
    if (wrong !== null) {
      result.replaceChildren(h("p", { class: "note" }, wrong || ROW_HINT));
      state.show(null);
      return;
    }
    const place = consult(data, row);
    state.show(row);
    refill(
      result,
      place.answer === null ? h("p", { class: "verdict" }, place.isUnknown ? "This page cannot tell." : "This row gets no answer.") : verdict(names, place.answer),
      h("ol", { class: "steps" }, ...steps(row, place)),
      !place.isUnknown && waysOutList(names, waysOut(data, row, place.answer)),
    );
  }

  function steps(row: Row, place: Place): HTMLElement[] {
    const last = place.level < 0 ? data.levels.length - 1 : place.level;
    const lines = data.levels.slice(0, last + 1).map((level, i) => {
      const values = level.columns.map((c) => `${data.columns[c].name} ${row.get(c)}`).join(", ");
      return h("li", {}, `Level ${i + 1} (${values}): `, h("strong", {}, i === place.level ? answerWords(place) : "in no region, passed on"));
    });
    if (place.level < 0) lines.push(h("li", {}, leftoverWords()));
    return lines;
  }

  function answerWords(place: Place): string {
    if (place.isUnknown) return "it compares with training rows that are not in this page; model.explain(row) tells it in Python";
    const piece = data.levels[place.level].pieces.find(({ region, answer }) => region === place.region && answer === place.answer);
    return piece ? piece.text : "in a region, in a part without training rows";
  }

  function leftoverWords(): string {
    const { answer, purity } = data.leftover;
    if (answer === null) return "No level has a region around it, so it gets no answer.";
    return `No level has a region around it. ${percent(purity)} of such rows in training were ${names.of(answer)}, so it is taken for that.`;
  }

  form.ask([...new Set(data.levels.flatMap((level) => level.columns))]);
  names.on(() => {
    offer();
    explain();
  });
  offer();
  explain();
  const isWhole = data.levels.every(canTell);
  const some = isWhole ? "" : " Levels that look at neighbours among the training rows cannot be followed here.";
  return section(
    "row",
    "Explain a row",
    h("p", { class: "note" }, `${ROW_NOTE} A cross marks the row in the pictures above.${some}`),
    h("div", { class: "two" }, form.element, result),
  );
}
