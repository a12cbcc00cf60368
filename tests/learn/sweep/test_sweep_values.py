"""Values of stepped ranges are what Optuna takes, and what was written; parameters that do not go together fail their trial alone."""
import json
from types import SimpleNamespace

import headrace as hr
import optuna
import pytest
from headrace.sweep._definition import Definition, Prune
from headrace.sweep._folder import Trial
from headrace.sweep._results import Results
from headrace.sweep._sampling import propose
from headrace.sweep._space import read_range
from sweeps import outcome, sweep, write_sweep


def range_of(given):
    return read_range("search.key", given)


@pytest.mark.parametrize("given, values", [
    ({"float": [0, 0.3], "step": 0.1}, [0.0, 0.1, 0.2, 0.3]),
    ({"float": [0.1, 0.7], "step": 0.2}, [0.1, 0.3, 0.5, 0.7]),
    ({"float": [1, 1.0000003], "step": 0.0000001}, [1.0, 1.0000001, 1.0000002, 1.0000003]),
    ({"int": [2, 8], "step": 3}, [2, 5, 8]),
    ({"float": [0.12345678, 0.87654321], "points": 2}, [0.12345678, 0.87654321]),
    ({"log": [0.12345678, 12.345678], "points": 3}, [0.12345678, 1.23457, 12.345678]),
])
def test_the_values_of_a_grid(given, values):
    """By hand; and each is one of the distribution that Optuna has of the range."""
    allowed = range_of(given)
    assert allowed.grid() == values
    for value in values:
        assert allowed.distribution(optuna)._contains(allowed.distribution(optuna).to_internal_repr(allowed.drawn_of(value)))


def test_steps_must_meet_the_end():
    with pytest.raises(hr.UsageError, match="steps of 0.333333 from 0 do not meet 1"):
        range_of({"float": [0, 1], "step": 0.3333333334})


def definition_of(space, method="tpe"):
    return Definition({}, {key: range_of(given) for key, given in space.items()}, method, 12, 3, 2, "mean_dice", "overall", False, Prune(), 1, 1, 0)


@pytest.mark.parametrize("step, high", [(0.0078125, 1), (0.1, 0.7), (1e-7, 1e-5)])
def test_tpe_draws_steps(step, high):
    """Trial after trial, each of which Optuna is told as it was recorded."""
    definition = definition_of({"a": {"float": [0, high], "step": step}})
    trials = []
    for number in range(12):
        params = json.loads(json.dumps(propose(optuna, definition, number, trials)))
        trials.append(Trial(number, params, 0, "complete", 1 - abs(params["a"] - high / 2)))
    lattice = {float(f"{index * step:.12g}") for index in range(round(high / step) + 1)}
    assert {trial.params["a"] for trial in trials} <= lattice and len({trial.params["a"] for trial in trials}) > 3


def importance_of(space, trials):
    definition = SimpleNamespace(seed=0, space={key: range_of(given) for key, given in space.items()})
    return Results(SimpleNamespace(trials=trials, definition=definition, optuna=optuna)).importance()


def test_a_sweep_of_before_has_values_beside_its_steps():
    """As versions before wrote them: by their last bits another number, or shortened."""
    space = {"a": {"float": [0, 0.3], "step": 0.1}}
    assert importance_of(space, [Trial(i, {"a": i * 0.1}, 0, "complete", float(i)) for i in range(4)]) == {"a": 1.0}
    definition = definition_of({"a": {"float": [0, 1], "step": 0.0078125}})
    trials = [Trial(i, {"a": float(f"{i * 0.0078125:.6g}")}, 0, "complete", float(i)) for i in range(8)]
    assert propose(optuna, definition, 8, trials)["a"] * 128 % 1 == 0


def test_importance_says_nothing_of_values_that_are_out_of_range():
    trials = [Trial(i, {"a": float(i)}, 0, "complete", float(i)) for i in range(4)]
    assert importance_of({"a": {"float": [0, 1]}}, trials) is None


def test_a_grid_of_steps_comes_to_its_end(nuclei, tmp_path):
    text = "config: run.yaml\nsearch: {sampling.foreground: {float: [0, 0.3], step: 0.1}}\nmethod: grid\nthreads_per_trial: 1\n"
    sweep(write_sweep(tmp_path, nuclei, text), tmp_path / "out")
    found = outcome(tmp_path / "out")
    assert [trial["params"]["sampling.foreground"] for trial in found["trials"]] == [0, 0.1, 0.2, 0.3]
    assert (tmp_path / "out/sweep.html").exists() and (tmp_path / "out/sweep.csv").exists()


def test_what_does_not_go_together_is_tried_again_and_fails_alone(nuclei, tmp_path):
    """Both keys are right by themselves, so only the trial that has both is refused: as every time."""
    text = ("config: run.yaml\nsearch: {sampling.background: [0, 0.6], sampling.near_lesions: [0, 0.6], train.lr: [0.001, 0.002]}\n"
            "method: grid\nthreads_per_trial: 1\n")
    path = write_sweep(tmp_path, nuclei, text)
    sweep(path, tmp_path / "out")
    found = outcome(tmp_path / "out")
    states = [trial["state"] for trial in found["trials"]]
    assert states.count("failed") == 2 and states.count("complete") == 6
    assert all("together more than 1" in trial["why"] for trial in found["trials"] if trial["state"] == "failed")
    said = sweep(path, tmp_path / "out", "--retry").stderr
    assert outcome(tmp_path / "out") == found and said.count("together more than 1") == 2
    sweep(path, tmp_path / "out")
    assert outcome(tmp_path / "out") == found
