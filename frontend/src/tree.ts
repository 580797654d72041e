// The tree: across where there is room, an outline where there is not.

import { color } from "./colors";
import { h, s, section, styled } from "./dom";
import { place, type Placed } from "./layout";
import { clustersBelow, describeNode } from "./node";
import { aroundPrinting, PAPER } from "./paper";
import { parents, pathTo } from "./paths";
import { answer, question, questionParts } from "./questions";
import type { State } from "./state";
import { many, percent } from "./words";

const HINT = "Point at a question or a leaf, or move with the arrow keys, to see which rows come there.";

/** `choice` goes between the words and the picture. */
export function treeSection(state: State, choice: HTMLElement | null): HTMLElement {
  const { data } = state;
  const bands = s("svg", { class: "bands", "aria-hidden": "true" });
  const items = h("div", { class: "tree-items", role: "tree", "aria-label": "The tree of questions" });
  const canvas = h("div", { class: "tree" }, bands, items);
  const detail = h("p", { class: "detail", role: "status" }, HINT);
  const all = h("button", { type: "button", class: "quiet" }, "Fold all");
  const whole = h("button", { type: "button", class: "quiet away", click: () => state.pin(null) }, "Light the whole tree");
  const folded = new Set<number>();
  let focused = 0;
  let isOnPaper = false;
  let elements = new Map<number, HTMLElement>();

  function draw(): void {
    const { tree } = state;
    const up = parents(tree);
    const layout = isOnPaper
      ? place(tree, data.columns, folded, PAPER.width, true)
      : place(tree, data.columns, folded, canvas.clientWidth || 900);
    canvas.classList.toggle("outline", layout.isOutline);
    canvas.classList.toggle("paged", isOnPaper && layout.height > PAPER.height);
    canvas.style.height = `${layout.height}px`;
    bands.setAttribute("width", String(layout.width));
    bands.setAttribute("height", String(layout.height));
    const hadFocus = items.contains(document.activeElement);
    if (!layout.nodes.has(focused)) focused = 0;
    elements = new Map();
    bands.replaceChildren();
    for (const [i, box] of layout.nodes) {
      if (i > 0) bands.append(band(i, box));
      const element = item(i, box, up[i]);
      elements.set(i, element);
    }
    items.replaceChildren(...elements.values());
    if (hadFocus) elements.get(focused)?.focus();
    const inner = tree.nodes.some((node) => node.left !== undefined);
    all.hidden = !inner;
    all.textContent = folded.size ? "Unfold all" : "Fold all";
    lit();
  }

  function band(i: number, box: Placed): SVGElement {
    const { tree } = state;
    const node = tree.nodes[i];
    const stroke = node.cluster === undefined ? "var(--band)" : color(node.cluster);
    const path = s("path", { d: box.path, class: "band", "data-node": i, "stroke-width": box.thickness });
    styled(path, { stroke });
    return path;
  }

  function item(i: number, box: Placed, parent: number): HTMLElement {
    const { tree } = state;
    const node = tree.nodes[i];
    const isLeaf = node.cluster !== undefined;
    const said = parent < 0 ? null : answer(tree.nodes[parent], tree.nodes[parent].left === i);
    const share = percent(node.rows / Math.max(data.rows, 1));
    const text = isLeaf ? state.name(node.cluster!) : question(node, data.columns);
    const element = h(
      "div",
      {
        class: `node ${isLeaf ? "leaf" : "question"}${said ? ` after-${said}` : ""}`,
        role: "treeitem",
        "data-node": i,
        tabindex: i === focused ? 0 : -1,
        "aria-level": box.depth + 1,
        "aria-selected": "false",
        "aria-expanded": isLeaf ? null : String(!folded.has(i)),
        "aria-label": `${said ? `${said}: ` : ""}${text} ${many(node.rows, "row")}, ${share}`,
        title: text,
        mouseenter: () => point(i),
        mouseleave: () => point(null),
        focus: () => {
          if (focused !== i) elements.get(focused)?.setAttribute("tabindex", "-1");
          focused = i;
          element.setAttribute("tabindex", "0");
          point(i);
        },
        blur: () => point(null),
        click: () => (isLeaf ? goToCard(node.cluster!) : toggle(i)),
        keydown: (event: KeyboardEvent) => press(event, i),
      },
      said && h("span", { class: "said" }, said),
      ...(isLeaf ? [text] : questionParts(node, data.columns)).map((part) => h("span", { class: "text" }, part)),
      h("span", { class: "share" }, h("span", { class: "rows" }, `${many(node.rows, "row")} · `), share),
      !isLeaf && h("span", { class: "fold" }, folded.has(i) ? "+" : "−"),
      !isLeaf && mix(i),
    );
    if (isLeaf) styled(element, { "--cluster": color(node.cluster!) });
    return styled(element, {
      "--x": `${box.x}px`,
      left: `${box.x}px`,
      top: `${box.y - box.height / 2}px`,
      width: `${box.width}px`,
      height: `${box.height}px`,
    });
  }

  /** The clusters that are still possible at a question, as a strip. */
  function mix(i: number): HTMLElement {
    const parts = clustersBelow(state.tree, i).map(([cluster, rows]) =>
      styled(h("i", {}), { "flex-grow": String(rows), background: color(cluster) }),
    );
    return h("span", { class: "mix" }, ...parts);
  }

  function point(i: number | null): void {
    state.light(i === null ? null : pathTo(state.tree, i));
    detail.textContent = i === null ? HINT : describeNode(state, i);
  }

  function toggle(i: number): void {
    if (!folded.delete(i)) folded.add(i);
    draw();
    elements.get(i)?.focus();
  }

  function goToCard(cluster: number): void {
    const card = document.getElementById(`card-${cluster}`);
    card?.scrollIntoView({ block: "center" });
    card?.focus({ preventScroll: true });
  }

  function press(event: KeyboardEvent, i: number): void {
    const node = state.tree.nodes[i];
    const visible = [...elements.keys()].sort((a, b) => a - b);
    const at = visible.indexOf(i);
    const move = (to: number | undefined) => to !== undefined && elements.get(to)?.focus();
    const isOpen = node.left !== undefined && !folded.has(i);
    if (event.key === "ArrowDown") move(visible[at + 1]);
    else if (event.key === "ArrowUp") move(visible[at - 1]);
    else if (event.key === "Home") move(visible[0]);
    else if (event.key === "End") move(visible[visible.length - 1]);
    else if (event.key === "ArrowRight") {
      if (isOpen) move(node.left);
      else if (node.left !== undefined) toggle(i);
    } else if (event.key === "ArrowLeft") {
      if (isOpen && i > 0) move(parents(state.tree)[i]);
      else if (isOpen) toggle(i);
      else if (i > 0) move(parents(state.tree)[i]);
    } else if (event.key === "Enter" || event.key === " ") {
      if (node.cluster !== undefined) goToCard(node.cluster);
      else toggle(i);
    } else return;
    event.preventDefault();
  }

  function lit(): void {
    const on = state.lit;
    canvas.classList.toggle("has-lit", on !== null);
    whole.classList.toggle("away", !state.isPinned);
    for (const element of [...elements.values(), ...bands.children]) {
      const is = on !== null && on.has(Number((element as HTMLElement).dataset.node));
      element.classList.toggle("lit", is);
      if (element.getAttribute("role")) element.setAttribute("aria-selected", String(is));
    }
  }

  all.addEventListener("click", () => {
    if (folded.size) folded.clear();
    else state.tree.nodes.forEach((node, i) => node.left !== undefined && folded.add(i));
    draw();
  });
  state.on(["tree"], () => {
    folded.clear();
    focused = 0;
    detail.textContent = HINT;
    draw();
  });
  state.on(["names"], draw);
  state.on(["lit"], lit);
  let width = 0;
  new ResizeObserver(() => {
    if (canvas.clientWidth !== width) {
      width = canvas.clientWidth;
      draw();
    }
  }).observe(canvas);
  const drawOn = (paper: boolean) => () => {
    isOnPaper = paper;
    if (paper) folded.clear();
    draw();
  };
  aroundPrinting(drawOn(true), drawOn(false));

  return section(
    "tree",
    "The tree",
    h(
      "p",
      { class: "note" },
      "Every row starts at the first question and follows its answers until it ends in a cluster. The wider a band, the more rows take it; the strip in a question shows which clusters are still possible.",
    ),
    choice,
    h("div", { class: "tools" }, whole, all),
    canvas,
    detail,
  );
}
