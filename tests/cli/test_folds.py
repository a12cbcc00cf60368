"""Cross-validation by patient: headrace train --folds, its figures, and what follows from its folder."""
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from driving import PROGRAM, SAMPLES, headrace, json_of, rows_of, sentence_of, write_table
from folded import FOLDS, folds_config, trained_folds
from made_once import made_once
from report_page import Page
from scipy import stats


@pytest.fixture(scope="module")
def folded(tmp_path_factory):
    return made_once(tmp_path_factory, "folded", trained_folds)


@pytest.fixture(scope="module")
def five(folded):
    return folded / "five"


def evaluations(folder):
    return [json.loads((folder / f"fold-{fold}/eval.json").read_text()) for fold in range(FOLDS)]


def files_of(run):
    """Bytes of what a training makes, without times: weights and figures."""
    files = {name: (run / name).read_bytes() for name in ("final.safetensors", "best.safetensors")}
    evaluation = json.loads((run / "eval.json").read_text())
    del evaluation["time"]
    return files | {"eval.json": evaluation}


def dice_of(matrix):
    """By class; rows are the truth."""
    matrix = np.asarray(matrix, dtype=np.float64)
    return 2 * np.diag(matrix) / (matrix.sum(0) + matrix.sum(1))


def test_each_patient_is_judged_once_by_a_network_that_has_not_seen_it(five):
    judged = [image["case"] for evaluation in evaluations(five) for image in evaluation["images"]]
    assert sorted(judged) == sorted(["patient0"] * 2 + ["patient1"] * 2 + [f"patient{i}" for i in range(2, 7)])
    by_fold = [{image["case"] for image in evaluation["images"]} for evaluation in evaluations(five)]
    assert sum(map(len, by_fold)) == 7 and all(by_fold), "a patient is torn apart, or a fold is empty"


def test_the_spread_over_folds_is_that_of_scipy(five):
    folds = json.loads((five / "folds.json").read_text())
    values = [evaluation["overall"]["dice"]["nucleus"] for evaluation in evaluations(five)]
    found = folds["over_folds"]["overall"]["dice"]["nucleus"]
    assert found["values"] == values
    assert found["mean"] == pytest.approx(np.mean(values), rel=1e-12)
    assert found["sd"] == pytest.approx(np.std(values, ddof=1), rel=1e-12)
    low, high = stats.t.interval(0.95, FOLDS - 1, loc=np.mean(values), scale=stats.sem(values))
    assert found["t_95"] == pytest.approx([low, high], rel=1e-6)
    for cohort, group in folds["over_folds"]["cohorts"].items():
        assert group["mean_dice"]["values"] == [
            evaluation["cohorts"].get(cohort, {}).get("mean_dice") for evaluation in evaluations(five)]


def test_pooled_figures_are_those_of_all_images_together(five):
    """Expected: Dice of NumPy's sum of the images' matrices."""
    folds = json.loads((five / "folds.json").read_text())
    images = [image for evaluation in evaluations(five) for image in evaluation["images"]]
    cohorts = {None: "overall"} | {name: name for name in {image["cohort"] for image in images}}
    for cohort in cohorts:
        chosen = [image for image in images if cohort in (None, image["cohort"])]
        pooled = folds["pooled"]["overall"] if cohort is None else folds["pooled"]["cohorts"][cohort]
        assert pooled["images"] == len(chosen) and pooled["cases"] == len({image["case"] for image in chosen})
        background, nucleus = dice_of(sum(np.array(image["matrix"]) for image in chosen))
        assert pooled["dice"] == {"background": pytest.approx(background, rel=1e-12), "nucleus": pytest.approx(nucleus, rel=1e-12)}
    assert folds["pooled"]["overall"]["no_interval"] == "7 cases: no interval"
    assert folds["resamples"] == 1000


def test_the_folds_are_runs_like_any_other(five, folded, tmp_path):
    """A fold trained alone, by the keys of its config, is the same to the last bit."""
    config = folds_config(tmp_path / "run.yaml", folded / "n.zarr")
    config.write_text(config.read_text().replace("n.zarr}", f"n.zarr, folds: {FOLDS}, fold: 1}}"))
    headrace("train", "--config", config, "--out", tmp_path / "run")
    assert files_of(tmp_path / "run") == files_of(five / "fold-1")
    headrace("train", "--config", folded / "run.yaml", "--folds", FOLDS, "--fold", 1, "--out", tmp_path / "array")
    assert files_of(tmp_path / "array/fold-1") == files_of(five / "fold-1")


def kill_in(folder, config, fold):
    """Kills the whole command while it trains a fold."""
    process = subprocess.Popen([PROGRAM, "train", "--config", config, "--folds", str(FOLDS), "--out", folder], stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.time() + 120
    while process.poll() is None and not any((folder / f"fold-{fold}").glob("checkpoints/step-*")):
        assert time.time() < deadline
        time.sleep(0.002)
    return process


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_one_goes_on_with_the_fold_that_is_not_finished(five, folded, tmp_path, how):
    out = tmp_path / "out"
    config = folds_config(tmp_path / "run.yaml", folded / "n.zarr", batches=2000)
    process = kill_in(out, folds_config(tmp_path / "short.yaml", folded / "n.zarr"), 1) if how == signal.SIGKILL else kill_in(out, config, 0)
    process.send_signal(how)
    code = process.wait(timeout=120)
    if how == signal.SIGINT:
        # Its fold has written a checkpoint, and no other was begun.
        assert code == 1 and not (out / "fold-1").exists() and not (out / "fold-0/summary.json").exists()
        assert any((out / "fold-0/checkpoints").iterdir())
        return
    assert code == -how
    deadline = time.time() + 60  # the fold's own process ends by its parent's death
    while subprocess.run(["pgrep", "-f", str(out)], capture_output=True, check=False).returncode == 0:
        assert time.time() < deadline
        time.sleep(0.05)
    first = (out / "fold-0/summary.json").stat().st_mtime_ns
    headrace("train", "--config", tmp_path / "short.yaml", "--folds", FOLDS, "--out", out, "--resume")
    assert (out / "fold-0/summary.json").stat().st_mtime_ns == first, "a finished fold was trained again"
    for fold in range(FOLDS):
        assert files_of(out / f"fold-{fold}") == files_of(five / f"fold-{fold}")
    again, before = (json.loads((folder / "folds.json").read_text()) for folder in (out, five))
    assert again == before


@pytest.mark.parametrize("written", [["run.json"], ["run.json", "preprocessing.json"]])
def test_a_fold_that_was_killed_before_it_had_begun_is_started_again(five, folded, tmp_path, written):
    """config.json is the last file of a start; the fold has no run without it."""
    out = tmp_path / "out"
    shutil.copytree(five, out)
    (out / "folds.json").unlink()
    for path in [*(out / "fold-1").iterdir()]:
        if path.name not in written:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    headrace("train", "--config", folded / "run.yaml", "--folds", FOLDS, "--out", out, "--resume")
    assert files_of(out / "fold-1") == files_of(five / "fold-1")
    assert (out / "folds.json").read_bytes() == (five / "folds.json").read_bytes()


def test_a_fold_that_fails_costs_no_other_its_training(five, folded, tmp_path):
    """Something lies where one fold is to be; the others are trained, and kept when the series goes on."""
    out, config = tmp_path / "out", folded / "run.yaml"
    (out / "fold-1").mkdir(parents=True)
    (out / "fold-1/notes.txt").write_text("not a run\n")
    done = headrace("train", "--config", config, "--folds", FOLDS, "--out", out, code=2)
    assert "fold-1 is not empty and holds no run" in sentence_of(done) and "fold 1 has not come to its end (exit code 2)" in done.stderr
    assert "1 of 3 folds failed (1), for the reasons above; the others are finished and kept" in done.stderr and "--resume" in done.stderr
    assert not (out / "folds.json").exists() and os.listdir(out / "fold-1") == ["notes.txt"]
    for fold in (0, 2):
        assert files_of(out / f"fold-{fold}") == files_of(five / f"fold-{fold}")
    (out / "fold-1/notes.txt").unlink()
    kept = {fold: (out / f"fold-{fold}/summary.json").stat().st_mtime_ns for fold in (0, 2)}
    headrace("train", "--config", config, "--folds", FOLDS, "--out", out, "--resume")
    assert kept == {fold: (out / f"fold-{fold}/summary.json").stat().st_mtime_ns for fold in (0, 2)}, "a finished fold was trained again"
    assert files_of(out / "fold-1") == files_of(five / "fold-1")
    assert (out / "folds.json").read_bytes() == (five / "folds.json").read_bytes()


def test_a_fold_whose_process_is_killed_costs_no_other(five, folded, tmp_path):
    """As by the machine when memory runs out: exit code 1, and the killed fold goes on later."""
    out = tmp_path / "out"
    config = folds_config(tmp_path / "run.yaml", folded / "n.zarr", batches=300)
    whole = subprocess.Popen([PROGRAM, "train", "--config", config, "--folds", "2", "--out", out], stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 120
    while not any((out / "fold-0").glob("checkpoints/step-*")):
        assert whole.poll() is None and time.time() < deadline
        time.sleep(0.002)
    (child,) = map(int, Path(f"/proc/{whole.pid}/task/{whole.pid}/children").read_text().split())
    os.kill(child, signal.SIGKILL)
    _, said = whole.communicate(timeout=300)
    assert whole.returncode == 1 and "was killed by signal 9" in said and "1 of 2 folds failed (0)" in said, said
    assert (out / "fold-1/summary.json").exists() and not (out / "fold-0/summary.json").exists()
    headrace("train", "--config", config, "--folds", 2, "--out", out, "--resume")
    assert (out / "folds.json").exists()


def test_the_folder_predicts_as_its_runs_named_one_by_one(five, tmp_path):
    image = next((SAMPLES / "nuclei/images").glob("dsb_8f27*"))
    one_by_one = [word for fold in range(FOLDS) for word in ("--run", five / f"fold-{fold}")]
    headrace("predict", "--run", five, image, "--out", tmp_path / "a", "--mpp", 0.5)
    headrace("predict", *one_by_one, image, "--out", tmp_path / "b", "--mpp", 0.5)
    left, right = ({str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()}
                   for name in "ab")
    assert any(name.endswith("findings.json") for name in left)
    assert left.keys() == right.keys()
    assert [name for name in left if left[name] != right[name] and not name.startswith(".")] == []
    assert len(json.loads(left["predict.json"])["runs"]) == FOLDS


def test_a_folder_with_an_unfinished_fold_is_refused(five, tmp_path):
    for name in ("fold-0", "fold-2"):
        shutil.copytree(five / name, tmp_path / "some" / name)
    said = sentence_of(headrace("predict", "--run", tmp_path / "some", SAMPLES / "nuclei/images", "--out", tmp_path / "out", code=2))
    assert "fold-1 of its 3 folds is not finished" in said
    assert not (tmp_path / "out").exists()


def test_runs_that_only_have_such_names_are_no_folds(five, tmp_path):
    for name in ("fold-a", "fold-60"):
        shutil.copytree(five / "fold-0", tmp_path / "named" / name)
    said = sentence_of(headrace("predict", "--run", tmp_path / "named", SAMPLES / "nuclei/images", "--out", tmp_path / "out", code=1))
    assert "holds no run" in said


def test_eval_judges_by_the_runs_own_fold(five, tmp_path):
    run = tmp_path / "fold-2"
    shutil.copytree(five / "fold-2", run)
    found = json_of("eval", "--run", run)
    before = json.loads((five / "fold-2/eval.json").read_text())
    assert found["overall"] == before["overall"] and found["split"] == "val"
    assert found["fold"] == before["fold"] == {"fold": 2, "folds": FOLDS, "folds_seed": 0}
    seen = json_of("eval", "--run", run, "--split", "train")
    assert {image["case"] for image in seen["images"]}.isdisjoint({image["case"] for image in before["images"]})
    assert len(seen["images"]) + len(before["images"]) == 9


def test_another_dataset_has_no_folds(five, folded, tmp_path):
    """Its split `val` may hold patients that the fold was trained on."""
    rows = (folded / "cases.csv").read_text().splitlines()
    (tmp_path / "cases.csv").write_text("\n".join(rows[:-1]) + "\n")
    headrace("ingest", "slides", SAMPLES / "nuclei/images", "--table", tmp_path / "cases.csv", "--classes", "background,nucleus",
             "--out", tmp_path / "other.zarr")
    shutil.copytree(five / "fold-2", tmp_path / "run")
    assert "--split" in sentence_of(headrace("eval", "--run", tmp_path / "run", "--store", tmp_path / "other.zarr", code=2))
    found = json_of("eval", "--run", tmp_path / "run", "--store", tmp_path / "other.zarr", "--split", "val")
    assert len(found["images"]) == 1
    own = set(json.loads((five / "fold-2/eval.json").read_text())["cases"])
    for split in ("train", "val"):
        seen = {row["case"] for row in rows_of(tmp_path / "cases.csv") if row["split"] == split} - own
        said = headrace("eval", "--run", tmp_path / "run", "--store", tmp_path / "other.zarr", "--split", split).stderr
        assert (f"was trained on {len(seen)} of the cases (patients) of split '{split}'" in said) == bool(seen)


def test_one_page_of_all_folds(five, tmp_path):
    folder = shutil.copytree(five, tmp_path / "five")
    made_by_training = (folder / "report.html").read_text()
    assert headrace("report", folder).stdout.strip() == str(folder / "report.html")
    assert (folder / "report.html").read_text() == made_by_training
    page, folds = Page((folder / "report.html").read_text()), json.loads((folder / "folds.json").read_text())
    pooled = {row[0]: row[1:] for row in page.table("", "Cases", "Images", "Mean Dice")[1:]}
    assert set(pooled) == {"All", *folds["pooled"]["cohorts"]}
    for name, group in {"All": folds["pooled"]["overall"], **folds["pooled"]["cohorts"]}.items():
        assert pooled[name][:2] == [str(group["cases"]), str(group["images"])] and pooled[name][2].startswith(f"{group['mean_dice']:.3f}")
    (row,) = (row for row in page.table("Figure", *(f"fold-{fold}" for fold in range(FOLDS)), "Mean", "Standard deviation") if row[0] == "Mean Dice")
    spread = folds["over_folds"]["overall"]["mean_dice"]
    assert row[1:] == [f"{value:.3f}" for value in (*spread["values"], spread["mean"], spread["sd"])]
    text = (folder / "report.html").read_text()
    for fold in range(FOLDS):
        assert f'href="fold-{fold}/report.html"' in text and (folder / f"fold-{fold}/report.html").exists()
    (folder / "folds.json").unlink()
    assert "not all folds are finished" in sentence_of(headrace("report", folder, code=1))


def test_folds_are_not_promoted_by_each_others_patients(five, tmp_path):
    """No evaluation of a fold's network can be of another fold's images; one of the split test is."""
    runs = [shutil.copytree(five / f"fold-{fold}", tmp_path / f"fold-{fold}") for fold in range(2)]
    (tmp_path / "gates.yaml").write_text("mean_dice: 0\n")
    how = ("--as", "nuclei", "--registry", tmp_path / "registry", "--gate", tmp_path / "gates.yaml", "--worse", "mean_dice=1")
    headrace("promote", runs[0], *how)
    said = sentence_of(headrace("promote", runs[1], *how, code=2))
    assert "split val is a fold" in said and "--split test" in said
    for run in (runs[1], tmp_path / "registry/nuclei"):
        headrace("eval", "--run", run, "--split", "test")
    on_test = next(runs[1].glob("eval-final-test-*.json"))
    headrace("promote", runs[1], *how, "--evaluation", on_test)


def test_folds_that_join_keep_the_version_of_the_first(folded, tmp_path):
    """A row that changes a patient's cohort makes a version that is dealt anew."""
    store = shutil.copytree(folded / "n.zarr", tmp_path / "n.zarr")
    config = folds_config(tmp_path / "run.yaml", store)
    headrace("train", "--config", config, "--folds", FOLDS, "--fold", 0, "--out", tmp_path / "out")
    image = rows_of(folded / "cases.csv")[0]["image"]
    headrace("ingest", "labels", store, "--table", write_table(tmp_path / "t.csv", [{"image": image, "cohort": "moved"}]))
    headrace("train", "--config", config, "--folds", FOLDS, "--out", tmp_path / "out", "--resume")
    hashes = {json.loads((tmp_path / f"out/fold-{fold}/run.json").read_text())["dataset_hash"] for fold in range(FOLDS)}
    now = json.loads((store / "manifest.json").read_text())["dataset_hash"]
    assert len(hashes) == 1 and now not in hashes
    config.write_text(config.read_text().replace("n.zarr}", f"n.zarr, version: {now}}}"))
    said = sentence_of(headrace("train", "--config", config, "--folds", FOLDS, "--out", tmp_path / "out", "--resume", code=2))
    assert "fold-0 was trained on dataset" in said and now in said


def test_predict_warns_where_a_split_is_not_the_fold(five, folded, tmp_path):
    store = folded / "n.zarr"
    said = headrace("predict", "--run", five / "fold-0", store, "--split", "val", "--out", tmp_path / "val").stderr
    assert "may have been trained on its patients" in said
    assert "may have been" not in headrace("predict", "--run", five / "fold-0", store, "--split", "test", "--out", tmp_path / "test").stderr


def test_a_figure_that_some_folds_lack_says_so_in_the_table(five, folded, tmp_path):
    """One fold's tumour Dice is taken away by hand, as where no image of a fold shows any."""
    for name in range(FOLDS):
        shutil.copytree(five / f"fold-{name}", tmp_path / f"five/fold-{name}")
    file = tmp_path / "five/fold-1/eval.json"
    evaluation = json.loads(file.read_text())
    evaluation["overall"]["tumour"]["dice"] = None
    file.write_text(json.dumps(evaluation))
    table = headrace("train", "--config", folded / "run.yaml", "--folds", FOLDS, "--out", tmp_path / "five", "--resume").stdout
    lines = {line.split()[0]: line for line in table[table.index("overall"):table.index("cohort ")].splitlines()[1:]}
    assert "(2 of 3)" in lines["tumour.dice"]
    assert " of 3)" not in lines["dice.nucleus"]


def test_what_fails_before_a_fold_is_begun_does_not_speak_of_going_on(folded, tmp_path):
    config = folds_config(tmp_path / "run.yaml", folded / "n.zarr")
    config.write_text(config.read_text().replace("log_every: 1", "log_every: 1, best: {figure: dice.nope}"))
    done = headrace("train", "--config", config, "--folds", 3, "--out", tmp_path / "out", code=2)
    assert "dice.nope" in sentence_of(done) and "--resume" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_cant_be_done_is_refused_before_anything_is_made(five, folded, tmp_path):
    config, out = folded / "run.yaml", tmp_path / "out"

    def said(*arguments, to=out):
        return sentence_of(headrace("train", "--config", config, "--out", to, *arguments, code=2))

    assert "have 7 cases" in said("--folds", 8)
    assert "expected 0 to 2" in said("--folds", 3, "--fold", 3)
    assert "--fold" in said("--fold", 1)
    assert "already holds folds" in said("--folds", 3, to=five)
    other = folds_config(tmp_path / "other.yaml", folded / "n.zarr", batches=3)
    text = sentence_of(headrace("train", "--config", other, "--folds", 3, "--out", five, "--resume", code=2))
    assert "fold-0" in text and "sampling.batches_per_epoch: the run has 2, now 3" in text
    assert "is a run folder" in said("--folds", 3, to=five / "fold-0")
    assert "is a run folder" in said("--folds", 3, "--fold", 1, to=five / "fold-0")
    headrace("train", "--config", config, "--folds", 3, "--out", out, "--resume", code=1)
    assert not out.exists()


def test_volumes_pool_their_own_figures(tmp_path):
    """Expected: NumPy over the images of the folds, in which means are over volumes and lesions are counted together."""
    headrace("phantom", "volumes", "--out", tmp_path / "ct", "--count", 4, "--size", 48, "--slices", 32, "--phases", 1, "--seed", 3)
    headrace("ingest", "volumes", tmp_path / "ct/images", "--table", tmp_path / "ct/cases.csv", "--out", tmp_path / "ct.zarr")
    (tmp_path / "run.yaml").write_text(f"""task: colorectal
data: {{store: {tmp_path / "ct.zarr"}}}
patch: {{size: [16, 32, 32], spacing_mm: null}}
sampling: {{batch: 2, batches_per_epoch: 3}}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: 1, lr: 1.0e-2, threads: 1}}
eval: {{overlap: 0, bootstrap: 50}}
""")
    found = json_of("train", "--config", tmp_path / "run.yaml", "--folds", 2, "--out", tmp_path / "two")
    images = [image for fold in range(2) for image in json.loads((tmp_path / f"two/fold-{fold}/eval.json").read_text())["images"]]
    assert len(images) == 4 and found["resamples"] == 50
    pooled = found["pooled"]["overall"]
    for key in ("dice", "surface_dice", "hd95_penalised"):
        for name, value in pooled[key].items():
            values = [image[key][name] for image in images if image[key][name] is not None]
            assert value == (pytest.approx(np.mean(values), rel=1e-12) if values else None), (key, name)
    lesions = [lesion for image in images for lesion in image["lesions"]]
    calls = [call for image in images for call in image["calls"]]
    assert lesions and calls
    assert pooled["lesion"]["sensitivity"] == pytest.approx(sum(call["hit"] and call["score"] >= 0.5 for call in calls) / len(lesions))
    assert pooled["lesion"]["false_positives_per_scan"] == sum(not call["hit"] and call["score"] >= 0.5 for call in calls) / 4


def test_json_is_one_object(five, folded):
    found = json_of("train", "--config", folded / "run.yaml", "--folds", FOLDS, "--out", five, "--resume")
    assert found == json.loads((five / "folds.json").read_text())
