"""SWEEP.yaml: what is searched, by which method, for which figure. Everything that can be wrong with it is refused before the first trial."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import _core, _plain, store
from ._figures import OVER
from ._space import Range, as_text, grid_points, probes, read_range, stands_at, with_values

METHODS, PRUNERS, DIRECTIONS = ("grid", "random", "tpe"), ("none", "median", "hyperband"), ("maximize", "minimize")
KEYS = ("config", "search", "method", "trials", "seed", "startup", "figure", "over", "direction", "prune", "processes_at_once", "threads_per_trial",
        "gpus_per_trial")
SEED = "sampling.seed"
MAY_CHANGE = ("trials",)  # when a sweep goes on


@dataclass(frozen=True)
class Prune:
    method: str = "none"
    after: int = 1  # validations before which no trial ends
    startup: int = 4  # trials that must be complete before one ends (median)
    validations: int = 1  # that a whole trial has, at most


@dataclass(frozen=True)
class Definition:
    """A sweep. Its JSON is kept in the sweep's folder, and decides, with the data, all that the sweep does."""

    config: dict[str, Any]  # with the store's absolute path and its version; not yet with defaults
    space: dict[str, Range]
    method: str
    trials: int
    seed: int
    startup: int  # trials that TPE draws at random first
    figure: str
    over: str
    smaller: bool  # is better
    prune: Prune
    at_once: int
    threads: int
    gpus: int
    grid: list[dict[str, Any]] = field(default_factory=list)

    def looks_back(self) -> bool:
        """Whether a trial depends on the results of others."""
        return self.method == "tpe" or self.prune.method != "none"

    def in_validations(self) -> str:
        """The figure's name in the validations of metrics.jsonl: its own, or that of the figure by which the best weights are chosen."""
        return self.figure if self.over == "overall" and (self.figure == "mean_dice" or self.figure.startswith("dice.")) else "best_by"

    def best_rule(self) -> dict[str, str]:
        """`train.best` of a trial, so that its validations have the figure."""
        return {"figure": self.figure, "over": self.over, "better": "less" if self.smaller else "more"}

    def to_json(self) -> dict[str, Any]:
        return {"config": self.config, "search": {key: allowed.to_json() for key, allowed in self.space.items()}, "method": self.method,
                "trials": self.trials, "seed": self.seed, "startup": self.startup, "figure": self.figure, "over": self.over,
                "direction": DIRECTIONS[self.smaller], "prune": asdict(self.prune), "processes_at_once": self.at_once,
                "threads_per_trial": self.threads, "gpus_per_trial": self.gpus}

    def trial_config(self, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The run config of a trial. What it does not say follows from the sweep: the seed, and the number of LibTorch's threads, which decides
        the last bits of the weights. Errors: UsageError (values that do not go together)."""
        config = with_values(self.config, params, "search")
        given: dict[str, Any] = {SEED: seed, "train.threads": self.threads}
        if self.in_validations() == "best_by":
            given["train.best"] = self.best_rule()
        config = with_values(config, {key: value for key, value in given.items() if not stands_at(config, key)}, "config")
        checked(config, "config")
        return config


def checked(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The config in full, as the program reads it. Errors: UsageError."""
    whole: dict[str, Any] = json.loads(_core.parse_run_config(json.dumps(config, ensure_ascii=False), name))
    return whole


def deciding(config: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """What of a run config decides its trials: without keys that may change when a run is resumed, such as trackers, gates and the store's place. The
    version stays, since it says which dataset it is."""
    kept = {}
    for key, value in config.items():
        path = f"{above}{key}"
        if path == "data.version" or not _core.decides_nothing(path):
            kept[key] = deciding(value, f"{path}.") if isinstance(value, Mapping) else value
    return {key: value for key, value in kept.items() if value != {}}


class _Reader:
    """A mapping of SWEEP.yaml that has these keys and no others. Errors: UsageError."""

    def __init__(self, given: Any, name: str, known: tuple[str, ...]) -> None:
        if not isinstance(given, Mapping):
            raise _core.UsageError(f"{name}: expected a mapping, found {as_text(given)}")
        self._given, self._name = dict(given), name
        for key in given:
            if key not in known:
                near = _core.nearest_name(key, list(known))
                raise self.fail(key, "is not a key here; " + (f"did you mean '{near}'?" if near else f"there are {', '.join(known)}"))

    def fail(self, key: str, problem: str) -> _core.UsageError:
        return _core.UsageError(f"{self._name}: {key}: {problem}")

    def take(self, key: str, usual: Any = None) -> Any:
        value = self._given.get(key)
        return usual if value is None else value

    def number(self, key: str, usual: int, low: int, high: int) -> int:
        value = self.take(key, usual)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.fail(key, f"expected a whole number from {low} to {high}, found {as_text(value)}")
        return value

    def choice(self, key: str, usual: str, names: tuple[str, ...]) -> str:
        value = self.take(key, usual)
        if value not in names:
            near = _core.nearest_name(value, list(names)) if isinstance(value, str) else ""
            raise self.fail(key, f"expected {', '.join(names)}, found {as_text(value)}" + (f"; did you mean '{near}'?" if near else ""))
        return str(value)


def _read_yaml(path: Path) -> Any:
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        raise _core.NotFoundError(f"{path} is not there.") from None
    except UnicodeDecodeError:
        raise _core.UsageError(f"{path}: expected a text file in UTF-8.") from None
    return json.loads(_core.parse_yaml(text, str(path)))


def _beside(path: str, folder: Path) -> Path:
    """A relative path is looked for in the working folder, then beside the file that names it."""
    there = folder / path
    return there if not Path(path).exists() and there.exists() else Path(path)


def _base_config(given: Any, name: str, file: Path) -> tuple[dict[str, Any], str]:
    """(what the run config says, its name for errors), with an absolute path of the store."""
    folder = file.parent
    if isinstance(given, str):
        path = _beside(given, folder)
        if path.is_dir():
            raise _core.UsageError(f"{name}: config: {given} is a folder: expected the file of a run config")
        name, folder, given = str(path), path.parent, _read_yaml(path)
    if not isinstance(given, Mapping):
        raise _core.UsageError(f"{name}: config: expected the file of a run config, or the config itself, found {as_text(given)}")
    config = dict(given)
    data = config.get("data")
    if isinstance(data, Mapping) and isinstance(data.get("store"), str) and "://" not in data["store"]:
        config["data"] = dict(data) | {"store": os.path.abspath(_beside(data["store"], folder))}
    return config, name


def _check_space(config: Mapping[str, Any], space: Mapping[str, Range], name: str) -> int:
    """Holds every key's ends against the program's own reading of a run config. Gives the most validations that a trial has."""
    most = 1
    for key, values in probes(space):
        tried = with_values(config, values, name)
        try:
            whole = checked(tried, "config")
        except _core.Error as error:
            raise _core.UsageError(f"{name}: search.{key}: with {as_text(values[key])} the run config is refused: {error}") from None
        train = whole["train"]
        most = max(most, train["epochs"] // train["validate_every"] if train["validate_every"] else 1)
    return most


def _check_figure(config: Mapping[str, Any], figure: Any, name: str) -> str:
    """The store is opened for its classes. Gives the figure. Errors: UsageError, with the nearest name."""
    whole = checked(config, name)
    classes = list(store.open(whole["data"]["store"], version=whole["data"].get("version") or "").classes)
    known = _core.known_figures(json.dumps(whole), classes)
    if figure not in known:
        near = _core.nearest_name(str(figure), known)
        raise _core.UsageError(f"{name}: figure: {as_text(figure)} is none that an evaluation of this config has; "
                               + (f"did you mean '{near}'?" if near else "expected a path in eval.json, such as mean_dice"))
    return str(figure)


def _check_splits(config: Mapping[str, Any]) -> None:
    """Opens the store as a training and its evaluation do. Errors: UsageError (no such split, no images, no labels)."""
    text = json.dumps(config, ensure_ascii=False)
    for split in ("", checked(config, "config")["data"]["val"]):
        _core.RunInputs(text, "config", split, "")


def read_definition(path: str, cores: int, gpus: int, stored: Mapping[str, Any] | None) -> Definition:
    """Reads SWEEP.yaml and checks it, with what is searched over and the store. Where a sweep goes on, what it does not say (the number of
    threads, the store's version) is what `stored` says, the definition that the sweep began with. Errors: UsageError, NotFoundError."""
    file = Path(_plain.path_text(path))
    top = _Reader(_read_yaml(file), str(file), KEYS)
    name = str(file)
    given = top.take("config")
    if given is None:
        raise top.fail("config", "is missing: name the file of a run config, or put the config here")
    config, config_name = _base_config(given, name, file)
    search = top.take("search")
    if not isinstance(search, Mapping) or not search:
        raise top.fail("search", f"expected a mapping of config keys to ranges, such as train.lr: {{log: [0.0001, 0.01]}}, found {as_text(search)}")
    space = {key: read_range(f"{name}: search.{key}", value) for key, value in search.items()}
    method = top.choice("method", "tpe", METHODS)
    count = top.number("trials", 0 if method == "grid" else 16, 0 if method == "grid" else 1, 100_000)
    seed, startup = top.number("seed", 0, 0, 2**53), top.number("startup", 5, 1, 100_000)
    figure, over = top.take("figure", "mean_dice"), top.choice("over", "overall", OVER)
    direction = top.choice("direction", DIRECTIONS[bool(_core.smaller_is_better(str(figure)))], DIRECTIONS)
    inner = _Reader(top.take("prune", {}), f"{name}: prune", ("method", "after", "startup"))
    pruner = inner.choice("method", "none", PRUNERS)
    after, starting = inner.number("after", 1, 1, 1_000_000), inner.number("startup", 4, 1, 100_000)
    at_once = top.number("processes_at_once", 1, 1, 1024)
    usual = stored or {"threads_per_trial": max(1, cores // at_once), "gpus_per_trial": min(gpus, 1)}
    threads = top.number("threads_per_trial", usual["threads_per_trial"], 1, 1024)
    per_trial = top.number("gpus_per_trial", usual["gpus_per_trial"], 0, 1)

    if threads > cores:
        raise top.fail("threads_per_trial", f"{threads}, and this process may use {cores} cores: expected at most that")
    if per_trial > gpus:
        raise top.fail("gpus_per_trial", "1, and no GPU is there: leave it out, or give 0")
    grid = grid_points(space, name) if method == "grid" else []
    if grid and count not in (0, len(grid)):
        raise top.fail("trials", f"{count}, and the grid has {len(grid)} points: leave trials out, or search over other values")
    checked(config, config_name)  # its own mistakes first
    most = _check_space(config, space, name)
    if pruner != "none" and after >= most:
        raise top.fail("prune.after", f"{after}, and a training has {most} validations at most: expected fewer, or more epochs")
    data = dict(config["data"])
    if data.get("version") is None and not {"data.store", "data.version"} & space.keys():
        before = stored["config"]["data"]["version"] if stored else None
        data["version"] = before or store.open(data["store"]).dataset_hash  # no trial sees labels that come meanwhile
    config["data"] = data
    figure = _check_figure(config, figure, name)
    _check_splits(with_values(config, next(probes(space))[1], name))
    found = Definition(config, space, method, len(grid) or count, seed, startup, figure, over, direction == "minimize",
                      Prune(pruner, after, starting, most), at_once, threads, per_trial, grid)
    own = checked(config, config_name)["train"].get("best")
    searched = any(f"{key}.".startswith("train.best.") for key in space)
    if pruner != "none" and found.in_validations() == "best_by" and (searched or own and own != found.best_rule()):
        raise top.fail("prune", f"the config or search chooses the best weights by another figure (train.best), so validations lack {figure}: leave "
                                "train.best out, or make it the sweep's figure")
    return found
