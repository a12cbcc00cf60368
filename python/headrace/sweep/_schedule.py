"""The trials of a sweep, from the first to the last: proposed, run side by side, followed, ended early, recorded."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from .. import _command, _core
from ._definition import Definition, checked
from ._figures import Validations, figure_of
from ._folder import Folder, Trial, read_json, yaml_text
from ._leases import lease, usable_cores, usable_gpus
from ._runner import KILLED_AT_MOST, Training
from ._sampling import Pruning, known_to, propose, seed_of
from ._space import short

POLL_S = 0.05


class _Stop:
    """SIGINT and SIGTERM, counted: the first asks every trial to write a checkpoint and end, the second kills them."""

    def __init__(self) -> None:
        self.count = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._received)

    def _received(self, number: int, frame: FrameType | None) -> None:
        self.count += 1


class _Running:
    """A trial that trains."""

    def __init__(self, trial: Trial, training: Training, pruning: Pruning, last_step: int) -> None:
        self.trial, self.training, self.pruning, self.last_step = trial, training, pruning, last_step
        self.validations = Validations(training.folder / "run" / "metrics.jsonl")
        self.seen: list[tuple[int, float | None]] = []
        self.pruned_at: int | None = None
        self.began = time.monotonic()

    def follow(self, figure: str) -> None:
        """Reads what was validated meanwhile, and decides. A decision is the same however late it is read, even after the last step."""
        for step, figures in self.validations.new():
            if self.pruned_at is not None:
                return
            value = figures.get(figure)
            self.seen.append((step, value))
            if step < self.last_step and self.pruning.stops_at(value):
                self.pruned_at = step


class Sweep:
    """A sweep in its folder. `trials` are those whose parameters are chosen, by number."""

    def __init__(self, definition: Definition, folder: Folder, optuna: Any, program: list[str], jobs: int) -> None:
        self.definition, self.folder, self.optuna, self.program, self.jobs = definition, folder, optuna, program, jobs
        self.trials: list[Trial] = []
        while (trial := folder.load_trial(len(self.trials))) is not None:
            self.trials.append(trial)
        self._running: list[_Running] = []
        self._killed: dict[int, int] = {}
        self._said_waiting = False
        self._cores, self._gpus = usable_cores(), usable_gpus() if definition.gpus else []

    def try_failed_again(self) -> None:
        """Trials that failed run again with their parameters; those after them stay as they are."""
        for trial in self.trials:
            if trial.state == "failed":
                trial.state, trial.why = "chosen", ""
                self.folder.save_trial(trial)

    def run(self, changed: Callable[[], None]) -> bool:
        """Runs what is left; calls `changed` after each trial. Gives whether it came to its end: False where it was stopped."""
        stop = _Stop()
        try:
            while not stop.count:
                self._start_some(changed)
                if not self._running and all(trial.ended() for trial in self.trials) and len(self.trials) >= self.definition.trials:
                    return True
                time.sleep(POLL_S)
                self._look(changed)
            self._end_all(stop, changed)
            return False
        except BaseException:
            for one in self._running:
                one.training.kill()
                one.training.close()
            raise

    def _waiting(self) -> list[int]:
        """Numbers of the trials that may begin, in order."""
        busy = {one.trial.number for one in self._running}
        left = [trial.number for trial in self.trials if not trial.ended() and trial.number not in busy]
        return left + list(range(len(self.trials), self.definition.trials))

    def _may_begin(self, number: int) -> bool:
        known = known_to(number, self.definition)
        return all(trial.ended() for trial in self.trials[:known]) and len(self.trials) >= known

    def _start_some(self, changed: Callable[[], None]) -> None:
        for number in self._waiting():
            if len(self._running) >= self.jobs or not self._may_begin(number):
                return
            if not self._start(self.trials[number] if number < len(self.trials) else self._propose(number)):
                return
            if self.trials[number].ended():  # its parameters do not go together
                changed()

    def _propose(self, number: int) -> Trial:
        definition = self.definition
        trial = Trial(number, propose(self.optuna, definition, number, self.trials), seed_of("trial", definition.seed, number))
        self.folder.of(number).mkdir(parents=True, exist_ok=True)
        self.folder.save_trial(trial)
        self.trials.append(trial)
        return trial

    def _start(self, trial: Trial) -> bool:
        """Whether it trains, or has failed since its parameters do not go together; else it waits for cores."""
        definition = self.definition
        given = lease(self._cores, definition.threads, self._gpus, definition.gpus)
        if given is None:
            if not self._said_waiting and not self._running:
                what = f"{definition.threads} of {len(self._cores)} cores" + (" and a GPU" if definition.gpus else "")
                _command.say(f"trial {trial.number} waits for {what} to be free: other trainings of sweeps hold them")
                self._said_waiting = True
            return False
        try:
            config = definition.trial_config(trial.params, trial.seed)
            whole = checked(config, "config")
        except _core.UsageError as error:
            given.close()
            trial.state, trial.why = "failed", str(error)
            self.folder.save_trial(trial)
            self._say_end(trial)
            return True
        try:
            self.folder.put_config(trial.number, yaml_text(config, f"trial {trial.number}: {words_of(trial)}"))
            training = Training(self.program, self.folder.of(trial.number), given)
        except BlockingIOError as error:  # the process of a sweep that was killed writes its checkpoint
            given.close()
            if not self._said_waiting:
                _command.say(f"trial {trial.number} waits: {error}")
                self._said_waiting = True
            return False
        except BaseException:
            given.close()
            raise
        self._said_waiting = False
        pruning = Pruning(self.optuna, definition, trial, self.trials)
        steps = whole["train"]["epochs"] * whole["sampling"]["batches_per_epoch"]
        self._running.append(_Running(trial, training, pruning, steps))
        _command.say(f"trial {trial.number} on core{'s' * (len(given.cores) > 1)} {', '.join(map(str, given.cores))}"
                     f"{', GPU ' + given.gpus[0] if given.gpus else ''}: {words_of(trial)}")
        return True

    def _look(self, changed: Callable[[], None]) -> None:
        for one in list(self._running):
            code = one.training.ended()  # before its validations are read: then none comes after
            one.follow(self.definition.in_validations())
            if code is None:
                if one.pruned_at is not None:
                    one.training.stop()
                continue
            self._running.remove(one)
            one.training.close()
            if self._record(one, code):
                changed()

    def _record(self, one: _Running, code: int) -> bool:
        """Whether the trial has ended; else it goes on from its checkpoint."""
        trial = one.trial
        if one.pruned_at is not None and (code == 0 or one.training.asked_to_stop()):
            trial.state, trial.step, trial.value = "pruned", one.pruned_at, one.seen[-1][1]
        elif code == 0:
            self._complete(trial)
        elif one.training.asked_to_stop():
            return False
        elif (by := one.training.interrupted()) and self._killed.get(trial.number, 0) + 1 < KILLED_AT_MOST:
            self._killed[trial.number] = self._killed.get(trial.number, 0) + 1
            _command.say(f"trial {trial.number} was ended from outside ({by}) and goes on from its checkpoint", warning=True)
            return False
        else:
            trial.state, trial.why = "failed", one.training.sentence()
        trial.validations, trial.rungs = one.seen, dict(one.pruning.rungs())
        trial.time = {"at": round(time.time(), 3), "wall_s": round(time.monotonic() - one.began, 3)}
        self.folder.save_trial(trial)
        self._say_end(trial)
        return True

    def _complete(self, trial: Trial) -> None:
        definition = self.definition
        evaluation = read_json(self.folder.of(trial.number) / "run" / "eval.json")
        value = figure_of(evaluation, definition.figure, definition.over, definition.smaller)
        if value is None:
            trial.state, trial.why = "failed", f"{definition.figure} is undefined in its eval.json ({definition.over})"
        else:
            trial.state, trial.value = "complete", value

    def _say_end(self, trial: Trial) -> None:
        figure = self.definition.figure
        if trial.state == "failed":
            _command.say(f"trial {trial.number} failed: {trial.why}", warning=True)
        elif trial.state == "pruned":
            _command.say(f"trial {trial.number} stopped early after step {trial.step}: {figure} {short(trial.value)}")
        else:
            _command.say(f"trial {trial.number} done: {figure} {short(trial.value)}")

    def _end_all(self, stop: _Stop, changed: Callable[[], None]) -> None:
        if self._running:
            _command.say(f"stops: {len(self._running)} trials write their checkpoints; once more kills them")
        while self._running:
            for one in self._running:
                one.training.kill() if stop.count > 1 else one.training.stop()
            time.sleep(POLL_S)
            self._look(changed)


def words_of(trial: Trial) -> str:
    return ", ".join(f"{key} {short(value)}" for key, value in trial.params.items())


def best_of(trials: list[Trial], smaller: bool) -> Trial | None:
    """The complete trial with the best figure, of equal ones the first."""
    complete = [trial for trial in trials if trial.state == "complete"]
    return min(complete, key=lambda trial: ((trial.value or 0.0) * (1 if smaller else -1), trial.number), default=None)
