// Positions of the nodes of a tree, and of the links between them.
//
// There are two layouts. The horizontal layout goes from left to right, one level per column. The outline has one
// node per line, indented by depth; it is used if the page is too narrow for the horizontal layout.

import type { Column, Tree } from "../types";
import { childrenOf } from "./paths";

export interface NodeBox {
  x: number;
  /** Vertical center of the box. */
  y: number;
  width: number;
  height: number;
  depth: number;
  /** Path of the link from the parent; "" for the root. */
  linkPath: string;
  /** The link is wider the more rows the node has. */
  linkWidth: number;
}

export interface Layout {
  nodes: Map<number, NodeBox>;
  width: number;
  height: number;
  isOutline: boolean;
  /** Whether the questions of the outline take two lines. */
  isNarrow: boolean;
  /** Whether the questions contain histograms. */
  hasHistograms: boolean;
}

/** A node that is not hidden by a collapsed ancestor. */
interface VisibleNode {
  i: number;
  depth: number;
}

const LEAF_WIDTH = 168;
const PRINTED_LEAF_WIDTH = 140;
const MAX_SPLIT_WIDTH = 220;
/** Horizontal space between a split and its children. */
const GAP = 54;
/** Horizontal distance between two levels. */
const MIN_LEVEL_DISTANCE = 158;
const MAX_LEVEL_DISTANCE = 290;
/** Average width of a letter, for texts that are not measured. */
const LETTER_WIDTH = 8.4;
/** Weight and size of the text of a node, and of its number of rows, as in the style sheet. */
const NODE_FONT = "600 13.44px";
const SIZE_FONT = "12.32px";
/** Space in a leaf that is not used by its text. */
const LEAF_PADDING = 28;
/** Space in a split that is not used by its text. */
const SPLIT_PADDING = 34;
const MIN_LINK_WIDTH = 1.5;
const MAX_LINK_WIDTH = 44;
const MAX_OUTLINE_LINK_WIDTH = 10;
const MAX_INDENT = 22;
/** Space for the histogram of a question. */
const HISTOGRAM_HEIGHT = 36;
/** Height of a line of text in a node. */
const TEXT_LINE_HEIGHT = 18;
/** Lines of text in a node, at the most. */
const MAX_LINES = 8;
/** Height of a line of text in the outline of a narrow page. */
const LINE_HEIGHT = 19;
/** Space in a narrow question that is not used by its text: the answer, the share of rows, padding. */
const NARROW_PADDING = 178;
/** Up to this width, the questions of the outline take two lines. */
const NARROW_WIDTH = 700;

/**
 * `collapsed` are the splits whose children are hidden, `sizes` are the rows of each node as text. `wantsHistograms` is null if the reader has not decided: only
 * the horizontal layout then has histograms, because the outline is that of large trees and narrow pages.
 */
export function layoutTree(
  tree: Tree,
  columns: Column[],
  collapsed: Set<number>,
  clusterNames: string[],
  sizes: string[],
  width: number,
  isPrinted = false,
  wantsHistograms: boolean | null = null,
): Layout {
  const visible = visibleNodes(tree, collapsed);
  const leafWidth = isPrinted ? PRINTED_LEAF_WIDTH : LEAF_WIDTH;
  const levelDistance = Math.min(MAX_LEVEL_DISTANCE, (width - leafWidth) / Math.max(maxDepth(visible), 1));
  const names = visible.flatMap(({ i }) => columns[tree.nodes[i].column ?? -1]?.name ?? []);
  const longestText = (texts: string[]) => Math.max(0, ...texts.map((text) => LETTER_WIDTH * text.length));
  // The longest word should fit into a split.
  const wordWidth = longestText(names.flatMap((name) => name.split(" "))) + SPLIT_PADDING;
  if (levelDistance < Math.max(MIN_LEVEL_DISTANCE, Math.min(wordWidth, MAX_SPLIT_WIDTH) + GAP))
    return outlineLayout(tree, columns, collapsed, visible, width, isPrinted, wantsHistograms ?? false);
  const splitWidth = Math.min(levelDistance - GAP, MAX_SPLIT_WIDTH);
  const lines = visible.map(({ i }) => {
    const { column, question, cluster } = tree.nodes[i];
    if (cluster !== undefined)
      return countLines(clusterNames[cluster], leafWidth - LEAF_PADDING) + countLines(sizes[i], leafWidth - LEAF_PADDING, SIZE_FONT);
    return countLines(columns[column!].name, splitWidth - SPLIT_PADDING) + countLines(question!, splitWidth - SPLIT_PADDING);
  });
  return horizontalLayout(tree, collapsed, visible, {
    levelDistance,
    width,
    leafWidth,
    splitWidth,
    lines: Math.min(Math.max(...lines), MAX_LINES),
    hasHistograms: wantsHistograms ?? true,
  });
}

let measuring: CanvasRenderingContext2D | null = null;

/** Width of a text in a node. */
function textWidth(text: string, font: string): number {
  measuring ??= document.createElement("canvas").getContext("2d")!;
  measuring.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}

/** Lines that a text takes: words, and the parts of names between which a line may break, fill one after the other. */
function countLines(text: string, width: number, font = NODE_FONT): number {
  let [lines, used] = [1, 0];
  for (const part of text.split(/(?<=[\s_/])|(?<=\p{Ll})(?=\p{Lu})/u)) {
    const size = textWidth(part, font);
    if (used > 0 && used + textWidth(part.trimEnd(), font) > width) [lines, used] = [lines + 1, 0];
    lines += Math.max(Math.ceil(size / width) - 1, 0);
    used += size % width;
  }
  return lines;
}

/** In preorder: parents before their children, "yes" before "no". */
function visibleNodes(tree: Tree, collapsed: Set<number>): VisibleNode[] {
  const visible: VisibleNode[] = [];
  const visit = (i: number, depth: number): void => {
    visible.push({ i, depth });
    const node = tree.nodes[i];
    if (node.left !== undefined && !collapsed.has(i)) {
      for (const child of childrenOf(node)) visit(child, depth + 1);
    }
  };
  visit(0, 0);
  return visible;
}

function maxDepth(visible: VisibleNode[]): number {
  return Math.max(...visible.map(({ depth }) => depth));
}

/** Width of the link to a node, in proportion to its rows. */
function linkWidth(tree: Tree, i: number, maxWidth: number): number {
  return (maxWidth * tree.nodes[i].rows) / Math.max(tree.nodes[0].rows, 1);
}

interface HorizontalSizes {
  levelDistance: number;
  width: number;
  leafWidth: number;
  splitWidth: number;
  /** Lines of text in the fullest node. */
  lines: number;
  hasHistograms: boolean;
}

function horizontalLayout(
  tree: Tree,
  collapsed: Set<number>,
  visible: VisibleNode[],
  { levelDistance, width, leafWidth, splitWidth, lines, hasHistograms }: HorizontalSizes,
): Layout {
  const hasNoVisibleChildren = (i: number) => tree.nodes[i].left === undefined || collapsed.has(i);
  const terminal = visible.filter(({ i }) => hasNoVisibleChildren(i));
  const height = 18 + TEXT_LINE_HEIGHT * Math.max(lines, 2);
  const lineHeight = height + (terminal.length > 16 ? 10 : 16);
  // Nodes without visible children are stacked from top to bottom.
  const y = new Map(terminal.map(({ i }, line) => [i, lineHeight * (line + 0.5)]));
  // Other nodes are halfway between their children. In reverse preorder the children come first.
  for (const { i } of [...visible].reverse()) {
    const { left, right } = tree.nodes[i];
    if (!hasNoVisibleChildren(i)) y.set(i, (y.get(left!)! + y.get(right!)!) / 2);
  }
  const nodes = new Map<number, NodeBox>();
  for (const { i, depth } of visible) {
    const isLeaf = tree.nodes[i].left === undefined;
    nodes.set(i, {
      x: depth * levelDistance,
      y: y.get(i)!,
      width: isLeaf ? leafWidth : splitWidth,
      // A split with visible children has at least the space of two leaves.
      height: hasNoVisibleChildren(i) || !hasHistograms ? height : height + HISTOGRAM_HEIGHT,
      depth,
      linkPath: "",
      linkWidth: Math.max(MIN_LINK_WIDTH, linkWidth(tree, i, MAX_LINK_WIDTH)),
    });
  }
  for (const { i } of visible) {
    if (hasNoVisibleChildren(i)) continue;
    const parent = nodes.get(i)!;
    const children = childrenOf(tree.nodes[i]).map((child) => nodes.get(child)!);
    const startX = parent.x + parent.width;
    // Both links start side by side, centered at the parent.
    let top = parent.y - (children[0].linkWidth + children[1].linkWidth) / 2;
    for (const child of children) {
      const startY = top + child.linkWidth / 2;
      top += child.linkWidth;
      const middleX = (startX + child.x) / 2;
      child.linkPath = `M${startX - 1} ${startY} C${middleX} ${startY} ${middleX} ${child.y} ${child.x + 1} ${child.y}`;
    }
  }
  return { nodes, width, height: lineHeight * terminal.length + 4, isOutline: false, isNarrow: false, hasHistograms };
}

function outlineLayout(
  tree: Tree,
  columns: Column[],
  collapsed: Set<number>,
  visible: VisibleNode[],
  width: number,
  isPrinted: boolean,
  hasHistograms: boolean,
): Layout {
  const isNarrow = !isPrinted && width <= NARROW_WIDTH;
  const height = isPrinted ? 30 : isNarrow ? 52 : 36;
  const gap = isPrinted ? 4 : 6;
  const indent = Math.min(MAX_INDENT, (0.3 * width) / Math.max(maxDepth(visible), 1));
  const nodes = new Map<number, NodeBox>();
  let bottom = 0;
  visible.forEach(({ i, depth }) => {
    const isOpenSplit = tree.nodes[i].left !== undefined && !collapsed.has(i);
    const name = isNarrow ? (columns[tree.nodes[i].column ?? -1]?.name ?? "") : "";
    const nameLines = Math.ceil((LETTER_WIDTH * name.length) / Math.max(width - depth * indent - NARROW_PADDING, 60));
    const ownHeight =
      height + (hasHistograms && isOpenSplit ? HISTOGRAM_HEIGHT : 0) + LINE_HEIGHT * Math.max(nameLines - 1, 0);
    const top = bottom + gap / 2;
    bottom = top + ownHeight + gap / 2;
    nodes.set(i, {
      x: depth * indent,
      y: top + ownHeight / 2,
      width: width - depth * indent,
      height: ownHeight,
      depth,
      linkPath: "",
      linkWidth: Math.max(MIN_LINK_WIDTH, Math.min(indent * 0.6, linkWidth(tree, i, MAX_OUTLINE_LINK_WIDTH))),
    });
  });
  for (const { i } of visible) {
    const parent = nodes.get(i)!;
    for (const childIndex of [tree.nodes[i].left, tree.nodes[i].right]) {
      const child = childIndex === undefined ? undefined : nodes.get(childIndex);
      if (!child) continue;
      child.linkPath = `M${parent.x + indent / 2} ${parent.y + parent.height / 2} V${child.y} H${child.x}`;
    }
  }
  return { nodes, width, height: bottom, isOutline: true, isNarrow, hasHistograms };
}
