"""Which parameters a trial gets, and when it is stopped early: both by Optuna, both functions of the sweep, the trial's number and the results of
the trials that it may look at. So a sweep that was killed goes on as if it had not been.

Trial n looks at the trials 0 to n - `processes_at_once`, which have ended before it begins; of those between, only the parameters are known to it.
Whatever else has ended by then is not looked at, since that would depend on the clock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ._definition import Definition
from ._folder import Trial

STEP_KEY = "completed_rung_"  # where Optuna's successive halving notes what a trial reached


def seed_of(*parts: object, bits: int = 31) -> int:
    """A number from 0 to 2**bits - 1 that follows from the parts alone."""
    digest = hashlib.sha256(" ".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - bits)


def known_to(number: int, definition: Definition) -> int:
    """How many trials, from the first on, trial `number` looks at the results of. They must have ended before it begins."""
    if not definition.looks_back():
        return 0
    return max(0, number - definition.at_once + 1)


def _pruner(optuna: Any, definition: Definition) -> Any:
    prune = definition.prune
    if prune.method == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=prune.startup, n_warmup_steps=prune.after)
    if prune.method == "hyperband":
        return optuna.pruners.HyperbandPruner(min_resource=prune.after, max_resource=prune.validations)
    return optuna.pruners.NopPruner()


def _frozen(optuna: Any, definition: Definition, trial: Trial, known: bool) -> Any:
    """A trial as Optuna keeps it; what is not known of it is left out."""
    states = optuna.trial.TrialState
    state = {"complete": states.COMPLETE, "pruned": states.PRUNED, "failed": states.FAIL}[trial.state] if known else states.RUNNING
    seen = {i + 1: value for i, (_, value) in enumerate(trial.validations) if value is not None} if known else {}
    return optuna.trial.create_trial(
        state=state, value=trial.value if state in (states.COMPLETE, states.PRUNED) else None,
        params={key: allowed.drawn_of(trial.params[key]) for key, allowed in definition.space.items()},
        distributions={key: allowed.distribution(optuna) for key, allowed in definition.space.items()},
        intermediate_values=seen, system_attrs=dict(trial.rungs) if known else {})


def _study(optuna: Any, definition: Definition, number: int, trials: Sequence[Trial]) -> Any:
    """The sweep as trial `number` sees it."""
    seed = seed_of("sampler", definition.seed, number)
    if definition.method == "tpe":
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=definition.startup)
    else:
        sampler = optuna.samplers.RandomSampler(seed=seed)
    study = optuna.create_study(direction="minimize" if definition.smaller else "maximize", sampler=sampler,
                                pruner=_pruner(optuna, definition), study_name="sweep")
    if definition.looks_back():
        known = known_to(number, definition)
        for trial in trials[:number]:
            study.add_trial(_frozen(optuna, definition, trial, trial.number < known))
    return study


def propose(optuna: Any, definition: Definition, number: int, trials: Sequence[Trial]) -> dict[str, Any]:
    """The parameters of trial `number`; `trials`: those below it."""
    if definition.method == "grid":
        return definition.grid[number]
    study = _study(optuna, definition, number, trials)
    asked = study.ask({key: allowed.distribution(optuna) for key, allowed in definition.space.items()})
    return {key: allowed.value_of(asked.params[key]) for key, allowed in definition.space.items()}


class Pruning:
    """Decides after each validation of one trial whether it goes on."""

    def __init__(self, optuna: Any, definition: Definition, trial: Trial, trials: Sequence[Trial]) -> None:
        self._on = definition.prune.method != "none"
        self._count = 0
        if self._on:
            self._study = _study(optuna, definition, trial.number, trials)
            self._study.add_trial(_frozen(optuna, definition, trial, known=False))
            self._id = self._study.get_trials(deepcopy=False)[-1]._trial_id

    def stops_at(self, value: float | None) -> bool:
        """Whether the trial ends at its next validation, which has this value; an undefined one stops nothing."""
        self._count += 1
        if not self._on or value is None:
            return False
        self._study._storage.set_trial_intermediate_value(self._id, self._count, value)
        return bool(self._study.pruner.prune(self._study, self._study._storage.get_trial(self._id)))

    def rungs(self) -> Mapping[str, float]:
        """What hyperband noted of the trial; trials after it are held against that."""
        if not self._on:
            return {}
        noted = self._study._storage.get_trial(self._id).system_attrs
        return {name: value for name, value in noted.items() if name.startswith(STEP_KEY)}
