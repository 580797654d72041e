// The course of a cluster of series: its medoid, and the band of the middle half.

import { h, s } from "./dom";
import type { Trends } from "./types";
import { number } from "./words";

const W = 240;
const H = 90;

export function trend(trends: Trends, c: number): HTMLElement {
  const there = (values: (number | null)[] = []) => values.filter((v): v is number => v !== null);
  const all = trends.clusters.flatMap((one) => [...there(one.medoid), ...there(one.low), ...there(one.high)]);
  const low = Math.min(...all);
  const high = Math.max(...all);
  const longest = Math.max(...trends.clusters.map((one) => one.medoid.length), 2);
  const { medoid, low: lower, high: upper } = trends.clusters[c];
  const x = (i: number) => ((i / (longest - 1)) * W).toFixed(1);
  const y = (v: number) => (H - 3 - ((v - low) / (high - low || 1)) * (H - 6)).toFixed(1);
  const line = (values: (number | null)[]) => {
    let isOpen = false;
    return values
      .map((v, i) => {
        const text = v === null ? "" : `${isOpen ? "L" : "M"}${x(i)} ${y(v)}`;
        isOpen = v !== null;
        return text;
      })
      .join("");
  };
  let band = "";
  if (lower && upper && !lower.includes(null) && !upper.includes(null)) {
    const back = upper.map((v, i) => `L${x(i)} ${y(v!)}`).reverse();
    band = `${line(lower)}${back.join("")}Z`;
  }
  const picture = s(
    "svg",
    { viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: "none", role: "img", "aria-label": `Course of the cluster from ${trends.first} to ${trends.last}` },
    band !== "" && s("path", { d: band, class: "band-of-half" }),
    s("path", { d: line(medoid), class: "medoid" }),
  );
  return h(
    "div",
    { class: "trend" },
    h("h3", {}, "Its course"),
    picture,
    h("div", { class: "ends" }, h("span", {}, trends.first), h("span", {}, trends.last)),
    h("p", { class: "note small" }, `Line: the series in the middle of the cluster.${band ? " Band: where half of its series lie." : ""} From bottom to top: ${number(low)} to ${number(high)}.`),
  );
}
