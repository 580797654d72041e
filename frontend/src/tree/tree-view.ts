// The section that draws the selected tree. Splits can be collapsed, and the tree can be used with the keyboard.

import { clusterColor } from "../shared/colors";
import { breakable, h, section, setStyle, svg } from "../shared/dom";
import { formatPercent, formatRows } from "../shared/format";
import { onPrint, PRINT_PAGE } from "../shared/printing";
import { pictureButtons } from "../shared/picture";
import { splitHistogram } from "./split-histogram";
import { layoutTree, type NodeBox } from "./layout";
import { answerTo, describeNode, questionParts, questionText } from "./node-text";
import { childrenOf, clustersBelow, parentNodes, pathTo } from "./paths";
import type { TreeState } from "./state";
import { t } from "../texts";

/** Width of the tree before it is part of the page. */
const DEFAULT_WIDTH = 900;

/** `slider` is placed above the tree. */
export function treeSection(state: TreeState, slider: HTMLElement | null): HTMLElement {
  const { data } = state;
  const links = svg("svg", { class: "links", "aria-hidden": "true" });
  const items = h("div", { class: "tree-items", role: "tree", "aria-label": t.treeLabel });
  const canvas = h("div", { class: "tree" }, links, items);
  const description = h("p", { class: "detail", role: "status" }, t.treeHint);
  const collapseButton = h("button", { type: "button", class: "secondary" }, t.collapseAll);
  const clearButton = h(
    "button",
    { type: "button", class: "secondary invisible", click: () => state.pin(null) },
    t.clearHighlight,
  );
  const collapsed = new Set<number>();
  /** The node that gets the focus when the reader tabs into the tree. */
  let focusedNode = 0;
  let isPrinted = false;
  let wantsHistograms: boolean | null = null;
  const hasHistograms = data.trees.some(({ nodes }) => nodes.some(({ histogram }) => histogram?.length));
  const histogramBox = h("input", { type: "checkbox" });
  const histogramField = h("label", { class: "check" }, histogramBox, ` ${t.showDistributions}`);
  let elements = new Map<number, HTMLElement>();

  function draw(): void {
    const { tree } = state;
    const parents = parentNodes(tree);
    const width = isPrinted ? PRINT_PAGE.width : canvas.clientWidth || DEFAULT_WIDTH;
    const clusterNames = data.clusters.map((_, c) => state.clusterName(c));
    const layout = layoutTree(
      tree,
      data.columns,
      collapsed,
      clusterNames,
      tree.nodes.map(({ rows }) => sizeText(rows).join("")),
      width,
      isPrinted,
      hasHistograms ? wantsHistograms : false,
    );
    histogramBox.checked = layout.hasHistograms;
    canvas.classList.toggle("with-histograms", layout.hasHistograms);
    canvas.classList.toggle("outline", layout.isOutline);
    canvas.classList.toggle("narrow", layout.isNarrow);
    canvas.classList.toggle("multi-page", isPrinted && layout.height > PRINT_PAGE.height);
    canvas.style.height = `${layout.height}px`;
    links.setAttribute("width", String(layout.width));
    links.setAttribute("height", String(layout.height));
    const hadFocus = items.contains(document.activeElement);
    if (!layout.nodes.has(focusedNode)) focusedNode = 0;
    elements = new Map([...layout.nodes].map(([i, box]) => [i, createNode(i, box, parents[i], layout.hasHistograms)]));
    links.replaceChildren(...[...layout.nodes].flatMap(([i, box]) => (i > 0 ? [createLink(i, box)] : [])));
    items.replaceChildren(...elements.values());
    if (hadFocus) elements.get(focusedNode)?.focus();
    collapseButton.hidden = tree.nodes.length === 1;
    collapseButton.textContent = collapsed.size ? t.expandAll : t.collapseAll;
    updateHighlight();
  }

  /** Number of rows and their share. */
  function sizeText(rows: number): [string, string] {
    return [`${formatRows(rows, data.rowsAre)} · `, formatPercent(rows / Math.max(data.rows, 1))];
  }

  /** The link from the parent of a node. */
  function createLink(i: number, box: NodeBox): SVGElement {
    const { cluster } = state.tree.nodes[i];
    const path = svg("path", { d: box.linkPath, class: "link", "data-node": i, "stroke-width": box.linkWidth });
    return setStyle(path, { stroke: cluster === undefined ? "var(--neutral)" : clusterColor(cluster) });
  }

  function createNode(i: number, box: NodeBox, parent: number, showsHistogram: boolean): HTMLElement {
    const { tree } = state;
    const node = tree.nodes[i];
    const isLeaf = node.cluster !== undefined;
    const answer = parent < 0 ? null : answerTo(tree.nodes[parent], tree.nodes[parent].left === i);
    const share = formatPercent(node.rows / Math.max(data.rows, 1));
    const rows = formatRows(node.rows, data.rowsAre);
    const text = isLeaf ? state.clusterName(node.cluster!) : questionText(node, data.columns);
    const textParts = isLeaf ? [text] : questionParts(node, data.columns);
    const element = h(
      "div",
      {
        class: `node ${isLeaf ? "leaf" : "split"}`,
        role: "treeitem",
        "data-node": i,
        tabindex: i === focusedNode ? 0 : -1,
        "aria-level": box.depth + 1,
        "aria-selected": "false",
        "aria-expanded": isLeaf ? null : String(!collapsed.has(i)),
        "aria-label": `${answer ? `${answer}: ` : ""}${text} ${rows}, ${share}`,
        title: text,
        mouseenter: () => pointAt(i),
        mouseleave: () => pointAt(null),
        focus: () => onFocus(i),
        blur: () => pointAt(null),
        click: () => activate(i),
        keydown: (event: KeyboardEvent) => onKeyDown(event, i),
      },
      answer && h("span", { class: "answer" }, answer),
      ...textParts.map((part) => h("span", { class: "text" }, breakable(part))),
      h("span", { class: "row-share" }, h("span", { class: "rows" }, sizeText(node.rows)[0]), share),
      !isLeaf && h("span", { class: "collapse-sign" }, collapsed.has(i) ? "+" : "−"),
      !isLeaf && showsHistogram && !collapsed.has(i) && splitHistogram(node, data.columns[node.column!]),
      !isLeaf && clusterStrip(i),
    );
    if (isLeaf) setStyle(element, { "--cluster": clusterColor(node.cluster!) });
    return setStyle(element, {
      "--x": `${box.x}px`,
      left: `${box.x}px`,
      top: `${box.y - box.height / 2}px`,
      width: `${box.width}px`,
      height: `${box.height}px`,
    });
  }

  /** A strip of the clusters below a split, in proportion to their rows. */
  function clusterStrip(i: number): HTMLElement {
    const segments = clustersBelow(state.tree, i).map(([cluster, rows]) =>
      setStyle(h("i", {}), { "flex-grow": String(rows), background: clusterColor(cluster) }),
    );
    return h("span", { class: "cluster-strip" }, ...segments);
  }

  /** Highlights the path to a node and describes the node; null ends both. */
  function pointAt(i: number | null): void {
    state.highlight(i === null ? null : pathTo(state.tree, i));
    description.textContent = i === null ? t.treeHint : describeNode(state, i);
  }

  function onFocus(i: number): void {
    if (focusedNode !== i) elements.get(focusedNode)?.setAttribute("tabindex", "-1");
    focusedNode = i;
    elements.get(i)?.setAttribute("tabindex", "0");
    pointAt(i);
  }

  /** Goes to the card of a leaf, or collapses or expands a split. */
  function activate(i: number): void {
    const { cluster } = state.tree.nodes[i];
    if (cluster !== undefined) goToCard(cluster);
    else toggleCollapsed(i);
  }

  function toggleCollapsed(i: number): void {
    if (!collapsed.delete(i)) collapsed.add(i);
    draw();
    elements.get(i)?.focus();
  }

  function goToCard(cluster: number): void {
    const card = document.getElementById(`card-${cluster}`);
    card?.scrollIntoView({ block: "center" });
    card?.focus({ preventScroll: true });
  }

  /** Arrow keys, Home and End move through the tree. Enter and space activate a node. */
  function onKeyDown(event: KeyboardEvent, i: number): void {
    const node = state.tree.nodes[i];
    // From top to bottom.
    const visible = [...elements.keys()];
    const position = visible.indexOf(i);
    const focus = (target: number | undefined) => target !== undefined && elements.get(target)?.focus();
    const isExpanded = node.left !== undefined && !collapsed.has(i);
    if (event.key === "ArrowDown") focus(visible[position + 1]);
    else if (event.key === "ArrowUp") focus(visible[position - 1]);
    else if (event.key === "Home") focus(visible[0]);
    else if (event.key === "End") focus(visible[visible.length - 1]);
    else if (event.key === "ArrowRight") {
      if (isExpanded) focus(childrenOf(node)[0]);
      else if (node.left !== undefined) toggleCollapsed(i);
    } else if (event.key === "ArrowLeft") {
      if (i > 0) focus(parentNodes(state.tree)[i]);
      else if (isExpanded) toggleCollapsed(i);
    } else if (event.key === "Enter" || event.key === " ") activate(i);
    else return;
    event.preventDefault();
  }

  function updateHighlight(): void {
    const { highlighted } = state;
    canvas.classList.toggle("has-highlight", highlighted !== null);
    clearButton.classList.toggle("invisible", !state.hasPinnedNodes);
    for (const element of [...elements.values(), ...links.children]) {
      const isHighlighted = highlighted !== null && highlighted.has(Number((element as HTMLElement).dataset.node));
      element.classList.toggle("highlighted", isHighlighted);
      if (element.getAttribute("role")) element.setAttribute("aria-selected", String(isHighlighted));
    }
  }

  function redrawForPrint(isPrinting: boolean): void {
    isPrinted = isPrinting;
    if (isPrinting) collapsed.clear();
    draw();
  }

  histogramBox.addEventListener("change", () => {
    wantsHistograms = histogramBox.checked;
    draw();
  });
  collapseButton.addEventListener("click", () => {
    if (collapsed.size) collapsed.clear();
    else state.tree.nodes.forEach((node, i) => node.left !== undefined && collapsed.add(i));
    draw();
  });
  state.on(["tree"], () => {
    collapsed.clear();
    focusedNode = 0;
    description.textContent = t.treeHint;
    draw();
  });
  state.on(["names"], draw);
  state.on(["highlight"], updateHighlight);
  let drawnWidth = 0;
  new ResizeObserver(() => {
    if (canvas.clientWidth === drawnWidth) return;
    drawnWidth = canvas.clientWidth;
    draw();
  }).observe(canvas);
  onPrint(
    () => redrawForPrint(true),
    () => redrawForPrint(false),
  );

  return section(
    "tree",
    t.treeTitle,
    h(
      "p",
      { class: "note" },
      t.treeNote,
    ),
    slider,
    h("div", { class: "toolbar" }, hasHistograms && histogramField, clearButton, collapseButton, pictureButtons("tree", canvas)),
    canvas,
    description,
  );
}
