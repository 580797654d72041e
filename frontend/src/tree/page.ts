// The page of a tree report.

import { compareSection } from "../shared/compare-clusters";
import { dataSection } from "../shared/data-panel";
import { provenanceSection } from "../shared/provenance";
import { clusterCardsSection } from "./cluster-cards";
import { copyRulesSection } from "./copy-rules";
import { measuresSection } from "./measures";
import { rowSection } from "./row-explanation";
import { scatterPlotSection } from "./scatter-plot";
import { separationText } from "./separation";
import type { TreeState } from "./state";
import { tradeOffSlider } from "./trade-off-slider";
import { treeSection } from "./tree-view";

export function treeSections(state: TreeState): HTMLElement[] {
  return [
    treeSection(state, tradeOffSlider(state)),
    clusterCardsSection(state),
    compareSection(state.view, (first, second) => separationText(state, first, second)),
    scatterPlotSection(state),
    rowSection(state),
    dataSection(state.data, {
      agreement: state.data.trees[state.data.own].measures.agreement,
      reference: state.data.reference,
    }),
    measuresSection(state),
    copyRulesSection(state),
    provenanceSection(state.data.made),
  ].filter((section): section is HTMLElement => section !== null);
}
