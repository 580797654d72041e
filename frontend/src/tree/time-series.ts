// The time series of one cluster: its medoid, and the band between the quartiles.

import { h, svg } from "../shared/dom";
import { formatNumber } from "../shared/format";
import type { TimeSeries } from "../types";
import { t } from "../texts";

/** What the lines of all clusters are. */
export function timeSeriesNote(series: TimeSeries): HTMLElement {
  const hasBand = series.clusters.some(({ low, high }) => low && high && !low.includes(null) && !high.includes(null));
  return h("p", { class: "note series-note" }, t.seriesNote(hasBand));
}

const WIDTH = 240;
const HEIGHT = 90;

export function timeSeriesChart(series: TimeSeries, cluster: number): HTMLElement {
  const known = (values: (number | null)[] = []) => values.filter((v): v is number => v !== null);
  const allValues = series.clusters.flatMap(({ medoid, low, high }) => [
    ...known(medoid),
    ...known(low),
    ...known(high),
  ]);
  const min = Math.min(...allValues);
  const max = Math.max(...allValues);
  const maxLength = Math.max(...series.clusters.map(({ medoid }) => medoid.length), 2);
  const x = (i: number) => ((i / (maxLength - 1)) * WIDTH).toFixed(1);
  const y = (v: number) => (HEIGHT - 3 - ((v - min) / (max - min || 1)) * (HEIGHT - 6)).toFixed(1);
  /** A line with gaps where values are missing. */
  const linePath = (values: (number | null)[]) => {
    let isDrawing = false;
    return values
      .map((v, i) => {
        const point = v === null ? "" : `${isDrawing ? "L" : "M"}${x(i)} ${y(v)}`;
        isDrawing = v !== null;
        return point;
      })
      .join("");
  };
  const { medoid, low, high } = series.clusters[cluster];
  let bandPath = "";
  if (low && high && !low.includes(null) && !high.includes(null)) {
    const upperEdge = high.map((v, i) => `L${x(i)} ${y(v!)}`).reverse();
    bandPath = `${linePath(low)}${upperEdge.join("")}Z`;
  }
  const label = t.seriesLabel(series.first, series.last);
  const chart = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    bandPath !== "" && svg("path", { d: bandPath, class: "quartile-band" }),
    svg("path", { d: linePath(medoid), class: "medoid" }),
  );
  return h(
    "div",
    { class: "time-series" },
    h("h3", {}, t.trend),
    h(
      "div",
      { class: "vertical-axis" },
      h("div", { class: "axis-values" }, h("span", {}, formatNumber(max)), h("span", {}, formatNumber(min))),
      chart,
    ),
    h("div", { class: "axis-ends" }, h("span", {}, series.first), h("span", {}, series.last)),
  );
}
