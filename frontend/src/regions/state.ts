// What the reader of a regions report has selected: a highlighted cluster, a row, names of clusters.

import { ClusterNames } from "../shared/cluster-names";
import type { ClusterView } from "../shared/cluster-view";
import type { RegionsPayload, Row } from "../types";
import { t } from "../texts";

type Topic = "highlight" | "row";

export class RegionsState {
  readonly names: ClusterNames;
  /** The highlighted cluster; null if none is highlighted. */
  highlighted: number | null = null;
  /** The row that the reader has entered; null if it is not complete. */
  row: Row | null = null;
  private readonly listeners: Record<Topic, (() => void)[]> = { highlight: [], row: [] };

  constructor(
    readonly data: RegionsPayload,
    reportId: string,
  ) {
    // Labels without a reference clustering are called classes.
    this.names = new ClusterNames(data.clusters, reportId, data.reference === null ? "class" : "cluster");
  }

  /** Calls the listener when the topic changes. */
  on(topic: Topic, listener: () => void): void {
    this.listeners[topic].push(listener);
  }

  private notify(topic: Topic): void {
    for (const listener of this.listeners[topic]) listener();
  }

  highlight(cluster: number | null): void {
    this.highlighted = cluster;
    this.notify("highlight");
  }

  setRow(row: Row | null): void {
    this.row = row;
    this.notify("row");
  }

  get view(): ClusterView {
    return {
      data: this.data,
      names: this.names,
      statistics: () => this.data.facts,
      onChange: (listener) => this.names.onChange(listener),
    };
  }

  /** The names of the columns of a level. */
  levelName(i: number): string {
    return this.data.levels[i].columns.map((c) => this.data.columns[c].name).join(t.and);
  }
}
