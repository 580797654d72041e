// A small histogram inside a question: the rows that reach it, by cluster, and its threshold.

import { clusterColor } from "../shared/colors";
import { setStyle, svg } from "../shared/dom";
import { axisPosition, thresholdPosition } from "../shared/plot";
import { t } from "../texts";
import type { Column, TreeNode } from "../types";

const WIDTH = 200;
const HEIGHT = 30;

/** Null if the page has no histogram of the question. */
export function splitHistogram(node: TreeNode, column: Column): SVGElement | null {
  const { histogram } = node;
  if (!histogram?.length) return null;
  const { edges, line, order } = column.kind === "number" ? numberBins(node, column) : categoryBins(node, column);
  const totals = order.map((bin) => histogram.reduce((sum, [, counts]) => sum + counts[bin], 0));
  const width = (i: number) => Math.max(edges[i + 1] - edges[i], 1e-9);
  const highest = Math.max(...totals.map((n, i) => n / width(i)), 1e-12);
  const scale = (n: number, i: number) => (n / width(i) / highest) * (HEIGHT - 2);
  const paths = histogram.map(([cluster], which) => {
    const bars = order.map((bin, i) => {
      // The bars of several clusters are stacked.
      const below = histogram.slice(0, which).reduce((sum, [, counts]) => sum + counts[bin], 0);
      const n = histogram[which][1][bin];
      if (!n) return "";
      const bottom = HEIGHT - scale(below, i);
      return `M${edges[i].toFixed(1)} ${bottom.toFixed(1)}V${(bottom - scale(n, i)).toFixed(1)}H${edges[i + 1].toFixed(1)}V${bottom.toFixed(1)}Z`;
    });
    return setStyle(svg("path", { d: bars.join("") }), { fill: clusterColor(cluster) });
  });
  return svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      class: "split-histogram",
      role: "img",
      "aria-label": t.distributionOf(column.name),
    },
    ...paths,
    svg("path", { class: "threshold", d: `M${line.toFixed(1)} 0V${HEIGHT}` }),
  );
}

interface Bins {
  /** Ends of the bars, in pixels. */
  edges: number[];
  /** Position of the threshold. */
  line: number;
  /** The bins in the order of the bars. */
  order: number[];
}

function numberBins({ threshold }: TreeNode, column: Column & { kind: "number" }): Bins {
  const { unit } = column;
  const positions = column.edges.map((edge) => axisPosition(edge, unit));
  const [low, high] = [positions[0], positions[positions.length - 1]];
  const toPixel = (position: number) => ((position - low) / (high - low || 1)) * WIDTH;
  const line = toPixel(axisPosition(thresholdPosition(column, threshold!), unit));
  return {
    edges: positions.map(toPixel),
    line: Math.min(Math.max(line, 1), WIDTH - 1),
    order: column.edges.slice(1).map((_, bin) => bin),
  };
}

/** The category of the question comes first; the line separates it from the others. */
function categoryBins({ value, histogram }: TreeNode, column: Column & { kind: "category" }): Bins {
  const all = histogram![0][1].map((_, bin) => bin);
  const order = [value!, ...all.filter((bin) => bin !== value).sort((a, b) => column.all[b] - column.all[a])];
  const step = WIDTH / order.length;
  return { edges: [...order.map((_, i) => i * step), WIDTH], line: step, order };
}
