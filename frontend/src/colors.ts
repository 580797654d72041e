// Colours of clusters, which are lighter on dark pages and those of light ones on paper.

import { aroundPrinting } from "./paper";
import type { Cluster } from "./types";

export function color(cluster: number): string {
  return `var(--cluster-${cluster})`;
}

/** What is readable on it. */
export function ink(cluster: number): string {
  return `var(--ink-${cluster})`;
}

export function setColors(clusters: Cluster[]): void {
  const isDark = matchMedia("(prefers-color-scheme: dark)");
  const set = (scheme: "light" | "dark") =>
    clusters.forEach((cluster, c) => {
      const { style } = document.documentElement;
      style.setProperty(`--cluster-${c}`, cluster[scheme][0]);
      style.setProperty(`--ink-${c}`, cluster[scheme][1]);
    });
  const follow = () => set(isDark.matches ? "dark" : "light");
  isDark.addEventListener("change", follow);
  aroundPrinting(() => set("light"), follow);
  follow();
}
