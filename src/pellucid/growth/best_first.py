"""Best-first growth: the leaf with the most to gain is cut next, up to a number of leaves."""

from __future__ import annotations

import heapq

from pellucid._progress import Progress
from pellucid.cuts.criterion import Criterion
from pellucid.cuts.search import Cut
from pellucid.cuts.thresholds import ThresholdStyle
from pellucid.growth.plant import Base, Divided, Growth, Plant
from pellucid.growth.together import for_each_cell


def grow_best_first(
    criterion: Criterion,
    threshold_style: ThresholdStyle,
    progress: Progress,
    n_leaves: int,
    base: Base | None = None,
    *,
    gains_matter: bool = True,
) -> Growth:
    """Cut the leaf of largest gain until there are `n_leaves` or nothing is left to cut.

    A cut that gains nothing by itself may make room for one that does, so growth goes on past it;
    cuts after the last gain are taken back, unless gains only tell which leaf comes first.

    One run yields the nested trees of every size: the builder can go back to any of them.
    """
    plant = Plant(criterion, threshold_style, base, name_all=True)
    # Entries are bounds before they are cuts; of equals the bound comes first, so that a cut is
    # made only when no cell that has not been searched could hold a better one.
    heap: list = []
    divided: dict[int, Divided] = {}

    def consider(number: int) -> None:
        bound = criterion.most_gain(plant.cells[number])
        if bound is not None:
            heapq.heappush(heap, (-bound, False, number, None))

    def search(numbers: list[int]) -> None:
        cuts = for_each_cell(
            criterion, lambda n: criterion.best_cut(plant.cells[n]), numbers, plant.cells
        )
        for number, cut in zip(numbers, cuts):
            if cut is not None:
                heapq.heappush(heap, (-cut.gain, True, number, cut))

    def divide(cuts: dict[int, Cut]) -> None:
        def work(number: int) -> Divided:
            found = plant.divide(number, cuts[number])
            for half in (found.left, found.right):
                criterion.most_gain(half)  # which is remembered
            return found

        divided.update(zip(cuts, for_each_cell(criterion, work, list(cuts), plant.cells)))

    n_threads = criterion.problem.team.n_threads
    # A thread that has found its cut goes on with the next cell; one alone would not gain by it.
    n_ahead = 2 * n_threads if n_threads > 1 and criterion.in_any_order else 1
    for number in sorted(plant.cells):
        consider(number)
    while heap and len(plant.cells) < n_leaves:
        _, is_cut, number, cut = heapq.heappop(heap)
        if is_cut:
            if number not in divided:
                # Cuts that are likely to come next are made at the same time.
                wanted = min(n_ahead // 2, n_leaves - len(plant.cells)) - 1
                others = heapq.nsmallest(wanted, (entry for entry in heap if entry[1]))
                next_ones = {n: c for *_, n, c in others if n not in divided}
                divide({number: cut, **next_ones})
            for child in plant.accept(number, divided.pop(number)):
                consider(child)
            progress.step()
            continue
        numbers = [number]
        while heap and not heap[0][1] and len(numbers) < n_ahead:
            numbers.append(heapq.heappop(heap)[2])
        search(numbers)
    while gains_matter and plant.gains and plant.gains[-1] == 0:
        plant.undo()
    return plant.growth()
