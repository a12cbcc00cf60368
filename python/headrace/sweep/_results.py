"""What a sweep says: sweep.json after every trial; at the end a table, sweep.csv and sweep.html."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from typing import Any

from .. import _core
from ._folder import FORMAT, Trial, json_text, write_whole
from ._page import page
from ._sampling import seed_of
from ._schedule import Sweep, best_of
from ._space import as_text, short


class Results:
    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def to_json(self, importance: dict[str, float] | None = None) -> dict[str, Any]:
        sweep = self._sweep
        best = best_of(sweep.trials, sweep.definition.smaller)
        trials = [asdict(trial) for trial in sweep.trials if trial.ended()]
        return {"format": FORMAT, "headrace": _core.__version__, "optuna": sweep.optuna.__version__, "definition": sweep.definition.to_json(),
                "trials": [{"folder": f"trials/{trial['number']:04d}", **trial} for trial in trials],
                "best": {"trial": best.number, "value": best.value, "params": best.params} if best else None, "importance": importance}

    def save(self) -> None:
        write_whole(self._sweep.folder.path / "sweep.json", json_text(self.to_json()))

    def finish(self) -> None:
        """The files of a sweep that came to its end."""
        found = self.to_json(self.importance())
        write_whole(self._sweep.folder.path / "sweep.csv", self.as_csv())
        write_whole(self._sweep.folder.path / "sweep.html", page(found))
        write_whole(self._sweep.folder.path / "sweep.json", json_text(found))

    def importance(self) -> dict[str, float] | None:
        """By key the share of the figure's variance that it explains, by functional ANOVA over random forests (Hutter et al. 2014) of the complete
        trials; None with fewer than four, where no key or not the figure differs between them, or where Optuna can say nothing. Shares of the keys that
        differ add up to 1."""
        sweep, optuna = self._sweep, self._sweep.optuna
        complete = [trial for trial in sweep.trials if trial.state == "complete"]
        if len(complete) < 4 or len({trial.value for trial in complete}) < 2:
            return None
        space = {key: allowed for key, allowed in sweep.definition.space.items() if len({as_text(trial.params[key]) for trial in complete}) > 1}
        if not space:
            return None
        study = optuna.create_study()
        evaluator = optuna.importance.FanovaImportanceEvaluator(seed=seed_of("importance", sweep.definition.seed))
        try:
            for trial in complete:
                study.add_trial(optuna.trial.create_trial(
                    value=trial.value, params={key: allowed.drawn_of(trial.params[key]) for key, allowed in space.items()},
                    distributions={key: allowed.distribution(optuna) for key, allowed in space.items()}))
            found = optuna.importance.get_param_importances(study, evaluator=evaluator)
        except (RuntimeError, ValueError):  # no tree tells the figures apart (they differ by their last bits), or a value is none that Optuna takes
            return None
        return {key: float(f"{found.get(key, 0.0):.6g}") for key in sweep.definition.space}

    def as_csv(self) -> str:
        keys = list(self._sweep.definition.space)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["trial", "state", self._sweep.definition.figure, *keys, "step", "why", "folder"])
        for trial in self._sweep.trials:
            values = [trial.params[key] if isinstance(trial.params[key], (int, float, str)) else as_text(trial.params[key]) for key in keys]
            writer.writerow([trial.number, trial.state, "" if trial.value is None else repr(trial.value), *values,
                             "" if trial.step is None else trial.step, trial.why, f"trials/{trial.number:04d}"])
        return text.getvalue()

    def table(self) -> str:
        """For a terminal: the trials from the best on."""
        definition = self._sweep.definition
        rows = [["trial", definition.figure, *definition.space, ""]]
        for trial in ranked(self._sweep.trials, definition.smaller):
            end = {"complete": "", "pruned": f"stopped at step {trial.step}", "failed": f"failed: {trial.why}"}.get(trial.state, trial.state)
            values = [short(trial.params[key]) for key in definition.space]
            rows.append([str(trial.number), "" if trial.value is None else f"{trial.value:.4f}", *values, end])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
        lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[-1]]).rstrip() for row in rows]
        best = best_of(self._sweep.trials, definition.smaller)
        if best:
            lines.append(f"best   trial {best.number}, {definition.figure} {best.value:.4f}: {self._sweep.folder.of(best.number) / 'run'}")
        return "\n".join(lines)


def ranked(trials: list[Trial], smaller: bool) -> list[Trial]:
    """Complete ones from the best on, then those stopped early, then those that failed."""
    order = {"complete": 0, "pruned": 1, "failed": 2}
    return sorted(trials, key=lambda trial: (order.get(trial.state, 3), (trial.value or 0.0) * (1 if smaller else -1), trial.number))
