"""What the five papers show, and where it is here, or why it is absent.

A test compares the list with the page of results and with the files that it names.
"""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.page import Section, Sheet


class Item(NamedTuple):
    """A table, figure, data set or claim of a paper.

    `where` is a heading of the page, or a file of this repository; empty if it is absent, and then
    `note` says why.
    """

    name: str
    where: str
    note: str = ""


_NO_PACKAGE = "absent: comes with no package, and could not be had"
_TEXT_ONLY = "an illustration of the method, without data"

CONTENTS: dict[str, list[Item]] = {
    "ExShallow (Laber, Murtinho, Oliveira)": [
        Item("figures 1 and 2: trees of Avila", "Figures 1 and 2: Avila"),
        Item(
            "figure 3: two trees of algorithm 2", "", "absent: drawn in the paper without its data"
        ),
        Item("example D1 to D4 (section 1.1)", "", "absent: the passage is missing in the copy"),
        Item("lemma 1", "tests/cluster/test_theorems.py", "on random data and codewords"),
        Item("table 1: the data sets", "ExShallow, tables 2, 3 and 4"),
        Item("table 2: NPC", "Table 2: NPC", "median row for the sets that are here"),
        Item("table 2: WAES", "Table 2: WAES"),
        Item("table 2: WAD", "Table 2: WAD"),
        Item("table 2: NMI", "Table 2: NMI"),
        Item("table 2: significance", "Table 2: significance"),
        Item("claims on table 2", "Table 2: data sets on which ExShallow is significantly better"),
        Item("figures 4 and 5", "Against the depth penalty"),
        Item("table 3", "Table 3: ExShallow* against KMC"),
        Item("table 4", "Table 4: seconds", "only the order of magnitude can be compared"),
        *(
            Item(f"data: {name}", "Table 2: NPC")
            for name in ("Anuran", "Avila", "Cifar10", "Covtype", "Digits", "Iris", "Letter")
        ),
        *(
            Item(f"data: {name}", "Table 2: NPC")
            for name in ("Mice", "20Newsgroups", "Pendigits", "Vowel")
        ),
        *(
            Item(f"data: {name}", "", _NO_PACKAGE)
            for name in ("Beer", "BNG", "Collins", "Poker", "Sensorless")
        ),
    ],
    "BSIMM (in Chinese)": [
        Item("algorithms 1 to 4", "docs/methods.md"),
        Item("table 1: the data sets", "BSIMM, table 2"),
        Item("table 2", "BSIMM, table 2"),
        *(
            Item(f"data: {name}", "BSIMM, table 2")
            for name in ("robot", "pendigits", "anuran", "vowel", "waveform")
        ),
        *(
            Item(f"data: {name}", "BSIMM, table 2")
            for name in ("mice_protein_1077", "digits", "avila", "yeast", "ecoli")
        ),
    ],
    "XClusters (Hwang, Whang)": [
        Item("figure 1 and table 1", "docs/xclusters.md", _TEXT_ONLY),
        Item("figure 2: blocks of the search", "Claims", "pictures of the pairs that were tried"),
        Item("figure 3: monotonicity", "Monotonicity"),
        Item("table 2", "Table 2: the searches compared"),
        Item("claims on table 2", "Evaluations beside the grid"),
        Item("figure 4: D against N", "Monotonicity"),
        Item("figures 5, 8 and 9: trees and trends", "Small trees", "of generated card data"),
        Item("table 3", "Table 3: tolerance"),
        Item("table 4", "Table 4: accuracy instead of F1"),
        Item("table 5", "Table 5: another tree"),
        Item("figure 6", "Figure 6: monotonicity"),
        Item("figure 7", "Figure 7: monotonicity"),
        Item("data: DS4C", "Table 2: the searches compared", "*Seoul*: two of five months"),
        Item("data: Credit Card", "", "absent: proprietary; generated data stand in for it"),
        Item("data: Contracts", "", "absent: the tables of the State of Washington were not had"),
    ],
    "EOP (Fiterau)": [
        Item("table 1", "Table 1"),
        Item("table 2", "Table 2"),
        Item("table 3", "Table 3"),
        Item("tables 4 and 5: accuracy", "Tables 4 and 5: accuracy"),
        Item("tables 4 and 5: complexity", "Tables 4 and 5: complexity"),
        Item("table 6", "Table 6: telling levels"),
        Item("table 7", "Table 7: telling levels"),
        Item("figures 1 to 3: three features", "Section 2.3.1", "the Gaussians are ours"),
        Item("figure 4: squares and triangles", "Section 2.3.2"),
        Item("figure 5", "Figure 5"),
        Item("figure 5: why the claim misses", "Figure 5: tested causes"),
        Item("figure 6", "Tables 4 and 5: complexity"),
        Item("figure 7: the cell data", "", "absent, as the data"),
        Item("figure 8: Spambase", "docs/regions.md", "`plot_level` draws such a projection"),
        Item("figure 9: ATEOP", "Figure 9"),
        Item("figure 10: injected patterns", "Figure 10"),
        Item("the lost formula of the threshold", "docs/regions.md", "both readings are measured"),
        *(
            Item(f"data: {name}", "Tables 4 and 5: accuracy")
            for name in ("Breast cancer", "Breast tissue", "Vowel", "Spambase")
        ),
        *(
            Item(f"data: {name}", "", "absent: not public, or not had")
            for name in ("MiniBooNE", "Mimic II", "Cell", "Fuel")
        ),
    ],
    "ExKMC (Frost, Moshkovitz, Rashtchian)": [
        Item("figures 1 and 3", "Trees of figures 1 and 3"),
        Item("theorems 1 and 2, corollary 2", "tests/cluster/test_theorems.py"),
        Item("theorem 3", "tests/cluster/test_guarantees.py"),
        Item("theorem 4 and corollary 1", "Theorem 4"),
        Item("figure 2", "Cost ratio at k / 2k / 4k leaves"),
        Item("figures 4 and 6: seconds", "Figures 4 and 6: seconds", "one and two threads"),
        Item("figures 5 and 10", "Figures 5 and 10: surrogate cost"),
        Item("figure 7: CIFAR-10", "Figure 7: CIFAR-10", "10,000 images of a copy in JPEG"),
        Item("figure 8: zoom into figure 2", "Cost ratio at k / 2k / 4k leaves"),
        Item("figure 9", "Figure 9: cost ratio at k / 2k / 4k leaves"),
        Item("figure 11", "Figure 11: accuracy at k / 2k / 4k leaves"),
        Item("table 1: the data sets", "Cost ratio at k / 2k / 4k leaves"),
        *(
            Item(f"data: {name}", "Cost ratio at k / 2k / 4k leaves")
            for name in ("Iris", "Wine", "Breast Cancer", "Digits", "Mice Protein", "Anuran")
        ),
        *(
            Item(f"data: {name}", "Cost ratio at k / 2k / 4k leaves")
            for name in ("Avila", "Covtype", "20 Newsgroups", "Synthetic I", "Synthetic II")
        ),
    ],
}


def sections() -> list[Section]:
    """A sheet per paper."""
    sheets = [
        Sheet(
            paper,
            ["what", "where", "remark"],
            [[item.name, item.where or "–", item.note] for item in items],
        )
        for paper, items in CONTENTS.items()
    ]
    text = "Every table, figure, data set and claim, and where it is on this page or in a file."
    return [Section("The papers, item by item", text, sheets)]
