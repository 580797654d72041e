// What the reader of a page of regions has chosen.

import { Names } from "../names";
import type { RegionsPayload, Row } from "../types";

export class RegionsState {
  readonly names: Names;
  /** The class that stands out; null if all are alike. */
  lit: number | null = null;
  /** The row that was typed in. */
  row: Row | null = null;
  private readonly onLit: (() => void)[] = [];
  private readonly onRow: (() => void)[] = [];

  constructor(readonly data: RegionsPayload, identity: string) {
    // What nobody is said to have clustered are classes.
    this.names = new Names(data.clusters, identity, data.reference === null ? "class" : "cluster");
  }

  /** Several of them: "clusters" or "classes". */
  get nouns(): string {
    return this.names.noun === "class" ? "classes" : "clusters";
  }

  on(topic: "lit" | "row", listener: () => void): void {
    (topic === "lit" ? this.onLit : this.onRow).push(listener);
  }

  light(cluster: number | null): void {
    this.lit = cluster;
    for (const listener of this.onLit) listener();
  }

  show(row: Row | null): void {
    this.row = row;
    for (const listener of this.onRow) listener();
  }

  levelName(i: number): string {
    return this.data.levels[i].columns.map((c) => this.data.columns[c].name).join(" and ");
  }
}
