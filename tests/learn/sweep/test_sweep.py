"""The methods, failing trials, wrong files, and the page."""
import csv
import json
import os
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import headrace as hr
import optuna
import pytest
from chromium import CHROMIUM, Browser
from driving import headrace, json_of, message_of, sentence_of
from headrace.sweep._definition import read_definition
from headrace.sweep._folder import Trial
from headrace.sweep._page import page
from headrace.sweep._results import Results
from headrace.sweep._space import read_range
from sweeps import SEARCH, leases, outcome, sweep, write_sweep

GRID = """config: run.yaml
search:
  train.lr: [0.001, 0.01]
  transforms.0.affine.rotate_deg.1: {float: [0, 180], points: 2}
method: grid
threads_per_trial: 1
"""
FAILING = """config: run.yaml
search:
  train.lr: [0.001, 10.0]
  train.class_weights: [[1, 1], [1, 1, 1]]
method: grid
threads_per_trial: 1
"""


@pytest.fixture(scope="module")
def grid(nuclei, tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    said = sweep(write_sweep(folder, nuclei, GRID), folder / "out", "--jobs", 2)
    return folder / "out", said


def test_a_grid_has_every_combination_once(grid):
    trials = outcome(grid[0])["trials"]
    found = [(trial["params"]["train.lr"], trial["params"]["transforms.0.affine.rotate_deg.1"]) for trial in trials]
    assert found == [(0.001, 0), (0.001, 180), (0.01, 0), (0.01, 180)]
    for trial in trials:
        config = json.loads((grid[0] / trial["folder"] / "run/config.json").read_text())
        assert config["transforms"][0]["affine"]["rotate_deg"][1] == trial["params"]["transforms.0.affine.rotate_deg.1"]


def test_table_and_csv_say_the_same(grid):
    out, said = grid
    with open(out / "sweep.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    trials = outcome(out)["trials"]
    assert [float(row["mean_dice"]) for row in rows] == [trial["value"] for trial in trials]
    order = [int(line.split()[0]) for line in said.stdout.splitlines()[1:5]]
    assert order == [trial["number"] for trial in sorted(trials, key=lambda trial: -trial["value"])]


def test_random_draws_follow_from_the_seed_and_number(nuclei, tmp_path):
    """Each trial's own, whatever was before: three trials are the first three of four."""
    few = json_of("sweep", write_sweep(tmp_path / "few", nuclei, SEARCH + "method: random\ntrials: 2\n"), "--out", tmp_path / "few/out",
                  environment=leases(tmp_path / "leases"))
    path = write_sweep(tmp_path / "few", nuclei, SEARCH + "method: random\ntrials: 3\n")
    more = json_of("sweep", path, "--out", tmp_path / "few/out", environment=leases(tmp_path / "leases"))
    assert [trial["params"] for trial in more["trials"][:2]] == [trial["params"] for trial in few["trials"]] and len(more["trials"]) == 3
    assert len({trial["params"]["train.lr"] for trial in more["trials"]}) == 3


def test_a_failing_trial_is_recorded_and_others_go_on(nuclei, tmp_path):
    """A list of three class weights for two classes is refused by the program when it knows the store."""
    sweep(write_sweep(tmp_path, nuclei, FAILING), tmp_path / "out", "--jobs", 2)
    trials = outcome(tmp_path / "out")["trials"]
    failed = [trial for trial in trials if trial["state"] == "failed"]
    assert [trial["params"]["train.class_weights"] for trial in failed] == [[1, 1, 1], [1, 1, 1]]
    for trial in failed:
        assert "class_weights" in trial["why"] and trial["value"] is None
    assert sum(trial["state"] == "complete" for trial in trials) == 2


def test_all_failing_is_exit_code_1(nuclei, tmp_path):
    text = "config: run.yaml\nsearch: {train.class_weights: [[1, 1, 1], [2, 1, 1]]}\nmethod: grid\nthreads_per_trial: 1\n"
    path = write_sweep(tmp_path, nuclei, text)
    assert "all 2 trials failed" in sentence_of(sweep(path, tmp_path / "out", code=1))
    assert "all 2 trials failed" in sentence_of(sweep(path, tmp_path / "out", "--retry", code=1))
    assert len((tmp_path / "out/trials/0000/log.txt").read_text().split("headrace: ")) == 3, "it was tried again"


def test_other_figures_prune_too(nuclei, tmp_path):
    """A smaller calibration error is better; validations have it since the trials choose their best weights by it."""
    text = SEARCH + "method: random\ntrials: 4\nfigure: calibration.ece\nover: worst_cohort\nprune: {method: hyperband}\n"
    found = json_of("sweep", write_sweep(tmp_path, nuclei, text, epochs=4), "--out", tmp_path / "out", environment=leases(tmp_path / "leases"))
    assert found["definition"]["direction"] == "minimize"
    for trial in found["trials"]:
        run = tmp_path / "out" / trial["folder"] / "run"
        lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
        validations = [[line["step"], line["validation"]["best_by"]] for line in lines if "validation" in line]
        assert trial["validations"] == validations[: len(trial["validations"])]
        if trial["state"] == "complete":
            cohorts = json.loads((run / "eval.json").read_text())["cohorts"]
            assert trial["value"] == max(one["calibration"]["ece"] for one in cohorts.values()) == trial["validations"][-1][1]


@pytest.mark.parametrize("text, said", [
    ("serch: {}\n", "did you mean 'search'?"),
    ("config: run.yaml\n", "search: expected a mapping"),
    ("config: nope.yaml\nsearch: {train.lr: [1]}\n", "nope.yaml is not there"),
    ("config: run.yaml\nsearch: {train.lrr: [0.1]}\n", "Did you mean 'lr'?"),
    ("config: run.yaml\nsearch: {train.lr: [0.1, 1000]}\n", "search.train.lr: with 1000"),
    ("config: run.yaml\nsearch: {train.lr: {log: [0, 1]}}\n", "must be above 0"),
    ("config: run.yaml\nsearch: {train.lr: {log: [0.1, 0.01]}}\n", "a lower and a higher number"),
    ("config: run.yaml\nsearch: {train.lr: {normal: [0, 1]}}\n", "exactly one of float, log"),
    ("config: run.yaml\nsearch: {train.lr: 0.1}\n", "belongs into the config"),
    ("config: run.yaml\nsearch: {train.epochs: {int: [1, 8], step: 2}}\n", "steps of 2 from 1 do not meet 8"),
    ("config: run.yaml\nsearch: {transforms.5.affine.flip: [true]}\n", "transforms is a list of 2"),
    ("config: run.yaml\nsearch: {train.lr: {log: [0.01, 0.1]}}\nmethod: grid\n", "a grid needs values"),
    ("config: run.yaml\nsearch: {train.lr: [0.01, 0.1]}\nmethod: grid\ntrials: 3\n", "the grid has 2 points"),
    ("config: run.yaml\nsearch: {train.lr: [0.1]}\nfigure: dice.objekt\n", "did you mean 'dice.object'?"),
    ("config: run.yaml\nsearch: {train.lr: [0.1]}\nmethod: tpo\n", "did you mean 'tpe'?"),
    ("config: run.yaml\nsearch: {train.lr: [0.1]}\nprune: {method: median, after: 9}\n", "a training has 1 validations at most"),
    ("config: run.yaml\nsearch: {train.best.figure: [mean_dice], train.epochs: [4]}\nfigure: accuracy\nprune: {method: median}\n", "train.best"),
    ("config: run.yaml\nsearch: {train.²: [0.1]}\n", "train.²"),
    ("config: run.yaml\nsearch: {train.lr: [0.1]}\nthreads_per_trial: 1024\n", "expected at most that"),
    ("config: run.yaml\nsearch: {train.lr: [0.1]\n", "sweep.yaml:"),
])
def test_wrong_files_are_refused_in_a_sentence(nuclei, tmp_path, text, said):
    path = write_sweep(tmp_path, nuclei, text)
    expected = hr.NotFoundError if "nope" in text else hr.UsageError
    with pytest.raises(expected) as refused:
        read_definition(str(path), 2, 0, None)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_a_refusal_leaves_no_folder(nuclei, tmp_path):
    path = write_sweep(tmp_path, nuclei, "config: run.yaml\nsearch: {train.lr: [0.1, 1000]}\n")
    assert "search.train.lr: with 1000" in message_of(sweep(path, tmp_path / "out", code=2))
    assert not (tmp_path / "out").exists()


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.loads, self.texts = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.links += [value for name, value in attributes if name == "href"]
        self.loads += [value for name, value in attributes if name in ("src", "xlink:href", "data", "srcset")]
        if tag not in ("meta", "br", "line", "circle", "path", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("meta", "br", "line", "circle", "path", "polyline"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page_stands_alone_and_has_the_figures(grid):
    out, _ = grid
    text = (out / "sweep.html").read_text()
    seen = Page(text)
    assert not seen.open and not seen.loads and "<script" not in text and "http" not in re.sub(r"http-equiv", "", text)
    found = outcome(out)
    assert sorted(seen.links) == [f"{trial['folder']}/run/report.html" for trial in found["trials"]]
    assert all((out / link).exists() for link in seen.links)
    for trial in found["trials"]:
        assert f"{trial['value']:.4f}" in seen.texts
    assert any("4 complete trials, which tell little" in one for one in seen.texts)


@pytest.mark.parametrize("search, rows, expected", [
    ({"a": [1]}, [({"a": 1}, 0.1 * i) for i in range(4)], None),
    ({"a": [1, 2]}, [({"a": 1}, 0.1 * i) for i in range(4)], None),
    ({"a": [1, 2], "b": [1, 2]}, [({"a": 1 + i % 2, "b": 1}, 0.1 * (i % 2)) for i in range(8)], {"a": 1.0, "b": 0.0}),
    ({"a": {"float": [0, 1]}}, [({"a": 0.1 * i}, 0.5 + 1e-16 * (i == 5)) for i in range(8)], None),
    ({"a": {"float": [0, 1]}}, [({"a": 0.1 * i}, 0.5 + 2e-16 * (i == 5)) for i in range(8)], None),
    ({"a": {"float": [0, 1]}}, [({"a": 0.1 * i}, 0.5) for i in range(8)], None),
    ({"a": {"float": [0, 1]}}, [({"a": 0.1 * i}, 0.1 * i) for i in range(3)], None),
])
def test_importance_where_there_is_little_to_explain(search, rows, expected):
    """Keys or figures that do not differ explain nothing; Optuna refuses, or gives all to one of them."""
    definition = SimpleNamespace(seed=0, space={key: read_range(key, allowed) for key, allowed in search.items()})
    trials = [Trial(i, params, 0, "complete", value) for i, (params, value) in enumerate(rows)]
    assert Results(SimpleNamespace(trials=trials, definition=definition, optuna=optuna)).importance() == expected


def test_text_of_data_is_escaped():
    name = "dice.<script>alert(1)</script>"
    trials = [{"number": n, "folder": f"trials/{n:04d}", "params": {"a": "<b>"}, "state": "complete", "value": float(n), "step": None, "why": "<i>"}
              for n in range(2)]
    text = page({"definition": {"figure": name, "over": "overall", "direction": "maximize", "method": "random", "seed": 0,
                                "search": {"a": {"choices": ["<b>", "c"]}}}, "trials": trials,
                 "best": {"trial": 1, "value": 1.0, "params": {"a": "<b>"}}, "importance": {"a": 1.0}, "headrace": "0", "optuna": "0"})
    assert "<script" not in text and "<b>c" not in text and "&lt;script&gt;" in text and "<i>" not in text.replace("<i style", "")


@pytest.mark.skipif(CHROMIUM is None, reason="not run: no Chromium (tools/deps/install.sh test)")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_in_a_browser(grid, tmp_path, width):
    browser = Browser(tmp_path / "profile", width, 900)
    try:
        browser.open((grid[0] / "sweep.html").as_uri())
        browser.wait("document.readyState === 'complete' && document.querySelectorAll('svg').length === 2")
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert not browser.problems and len(browser.requests) == 1
    finally:
        browser.close()


def test_help_and_what_is_missing(nuclei, tmp_path):
    text = headrace("sweep", "--help").stdout
    assert "Examples:" in text and "Exit codes: 0" in text and "--jobs" in text
    assert "SWEEP.yaml" in message_of(headrace("sweep", "--out", tmp_path / "out", code=2))
    assert "can't be started" in message_of(headrace("sweep", "--help", environment={"HEADRACE_PYTHON": str(tmp_path / "none")}, code=1))
    hidden = tmp_path / "optuna"  # in front of the real one
    hidden.mkdir()
    (hidden / "__init__.py").write_text("raise ImportError('hidden by the test')\n")
    said = message_of(headrace("sweep", write_sweep(tmp_path / "sweep", nuclei, SEARCH), "--out", tmp_path / "out", code=1,
                               environment={"PYTHONPATH": str(tmp_path)}))
    assert "needs the package optuna" in said and "-m pip install 'optuna" in said


def test_a_file_in_the_working_folder_is_not_taken_for_a_module(tmp_path):
    (tmp_path / "optuna.py").write_text("raise SystemExit('taken')\n")
    (tmp_path / "headrace.py").write_text("raise SystemExit('taken')\n")
    assert "usage" in headrace("sweep", "--help", cwd=tmp_path, environment={"PWD": os.fspath(tmp_path)}).stdout
