// All texts of the page in English. A translation is one file with the same keys (see de.ts).
//
// Numbers in the arguments are already formatted, except those that decide between singular and plural (`n`).

/** What a group of rows is called. */
export type Noun = "cluster" | "class";

const plural = (n: number, one: string, many = `${one}s`) => (n === 1 ? one : many);
const plurals: Record<Noun, string> = { cluster: "clusters", class: "classes" };

export const english = {
  locale: { code: "en", decimal: ".", group: "," },

  // words
  percent: (number: string) => `${number}%`,
  yes: "yes",
  no: "no",
  and: " and ",
  or: " or ",
  missing: "missing",
  other: "other",
  quoted: (text: string) => `“${text}”`,
  anotherValue: "another value",
  higher: "higher",
  lower: "lower",
  choose: "choose…",
  rowsDefault: "rows",
  row: "1 row",
  cluster: (label: string, noun: Noun) => `${noun === "class" ? "Class" : "Cluster"} ${label}`,
  clusterCount: (n: number, count: string, noun: Noun) => `${count} ${n === 1 ? noun : plurals[noun]}`,
  others: (n: number, count: string) => `${count} ${plural(n, "other")}`,
  more: (count: string) => `${count} more`,
  under: (percent: string) => `under ${percent}`,
  over: (percent: string) => `over ${percent}`,
  reference: (name: string) => name,
  clustersExplained: (noun: Noun) => `${noun === "class" ? "Classes" : "Clusters"} explained`,
  showMore: (count: string) => `Show all ${count} columns`,
  showFewer: "Show fewer columns",

  // frame of the page
  skip: "Skip to the report",
  sections: "Sections of the report",
  footer: "Created with pellucid. This file works offline and sends no data.",
  links: {
    levels: "Levels",
    tree: "Tree",
    clusters: "Clusters",
    compare: "Compare",
    plot: "Scatter plot",
    row: "Explain a row",
    data: "Data",
    measures: "Quality",
    copy: "Export",
    provenance: "Parameters",
  } as Record<string, string>,

  // header
  headline: (clusters: string, rows: string) => `${clusters} of ${rows}`,
  oneCluster: (rowsAre: string) => `All ${rowsAre} are in one cluster, so there is nothing to explain.`,
  questions: (n: number, count: string) => `${count} ${plural(n, "yes/no question")}`,
  treeDescribes: (questions: string) => `A decision tree with ${questions} describes these clusters. `,
  allRows: (rowsAre: string) => `all ${rowsAre}`,
  shareOfRows: (share: string, rowsAre: string) => `${share} of the ${rowsAre}`,
  treeAssigns: (questions: string, rows: string, reference: string, cost: string) =>
    `This decision tree with ${questions} assigns ${rows} to the same clusters as ${reference}. ${cost}`,
  emptyClusters: (n: number, count: string, rowsAre: string) =>
    `${count} of its clusters ${plural(n, "contains", "contain")} no ${rowsAre}. `,
  columnsOf: (used: string, n: number, count: string) => `It uses ${used} of ${count} ${plural(n, "column")}. `,
  averageConditions: (count: string) => `On average, ${count} conditions explain the cluster of a row.`,
  sameCost: "The spread within its clusters (cost) is the same. ",
  costChange: (size: string, isHigher: boolean) => `The spread within its clusters (cost) is ${size} ${isHigher ? "higher" : "lower"}. `,
  clusterSentence: (rows: string, share: string, rule: string) => `${rows} (${share}): ${rule}`,
  warnings: (n: number, count: string) => (n === 1 ? "Warning" : `${count} warnings`),

  // tree
  treeTitle: "The decision tree",
  treeLabel: "Decision tree",
  treeNote:
    "Every row starts at the first question and follows its answers until it reaches a leaf, which gives its cluster. The wider a connection, the more rows follow it. The coloured strip in a question shows which clusters are still possible.",
  treeHint: "Hover a node to see which rows reach it. The arrow keys work, too.",
  collapseAll: "Collapse all",
  expandAll: "Expand all",
  clearHighlight: "Clear highlight",
  showDistributions: "Show distributions in the questions",
  distributionOf: (column: string) => `Distribution of ${column} in the rows that reach the question, coloured by cluster`,
  nodeAll: (rows: string) => `all ${rows}`,
  nodeWith: (rows: string, conditions: string) => `${rows} with ${conditions}`,
  nodePurity: (share: string, reference: string) => `${share} of them have the same cluster in ${reference}. `,
  nodeClick: "Click or press Enter to see the cluster.",
  allStart: (rows: string) => `All ${rows} start here.`,
  rowsReach: (rows: string, conditions: string) => `${rows} reach this question: those with ${conditions}.`,
  theirClusters: (list: string) => `Their clusters: ${list}.`,

  // trade-off
  shorterRules: "← shorter rules",
  closerTo: (reference: string) => `closer to ${reference} →`,
  tradeOffLabel: "Trade-off between short rules and a close match",
  backToModel: "Back to your model",
  conditionsPerRow: (count: string) => `${count} conditions per row`,
  cost: (change: string) => `cost ${change}`,
  agreementWith: (share: string, reference: string) => `${share} agreement with ${reference}`,
  treeOf: (i: number, n: number, origin: string) => `Tree ${i} of ${n} (${origin})`,
  yourModel: "your model",
  origins: {
    shorter: (penalty: string) => `depth penalty ${penalty}`,
    given: (penalty: string) => `depth penalty ${penalty}`,
    longer: (n: string) => `your model with ${n} more ${n === "1" ? "leaf" : "leaves"}`,
    stage: (n: string) => `your model with ${n} ${n === "1" ? "leaf" : "leaves"}`,
    pruned: (n: string) => `your model with ${n} ${n === "1" ? "leaf" : "leaves"}`,
  } as Record<string, (amount: string) => string>,
  kinds: {
    shorter: "Trees with a depth penalty are grown by ExShallow.",
    longer: "Trees with more leaves split the leaves of your model further (ExKMC).",
    stage: "Other trees are your model with fewer leaves.",
    pruned: "Trees with fewer leaves are your model without its least important splits.",
    given: "The trees were given with the model.",
  } as Record<string, string>,
  searchSample: (rows: string) => `The search used ${rows} of the rows; the measures are of all rows.`,
  omittedTrees: (reference: string, share: string) =>
    `Left out: trees that are longer and no closer to ${reference} than another, and trees with less than ${share} agreement.`,
  costName: "cost",
  rowsInAnotherCluster: "rows in another cluster",
  tradeOffAxes: (loss: string) => `${loss} by conditions per row`,

  // clusters
  clustersTitle: (noun: Noun) => `The ${plurals[noun]}`,
  overviewLabel: "Overview of the clusters",
  overviewNote: (rowsAre: string) =>
    `Averages of numbers, most frequent categories, and of two categories the share of the same one. The stronger the colour, the more the cluster differs from the other ${rowsAre}: `,
  shareRow: (rowsAre: string) => `share of ${rowsAre}`,
  deviation: (size: string, isBelow: boolean) => `${size} standard deviations ${isBelow ? "below" : "above"} the other rows`,
  namesNote: "Click a name to edit it. This browser stores it; a saved copy contains it.",
  saveCopy: "Save a copy with these names",
  suggestedNames: "Use these names in SQL and JSON",
  nameOf: (label: string, noun: Noun) => `Name of ${noun} ${label}`,
  shareOfAll: (share: string, rowsAre: string) => `${share} of all ${rowsAre}`,
  howItDiffers: (rowsAre: string) => `How it differs from other ${rowsAre}`,
  moreColumns: (n: number, count: string) => `${count} ${plural(n, "more column")}`,
  typicalRows: "Typical rows",
  typicalRowsOf: (label: string, noun: Noun) => `Typical rows of ${noun} ${label}`,
  copyRule: "Copy rule",
  showInTree: "Show in the tree",
  noLeaf: "The tree has no leaf for this cluster.",
  noRule: "no rule",
  moreRules: (n: number, count: string) => `or ${count} ${plural(n, "more rule")}`,

  // distributions
  rowsOfThe: (rowsAre: string, noun: Noun) => `${rowsAre} of the ${noun}`,
  thresholdInRules: "threshold in its rules",
  hereAndOthers: (here: string, others: string) => `${here} here, ${others} in other rows`,
  hereAndAll: (here: string, all: string) => `${here} here, ${all} of all rows`,
  aboutSame: "about the same",
  comparison: (size: "slight" | "clear" | "large", isMore: boolean, isTime: boolean) =>
    `${{ slight: "slightly ", clear: "", large: "much " }[size]}${isTime ? (isMore ? "later" : "earlier") : isMore ? "higher" : "lower"}`,
  averages: (comparison: string, here: string, others: string) => `${comparison}: average ${here}, other rows ${others}`,
  sameAsOthers: "same as in other rows",
  timesAsOften: (times: string) => `, ${times} times as often`,
  logScale: "log scale",
  onLogScale: (comparison: string) => `${comparison} on a log scale`,
  orLess: (value: string, lowest: string) => `${value} or less (down to ${lowest})`,
  orMore: (value: string, highest: string) => `${value} or more (up to ${highest})`,

  // time series
  trend: "Trend",
  seriesLabel: (first: string, last: string) => `Time series of the cluster from ${first} to ${last}`,
  seriesNote: (hasBand: boolean) =>
    `Trends: the line is the most central series of the cluster.${hasBand ? " The band is the middle half of the cluster at each time." : ""} All clusters have the same vertical axis.`,

  // comparison
  compareTitle: (noun: Noun) => `Compare two ${plurals[noun]}`,
  compareNote:
    "The largest differences first. The effect size is the difference of the averages in standard deviations of all rows: below 0.5 is small, above 0.8 is large. For categories it is the difference of the shares.",
  compareFirst: (noun: Noun) => `First ${noun}`,
  compareSecond: (noun: Noun) => `Second ${noun}`,
  compareSizes: (first: string, firstRows: string, second: string, secondRows: string) =>
    `${first} has ${firstRows}, ${second} has ${secondRows}.`,
  separatedBy: (question: string, yes: string, no: string) => `The tree separates them by the question “${question}”: yes for ${yes}, no for ${no}.`,
  separatedBySeveral: (questions: string) => `The tree separates parts of them by: ${questions}.`,
  compareNumbers: (column: string, first: string, comparison: string, firstMean: string, second: string, secondMean: string) =>
    `${column}: ${first} is ${comparison} (average ${firstMean}) than ${second} (average ${secondMean})`,
  compareCategories: (column: string, value: string, first: string, firstShare: string, second: string, secondShare: string) =>
    `${column}: “${value}” is ${firstShare} of ${first} and ${secondShare} of ${second}`,
  effectSize: (size: string) => `effect size ${size}`,
  points: (size: string) => `${size} percentage points`,
  similarColumns: (columns: string) => `Similar in: ${columns}.`,
  noDifference: (noun: Noun) => `The two ${plurals[noun]} are similar in all columns of this page.`,

  // scatter plot
  plotTitle: "Scatter plot",
  plotNote: "Each mark is one row. Dashed lines are thresholds of the tree in these two columns.",
  plotSample: (shown: string, all: string) => ` The plot shows ${shown} of ${all} rows.`,
  plotHint: "Hover a mark to see the row. Click a cluster to highlight it. Drag with the mouse to zoom in.",
  plotLabel: (x: string, y: string) => `Rows by ${x} and ${y}, coloured by cluster, with the thresholds of the tree`,
  horizontalAxis: "Horizontal axis",
  verticalAxis: "Vertical axis",
  withLogScale: (name: string) => `${name} (log scale)`,
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  resetZoom: "Reset zoom",
  rowsBelow: (n: number, count: string, lowest: string) => `${count} ${plural(n, "row")} below (down to ${lowest})`,
  rowsAbove: (n: number, count: string, highest: string) => `${count} ${plural(n, "row")} above (up to ${highest})`,
  beyondNote: (list: string) => `Arrows at the edge are rows beyond the axis. ${list}.`,
  zoomNote: (count: string) => `${count} rows lie outside this part of the plot.`,

  // explain a row
  rowTitle: "Explain a row",
  rowNote: "Your input stays in this page and is not sent anywhere.",
  rowHint: "Enter the values of a row, or start from a typical row.",
  startFrom: "Start from",
  typicalRowOf: (name: string) => `a typical row of ${name}`,
  pasteRow: "Or paste a row from a table",
  pasteHint: "with or without a header line",
  enterValue: (column: string) => `Enter a value for ${column}.`,
  notANumber: (column: string, text: string) => `${column}: “${text}” is not a number. Write numbers like 12.5 or 1,000.`,
  notADate: (column: string, text: string) => `${column}: “${text}” is not a date. Write dates like 2024-03-15.`,
  fromTo: (low: string, high: string) => `${low} to ${high}`,
  ifEmpty: (value: string) => `if empty: ${value}`,
  foundValues: (n: number, wanted: number, names: string, whole: number) =>
    `Found ${n} ${plural(n, "value")}. Paste the ${wanted} values of ${names} in this order${whole ? `, or a whole row of ${whole} values` : ""}. With a header line, any order works.`,
  noValueFor: (names: string) => `No value found for: ${names}.`,
  valuesCopied: "Values copied into the form.",
  belongsTo: "This row belongs to ",
  belongsToEnd: ".",
  label: (label: string) => ` (label ${label})`,
  changesTo: (noun: Noun) => `Changes that would lead to another ${noun}`,
  insteadOf: (change: string, value: string) => `${change} instead of ${value}`,
  above: (column: string, bound: string) => `${column} above ${bound}`,
  aboveUpTo: (column: string, bound: string, upTo: string) => `${column} above ${bound} (up to ${upTo})`,
  orLessThan: (column: string, bound: string) => `${column} ${bound} or less`,
  orLessButAbove: (column: string, bound: string, above: string) => `${column} ${bound} or less (but above ${above})`,
  otherThan: (column: string, value: string) => `${column} other than ${value}`,
  heldFixed: "Hold fixed",
  heldFixedNote: "Columns that cannot change, such as an age:",
  unreachable: (list: string) => `Not reachable without changing the fixed columns: ${list}.`,
  noQuestions: "The tree has no questions. Every row is in the same cluster.",
  theValueIs: (value: string) => `, the value is ${value}`,

  // data
  dataTitle: "Data and decisions",
  dataNote: "What was done to the table before and during clustering.",
  rowsRead: "rows read",
  rowsUsed: "rows used",
  rowsDropped: "rows left out",
  dropReasons: {
    gaps: (count: string) => `${count} with missing numbers`,
    outliers: (count: string) => `${count} far from all others (outliers)`,
    labels: (count: string) => `${count} without a label`,
    noise: (count: string) => `${count} with the label -1 (noise)`,
  } as Record<string, (count: string) => string>,
  columnsUsed: "columns used",
  columnsIgnored: "columns ignored",
  valuesFilled: "missing values filled in",
  verdictAgreement: "agreement",
  verdictSeparation: "separation",
  agreementVerdict: (share: string, level: "exact" | "high" | "medium" | "low", reference: string) =>
    ({
      exact: `The rules describe the clusters of ${reference} exactly: all rows get the same cluster.`,
      high: `The rules describe the clusters of ${reference} almost exactly: ${share} of the rows get the same cluster.`,
      medium: `The rules describe the clusters of ${reference} well: ${share} of the rows get the same cluster.`,
      low: `The rules describe the clusters of ${reference} poorly: only ${share} of the rows get the same cluster. More leaves may help.`,
    })[level],
  separationVerdict: (score: string, level: "high" | "medium" | "low") =>
    ({
      high: `The clusters are clearly separated (silhouette score ${score}; 1 is perfect).`,
      medium: `The clusters are separated, with some overlap (silhouette score ${score}; 1 is perfect).`,
      low: `The clusters overlap (silhouette score ${score}; below 0.25 is weak). Treat their borders as arbitrary.`,
    })[level],
  stabilityVerdict: (score: string, isStable: boolean) =>
    isStable
      ? `Other samples of the rows give almost the same clusters (stability ${score}; 1 is perfect).`
      : `Other samples of the rows give other clusters (stability ${score}; 1 is perfect). Do not rely on single rows.`,
  columnsTable: "All columns",
  columnHeads: {
    column: "column",
    role: "use",
    scale: "scale",
    missing: "missing",
    values: "different values",
    skew: "skewness",
    extreme: "extreme values",
  },
  roles: {
    number: "number",
    category: "category",
    date: "date",
    profile: "profile only",
    label: "label",
    ignored: "ignored",
  } as Record<string, string>,
  ignoredBecause: {
    identifier: "looks like an ID",
    code: "looks like a code",
    constant: "only one value",
    "near constant": "almost all values are the same",
    missing: "most values are missing",
    gaps: "many values are missing",
    text: "text with many different values",
    time: "times of day",
    nested: "lists, structures or other objects",
    excluded: "not requested",
  } as Record<string, string>,
  scales: {
    standard: "standardized",
    log: "logarithmic",
    robust: "by quartiles",
    rank: "ranks",
    none: "as it is",
    category: "categories",
  } as Record<string, string>,
  filledWith: (count: string, value: string) => `${count}, filled with ${value}`,
  columnNotes: {
    extreme: "Extreme values are more than three interquartile ranges beyond the quartiles.",
  },
  duplicates: (list: string) => `Columns with the same values: ${list}. They count twice in the clustering.`,
  correlated: (list: string) => `Highly correlated columns: ${list}. Together they have more weight than one column.`,
  sameAs: (first: string, second: string) => `${first} = ${second}`,
  correlation: (first: string, second: string, value: string) => `${first} and ${second} (${value})`,
  skewed: (list: string) => `Skewed columns: ${list}. Their averages are far from their medians.`,
  log: "All decisions",
  numberTitle: "Number of clusters",
  whyNumber: (k: string, score: string, stability: string) =>
    `${k} clusters were chosen: silhouette score ${score}, stability ${stability}. The number with the highest score is chosen. The score is the silhouette, more for a larger number, and less if the clusters are not stable or a tree does not keep them. The values are those of a sample of the rows.`,
  givenNumber: (k: string) => `${k} clusters were requested.`,
  numberHeads: {
    clusters: "clusters",
    total: "score",
    score: "silhouette",
    smallest: "smallest cluster",
    stability: "stability",
    agreement: "agreement of a tree",
    cost: "cost of the tree",
  },
  chosen: " (chosen)",
  scoreByNumber: "silhouette by number of clusters",

  // measures
  measuresTitle: "How good is this explanation?",
  agreementName: (reference: string) => `agreement with ${reference}`,
  agreementText: (rowsAre: string, reference: string) =>
    `Share of ${rowsAre} that have the same cluster in the tree and in ${reference}.`,
  costCompared: (reference: string) => `cost compared with ${reference}`,
  costText: (objective: string) =>
    `The cost is the sum of ${
      objective === "kmedians"
        ? "the absolute differences between the rows and the median of their cluster"
        : "the squared distances of the rows from the mean of their cluster"
    }, in the columns of the model. The lower it is, the more similar the rows of a cluster are.`,
  conditionsName: "conditions per row",
  conditionsText: "Average conditions per rule, without redundant ones.",
  questionsName: "questions per row",
  questionsText: (most: string) => `Average number of questions that the tree asks about a row. The maximum is ${most}.`,
  leavesName: "leaves",
  leavesText: "End points of the tree. A cluster with several leaves is described by several rules.",
  partOf: (part: string, whole: string) => `${part} of ${whole}`,
  columnsUsedName: "columns used",
  columnsUsedText: "Columns that occur in the questions of the tree. The tree ignores the other columns.",
  guaranteeTitle: "What is proven about the cost",
  guaranteeText: (ratio: string, comparedWith: string, bound: string, formula: string, source: string) =>
    `Here it is ${ratio} times ${comparedWith}. For no data can it be more than ${bound} times (${formula}, with k clusters and a tree of depth H). Proof: ${source}.`,
  stabilityTitle: (rowsAre: string) => `Would other ${rowsAre} give the same tree?`,
  stabilityDraws: (draws: string, fraction: string | null, rowsAre: string, isRefit: boolean) =>
    `The tree was fitted again on ${draws} ${fraction === null ? `bootstraps of the ${rowsAre}` : `draws of ${fraction} of the ${rowsAre}`}, ${
      isRefit ? "each with clusters of its own" : "for the same clusters"
    }.`,
  stabilityText: (share: string, ari: string, rowsAre: string) =>
    `On average, ${share} of the ${rowsAre} stay in their cluster (adjusted Rand index ${ari}; 1 is perfect).`,
  stabilityHeads: ["question", "returns in draws", "column used in draws"],
  stabilityNote: (rowsAre: string) =>
    `A question returns if it divides the ${rowsAre} in the same way, up to 5% of them. Few returns mean that other questions are almost as good.`,
  stabilityCluster: "cluster",
  stabilityStay: (rowsAre: string) => `${rowsAre} that stay`,

  // export
  exportTitle: "Export",
  allRules: "All rules",
  copyRules: "Copy rules",
  theRules: "The rules",
  treeAsSql: "The clusters as SQL",
  copySql: "Copy SQL",
  dialect: "dialect",
  sqlOfModelOnly: "This report contains SQL for your model only.",
  downloads: "Downloads",
  downloadModel: "Model with these names (JSON)",
  downloadModelNote: "pellucid predict reads the model.",
  downloadRegions: "Regions (CSV)",
  downloadRules: "Rules (CSV)",
  downloadStatistics: "Statistics of the clusters (CSV)",
  downloadCsv: "Download as CSV",
  picture: "Picture",
  wholeCard: "whole card",
  downloadAs: (format: string) => `Download as ${format}`,
  copied: "Copied",
  notCopied: "Could not copy",

  // provenance
  provenanceTitle: "How this report was created",
  provenanceNote: "The same data, parameters and versions always give the same file.",
  /** Names of entries that are not parameters. */
  made: { model: "model", data: "data", rows: "rows" } as Record<string, string>,
  parameters: "Parameters and versions",

  // regions
  level: (n: number) => `Level ${n}`,
  levelTitle: (n: number, columns: string) => `Level ${n}: ${columns}`,
  reachLevel: (n: number, count: string, answered: string) =>
    `${count} ${plural(n, "row")} ${plural(n, "reaches", "reach")} this level; ${answered} fall in a region.`,
  leftForNext: (count: string) => ` The other ${count} (grey) are left for the next level.`,
  levelErrors: (training: string, heldOut: string | null) =>
    ` Errors: ${training} (training)${heldOut === null ? "" : `, ${heldOut} (held-out)`}.`,
  tooManyColumns: (columns: string) => `This level uses ${columns}. More than two columns cannot be plotted.`,
  levelPlotLabel: (columns: string) => `Rows by ${columns}, with the regions of this level`,
  inNoRegion: "in no region",
  ofTheseInNoRegion: (rows: string) => `and ${rows} in no region`,
  rowsCorrect: (n: number, count: string, share: string | null) =>
    `${count} ${plural(n, "row")}${share === null ? "" : `, ${share} correct`}`,
  notAssigned: "are not assigned",
  byNeighbours: "are assigned by a vote of their neighbours",
  assignedTo: (name: string) => `are assigned to ${name}`,
  noRegions: (noun: Noun, rowsAre: string, assignment: string) =>
    `No region separates the ${plurals[noun]}, so all ${rowsAre} ${assignment}.`,
  levelsLocate: (n: number, count: string, noun: Noun, share: string, rowsAre: string, correct: string | null) =>
    `${n === 1 ? "One level of regions locates" : `${count} levels of regions locate`} the ${plurals[noun]}. ${share} of the ${rowsAre} fall in a region${correct === null ? "" : ` (${correct} of them correctly)`}`,
  theOthers: (share: string, assignment: string) => `; the other ${share} ${assignment}`,
  regionsNote: "Regions are numbered by level; a row belongs to the first region that contains it.",
  regionBoundary: "boundary of a region",
  regionOfLevel: (level: number, text: string) => `level ${level}: ${text}`,
  moreRegions: (n: number, count: string) => `or ${count} ${plural(n, "more region")}`,
  noRegionFor: (noun: Noun) => `There is no region for this ${noun}.`,
  noRegion: "no region",
  copyRegions: "Copy regions",
  coverageName: "of the training rows in a region",
  coverageText: "For the other rows, no region with a low enough error was found.",
  errorName: "error rate on training rows",
  errorText: (noun: Noun) => `Share of the training rows in a region that get the wrong ${noun}.`,
  heldOutName: "error rate on held-out rows",
  heldOutText: "The same for rows that were not used to find the regions. Expect this error rate for new rows.",
  levelsName: (n: number) => plural(n, "level"),
  levelsText: "Levels are checked in order until a region contains the row.",
  effortName: "comparisons per row",
  effortText: "Average effort to assign a row. Each region that is checked counts once for each of its columns.",
  levelColumnsText: "Columns that the levels use. The other columns are ignored.",
  levelsAsText: "The levels as text",
  allLevels: "All levels",
  copyLevels: "Copy levels",
  cannotAssign: "This page cannot assign the row.",
  rowNotAssigned: (noun: Noun) => `The row is not assigned to a ${noun}.`,
  levelStep: (n: number, values: string) => `Level ${n} (${values}): `,
  needsTrainingRows: "this level needs training rows that are not in this page; use model.explain(row) in Python",
  partWithoutRows: "in a region, but in a part of it without training rows",
  noRegionNotAssigned: (noun: Noun) => `No region contains the row, so it is not assigned to a ${noun}.`,
  noRegionAssigned: (name: string, share: string) =>
    `No region contains the row. It is assigned to ${name}, because ${share} of the training rows in no region belong to ${name}.`,
  crossNote: " A cross marks the row in the plots above.",
  limitationNote: " This page cannot evaluate levels that compare a row with training rows.",
};

export type Texts = typeof english;

/** Texts that Python writes: the build of the page copies them to src/pellucid/_utils/texts.json. */
export const englishInPython = {
  /** Words of rules and of suggested names. */
  rules: {
    and_: "and",
    or_: "or",
    is_: "is",
    is_not: "is not",
    not_: "not",
    none_of: "none of",
    missing: "missing",
    nothing: "nothing",
    anything: "anything",
    always: "always",
    never: "not explained",
    everywhere: "everywhere",
    low: "low {}",
    medium: "medium {}",
    high: "high {}",
    early: "early {}",
    late: "late {}",
    without: "without {}",
    not_of: "not {}",
    average: "average",
  },

  /** Decisions and warnings. Their fields are described in src/pellucid/_utils/texts.py. */
  messages: {
    // the page without scripts, and single words
    pageTitle: "{n:cluster|clusters} explained",
    noScripts: "Scripts are off, so this page shows the rules only.",
    clusterLabel: "Cluster {label}",
    columnCount: "{column} {n}",
    columnWithCount: "{column} ({n})",
    noName: "(no name)",
    notKnown: "not known",
    valuesOfShape: "{shape} values",
    sampledRows: "sampled rows",

    // reading a file
    encoding: "read as {encoding} text ({option} to change)",
    shortHeader: "the header has one name less than the lines have fields: the first column has none",
    noHeader: "the first line has values, not names; the columns are named x1, x2, ...",
    renamedColumns: "columns with the same name are renamed: {names}",
    manyRenamedColumns: "columns with the same name are renamed: {names}, ... ({n} in all)",
    decimalComma: "numbers have a decimal comma ({option} to change)",
    treatedAsMissing: "treated as missing: {spellings} in {columns} ({option} to change)",
    blanksRemoved: "blanks around fields are removed",
    readAsNumbers: "read as numbers: {columns}",
    numberExample: '{column} ("{text}" is {value:.15g})',
    unclearNumberExample: '{column} ("{text}" is {value:.15g}; {option} reads it differently)',
    keptAsText: "kept as text, because the digits are codes: {columns}",
    readAsDates: "read as dates: {columns}",
    dateOfInteger: "{column} ({text} is {date})",
    dateExample: '{column} ("{text}" is {date})',
    sameDateExample: '{column} ("{text}")',
    dayFirstExample: '{column} ("{text}" is {date}; day before month is assumed)',
    monthFirstExample: '{column} ("{text}" is {date}; month before day is assumed)',
    notDates: "{columns}: {n:value|values}{m?| each} {n?is|are} not {n?a date|dates} ({examples}); treated as missing",
    notNumbers: "{columns}: {n:value|values}{m?| each} {n?is|are} not {n?a number|numbers} ({examples}); treated as missing",
    notFinite:
      "{columns}: {n:value|values}{m?| each} {n?is|are} not {n?a finite number|finite numbers} ({examples}); treated as missing",
    blankLines: "{n:blank line is|blank lines are} ignored",
    longLines: "{n:line ends|lines end} with additional empty fields, which are ignored",
    separator: "fields are separated by {separator}",
    separatedByTabs: "fields are separated by tabs",
    separatedByBlanks: "fields are separated by blanks",
    titleLines: '{n?line|lines} {lines} skipped: a title ("{text}") ({option} keeps it)',
    commentLines: '{n?line|lines} {lines} skipped: a comment ("{text}") ({option} keeps it)',
    lineRange: "{first} to {last}",
    sheet: "sheet {sheet} is read; the file also has {others}",
    emptyLastColumn: "every line ends with {separator}; the empty last column is ignored",
    inBatches: "{file} takes about {needed} in memory, more than {limit}: it is read in batches ({option} to change)",

    // columns
    ignored: "ignored: {parts:;}",
    ignoredUnless: "ignored: {parts:;}; use {n?it|them} with {options}",
    described: "described, not clustered on: {parts:;}; cluster on {n?it|them} with {option}",
    because: "{columns} ({reason})",
    andMore: "and {n} more",
    isDate: "a date",
    isCalendarPart: "part of a date",
    isResult: "looks like a result",
    isKind: "a code",
    isGaps: "{share:.0%} of its values are missing",
    monotoneCopy: "a function of {column}",
    linearCopy: "= {formula}",
    nearlyMonotone: "nearly a function of {column}",
    nearlyLinear: "≈ {formula}",
    meanOf: "the mean of {columns}",
    sameGroups: "the same groups as {column}",
    isUnrelated: "unrelated to the other columns",
    isIdentifier: "looks like an ID",
    isCode: "looks like a code, such as a postal code or a phone number",
    isConstant: "only one value",
    isNearConstant: "almost all values are the same",
    isMissing: "most values are missing",
    isText: "text with many different values",
    isTextOf: "text with {n} different values",
    isTime: "times of day",
    isNested: "lists, structures or other objects",
    categories: "treated as categories: {columns} ({option} to ignore them)",
    dates: "used as dates: {columns} ({option} to ignore them)",
    fewValues: "treated as numbers although they have few values: {columns} ({option} if they are codes)",
    standardized: "columns standardized before clustering; rules stay in the original units ({option} to change)",
    scaledByQuartiles:
      "columns scaled by their quartiles before clustering; rules stay in the original units ({option} to change)",
    replacedByRanks: "columns replaced by ranks before clustering; rules stay in the original units ({option} to change)",
    logarithmic: "clustered on a logarithmic scale, because they are skewed: {columns}",
    allLogarithmic: "clustered on a logarithmic scale, because they are skewed: all columns",
    noDatesInBatches: "left out, because dates are not read in batches: {columns}",
    onlyNumbersInBatches:
      "left out, because only columns of numbers are read in batches: {columns} ({option} to read the whole file)",

    // rows
    noLabel: "dropped {n:row|rows} without a value in {column}",
    noiseOfLabels: "left out {n:row|rows} with the label -1, which means noise ({option} to explain {n?it|them})",
    filled: "replaced missing numbers by the median in {n} of {rows:row|rows}: {columns} ({option} drops the rows)",
    dropped: "dropped {n} of {rows:row|rows} with missing numbers ({columns}); {option} keeps them",
    totals: "set apart {n:row|rows}, because {n?it is a total|they are totals} of other rows: {rows} ({option} to cluster {n?it|them})",
    outliers:
      "set apart {n:outlier|outliers}, because {n?it is|they are} far from all other rows: {rows:;} ({option} to cluster {n?it|them})",
    manyOutliers:
      "set apart {n:outlier|outliers}, because they are far from all other rows: {parts:;} ({option} to cluster them)",
    outlier: "{row} with {column} = {value}",
    outlierValue: "{column} = {low} in {n:row|rows}, such as {row}",
    outlierRange: "{column} from {low} to {high} in {n:row|rows}, such as {row}",
    sentinels: "taken as missing: {values:;} ({option} to keep the numbers)",
    sentinel: "{value} in {column} ({n:row|rows}, far from all other values)",
    spellings: "merged spellings: {values:;} ({option} to keep them apart)",
    spelling: "{others} as {category} in {column}",
    events:
      "the rows look like events of {column}: to cluster by {column}, make a table with one row for each, such as {query}",
    isClusters: "its values alone are the clusters",
    cells:
      "{columns}: only {n} different combinations of values, so the clusters merely list them, whatever the silhouette score",
    row: "row {row}",
    rowWithName: "row {row} ({column} {value})",
    sampleInBatches:
      "columns and clusters are chosen by a sample of {n} of {rows:row|rows}, which a report shows; the tree is that of all rows",

    // clusters
    treeBy: "tree by {method} ({option} to change)",
    treeByLabels: "tree by {method}, which keeps the labels as closely as it can ({option} to change)",
    fewerClusters:
      "made {n:cluster|clusters} instead of {k}, because only {n:row|rows} {n?is|are} different",
    chose: "chose {n:cluster|clusters}: {reasons:;} ({option} to change)",
    tooFewRows: "there are too few different rows for more",
    silhouette: "silhouette score {score:.3f} (1 is perfect, below {weak:g} is weak)",
    otherNumbers: "{numbers:&} clusters are a good answer too",
    comparedOnSample: "numbers were compared on {n:row|rows}",
    largestNumber: "{k} is the largest number tried ({option} tries more)",
    moreLeaves:
      "made {leaves} rules for {n:cluster|clusters}, because with one rule for each, less than {share:.0%} of the rows get their cluster ({option} for one rule each)",

    // warnings
    lowAgreement: "only {share:.1%} of the rows get the cluster of {reference} from the rules; {leaves} allows more rules",
    lowAgreementOfColumns:
      "only {share:.1%} of the rows get the cluster of {reference} from the rules; {leaves} allows more rules, {option} fewer columns",
    noRule: "no rule leads to cluster {cluster}; {leaves} allows more rules",
    impureRule: "only {share:.1%} of the rows that the rule of cluster {cluster} selects are in that cluster; {leaves} allows more rules",
    noRuleForRows: "no rule leads to cluster {cluster} ({rows:row|rows}); {leaves} allows more rules",
    smallCluster: "cluster {cluster} has only {rows:row|rows} ({share:.1%}); a smaller {option} may be better",
    fewRows: "the table has only {n:row|rows}; clusters of so few rows may be due to chance",
    overlap:
      "the clusters overlap (silhouette score {score:.3f}, below {weak:g} is weak); {option} with fewer columns may separate them better",
    manyDropped: "{n} of {rows:row|rows} were not clustered because of missing numbers; {option} keeps them",
    impureRegions:
      "{n:region has|regions have} more rows of other clusters than {option} allows; the largest share is {error:.1%}",

    // series
    entityNoun: "entities",
    entities: "{n:entity|entities} with a series of {times} times",
    entitiesOfOwnTimes: "{n:entity|entities} with a series of different numbers of times",
    explainedBy: "explained by {columns} (use --entity to choose)",
    wideTable: "wide table: {n} columns, {first} to {last}, are taken as times (use --times, or --time and --value, to change)",
    noValue: "{n:row|rows} without any value ignored",
    notToExplain:
      "ignored to explain the clusters: {columns} (one value only, missing numbers, dates, or more than {most} texts; use --entity to choose)",
    onlyNames:
      "{columns} {n?has|have} a different value for each entity, so the rules list names (add columns that describe an entity to --entity)",
    notInRules: "not used by the rules: {columns} {n?has|have} a different value for each entity (use --id to choose)",
    fewEntities: "only {n} entities: {tried} clusters are tried (use -k to change)",

    // regions
    everywhereElse: "everywhere else",
    ellipse: "in the ellipse around {columns}",
    days: "{n:day|days}",
    polyhedron: "in a polyhedron of {n} vertices within {box}",
    neighbors:
      "at least {percent:.4g}% of the {n} nearest training rows in {columns}, weighted by 1/distance, are correctly classified",
    where: "where {condition}",
    whereClassifier: "where {classifier} predicts {answer}",
    whereLinear: "where the linear classifier predicts {answer}",
    whereNeighbors: "where most of the {n} nearest rows are {answer}",
    noTrainingRows: "no training rows",
    noiseLeftOut:
      "{n} of {rows} rows {n?has|have} the label -1 (noise) and {n?is|are} counted in no size, share or purity; {inside} of them {inside?lies|lie} in a region",
    notCounted: "not counting {n:noise row|noise rows}",
    weight: "weight {weight:,.6g}",
    rows: "{n:row|rows}",
    rowsAre: "{rows}, {purity:.1%} of them {answer}",
    weightIs: "{weight}, {purity:.1%} of it {answer}",
    heldOut: "held-out rows: {error:.1%} wrong",
    levelOfOne: "level {level}: {region}: {answer} ({share:.1%} of the rows; {figures:;})",
    levelHead: "level {level}, {columns:&}: {share:.1%} of the rows, {error:.1%} wrong",
    levelHeadHeldOut: "level {level}, {columns:&}: {share:.1%} of the rows, {error:.1%} wrong ({heldOut})",
    noRegionPredicts: "no region predicts {n?class|classes} {names}",
    uncovered: "in no region: {answer} ({figures})",
    closestLevel: "class of the closest level's neighbors",
    noAnswer: "no answer",
    shareOfRows: "{share:.1%} of the rows",
    suchRowsCorrect: "{purity:.1%} of such rows correct",
    suchRowsAre: "{purity:.1%} of such rows are {answer}",
    allRowsAre: "{purity:.1%} of all rows are {answer}",
  },
};

export type PythonTexts = typeof englishInPython;
