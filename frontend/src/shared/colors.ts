// Cluster colours as CSS variables. They depend on the colour scheme; printing always uses the light scheme.

import type { Cluster } from "../types";
import { onPrint } from "./printing";

export function clusterColor(cluster: number): string {
  return `var(--cluster-${cluster})`;
}

/** Colour of text on top of the cluster colour. */
export function clusterTextColor(cluster: number): string {
  return `var(--cluster-text-${cluster})`;
}

/** The variables that the style sheet uses for elements of one cluster. */
export function clusterStyle(cluster: number): Record<string, string> {
  return { "--cluster": clusterColor(cluster), "--cluster-text": clusterTextColor(cluster) };
}

/** Defines the variables, and updates them when the colour scheme changes. */
export function defineClusterColors(clusters: Cluster[]): void {
  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const apply = (scheme: "light" | "dark") =>
    clusters.forEach((cluster, c) => {
      const { style } = document.documentElement;
      style.setProperty(`--cluster-${c}`, cluster[scheme][0]);
      style.setProperty(`--cluster-text-${c}`, cluster[scheme][1]);
    });
  const applyScreenScheme = () => apply(darkScheme.matches ? "dark" : "light");
  darkScheme.addEventListener("change", applyScreenScheme);
  onPrint(() => apply("light"), applyScreenScheme);
  applyScreenScheme();
}
