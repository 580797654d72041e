// What the sections about clusters need to know; trees and regions have the same sections.

import type { Cluster, ClusterStatistics, Column, TableFacts } from "../types";
import type { ClusterNames } from "./cluster-names";

export interface ClusterView {
  data: { clusters: Cluster[]; columns: Column[]; rows: number; rowsAre: string; table: TableFacts | null };
  names: ClusterNames;
  /** Statistics of the clusters that are shown. */
  statistics: () => ClusterStatistics[];
  /** Calls the listener when the clusters or their names change. */
  onChange: (listener: () => void) => void;
}
