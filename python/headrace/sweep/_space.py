"""What a sweep searches over: a range for each key of the run config, and the config with a trial's values in it."""

from __future__ import annotations

import copy
import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

from .. import _core

KINDS = ("float", "log", "int", "int_log", "choices")
EXTRA = {"float": ("step", "points"), "log": ("points",), "int": ("step",), "int_log": ("points",), "choices": ()}
Value = Any  # of JSON


@dataclass(frozen=True)
class Range:
    """The values that one key may have: from `low` to `high` (both included), or `choices`."""

    kind: str
    low: float = 0
    high: float = 0
    step: float | None = None
    points: int | None = None
    choices: tuple[str, ...] = ()  # each as JSON: what Optuna compares must tell 1 from true

    def whole(self) -> bool:
        return self.kind.startswith("int")

    def to_json(self) -> dict[str, Value]:
        if self.kind == "choices":
            return {"choices": [json.loads(choice) for choice in self.choices]}
        extra = {name: getattr(self, name) for name in EXTRA[self.kind] if getattr(self, name) is not None}
        return {self.kind: [self.low, self.high], **extra}

    def distribution(self, optuna: Any) -> Any:
        if self.kind == "choices":
            return optuna.distributions.CategoricalDistribution(self.choices)
        if self.whole():
            return optuna.distributions.IntDistribution(int(self.low), int(self.high), log=self.kind == "int_log", step=int(self.step or 1))
        return optuna.distributions.FloatDistribution(self.low, self.high, log=self.kind == "log", step=self.step)

    def value_of(self, drawn: Value) -> Value:
        """What stands in the config for what a sampler drew."""
        if self.kind == "choices":
            return json.loads(drawn)
        return self._step_value(self._nearest_step(drawn)) if self.step is not None else self._shorter(drawn)

    def drawn_of(self, value: Value) -> Value:
        """The inverse of value_of: what the distribution has, also for a value that stands beside a step by its last bits."""
        if self.kind == "choices":
            return as_text(value)
        return self._step_value(self._nearest_step(value)) if self.step is not None else value

    def _nearest_step(self, value: float) -> int:
        assert self.step is not None
        return round((value - self.low) / self.step)

    def _step_value(self, index: int) -> Value:
        """In decimal numbers, as they were written: 3 steps of 0.1 are 0.3, which 3 * 0.1 is not."""
        return self.low + index * int(self.step or 1) if self.whole() else float(_decimal(self.low) + index * _decimal(self.step or 1))

    def _shorter(self, value: Value) -> Value:
        """Six digits of a fraction say enough, and can be read."""
        return min(max(float(f"{value:.6g}"), self.low), self.high) if isinstance(value, float) else value

    def ends(self) -> list[Value]:
        """Values that must be valid, for all others to be so: all choices, or both ends."""
        if self.kind == "choices":
            return [json.loads(choice) for choice in self.choices]
        return [self.low, self.high]

    def grid(self) -> list[Value] | None:
        """All values, or those that `step` or `points` name; None where there are endlessly many."""
        if self.kind == "choices":
            return self.ends()
        if self.kind == "int" or self.step is not None:
            return [self._step_value(i) for i in range(round((self.high - self.low) / (self.step or 1)) + 1)]
        if self.points is None:
            return None
        shares = [i / (self.points - 1) for i in range(self.points)]
        log = self.kind != "float"
        low, high = (math.log(self.low), math.log(self.high)) if log else (self.low, self.high)
        inner = [low + share * (high - low) for share in shares[1:-1]]
        between = [math.exp(v) if log else v for v in inner]
        if self.whole():
            return list(dict.fromkeys([self.low, *(round(v) for v in between), self.high]))
        return [self.low, *(self._shorter(v) for v in between), self.high]


def _decimal(number: float) -> Decimal:
    """As it is written, not as the binary fraction that stands for it."""
    return Decimal(repr(number))


def as_text(value: Value) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _refuse(where: str, problem: str) -> NoReturn:
    raise _core.UsageError(f"{where}: {problem}")


def _number(where: str, value: Value, whole: bool) -> float:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        _refuse(where, f"expected {'a whole number' if whole else 'a number'}, found {as_text(value)}")
    return value if whole else float(value)


def read_range(where: str, given: Value) -> Range:
    """One entry of `search`: a list of values, or a mapping with one of KINDS. Errors: UsageError."""
    if isinstance(given, list):
        given = {"choices": given}
    if not isinstance(given, Mapping):
        _refuse(where, f"expected a list of values, or one of {', '.join(KINDS)}, such as {{log: [0.0001, 0.01]}}, found {as_text(given)}; "
                       "a value that is not searched over belongs into the config")
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        _refuse(where, f"expected exactly one of {', '.join(KINDS)}, found {', '.join(given) or 'nothing'}")
    kind = kinds[0]
    for name in given:
        if name != kind and name not in EXTRA[kind]:
            _refuse(where, f"'{name}' does not belong beside '{kind}'; {' and '.join(EXTRA[kind]) or 'nothing'} may")
    values = given[kind]
    if kind == "choices":
        if not isinstance(values, list) or not values:
            _refuse(f"{where}.choices", f"expected a list of values, found {as_text(values)}")
        texts = tuple(as_text(value) for value in values)
        if len(set(texts)) < len(texts):
            _refuse(f"{where}.choices", "a value stands there twice; keep one")
        return Range(kind, choices=texts)
    if not isinstance(values, list) or len(values) != 2:
        _refuse(f"{where}.{kind}", f"expected [lowest, highest], found {as_text(values)}")
    whole = kind.startswith("int")
    low, high = (_number(f"{where}.{kind}", value, whole) for value in values)
    if not low < high:
        _refuse(f"{where}.{kind}", f"{as_text(values)}: expected a lower and a higher number")
    if kind in ("log", "int_log") and low <= 0:
        _refuse(f"{where}.{kind}", f"{as_text(values)}: on a logarithmic scale both must be above 0")
    step = given.get("step")
    if step is not None and not 0 < (step := _number(f"{where}.step", step, whole)) <= high - low:
        _refuse(f"{where}.step", f"expected a number above 0 and at most {high - low:g}, found {step:g}")
    if step is not None and (_decimal(high) - _decimal(low)) % _decimal(step) != 0:
        _refuse(f"{where}.step", f"steps of {step:g} from {low:g} do not meet {high:g}")
    points = given.get("points")
    if points is not None and not 2 <= _number(f"{where}.points", points, True) <= 1000:
        _refuse(f"{where}.points", f"expected a number from 2 to 1000, found {points}")
    if step is not None and points is not None:
        _refuse(where, "step and points: give one of the two")
    return Range(kind, low, high, step, points)


def grid_points(space: Mapping[str, Range], name: str) -> list[dict[str, Value]]:
    """All combinations; the last key changes fastest. Errors: UsageError where a range is endless."""
    lists: list[list[Value]] = []
    for key, allowed in space.items():
        values = allowed.grid()
        if values is None:
            _refuse(f"{name}: search.{key}", "a grid needs values: a list of them, or `points: 5` beside the range")
        lists.append(values)
    count = math.prod(len(values) for values in lists)
    if count > 100_000:
        _refuse(f"{name}: search", f"the grid has {count} points; expected at most 100000")
    return [dict(zip(space, point)) for point in itertools.product(*lists)]


def _steps(path: str) -> list[str | int]:
    return [int(part) if part.isascii() and part.isdigit() else part for part in path.split(".")]


def with_values(config: Mapping[str, Value], values: Mapping[str, Value], name: str) -> dict[str, Value]:
    """The config with each value at its key (`transforms.0.affine.scale`: numbers are places in lists, from 0). Sections that are not there are
    made; a key that does not exist is refused when the config is read. Errors: UsageError (a place that a list lacks; no list, no mapping)."""
    whole: dict[str, Value] = copy.deepcopy(dict(config))
    for key, value in values.items():
        at: Any = whole
        parts = _steps(key)
        for depth, part in enumerate(parts):
            before = ".".join(str(one) for one in parts[:depth]) or "the config"
            if isinstance(at, list):
                if not isinstance(part, int) or part >= len(at):
                    _refuse(f"{name}: search.{key}", f"{before} is a list of {len(at)}: expected a place from 0 to {len(at) - 1}, found '{part}'")
            elif not isinstance(at, dict):
                _refuse(f"{name}: search.{key}", f"{before} is {as_text(at)}, which has no '{part}' in it")
            else:
                part = str(part)
            if depth == len(parts) - 1:
                at[part] = value
                break
            if isinstance(at, dict) and at.get(part) is None:
                at[part] = {}
            at = at[part]
    return whole


def stands_at(config: Mapping[str, Value], key: str) -> bool:
    """Whether the config says something at this key."""
    at: Any = config
    for part in _steps(key):
        if isinstance(at, list) and isinstance(part, int) and part < len(at):
            at = at[part]
        elif isinstance(at, Mapping) and str(part) in at:
            at = at[str(part)]
        else:
            return False
    return at is not None


def probes(space: Mapping[str, Range]) -> Iterator[tuple[str, dict[str, Value]]]:
    """(key, values) to try before the first trial: each key's ends, beside the first values of the others."""
    first = {key: allowed.ends()[0] for key, allowed in space.items()}
    for key, allowed in space.items():
        for value in allowed.ends():
            yield key, {**first, key: value}


def short(value: Value) -> str:
    """A value in a table: 0.00123, [16, 32]."""
    return f"{value:.4g}" if isinstance(value, float) else value if isinstance(value, str) else as_text(value)
