// What the reader has chosen: a tree, names of clusters, and what is lit.

import { Names } from "./names";
import type { Payload, Tree } from "./types";

type Topic = "tree" | "lit";

export class State {
  treeIndex: number;
  /** Nodes of the tree that stand out; null if all are alike. */
  lit: Set<number> | null = null;
  readonly names: Names;
  /** The same when nothing is pointed at. */
  private pinned: Set<number> | null = null;
  private readonly listeners: Record<Topic, (() => void)[]> = { tree: [], lit: [] };

  constructor(readonly data: Payload, identity: string) {
    this.treeIndex = data.own;
    this.names = new Names(data.clusters, identity);
  }

  get tree(): Tree {
    return this.data.trees[this.treeIndex];
  }

  on(topics: (Topic | "names")[], listener: () => void): void {
    for (const topic of topics) {
      if (topic === "names") this.names.on(listener);
      else this.listeners[topic].push(listener);
    }
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
    return this.names.of(cluster);
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
