// What the reader calls the clusters; this browser keeps it.

import type { Cluster } from "./types";

export class Names {
  private given: Record<string, string> = {};
  private readonly key: string;
  private readonly listeners: (() => void)[] = [];

  /** `noun` is what they are called together: "cluster" or "class". */
  constructor(readonly clusters: Cluster[], identity: string, readonly noun: "cluster" | "class" = "cluster") {
    this.key = `pellucid-names-${identity}`;
    try {
      const kept = JSON.parse(localStorage.getItem(this.key) ?? "{}");
      for (const [label, name] of Object.entries(kept)) if (typeof name === "string") this.given[label] = name;
    } catch {
      // Without storage, names last as long as the page.
    }
  }

  on(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The name without one that the reader gave. */
  plain(cluster: number): string {
    return `${this.noun === "class" ? "Class" : "Cluster"} ${this.clusters[cluster].label}`;
  }

  of(cluster: number): string {
    return this.givenTo(cluster) || this.plain(cluster);
  }

  givenTo(cluster: number): string {
    return this.given[this.clusters[cluster].label] ?? "";
  }

  rename(cluster: number, name: string): void {
    const { label } = this.clusters[cluster];
    if (name.trim()) this.given[label] = name.trim();
    else delete this.given[label];
    try {
      localStorage.setItem(this.key, JSON.stringify(this.given));
    } catch {
      // As above.
    }
    for (const listener of this.listeners) listener();
  }
}
