"""Long matrices of tests: what `make test` runs of them, and what `make test-all` (HEADRACE_TEST_ALL=1) runs.

A matrix states all of its cases. By default its first and last case run, those that tell most, and others in between until there are three; of a
matrix that has kinds of cases, so many of each kind. The choice is the same in every run. What is left out is counted in one line at the end.
"""
import os

import pytest

ALL = os.environ.get("HEADRACE_TEST_ALL", "") not in ("", "0")
FEW = 3
left_out = {}  # matrix -> cases that this process left out


def chosen(count, telling=(), few=FEW):
    """Which of `count` cases run by default, in order: the first, the last, those of `telling` (places), then others that lie evenly between."""
    if count <= few:
        return list(range(count))
    places = {0, count - 1, *telling}
    for i in range(1, few):
        if len(places) >= few:
            break
        places.add(round(i * (count - 1) / (few - 1)))
    return sorted(places)


def some(cases, matrix, kind=None, telling=None, few=FEW):
    """The cases that run now. `kind`: gives a case's kind, of which each has its `few`; `telling`: whether a case must run; `matrix`: the name under
    which the others are counted."""
    assert few >= FEW
    cases = list(cases)
    if ALL:
        return cases
    kinds = {}
    for i, case in enumerate(cases):
        kinds.setdefault(kind(case) if kind else None, []).append(i)
    kept = set()
    for places in kinds.values():
        must = [k for k, i in enumerate(places) if telling and telling(cases[i])]
        kept |= {places[k] for k in chosen(len(places), must, few)}
    left_out[matrix] = len(cases) - len(kept)
    return [case for i, case in enumerate(cases) if i in kept]


def times(whole, few, matrix, variable=None):
    """How often something is repeated: `few` times, at least three, in a full run `whole` times; the environment's `variable` may say otherwise."""
    assert FEW <= few <= whole
    if variable and variable in os.environ:
        return int(os.environ[variable])
    if not ALL:
        left_out[matrix] = whole - few
    return whole if ALL else few


def deselect(items):
    """The items that run, and those that are left out: of each function that is marked as a matrix, and each of its kinds, the chosen ones.
    Marked: @pytest.mark.matrix(kind=function of a case's id, telling=[ids], few=3)."""
    groups = {}
    for item in items:
        mark = item.get_closest_marker("matrix")
        if mark and hasattr(item, "callspec"):
            groups.setdefault(item.nodeid.split("[")[0], []).append((item, mark))
    dropped = set()
    for matrix, group in groups.items():
        mark = group[0][1]
        kind, telling = mark.kwargs.get("kind"), mark.kwargs.get("telling", ())
        kept = some([item for item, _ in group], matrix, kind and (lambda item, kind=kind: kind(item.callspec.id)),
                    lambda item, telling=telling: item.callspec.id in telling, mark.kwargs.get("few", FEW))
        dropped |= {item for item, _ in group} - set(kept)
    return [item for item in items if item not in dropped], [item for item in items if item in dropped]


def unknown_ids(items):
    """Ids that a mark calls telling and that no case has."""
    wanted, there = {}, {}
    for item in items:
        mark = item.get_closest_marker("matrix")
        if mark and hasattr(item, "callspec"):
            name = item.nodeid.split("[")[0]
            wanted.setdefault(name, set()).update(mark.kwargs.get("telling", ()))
            there.setdefault(name, set()).add(item.callspec.id)
    return sorted(f"{name}[{one}]" for name in wanted for one in wanted[name] - there[name])


class Matrices:
    """pytest's part: chooses, and says at the end what was left out, also by the workers of pytest-xdist."""

    def __init__(self, config):
        self._config = config
        config.addinivalue_line("markers", "matrix(kind=None, telling=(), few=3): of the cases of this test, some run by default (tests/matrices.py)")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        chosen_by_hand = config.option.keyword or any("::" in argument for argument in config.args)
        if not chosen_by_hand and unknown_ids(items):
            raise pytest.UsageError(f"no case of this matrix: {', '.join(unknown_ids(items))}")
        kept, dropped = deselect(items)
        if dropped:
            config.hook.pytest_deselected(items=dropped)
            items[:] = kept

    def pytest_sessionfinish(self):
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput["left_out"] = dict(left_out)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        for matrix, count in getattr(node, "workeroutput", {}).get("left_out", {}).items():
            left_out[matrix] = max(count, left_out.get(matrix, 0))

    def pytest_terminal_summary(self, terminalreporter):
        counts = [count for count in left_out.values() if count]
        if counts:
            terminalreporter.write_line(f"{sum(counts)} cases of {len(counts)} matrices left out; make test-all runs them")
