"""Training that ends early, the best weights by a named figure, and validations on some of the images."""
import json
import os
import shutil

import numpy as np
import pytest
from driving import SAMPLES, headrace, json_of, rows_of, sentence_of, write_table
from killed_training import train_killed_and_resumed
from made_once import made_once

CONFIG = """task: segmentation
data: {{store: {store}}}
patch: {{size: [32, 32], mpp: 0.5}}
sampling: {{seed: 7, batch: 4, batches_per_epoch: {batches}}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: {epochs}, lr: 0.02, checkpoint_every: {batches}, threads: 1, log_every: 1, {train}}}
loader: {{threads: 1}}
eval: {{overlap: 0, {eval}}}
"""
EPOCHS, BATCHES = 12, 3


def store_of_nuclei(folder):
    """`n.zarr`: four images to train on, and six of three cohorts to judge by."""
    rows = rows_of(SAMPLES / "nuclei/cases.csv")
    chosen = [row for row in rows if row["split"] == "train"][:4] + [row for row in rows if row["split"] == "val"][:6]
    for row in chosen:
        row["file"], row["annotation"] = (str(SAMPLES / "nuclei" / row[key]) for key in ("file", "annotation"))
    headrace("ingest", "slides", SAMPLES / "nuclei/images", "--table", write_table(folder / "cases.csv", chosen),
             "--classes", "background,nucleus", "--out", folder / "n.zarr")
    # Every checkpoint of a training to the end, and its figures.
    config = config_of(folder, folder / "n.zarr", "keep_checkpoints: 100")
    headrace("train", "--config", config, "--out", folder / "whole")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_once(tmp_path_factory, "early-stop", store_of_nuclei)


def config_of(folder, store, train="", judge="", epochs=EPOCHS, batches=BATCHES):
    config = folder / "run.yaml"
    config.write_text(CONFIG.format(store=store, train=train, eval=judge, epochs=epochs, batches=batches))
    return config


def validations(run):
    """(step, line) of each validation."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [(line["step"], line) for line in lines if "validation" in line]


def summary_of(run):
    return json.loads((run / "summary.json").read_text())


def tensors(path, prefix="model."):
    """Bytes of the tensors of a safetensors file whose names begin so, read by the format's own description."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    body = data[8 + size:]
    found = {name: body[slice(*entry["data_offsets"])] for name, entry in header.items() if name.startswith(prefix)}
    assert found
    return found


def stop_after(values, patience, min_delta):
    """How many validations there are until none of the last `patience` is better; by hand."""
    reference, since = None, 0
    for count, value in enumerate(values, 1):
        if reference is None or value > reference + min_delta:
            reference, since = value, 0
        else:
            since += 1
        if since == patience:
            return count
    return None


def a_stop(values):
    """A patience and a least gain by which this course ends before its end."""
    for patience in (1, 2):
        for min_delta in (0.0, 0.01, 0.03, 0.1):
            count = stop_after(values, patience, min_delta)
            if count is not None and 2 <= count < len(values) - 1:
                return patience, min_delta, count
    raise AssertionError(f"no patience ends early in {values}")


@pytest.fixture(scope="module")
def stopped(made, tmp_path_factory):
    """Its folder, and the step at which it has to end."""
    patience, min_delta, count = a_stop([line["validation"]["mean_dice"] for _, line in validations(made / "whole")])
    train = f"patience: {patience}, min_delta: {min_delta}" if min_delta else f"patience: {patience}"

    def make(folder):
        headrace("train", "--config", config_of(folder, made / "n.zarr", train), "--out", folder / "run")

    return made_once(tmp_path_factory, "stopped", make), count * BATCHES, train


def test_training_ends_where_no_validation_was_better(made, stopped):
    folder, step, _ = stopped
    summary = summary_of(folder / "run")
    assert summary["stopped_early"] is True and summary["steps"] == step < EPOCHS * BATCHES
    assert "stopped_early" not in summary_of(made / "whole")
    assert [at for at, _ in validations(folder / "run")] == list(range(BATCHES, step + 1, BATCHES))


def test_its_weights_are_those_that_the_whole_training_had_there(made, stopped):
    """So the learning rate followed the schedule of all epochs."""
    folder, step, _ = stopped
    there = made / f"whole/checkpoints/step-{step:08}.safetensors"
    assert tensors(folder / "run/final.safetensors") == tensors(there)


def test_it_ends_as_a_finished_run(stopped, tmp_path):
    folder, step, _ = stopped
    shutil.copytree(folder / "run", tmp_path / "run")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*.safetensors")}
    done = headrace("train", "--config", folder / "run.yaml", "--out", tmp_path / "run", "--resume")
    assert f"training ends at step {step} of {EPOCHS * BATCHES}" in done.stderr
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*.safetensors")} == before
    assert [at for at, _ in validations(tmp_path / "run")] == [at for at, _ in validations(folder / "run")]
    assert summary_of(tmp_path / "run")["stopped_early"] is True


def test_killed_and_resumed_it_ends_at_the_same_step(made, tmp_path):
    """What counts as better is so much that the first validation stays the one to beat."""
    for name in "ab":
        (tmp_path / name).mkdir()
        config_of(tmp_path / name, made / "n.zarr", "patience: 4, min_delta: 1", epochs=30, batches=40)
    headrace("train", "--config", tmp_path / "a/run.yaml", "--out", tmp_path / "a/run")
    train_killed_and_resumed(tmp_path / "b/run.yaml", tmp_path / "b/run")
    assert summary_of(tmp_path / "a/run")["steps"] == 5 * 40
    assert summary_of(tmp_path / "b/run")["steps"] == 5 * 40
    for file in ("final.safetensors", "best.safetensors", "checkpoints/step-00000200.safetensors"):
        assert (tmp_path / "a/run" / file).read_bytes() == (tmp_path / "b/run" / file).read_bytes(), file
    assert [line["validation"] for _, line in validations(tmp_path / "a/run")] == [
        line["validation"] for _, line in validations(tmp_path / "b/run")]


def test_two_processes_end_at_the_same_step(made, tmp_path):
    runs = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        folder.mkdir()
        config = config_of(folder, made / "n.zarr", "patience: 2, min_delta: 1, gradient_parts: 2")
        headrace("train", "--config", config, "--out", folder / "run", "--processes", processes)
        runs.append(folder / "run")
    assert summary_of(runs[0])["steps"] == summary_of(runs[1])["steps"] == 3 * BATCHES
    assert tensors(runs[0] / "final.safetensors") == tensors(runs[1] / "final.safetensors")


def test_how_it_is_judged_may_not_change_where_that_ends_it(made, stopped, tmp_path):
    folder, _, train = stopped
    other = config_of(tmp_path, made / "n.zarr", train, "specificity: 0.8")
    said = sentence_of(headrace("train", "--config", other, "--out", folder / "run", "--resume", code=2))
    assert "eval.specificity: the run has 0.9, the config 0.8" in said


def test_intervals_are_added_to_a_finished_run_and_change_nothing_else(made, stopped, tmp_path):
    """As `promote` needs them for a gate with a bound: neither the choice of the best weights nor the validations are made anew."""
    folder, _, train = stopped
    shutil.copytree(folder / "run", tmp_path / "run")
    headrace("train", "--config", config_of(tmp_path, made / "n.zarr", train, "bootstrap: 20"), "--out", tmp_path / "run", "--resume")
    for file in ("metrics.jsonl", "best.safetensors"):
        assert (tmp_path / "run" / file).read_bytes() == (folder / "run" / file).read_bytes(), file
    assert summary_of(tmp_path / "run")["best"] == summary_of(folder / "run")["best"]
    overall, before = (json.loads((run / "eval.json").read_text())["overall"] for run in (tmp_path / "run", folder / "run"))
    assert overall.pop("no_interval").endswith("cases: no interval") and overall == before
    assert "best.safetensors: the same" in headrace("replay", tmp_path / "run", "--full").stdout


def test_other_rules_leave_the_best_weights_of_a_finished_run(made, tmp_path):
    """No step is left to choose others from; validations by the former rules are kept apart."""
    shutil.copytree(made / "whole", tmp_path / "run")
    before = validations(made / "whole")
    done = headrace("train", "--config", config_of(tmp_path, made / "n.zarr", "keep_checkpoints: 100", "specificity: 0.8"), "--out",
                    tmp_path / "run", "--resume")
    assert "best.safetensors stays as it was chosen before" in done.stderr
    assert (tmp_path / "run/best.safetensors").read_bytes() == (made / "whole/best.safetensors").read_bytes()
    best = summary_of(tmp_path / "run")["best"]
    assert best["step"] == summary_of(made / "whole")["best"]["step"] and best["mean_dice"] is None
    assert [step for step, _ in validations(tmp_path / "run")] == [EPOCHS * BATCHES]
    aside = [json.loads(line) for line in (tmp_path / "run/former-validations.jsonl").read_text().splitlines()]
    config_hash = json.loads((made / "whole/run.json").read_text())["config_hash"]
    assert [{**line, "config_hash": config_hash} for _, line in before] == aside


@pytest.mark.parametrize(("best", "better"), [
    ("figure: objects.nucleus.pq", max),
    ("figure: calibration.ece", min),
    ("figure: dice.background, better: less", min),
])
def test_the_best_weights_by_a_named_figure(made, tmp_path, best, better):
    """Expected: the figure that `eval` finds for the weights of each validation, which the whole training has kept."""
    run = tmp_path / "run"
    headrace("train", "--config", config_of(tmp_path, made / "n.zarr", f"best: {{{best}}}"), "--out", run)
    values = [line["validation"]["best_by"] for _, line in validations(run)]
    name = best.split(":")[1].split(",")[0].strip()
    final = json.loads((run / "eval.json").read_text())["overall"]
    for key in name.split("."):
        final = final[key]
    assert values[-1] == final and len(values) == EPOCHS
    step = BATCHES * (1 + values.index(better(values)))
    chosen = summary_of(run)["best"]
    assert (chosen["step"], chosen["value"], chosen["figure"]) == (step, better(values), name)
    assert tensors(run / "best.safetensors") == tensors(made / f"whole/checkpoints/step-{step:08}.safetensors")


def test_the_worst_cohort_decides(made, tmp_path):
    run = tmp_path / "run"
    headrace("train", "--config", config_of(tmp_path, made / "n.zarr", "best: {over: worst_cohort}"), "--out", run)
    values = [line["validation"]["best_by"] for _, line in validations(run)]
    cohorts = json.loads((run / "eval.json").read_text())["cohorts"]
    assert len(cohorts) == 3
    assert values[-1] == min(group["mean_dice"] for group in cohorts.values())
    assert summary_of(run)["best"]["value"] == max(values)
    judged = json_of("eval", "--run", run, "--weights", "best")
    assert min(group["mean_dice"] for group in judged["cohorts"].values()) == max(values)


def test_a_figure_that_is_never_defined_has_no_best(made, tmp_path):
    """Every image has nuclei, so no ranking of slides with cancer and without is possible."""
    config = config_of(tmp_path, made / "n.zarr", "best: {figure: detection.slides.auc}", epochs=2)
    done = headrace("train", "--config", config, "--out", tmp_path / "run")
    assert "detection.slides.auc is undefined" in done.stderr
    assert not (tmp_path / "run/best.safetensors").exists()
    best = summary_of(tmp_path / "run")["best"]
    assert best["step"] == 0 and best["value"] is None and best["mean_dice"] is None


def store_with_other_cohorts(folder):
    """Beside the two cohorts with nuclei one without any truth, and one that only the table declares negative."""
    rows = rows_of(SAMPLES / "nuclei/cases.csv")
    chosen = [row for row in rows if row["split"] == "train"][:4] + [row for row in rows if row["split"] == "val"][:6]
    for i, row in enumerate(chosen):
        row["negative"] = ""
        row["file"], row["annotation"] = (str(SAMPLES / "nuclei" / row[key]) for key in ("file", "annotation"))
        if i >= 7:
            row["cohort"], row["annotation"] = "clear" if i == 9 else "bare", ""
            row["negative"] = "1" if i == 9 else ""
    headrace("ingest", "slides", SAMPLES / "nuclei/images", "--table", write_table(folder / "cases.csv", chosen),
             "--classes", "background,nucleus", "--out", folder / "o.zarr")
    return folder / "o.zarr"


def test_a_cohort_without_truth_is_not_the_worst(tmp_path):
    """No network has a figure in it, so it must neither end the training nor leave it without a best."""
    store = store_with_other_cohorts(tmp_path)
    run = tmp_path / "run"
    train = "patience: 2, min_delta: 1, best: {figure: dice.background, over: worst_cohort}"
    headrace("train", "--config", config_of(tmp_path, store, train, epochs=6), "--out", run)
    lines = validations(run)
    cohorts = json.loads((run / "eval.json").read_text())["cohorts"]
    assert cohorts["bare"]["dice"]["background"] is None and cohorts["clear"]["dice"]["background"] is not None
    assert lines[-1][1]["validation"]["best_by"] == min(group["dice"]["background"] for name, group in cohorts.items() if name != "bare")
    assert summary_of(run)["best"]["step"] > 0 and (run / "best.safetensors").exists()


def test_the_subset_has_images_that_the_table_declares_negative(tmp_path):
    store = store_with_other_cohorts(tmp_path)
    with_truth = {row["cohort"] for row in rows_of(tmp_path / "cases.csv") if row["split"] == "val"} - {"bare"}
    run = tmp_path / "run"
    best = "best: {figure: dice.background, over: worst_cohort}"
    headrace("train", "--config", config_of(tmp_path, store, best, f"subset: {len(with_truth)}", epochs=2), "--out", run)
    cohorts = json.loads((run / "eval.json").read_text())["cohorts"]
    assert {line["of_images"] for _, line in validations(run)} == {len(with_truth)}
    said = sentence_of(headrace("train", "--config", config_of(tmp_path, store, best, f"subset: {len(with_truth) - 1}"), "--out", tmp_path / "no",
                                code=2))
    assert f"images of {len(with_truth)} cohorts" in said
    assert set(cohorts) == with_truth | {"bare"}


def test_validations_without_a_value_do_not_end_the_training(made, tmp_path):
    config = config_of(tmp_path, made / "n.zarr", "patience: 1, best: {figure: detection.slides.auc}", epochs=4)
    headrace("train", "--config", config, "--out", tmp_path / "run")
    assert summary_of(tmp_path / "run")["stopped_early"] is False
    assert summary_of(tmp_path / "run")["steps"] == 4 * BATCHES


def test_what_no_evaluation_has_is_refused_at_once(made, tmp_path):
    for train, words in {"best: {figure: dice.nuclei}": "did you mean 'dice.nucleus'",
                         "best: {figure: lesion.froc}": "train.best.figure is 'lesion.froc'",
                         "best: {over: worst_phase}": "slides have no phases",
                         "best: {over: cohort}": "worst_cohort",
                         "patience: 2, validate_every: 0": "train.validate_every is 0",
                         "min_delta: 0.1": "needs train.patience"}.items():
        said = sentence_of(headrace("train", "--config", config_of(tmp_path, made / "n.zarr", train), "--out", tmp_path / "run", code=2))
        assert words in said, said
        assert not (tmp_path / "run").exists()


def test_validations_on_a_subset_take_the_same_images_of_every_cohort(made, tmp_path):
    """Expected: a bare evaluation of each image, by the weights at the end, from eval.json."""
    run = tmp_path / "run"
    headrace("train", "--config", config_of(tmp_path, made / "n.zarr", "", "subset: 4", epochs=3), "--out", run)
    lines = validations(run)
    assert [step for step, _ in lines] == [BATCHES, 2 * BATCHES, 3 * BATCHES]
    assert {line["of_images"] for _, line in lines} == {4}
    evaluation = json.loads((run / "eval.json").read_text())
    assert len(evaluation["images"]) == 6
    sums = {}
    for chosen in range(1 << 6):
        images = [image for i, image in enumerate(evaluation["images"]) if chosen >> i & 1]
        if len(images) == 4 and len({image["cohort"] for image in images}) == 3:
            matrix = sum(np.array(image["matrix"], dtype=np.float64) for image in images)
            sums[2 * matrix[1, 1] / (matrix[1].sum() + matrix[:, 1].sum())] = images
    assert min(abs(value - lines[-1][1]["validation"]["mean_dice"]) for value in sums) < 1e-12, "no four images of all cohorts give it"
    best = max(lines, key=lambda line: line[1]["validation"]["mean_dice"])
    assert summary_of(run)["best"]["step"] == best[0]


def test_a_subset_without_some_cohort_is_refused(made, tmp_path):
    config = config_of(tmp_path, made / "n.zarr", "", "subset: 2")
    said = sentence_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))
    assert "images of 3 cohorts" in said and "Take at least 3" in said
    assert not (tmp_path / "run").exists()


def test_so_many_checkpoints_are_kept(made, tmp_path):
    assert len(os.listdir(made / "whole/checkpoints")) == EPOCHS
    headrace("train", "--config", config_of(tmp_path, made / "n.zarr", "keep_checkpoints: 1", epochs=3), "--out", tmp_path / "run")
    assert os.listdir(tmp_path / "run/checkpoints") == [f"step-{3 * BATCHES:08}.safetensors"]
