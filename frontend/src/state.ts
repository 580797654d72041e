// What the reader has chosen: a tree, names of clusters, and what is lit.

import type { Payload, Tree } from "./types";

type Topic = "tree" | "names" | "lit";

export class State {
  treeIndex: number;
  /** Nodes of the tree that stand out; null if all are alike. */
  lit: Set<number> | null = null;
  /** The same when nothing is pointed at. */
  private pinned: Set<number> | null = null;
  private names: Record<string, string> = {};
  private readonly key: string;
  private readonly listeners: Record<Topic, (() => void)[]> = { tree: [], names: [], lit: [] };

  constructor(readonly data: Payload, identity: string) {
    this.treeIndex = data.own;
    this.key = `pellucid-names-${identity}`;
    try {
      const kept = JSON.parse(localStorage.getItem(this.key) ?? "{}");
      for (const [label, name] of Object.entries(kept)) if (typeof name === "string") this.names[label] = name;
    } catch {
      // Without storage, names last as long as the page.
    }
  }

  get tree(): Tree {
    return this.data.trees[this.treeIndex];
  }

  on(topics: Topic[], listener: () => void): void {
    for (const topic of topics) this.listeners[topic].push(listener);
  }

  private tell(topic: Topic): void {
    for (const listener of this.listeners[topic]) listener();
  }

  chooseTree(index: number): void {
    this.treeIndex = index;
    this.lit = this.pinned = null;
    this.tell("tree");
  }

  name(cluster: number): string {
    const label = this.data.clusters[cluster].label;
    return this.names[label] || `Cluster ${label}`;
  }

  givenName(cluster: number): string {
    return this.names[this.data.clusters[cluster].label] ?? "";
  }

  rename(cluster: number, name: string): void {
    const label = this.data.clusters[cluster].label;
    if (name.trim()) this.names[label] = name.trim();
    else delete this.names[label];
    try {
      localStorage.setItem(this.key, JSON.stringify(this.names));
    } catch {
      // As above.
    }
    this.tell("names");
  }

  /** Lights nodes while something is pointed at; null goes back to what is pinned. */
  light(nodes: Iterable<number> | null): void {
    this.lit = nodes === null ? this.pinned : new Set(nodes);
    this.tell("lit");
  }

  get isPinned(): boolean {
    return this.pinned !== null;
  }

  pin(nodes: Iterable<number> | null): void {
    this.pinned = nodes === null ? null : new Set(nodes);
    this.light(null);
  }
}
