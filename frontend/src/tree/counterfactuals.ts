// Changes of a row that lead to another cluster of the tree.

import { formatIn, formatThreshold } from "../shared/column-format";
import { categoryName } from "../shared/format";
import type { Counterfactual } from "../shared/row-result";
import type { Column, Row, Tree } from "../types";
import { boundsAt, type Bounds } from "./paths";
import { t } from "../texts";

interface Change {
  column: number;
  text: string;
  /** In standard deviations; 1 for categories. */
  size: number;
}

interface Candidate {
  cluster: number;
  changes: Change[];
}

/**
 * One counterfactual for each other cluster, the easiest cluster first. Of all leaves of a cluster it
 * takes the one with the fewest changes; ties go to the smallest changes. `fixed` columns do not change.
 */
export function findCounterfactuals(
  tree: Tree,
  columns: Column[],
  row: Row,
  currentCluster: number,
  fixed: ReadonlySet<number>,
): Counterfactual[] {
  const best = new Map<number, Candidate>();
  tree.nodes.forEach(({ cluster }, leaf) => {
    if (cluster === undefined || cluster === currentCluster) return;
    const boundsByColumn = boundsAt(tree, leaf);
    if (![...boundsByColumn.values()].every(isSatisfiable)) return;
    const changes = [...boundsByColumn].flatMap(([c, bounds]) => requiredChange(c, columns[c], row.get(c)!, bounds) ?? []);
    if (changes.some(({ column }) => fixed.has(column))) return;
    const candidate = { cluster, changes };
    const known = best.get(cluster);
    if (!known || compare(candidate, known) < 0) best.set(cluster, candidate);
  });
  return [...best.values()]
    .sort(compare)
    .map(({ cluster, changes }) => ({ cluster, text: changes.map(({ text }) => text).join(t.and) }));
}

function compare(a: Candidate, b: Candidate): number {
  const totalSize = ({ changes }: Candidate) => changes.reduce((sum, { size }) => sum + size, 0);
  return a.changes.length - b.changes.length || totalSize(a) - totalSize(b);
}

/** Whether any value fulfils the bounds; false in leaves that no row can reach. */
function isSatisfiable(bounds: Bounds): boolean {
  return bounds.above < bounds.atMost && (bounds.is === null || !bounds.not.includes(bounds.is));
}

/** The change that a value needs to fulfil the bounds; null if it does already. */
function requiredChange(c: number, column: Column, value: number, bounds: Bounds): Change | null {
  if (column.kind === "category") {
    const current = categoryName(column, value);
    if (bounds.is !== null && value !== bounds.is)
      return { column: c, text: t.insteadOf(`${column.name} ${column.values[bounds.is]}`, current), size: 1 };
    if (bounds.is === null && bounds.not.includes(value))
      return { column: c, text: t.otherThan(column.name, current), size: 1 };
    return null;
  }
  const scale = column.spread || 1;
  const threshold = (v: number) => formatThreshold(column, v);
  const hasBothBounds = Number.isFinite(bounds.above) && Number.isFinite(bounds.atMost);
  if (value <= bounds.above) {
    const change = hasBothBounds
      ? t.aboveUpTo(column.name, threshold(bounds.above), threshold(bounds.atMost))
      : t.above(column.name, threshold(bounds.above));
    return { column: c, text: t.insteadOf(change, formatIn(column, value)), size: (bounds.above - value) / scale };
  }
  if (value > bounds.atMost) {
    const change = hasBothBounds
      ? t.orLessButAbove(column.name, threshold(bounds.atMost), threshold(bounds.above))
      : t.orLessThan(column.name, threshold(bounds.atMost));
    return { column: c, text: t.insteadOf(change, formatIn(column, value)), size: (value - bounds.atMost) / scale };
  }
  return null;
}
