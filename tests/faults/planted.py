"""Faults that are planted in copies of the package, one at a time: do tests or fuzzing find them?

A fault is a small change of one file: a text that occurs exactly once is replaced by another.
``python -m tests.faults`` plants them, and `test_planted` checks that each still applies.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ORACLES = "tests/cluster/test_against_oracles.py"
IMM_TREE = f"{ORACLES}::test_imm_is_the_brute_force_tree"
EXGREEDY_TREE = f"{ORACLES}::test_exgreedy_is_the_brute_force_tree"
EXSHALLOW_TREE = f"{ORACLES}::test_exshallow_is_the_brute_force_tree"
EXKMC_TREE = f"{ORACLES}::test_exkmc_is_the_brute_force_tree"
FEW_BINS = "tests/cluster/test_few_bins.py"
MISTAKES = "tests/core/criteria/test_mistakes.py"
SUMS = f"{MISTAKES}::test_the_sums_of_every_node_are_those_of_its_rows"
BOUNDS = f"{MISTAKES}::test_amounts_at_edges_and_bounds_inside_bins"
CHILDREN = f"{MISTAKES}::test_the_children_of_a_split"
SURROGATE = "tests/core/criteria/test_surrogate_cost.py::test_few_bins_and_ties"
MEDIANS = "tests/core/data/test_medians.py"
GROWERS = "tests/core/growers"
GREEDY = f"{GROWERS}/test_greedy.py"
LOCAL_SEARCH = "tests/core/refine/test_local_search.py"
PARTITION = "tests/core/criteria/test_partition.py"
POLISH = "tests/core/refine/test_polish.py"
RULES = "tests/explanation/test_rules.py"


@dataclass(frozen=True)
class Fault:
    """One change of one file.

    Attributes
    ----------
    name : str
        What is wrong.
    file : str
        Path in the package.
    old, new : str
        Text that occurs once, and its replacement.
    tests : tuple of str
        Tests that should fail, as arguments of pytest.
    compiled : bool
        Whether loops are compiled, which takes longer for small data and less for large data.
    supposition : str
        Why it is missed, if it is; not proven.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    compiled: bool = False
    supposition: str = ""

    def apply(self, source: str) -> str:
        """The source text with the fault."""
        n = source.count(self.old)
        if n != 1:
            raise ValueError(f"{self.name}: {self.old!r} occurs {n} times in {self.file}")
        return source.replace(self.old, self.new)

    def plant(self, package: Path) -> None:
        """Change the file in a copy of the package."""
        path = package / self.file
        path.write_text(self.apply(path.read_text(encoding="utf-8")), encoding="utf-8")


FAULTS = (
    Fault(
        "first edge of a gap skipped (mistakes)",
        "_core/kernels/mistakes.py",
        "for u in range(2 * start, 2 * sorted_code[j, n_left]):",
        "for u in range(2 * start + 2, 2 * sorted_code[j, n_left]):",
        (IMM_TREE,),
    ),
    Fault(
        "last edge of a gap skipped (induced cost)",
        "_core/kernels/mistakes.py",
        "for u in range(2 * start, 2 * sorted_code[j, n_left]):",
        "for u in range(2 * start, 2 * sorted_code[j, n_left] - 2):",
        (EXGREEDY_TREE,),
    ),
    Fault(
        "ties go to the last feature",
        "_core/criteria/column_search.py",
        "places = [int(values.argmin())]",
        "places = [values.size - 1 - int(values.ravel()[::-1].argmin())]",
        (IMM_TREE,),
    ),
    Fault(
        "ties go to the highest threshold (mistakes)",
        "_core/kernels/mistakes.py",
        "if value < best:",
        "if value <= best:",
        (IMM_TREE,),
    ),
    Fault(
        "ties go to the highest threshold (surrogate cost)",
        "_core/kernels/surrogate_cost.py",
        "if any_loss != 0 and loss < least:",
        "if any_loss != 0 and loss <= least:",
        (SURROGATE,),
    ),
    Fault(
        "infinite cost too small (surrogate cost)",
        "_core/kernels/surrogate_cost.py",
        "INFINITE = 2**62",
        "INFINITE = 2**40",
        (EXKMC_TREE,),
    ),
    Fault(
        "infinite cost too small (induced cost)",
        "_core/kernels/induced_cost.py",
        "_INFINITE = 2**62",
        "_INFINITE = 2**40",
        (EXGREEDY_TREE,),
    ),
    Fault(
        "weight lost in the sums of mistakes",
        "_core/kernels/mistakes.py",
        "sums[j, b, np.uint64(is_past)] += weight",
        "sums[j, b, np.uint64(is_past)] += 1",
        (SUMS,),
    ),
    Fault(
        "weight lost in the histogram of every second column",
        "_core/kernels/mistakes.py",
        "out[s, g, b_second] += weight if has_second else 0",
        "out[s, g, b_second] += 1 if has_second else 0",
        (EXSHALLOW_TREE,),
    ),
    Fault(
        "zero bin of sparse columns lost (histogram)",
        "_core/kernels/mistakes.py",
        "out[f, g, zero] = totals[g]",
        "out[f, g, zero] = 0",
        (f"{GREEDY}::test_storage",),
    ),
    Fault(
        "zero bin of sparse columns lost (mistakes)",
        "_core/kernels/mistakes.py",
        "sums[f, zero, 0] += at_zero",
        "sums[f, zero, 0] += 0",
        (BOUNDS,),
    ),
    Fault(
        "upper median for lower median",
        "_core/kernels/medians.py",
        "missing = (total + 1) // 2",
        "missing = total // 2 + 1",
        (f"{MEDIANS}::test_medians_are_the_middle_of_repeated_rows",),
    ),
    Fault(
        "running minimum lost (induced cost)",
        "_core/kernels/induced_cost.py",
        "least = cost if cost < least else least\n            g = r",
        "least = cost\n            g = r",
        (EXGREEDY_TREE,),
    ),
    Fault(
        "last row of each thread block lost",
        "_utils/threads.py",
        "return list(zip(ends[:-1], ends[1:]))",
        "return [(a, b - 1) for a, b in zip(ends[:-1], ends[1:])]",
        (f"{GREEDY}::test_number_of_threads",),
        compiled=True,
    ),
    Fault(
        "equal values go right (partition of rows)",
        "_core/kernels/partition.py",
        "is_left = value <= threshold",
        "is_left = value < threshold",
        (PARTITION,),
    ),
    Fault(
        "equal values go right (prediction)",
        "tree/kernels.py",
        "node_of_row[i] = child[np.uint64(2) * node + np.uint64(x <= threshold[node])]",
        "node_of_row[i] = child[np.uint64(2) * node + np.uint64(x < threshold[node])]",
        ("tests/tree/test_tree.py",),
    ),
    Fault(
        "sums of a sibling added instead of subtracted",
        "_core/criteria/mistakes.py",
        "large.state.sums = sums - of_small",
        "large.state.sums = sums + of_small",
        (SUMS,),
    ),
    Fault(
        "mistakes stay in the sums of the children (IMM)",
        "_core/criteria/mistakes.py",
        "if any(map(len, separated)):",
        "if False:",
        (SUMS,),
    ),
    Fault(
        "bound inside a bin too high (mistakes)",
        "_core/kernels/mistakes.py",
        "cost -= decrease[f, t + 1]",
        "cost -= 0",
        (BOUNDS, f"{FEW_BINS}::test_imm"),
    ),
    Fault(
        "bound inside a bin too high (surrogate cost)",
        "_core/kernels/surrogate_cost.py",
        "bound = min(bound, lower + right, below + rest)",
        "bound = min(bound, upper + right, left + rest)",
        (SURROGATE,),
    ),
    Fault(
        "last value of a refined bin lost",
        "_core/criteria/center_search.py",
        "is_threshold[last] = on_center & (values[last] < edges[self._bins])",
        "is_threshold[last] = False",
        (f"{FEW_BINS}::test_exshallow", f"{FEW_BINS}::test_imm"),
    ),
    Fault(
        "killer sides exchanged (ExShallow)",
        "_core/criteria/induced_cost.py",
        "killers[0, list(node.cut_left)] = 1.0",
        "killers[0, list(node.cut_right)] = 1.0",
        (EXSHALLOW_TREE,),
    ),
    Fault(
        "K_L rounded down (ExShallow)",
        "_core/kernels/mistakes.py",
        "part = (m * n_left + n_centers - 1) // n_centers  # 1 or more",
        "part = max(m * n_left // n_centers, 1)",
        (EXSHALLOW_TREE,),
    ),
    Fault(
        "K_L rounded down (path of ExShallow)",
        "_core/growers/penalty_path.py",
        "k_left = min(max(-(-k * n_left // n_centers), 1), k - 1)",
        "k_left = min(max(k * n_left // n_centers, 1), k - 1)",
        ("tests/cluster/test_path.py::test_cached_nodes_are_not_searched_again",),
        compiled=True,
    ),
    Fault(
        "beam keeps equal trees",
        "_core/growers/beam.py",
        "key = tree.splits | {(tree.leaves[position].number, rank)}",
        "key = frozenset({(order, position, rank)})",
        (f"{GROWERS}/test_beam.py::test_a_tree_is_kept_once_whatever_the_order_of_its_splits",),
    ),
    Fault(
        "smallest gain first (best-first growth)",
        "_core/growers/best_first.py",
        "heapq.heappush(heap, (-split.gain, True, number, split))",
        "heapq.heappush(heap, (split.gain, True, number, split))",
        (f"{GROWERS}/test_best_first.py::test_the_leaf_of_the_largest_gain_is_split_next",),
    ),
    Fault(
        "leaf of several centers gets the one with fewest rows",
        "_core/criteria/base.py",
        "return int(centers[np.argmax(weight)])",
        "return int(centers[np.argmin(weight)])",
        (IMM_TREE,),
    ),
    Fault(
        "local search takes a worse tree as the best",
        "_core/refine/local_search.py",
        "if value > self.between_ss + tuning.SEARCH_TIE * abs(self.between_ss):",
        "if value != self.between_ss:",
        (f"{LOCAL_SEARCH}::test_costlier_trees_on_the_way_are_not_the_best",),
        compiled=True,
    ),
    Fault(
        "polishing keeps a costlier tree (swap)",
        "_core/refine/polish_steps.py",
        "if trial.is_cheaper_than(state):",
        "if trial.cost != state.cost:",
        (f"{POLISH}::test_the_cost_never_rises_and_no_cluster_is_lost",),
        compiled=True,
    ),
    Fault(
        "polishing keeps a costlier tree (round)",
        "_core/refine/polish.py",
        "if not state.is_cheaper_than(before):",
        "if False:",
        (POLISH,),
        compiled=True,
        supposition="each step lowers the cost by itself; only rounding could raise it",
    ),
    Fault(
        "interval of a threshold too wide",
        "_core/criteria/base.py",
        "return divided._replace(low=max(low, divided.low), high=min(high, divided.high))",
        "return divided._replace(low=low, high=high)",
        (EXGREEDY_TREE,),
    ),
    Fault(
        "separated rows do not bound the threshold",
        "_core/criteria/mistakes.py",
        "high = min(high, next_value)",
        "high = high",
        (CHILDREN,),
    ),
    Fault(
        "second of two batches lost",
        "scale/fitting.py",
        "super().merge(first, second)._replace(is_mixed=is_mixed)",
        "super().merge(first, second)._replace(is_mixed=is_mixed, n_units=first.n_units)",
        ("tests/scale/test_same_tree.py::test_partitions_do_not_matter",),
        compiled=True,
    ),
    Fault(
        "values rounded to float32 in the bin of the threshold",
        "_core/kernels/partition.py",
        "value = np.float64(values[row]) if inside[b] else edges[b]",
        "value = np.float64(np.float32(values[row])) if inside[b] else edges[b]",
        (PARTITION,),
    ),
    Fault(
        "weights scaled twice",
        "_core/data/arrays.py",
        "return float(self.units[rows].sum()) / self.units_per_weight",
        "return float(self.units[rows].sum()) / self.units_per_weight / self.units_per_weight",
        (f"{RULES}::test_weights_count_in_share_and_purity",),
    ),
    Fault(
        "duplicate entries of a sparse row counted once",
        "tree/kernels.py",
        "total = dense_row[j] + data[p]",
        "total = data[p]",
        (
            "tests/tree/test_predictor.py::test_every_storage_leads_to_the_leaf_found_by_hand",
            "tests/tree/test_tree.py",
        ),
    ),
    Fault(
        "purity divided by the rows of all leaves",
        "explanation/rules.py",
        "(pure[reached] / total[reached]).tolist()",
        "(pure[reached] / total.sum()).tolist()",
        (RULES,),
    ),
    Fault(
        "JSON loses a digit of a threshold",
        "export/json.py",
        '"threshold": float(tree.threshold[node])}',
        '"threshold": float(f"{tree.threshold[node]:.16g}")}',
        ("tests/export/test_json.py::test_every_bit_comes_back",),
    ),
    Fault(
        "< for <= in SQL",
        "export/sql.py",
        'ends = ((">", low), ("<=", high))',
        'ends = ((">", low), ("<", high))',
        ("tests/export/test_sql.py::test_any_tree_on_its_own_thresholds",),
    ),
    Fault(
        "< for <= in Python",
        "export/python.py",
        'sign = "<=" if takes_left else ">"',
        'sign = "<" if takes_left else ">"',
        ("tests/export/test_python.py::test_any_tree_on_its_own_thresholds",),
    ),
    Fault(
        "nearest center of equally near ones is the last (k-medians)",
        "_core/kernels/medians.py",
        "if cost[c] < least:\n                least, at = cost[c], c",
        "if cost[c] <= least:\n                least, at = cost[c], c",
        (f"{MEDIANS}::test_nearest_is_the_lowest_of_the_nearest",),
    ),
)
