"""`headrace promote`: what gets into a registry and what does not, and what the log says. Hashes are Python's own."""
import hashlib
import json
import shlex
import shutil
import subprocess

import pytest
import safetensors.torch
import torch
from driving import PROGRAM, headrace, message_of, rows_of, write_table
from promoted_runs import contents, log_of, promote, sha256, weights_identity

FIGURES = ("dice.background", "mean_dice")  # that the gates name


def worse_ends(before, after):
    """By figure, how much worse the second run may be by: the largest over all images and the cohorts."""
    groups = json.loads(headrace("diff", before, after, "--json").stdout)["evaluation"]["groups"]
    of = [figures["figures"] for name, figures in groups.items() if name == "overall" or name.startswith("cohorts.")]
    assert all(figures[name]["difference_interval_95"] is None for figures in of for name in FIGURES)  # fewer than ten cases
    return {name: max(-figures[name]["difference"] for figures in of) for name in FIGURES}


def margins(ends, add):
    return [option for name, end in ends.items() for option in ("--worse", f"{name}={max(0, end + add):.9f}")]


def test_a_model_is_a_complete_copy_of_what_passed(promotable, registry):
    run = promotable / "a"
    (line,) = log_of(registry)
    model = registry / "models" / line["model"]
    assert (registry / "gleason").readlink() == model.relative_to(registry)
    assert line["files"] == {str(path.relative_to(model)): sha256(path) for path in model.rglob("*") if path.is_file()}
    pictures = [value for entry in json.loads((run / "eval.json").read_text())["examples"] for value in entry.values() if "montage/" in str(value)]
    assert len(pictures) > 3 and set(pictures) <= set(line["files"])  # so that `headrace report` can make its page again
    for name in ("config.json", "preprocessing.json", "run.json", "final.safetensors", "eval.json", "baseline.json"):
        assert (model / name).read_bytes() == (run / name).read_bytes(), name
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(line["files"].items()))
    assert line["model"] == hashlib.sha256(listed.encode()).hexdigest()[:16]
    facts = json.loads((run / "run.json").read_text())
    assert {key: line[key] for key in ("config_hash", "dataset_hash", "code_version")} == {
        key: facts[key] for key in ("config_hash", "dataset_hash", "code_version")}
    assert line["weights_sha256"] == weights_identity(run / "final.safetensors") and (line["by"], line["message"]) == ("anna", "first")
    assert line["before"] is None and line["number"] == 1 and line["comparison"] is None
    gate = json.loads((model / "gate.json").read_text())
    assert gate["passed"] and gate["figures"] == line["gates"] == json.loads((run / "summary.json").read_text())["gate"]["figures"]
    assert line["evaluated"] == {"dataset_hash": facts["dataset_hash"], "split": "val", "trained_cases": 0}


def test_predictions_are_of_the_weights_that_passed(promotable, registry, tmp_path):
    slide = sorted((promotable / "in/slides").iterdir())[0]
    headrace("predict", "--run", registry / "gleason", slide, "--out", tmp_path / "out")
    (result,) = (tmp_path / "out").glob("*/zarr.json")
    (network,) = json.loads(result.read_text())["attributes"]["headrace"]["facts"]["networks"]
    assert network["weights_sha256"] == log_of(registry)[0]["weights_sha256"] == weights_identity(promotable / "a/final.safetensors")
    headrace("predict", "--run", promotable / "a", slide, "--out", tmp_path / "same")
    (same,) = (tmp_path / "same").glob("*/findings.json")
    assert same.read_bytes() == (result.parent / "findings.json").read_bytes()


def test_a_missed_gate_changes_nothing(promotable, registry, run, tmp_path):
    before = contents(registry)
    gate = tmp_path / "gate.yaml"
    gate.write_text("- {figure: dice.background, least: 1.5, scope: each cohort}")
    out = promote(run, registry, "--gate", gate, "--without-comparison", "none", code=3).stdout
    assert "gate MISSED: cohorts.phantom-site-1.dice.background" in out and "not promoted" in out
    assert contents(registry) == before
    gate.write_text("dice.hgpin: 0")  # undefined: no validation slide has it
    assert "dice.hgpin is undefined" in promote(run, registry, "--gate", gate, "--without-comparison", "none", code=3).stdout
    assert contents(registry) == before
    promote(run, tmp_path / "none", "--gate", gate, code=3)
    assert not (tmp_path / "none").exists()


def test_a_run_without_gates_is_refused(registry, run):
    before = contents(registry)
    config = json.loads((run / "config.json").read_text())
    del config["gates"]
    (run / "config.json").write_text(json.dumps(config))
    message = message_of(promote(run, registry, code=2))
    assert "states no gates" in message and "gates: [{figure: mean_dice" in message and "--gate" in message
    assert contents(registry) == before


def test_nothing_may_get_worse(promotable, tmp_path):
    # One of the two is worse than the other somewhere, by its figures: of so few cases there is no interval.
    for before, run in ((promotable / "a", promotable / "b"), (promotable / "b", promotable / "a")):
        ends = worse_ends(before, run)
        name = max(ends, key=ends.get)
        if ends[name] > 1e-5:
            break
    registry = tmp_path / "registry"
    promote(before, registry)
    before = contents(registry)
    almost = margins(ends, 1e-6)
    almost[almost.index(next(option for option in almost if option.startswith(name)))] = f"{name}={ends[name] - 1e-6:.9f}"
    out = promote(run, registry, *almost, code=3).stdout
    assert "cases: no interval; compared by the figures alone), at most" in out or "case: no interval; compared" in out
    assert out.count("WORSE: ") == 1 and name in next(line for line in out.splitlines() if "WORSE: " in line)
    assert contents(registry) == before
    result = json.loads(promote(run, registry, *margins(ends, 1e-6), "--json").stdout)
    assert result["promoted"] and result["comparison"]["passed"]
    first, second = log_of(registry)
    assert second["before"] == hashlib.sha256((registry / "log.jsonl").read_bytes().splitlines()[0]).hexdigest()
    assert second["comparison"]["model"] == first["model"] and len(second["comparison"]["figures"]) == 2 * 3
    assert (registry / "gleason").resolve().name == second["model"] == result["model"] != first["model"]


def test_margins_of_gates_and_those_that_are_wrong(promotable, registry, run, tmp_path):
    ends = worse_ends(promotable / "a", run)
    gate = tmp_path / "gate.yaml"
    gate.write_text("\n".join(f"- {{figure: {name}, least: 0, worse_than_promoted: {max(0, end) + 1e-6:.9f}}}" for name, end in ends.items()))
    for wrong in ("mean_dice", "mean_dice=", "=1", "mean_dice=-1", "mean_dice=x"):
        assert "FIGURE=MARGIN" in message_of(promote(run, registry, "--worse", wrong, code=2))
    assert "did you mean 'mean_dice'" in message_of(promote(run, registry, "--worse", "mean_dise=1", code=2))
    # An option takes one value: what follows it is the run.
    margin = f"mean_dice={max(0, ends['mean_dice']) + 1e-6:.9f}"
    headrace("promote", "--as", "gleason", "--registry", registry, "--gate", gate, "--worse", margin, run)
    assert {one["margin"] for one in log_of(registry)[1]["comparison"]["figures"]} == {round(max(0, end) + 1e-6, 9) for end in ends.values()}


def test_the_same_again_adds_nothing(promotable, registry):
    before = contents(registry)
    assert "gleason is already model" in promote(promotable / "a", registry).stdout
    assert contents(registry) == before
    promote(promotable / "a", registry, name="second")  # another name for it
    assert (registry / "second").resolve() == (registry / "gleason").resolve() and len(log_of(registry)) == 2


def test_back_to_an_older_model(registry, run):
    promote(run, registry, "--without-comparison", "another network")
    older, newer = (line["model"] for line in log_of(registry))
    promote(registry / "models" / older, registry, "--without-comparison", "back", "--message", "fell behind in use")
    assert (registry / "gleason").resolve().name == older != newer
    assert [line["model"] for line in log_of(registry)] == [older, newer, older]
    assert log_of(registry)[2]["without_comparison"] == "back"
    assert len(list((registry / "models").iterdir())) == 2
    headrace("promote", "--list", "--registry", registry)


def test_evaluations_of_other_data_are_not_compared(promotable, run, tmp_path):
    registry, old = tmp_path / "my registry", shutil.copytree(promotable / "a", tmp_path / "a")
    headrace("phantom", "slides", "--out", tmp_path / "in", "--count", 4, "--size", 600, "--scanners", 1, "--seed", 9)
    rows = [row | {"case": "other-" + row["case"]} for row in rows_of(tmp_path / "in/cases.csv")]  # no case that was trained on
    headrace("ingest", "slides", tmp_path / "in/slides", "--table", write_table(tmp_path / "in/other.csv", rows), "--out", tmp_path / "other.zarr")
    headrace("eval", "--run", old, "--store", tmp_path / "other.zarr")
    (other,) = old.glob("eval-final-val-*.json")
    promote(old, registry, "--evaluation", other)
    before = contents(registry)
    message = message_of(promote(run, registry, code=2))
    assert "was not evaluated on the images" in message and "--without-comparison" in message and contents(registry) == before
    command = message.split("Evaluate it on them: ")[1].split(";")[0]
    assert shlex.split(command)[0] == "headrace"
    subprocess.run([PROGRAM, *shlex.split(command)[1:]], check=True, capture_output=True, timeout=300)
    promote(run, registry, "--worse", "mean_dice=2", "--worse", "dice.background=2")
    headrace("promote", "--list", "--registry", registry)  # evaluating a model did not touch what was promoted


def test_a_config_or_an_evaluation_that_was_changed(registry, run):
    config, evaluation = (json.loads((run / name).read_text()) for name in ("config.json", "eval.json"))
    before = contents(registry)
    config["eval"]["min_cancer"] = 0.5
    (run / "config.json").write_text(json.dumps(config))
    assert "not the config that the run was trained with" in message_of(promote(run, registry, code=4))
    config["eval"]["min_cancer"] = 0.02
    (run / "config.json").write_text(json.dumps(config))
    # An evaluation of before the rules were changed by a resume that did not come to its end.
    (run / "eval.json").write_text(json.dumps(evaluation | {"rules": evaluation["rules"] | {"eval": config["eval"] | {"min_cancer": 0.5}}}))
    message = message_of(promote(run, registry, code=2))
    assert "made by other rules" in message and "eval.min_cancer 0.5 and 0.02" in message and f"headrace eval --run {run}" in message
    better = json.loads(json.dumps(evaluation))
    better["overall"]["mean_dice"] = 0.999
    (run / "eval.json").write_text(json.dumps(better))
    assert "mean_dice of overall is 0.999" in message_of(promote(run, registry, code=4))
    assert contents(registry) == before


@pytest.mark.parametrize("change", ["interval", "calibration", "scanner"])
def test_figures_that_images_do_not_determine_are_held_by_the_digest(registry, run, tmp_path, change):
    """Edits of what a gate rests on that making the figures again from the images does not see."""
    evaluation = json.loads((run / "eval.json").read_text())
    rest = {key: value for key, value in evaluation.items() if key not in ("time", "digest")}
    compact = json.dumps(rest, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    assert json.loads(compact) == rest and len(evaluation["digest"]) == 64
    (tmp_path / "gate.yaml").write_text({"interval": "- {figure: dice.background, least: 0.99999, bound: lower}",
                                         "calibration": "- {figure: calibration.ece, most: 1.0e-9}",
                                         "scanner": "- {figure: dice.background, least: 0.99999, scope: each scanner}"}[change])
    gate = ("--gate", tmp_path / "gate.yaml", "--without-comparison", "a test")
    before = contents(registry)
    assert "gate MISSED" in promote(run, registry, *gate, code=3).stdout
    if change == "interval":
        evaluation["overall"]["interval_95"] = {"dice": {"background": [1.0, 1.0]}}
    elif change == "calibration":
        evaluation["overall"]["calibration"]["ece"] = 0.0
    else:
        for scanner in evaluation["scanners"].values():
            scanner["dice"]["background"] = 1.0
    (run / "eval.json").write_text(json.dumps(evaluation))
    message = message_of(promote(run, registry, *gate, code=4))
    assert "is not what it was when it was written" in message and "headrace eval" in message and contents(registry) == before
    headrace("eval", "--run", run)
    assert "gate MISSED" in promote(run, registry, *gate, code=3).stdout


def test_an_evaluation_of_an_earlier_release_has_no_digest(run, tmp_path):
    evaluation = json.loads((run / "eval.json").read_text())
    del evaluation["digest"]
    (run / "eval.json").write_text(json.dumps(evaluation | {"time": {"wall_s": 1}}))
    promote(run, tmp_path / "registry")


def test_a_damaged_model_is_not_compared_with(registry, run):
    file = registry / "gleason/eval.json"
    file.chmod(0o644)
    file.write_text(file.read_text().replace("0.", "0.0", 1))  # the bar would be lower
    before = contents(registry)
    assert "eval.json is not what was promoted" in message_of(promote(run, registry, code=4))
    assert contents(registry) == before


def test_a_bar_that_was_lowered(promotable, run, tmp_path):
    """An evaluation that was added to the promoted model is in no log; its own images and digest hold it."""
    registry, old = tmp_path / "registry", promotable / "a"
    promote(old, registry)
    store = shutil.copytree(promotable / "s.zarr", tmp_path / "s.zarr")
    rows = [{"image": row["image"], "scanner": "s"} for row in rows_of(promotable / "in/cases.csv")]
    headrace("ingest", "labels", store, "--table", write_table(tmp_path / "t.csv", rows))
    for of in (run, registry / "gleason"):
        headrace("eval", "--run", of, "--store", store)
    (own,), (bar,) = (of.glob("eval-final-val-*.json") for of in (run, registry / "gleason/"))
    stated = json.loads(bar.read_text())
    for change in ("overall", "scanners"):
        lower = json.loads(json.dumps(stated))
        for group in [lower["overall"]] if change == "overall" else lower["scanners"].values():
            group["mean_dice"] = group["dice"]["background"] = 0.001
        bar.write_text(json.dumps(lower))
        before = contents(registry)
        message = message_of(promote(run, registry, "--evaluation", own, "--worse", "mean_dice=1", "--worse", "dice.background=1", code=4))
        assert ("of overall is 0.001" if change == "overall" else "digest") in message and contents(registry) == before
    bar.write_text(json.dumps(stated))
    # Stray files that are named as evaluations are passed over.
    for name, text in (("eval-a.json", "[1]"), ("eval-b.json", "not JSON"), ("eval-c.json", '{"weights_sha256": 1}')):
        (registry / "gleason" / name).write_text(text)
    promote(run, registry, "--evaluation", own, "--worse", "mean_dice=1", "--worse", "dice.background=1")


def test_what_was_trained_on_is_no_proof(registry, run):
    headrace("eval", "--run", run, "--split", "train")
    (seen,) = run.glob("eval-final-train-*.json")
    before = contents(registry)
    assert "split train, which the weights were trained on" in message_of(promote(run, registry, "--evaluation", seen, name="other", code=2))
    assert contents(registry) == before


def test_nothing_changes_a_model(promotable, registry, tmp_path):
    before = contents(registry)
    refused = headrace("train", "--config", promotable / "a.yaml", "--out", registry / "gleason", "--resume", code=2)
    assert "is a promoted model, which nothing may change" in message_of(refused)
    assert "promoted model" in message_of(headrace("report", registry / "gleason", code=2))
    headrace("report", registry / "gleason", "--out", tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 100_000 and contents(registry) == before


def another_bit(path):
    """Makes other weights of them."""
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def test_commands_in_refusals_are_quoted(promotable, tmp_path):
    run = shutil.copytree(promotable / "b", tmp_path / "it's b")
    another_bit(run / "best.safetensors")
    message = message_of(promote(run, tmp_path / "registry", "--weights", "best", code=1))
    assert shlex.split(message.split("Make it: ")[1]) == ["headrace", "eval", "--run", str(run), "--weights", "best"]


@pytest.mark.parametrize("change, sentence, code", [
    ("weights", "has no evaluation of its final weights", 1),
    ("preprocessing", "not the preprocessing that the run was trained with", 4),
    ("evaluation", "does not say which weights", 1),
    ("unfinished", "final.safetensors is missing", 1),
])
def test_runs_that_do_not_hang_together_are_refused(registry, run, change, sentence, code):
    before = contents(registry)
    if change == "weights":
        another_bit(run / "final.safetensors")
    elif change == "preprocessing":
        file = run / "preprocessing.json"
        file.write_text(file.read_text().replace('"benign"', '"stroma"', 1))
    elif change == "evaluation":
        evaluation = json.loads((run / "eval.json").read_text())
        del evaluation["weights_sha256"]
        (run / "eval.json").write_text(json.dumps(evaluation))
    else:
        (run / "final.safetensors").unlink()
    message = message_of(promote(run, registry, code=code))
    assert sentence in message and contents(registry) == before
    if change in ("weights", "evaluation"):
        assert f"headrace eval --run {run}" in message


def saved_again(run, *, flip=False):
    """The weights as Python saves them: other metadata, and the tensors in another order, with padding in the header."""
    path = run / "final.safetensors"
    tensors = safetensors.torch.load_file(path)
    if flip:
        values = tensors[min(tensors)].view(torch.int32)
        values.view(-1)[0] ^= 1
    names = sorted(tensors, reverse=True)
    header, body = {"__metadata__": {"by": "another program"}}, b""
    for name in names:
        values = tensors[name].numpy().tobytes()
        header[name] = {"shape": list(tensors[name].shape), "dtype": "F32", "data_offsets": [len(body), len(body) + len(values)]}
        body += values
    text = json.dumps(header, indent=1).encode() + b" " * 5
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def test_the_same_tensors_in_another_file_are_the_same_weights(registry, run, promotable, tmp_path):
    """Saved by PyTorch's own writer and in another order: the evaluation still is of them. With one bit changed it is not."""
    stated = json.loads((run / "summary.json").read_text())["weights_sha256"]
    slide = sorted((promotable / "in/slides").iterdir())[0]
    before = sha256(run / "final.safetensors")
    safetensors.torch.save_file(safetensors.torch.load_file(run / "final.safetensors"), run / "final.safetensors", {"torch": torch.__version__})
    for save in (lambda: None, lambda: saved_again(run)):
        save()
        assert sha256(run / "final.safetensors") != before and weights_identity(run / "final.safetensors") == stated
        result = json.loads(promote(run, registry, "--without-comparison", "the same", "--json", name=f"as-{len(log_of(registry))}").stdout)
        assert result["promoted"] and result["weights_sha256"] == stated
    headrace("predict", "--run", run, slide, "--out", tmp_path / "out")
    assert json.loads((tmp_path / "out/predict.json").read_text())["runs"][0]["weights_sha256"] == stated
    saved_again(run, flip=True)
    assert weights_identity(run / "final.safetensors") != stated
    assert "has no evaluation of its final weights" in message_of(promote(run, registry, code=1))


def test_an_evaluation_that_names_the_file_is_still_taken(registry, run):
    """As those of earlier versions do: it is found, and only its digest tells that this one was edited."""
    file = run / "eval.json"
    file.write_text(file.read_text().replace(weights_identity(run / "final.safetensors"), sha256(run / "final.safetensors")))
    assert "digest does not fit" in message_of(promote(run, registry, code=4))


def test_the_best_weights(promotable, registry, run, tmp_path):
    # The last validation was the best, so these are the final weights, which one evaluation judges, in another file. Then they are not.
    assert sha256(run / "best.safetensors") != sha256(run / "final.safetensors")
    assert "is now model" in promote(run, tmp_path / "same", "--weights", "best").stdout
    another_bit(run / "best.safetensors")
    message = message_of(promote(run, registry, "--weights", "best", name="best", code=1))
    assert f"headrace eval --run {run} --weights best" in message
    wrong = message_of(promote(run, registry, "--weights", "best", "--evaluation", run / "eval.json", name="best", code=2))
    assert "is an evaluation of other weights" in wrong
    headrace("eval", "--run", run, "--weights", "best")
    promote(run, registry, "--weights", "best", name="best")
    assert sha256(registry / "best/final.safetensors") == sha256(run / "best.safetensors")
    assert weights_identity(run / "best.safetensors") == log_of(registry)[1]["weights_sha256"]
    headrace("predict", "--run", registry / "best", sorted((promotable / "in/slides").iterdir())[0], "--out", tmp_path / "out")
    assert json.loads((tmp_path / "out/predict.json").read_text())["runs"][0]["weights_sha256"] == log_of(registry)[1]["weights_sha256"]


@pytest.mark.parametrize("command", ["eval", "promote", "predict"])
def test_best_weights_that_no_validation_chose(promotable, registry, run, tmp_path, command):
    """As of a training whose validations all had an undefined figure: it writes no best.safetensors."""

    def refused(of):
        return message_of({
            "eval": lambda: headrace("eval", "--run", of, "--weights", "best", code=1),
            "promote": lambda: promote(of, registry, "--weights", "best", name="best", code=1),
            "predict": lambda: headrace("predict", "--run", of, promotable / "s.zarr", "--weights", "best", "--out", tmp_path / "out", code=1),
        }[command]())

    (run / "best.safetensors").unlink()
    said = refused(run)
    assert f"{run} has no best weights: the training has ended" in said and "train.best" in said and "--weights final" in said
    assert "is a promoted model, which has no best weights" in refused(registry / "gleason")
    (run / "final.safetensors").unlink()
    said = refused(run)
    assert "best.safetensors is missing; the training has not come that far" in said and "--resume" in said
    assert not (tmp_path / "out").exists()
