"""What a folder of folds or of a sweep has to tell as a whole: pooled figures and means over folds; the table of trials and the best."""

from __future__ import annotations

import hashlib
import json
import shlex
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from .. import _command
from . import allowed, tables
from .client import Client, Refused, Unavailable
from .feed import Feed
from .group import Group, members
from .mlflow import group_run
from .names import check_names, name_of
from .target import Target

LONGEST_PAUSE_S = 60.0  # between two tries at a server that is down


@dataclass(frozen=True)
class Results:
    """Of folds or of a sweep, as far as it has come. The same files give the same moments, so sent twice they are there once."""

    points: list[dict[str, Any]]  # step, at_ms, values
    tables: dict[str, tables.Table]

    def digest(self) -> str:
        facts = [self.points, {name: [table.columns, table.rows] for name, table in self.tables.items()}]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def has_results(folder: Path) -> bool:
    """Whether it is a folder of folds that have all ended, or of a sweep."""
    return (folder / "folds.json").is_file() or (folder / "sweep.json").is_file()


def results_of(folder: Path, fields: tuple[str, ...]) -> Optional[Results]:
    """None where there are none (yet). `fields`: as of the target."""
    folds, sweep = _json(folder / "folds.json"), _json(folder / "sweep.json")
    return _of_folds(folder, folds, fields) if folds else _of_sweep(sweep) if sweep.get("trials") else None


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _of_folds(folder: Path, folds: Mapping[str, Any], fields: tuple[str, ...]) -> Results:
    pooled, spreads = folds["pooled"], folds["over_folds"]["overall"]
    names = {kind: allowed.group_names(pooled.get(kind) or {}, kind, fields) for kind in allowed.GROUPS}
    values = allowed.figures(pooled["overall"], "pooled")
    for name, group in pooled["cohorts"].items():
        values |= tables.main_figures(group, f"pooled/cohorts/{names['cohorts'][name]}")
    values |= {name: value for name, value in allowed.figures(spreads, "folds").items() if name.endswith(("/mean", "/sd"))}
    last = max((at for run in members(folder) if (at := Feed(run, Target("mlflow")).last_time()) is not None), default=0.0)
    return Results([{"step": len(folds["folds"]), "at_ms": round(1000 * last), "values": values}],
                   {f"pooled_{name}": table for name, table in tables.of_evaluation(pooled, names).items()})


def _of_sweep(sweep: Mapping[str, Any]) -> Results:
    """A point for each trial that has a result, at its number. Sentences on why one failed are free text, and stay."""
    trials, figure = sweep["trials"], str(sweep["definition"]["figure"])
    name = figure.replace(".", "/")
    points = [{"step": trial["number"], "at_ms": round(1000 * trial["time"]["at"]), "values": {f"sweep/{name}": trial["value"]}}
              for trial in trials if trial["state"] == "complete"]
    best = sweep["best"]
    if best:
        points.append({"step": len(trials), "at_ms": max(round(1000 * trial["time"]["at"]) for trial in trials),
                       "values": {"best/trial": best["trial"], f"best/{name}": best["value"]}})
    keys = [key for key in sweep["definition"]["search"] if allowed.is_sent(key)]
    rows = [[trial["number"], trial["state"], trial["value"], *(_cell(key, trial["params"].get(key)) for key in keys)] for trial in trials]
    return Results(points, {"trials": tables.Table(["trial", "state", figure, *keys], rows)})


def _cell(key: str, value: Any) -> Any:
    """The value of a config's key, where it may be sent."""
    sent = allowed.parameters({key: value})
    return value if sent and isinstance(value, (int, float)) else "; ".join(sent.values()) or None


def send_results(folder: Path, target: Target) -> bool:
    """To the group's run; trackers other than MLflow have no place for them. Whether all was sent, within the target's wait_s. Errors: UsageError."""
    results = results_of(folder, target.fields) if target.to == "mlflow" else None
    if results is None:
        return True
    client, group = Client(target.url, target.ca_file), Group(folder.resolve(), "")
    for run in members(folder):
        check_names(Feed(run, target), target, group)
    deadline, pause = time.monotonic() + target.wait_s, 1.0
    while True:
        try:
            _command.say(f"{folder}: {_send(results, group, target, client)}")
            return True
        except (Unavailable, Refused) as error:
            trouble = " ".join(str(error).split())
        finally:
            client.close()
        if time.monotonic() >= deadline:
            _command.say(f"{folder}: mlflow at {target.url} did not take the results of all runs together ({trouble}). They are sent by: "
                         f"headrace track {shlex.quote(str(folder))}", warning=True)
            return False
        time.sleep(max(0.0, min(pause, deadline - time.monotonic())))
        pause = min(2 * pause, LONGEST_PAUSE_S)


def _send(results: Results, group: Group, target: Target, client: Client) -> str:
    with group_run(group, target, client) as run:
        if run.journal.data["sent"].get("results") == results.digest():
            return "mlflow has the results of all runs together already"
        moments = [point["at_ms"] for point in results.points] or [round(1000 * time.time())]  # of a sweep whose trials all failed
        name = name_of(group.folder, target)
        run.make(name, min(moments), {"headrace.group": name})
        run.put(results.points, again=True)
        run.tag(run.upload_tables(results.tables))
        run.drop_twins()
        if group.all_finished():
            run.set_status("FINISHED", max(moments))
        run.journal.data["sent"] = {"results": results.digest()}
        run.journal.save()
        return f"results of all runs together sent to mlflow, {run.place()}"
