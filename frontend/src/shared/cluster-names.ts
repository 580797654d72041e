// Names of the clusters. The reader can change them; the browser stores the changes.

import type { Cluster } from "../types";
import { t, type Noun } from "../texts";

export class ClusterNames {
  /** Names that the reader has entered, by label. */
  private customNames: Record<string, string> = {};
  private readonly storageKey: string;
  private readonly listeners: (() => void)[] = [];

  /** `reportId` identifies the report in the storage of the browser. */
  constructor(
    readonly clusters: Cluster[],
    reportId: string,
    readonly noun: Noun = "cluster",
  ) {
    this.storageKey = `pellucid-names-${reportId}`;
    try {
      const stored = JSON.parse(localStorage.getItem(this.storageKey) ?? "{}");
      for (const [label, name] of Object.entries(stored)) if (typeof name === "string") this.customNames[label] = name;
    } catch {
      // Without storage, names are kept until the page is closed.
    }
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** The name that the reader has entered, or else the given name or the default name. */
  displayName(cluster: number): string {
    return this.customName(cluster) || this.defaultName(cluster);
  }

  /** The name in a sentence: in quotation marks if it is of several words and no plain number of a cluster. */
  nameInSentence(cluster: number): string {
    const name = this.displayName(cluster);
    const isPlain = name === t.cluster(this.clusters[cluster].label, this.noun) || !/\s/.test(name);
    return isPlain ? name : t.quoted(name);
  }

  /** The suggested name, or else "Cluster 2" or "Class 2"; a label of several letters is a name by itself. */
  defaultName(cluster: number): string {
    const { label, suggested } = this.clusters[cluster];
    if (this.isLabelName(cluster)) return label;
    return suggested ?? t.cluster(label, this.noun);
  }

  /** Whether the label is a name by itself. */
  isLabelName(cluster: number): boolean {
    return /[^\s\d]{4}/.test(this.clusters[cluster].label);
  }

  /** The name that the reader has entered or that was given; "" if there is none. */
  customName(cluster: number): string {
    return this.customNames[this.clusters[cluster].label] ?? this.clusters[cluster].name ?? "";
  }

  /** Whether any cluster has a name. */
  get areNamed(): boolean {
    return this.clusters.some((_, c) => this.customName(c) !== "");
  }

  rename(cluster: number, name: string): void {
    this.setName(cluster, name);
    this.store();
  }

  /** Gives every cluster without a name the suggested one. */
  useSuggested(): void {
    this.clusters.forEach(({ suggested }, c) => {
      if (suggested && !this.customName(c)) this.setName(c, suggested);
    });
    this.store();
  }

  /** An empty name removes the name that the reader has entered. */
  private setName(cluster: number, name: string): void {
    const { label } = this.clusters[cluster];
    if (name.trim()) this.customNames[label] = name.trim();
    else delete this.customNames[label];
  }

  private store(): void {
    try {
      localStorage.setItem(this.storageKey, JSON.stringify(this.customNames));
    } catch {
      // Without storage, names are kept until the page is closed.
    }
    for (const listener of this.listeners) listener();
  }
}
