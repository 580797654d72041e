// What the reader of a tree report has selected: a tree, highlighted nodes, names of clusters.

import { ClusterNames } from "../shared/cluster-names";
import type { ClusterView } from "../shared/cluster-view";
import type { Tree, TreePayload } from "../types";

type Topic = "tree" | "highlight";

export class TreeState {
  treeIndex: number;
  readonly names: ClusterNames;
  /** Highlighted nodes of the tree; null if no node is highlighted. */
  highlighted: Set<number> | null = null;
  /** Nodes that stay highlighted while the reader points at nothing. */
  private pinned: Set<number> | null = null;
  private readonly listeners: Record<Topic, (() => void)[]> = { tree: [], highlight: [] };

  constructor(
    readonly data: TreePayload,
    reportId: string,
  ) {
    this.treeIndex = data.own;
    this.names = new ClusterNames(data.clusters, reportId);
  }

  get tree(): Tree {
    return this.data.trees[this.treeIndex];
  }

  /** Calls the listener when one of the topics changes. */
  on(topics: (Topic | "names")[], listener: () => void): void {
    for (const topic of topics) {
      if (topic === "names") this.names.onChange(listener);
      else this.listeners[topic].push(listener);
    }
  }

  private notify(topic: Topic): void {
    for (const listener of this.listeners[topic]) listener();
  }

  selectTree(index: number): void {
    this.treeIndex = index;
    this.highlighted = this.pinned = null;
    this.notify("tree");
  }

  get view(): ClusterView {
    return {
      data: this.data,
      names: this.names,
      statistics: () => this.tree.clusters,
      onChange: (listener) => this.on(["tree", "names"], listener),
    };
  }

  clusterName(cluster: number): string {
    return this.names.displayName(cluster);
  }

  /** Highlights nodes while the reader points at something; null restores the pinned nodes. */
  highlight(nodes: Iterable<number> | null): void {
    this.highlighted = nodes === null ? this.pinned : new Set(nodes);
    this.notify("highlight");
  }

  get hasPinnedNodes(): boolean {
    return this.pinned !== null;
  }

  /** Highlights nodes until other nodes are pinned; null removes the pinned nodes. */
  pin(nodes: Iterable<number> | null): void {
    this.pinned = nodes === null ? null : new Set(nodes);
    this.highlight(null);
  }
}
