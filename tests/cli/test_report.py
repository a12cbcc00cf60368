"""The report of a run and the comparison of several: the whole page by an HTML parser, its figures against eval.json, the pictures of the
worst and best images against the files they were ingested from, hostile names, a thousand images, gates and paths."""
import base64
import io
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pytest
import scipy.ndimage
from driving import CHAIN, PROGRAM, SAMPLES, headrace, message_of, rows_of, write_config
from made_once import made_once
from PIL import Image
from report_page import LOADED, Page

EVIL = "<script>alert(1)</script>\"'&<b>"


def train(folder):
    headrace("ingest", "slides", SAMPLES / "nuclei/images", "--table", SAMPLES / "nuclei/cases.csv", "--classes", "background,nucleus",
             "--codec", "blosc-zstd", "--out", folder / "n.zarr")
    extra = ("model: {name: unet2d, widths: [8, 16]}\ntrain: {epochs: 2, lr: 5.0e-3, threads: 1, log_every: 2}\n"
             "eval: {overlap: 0, batch: 16, bootstrap: 20}\ngates: [{figure: dice.nucleus, least: 0.2}, {figure: mean_dice, least: 0.999}]\n")
    headrace("train", "--config", write_config(folder / "c.yaml", folder / "n.zarr", extra=extra, transforms=CHAIN, batches=40),
             "--out", folder / "run")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store of 23 real images, and a run of a few steps on it."""
    return made_once(tmp_path_factory, "report-run", train)


@pytest.fixture
def run(made, tmp_path):
    """A copy to change."""
    return shutil.copytree(made / "run", tmp_path / "run")


def written(path):
    return json.loads(path.read_text())


def page_of(*runs, out=None):
    out = out or runs[0] / "report.html"
    headrace("report", *runs, "--out", out)
    return Page(out.read_text())


def change(file, edit):
    value = written(file)
    edit(value)
    file.write_text(json.dumps(value))


def shown(value, digits=3):
    return "–" if value is None else f"{value:.{digits}f}"


def cell(group, *path):
    """A figure with its interval as a cell of the page."""
    value, interval = group, group.get("interval_95", {})
    for key in path:
        value, interval = value[key], (interval or {}).get(key)
    return shown(value) + (f" {shown(interval[0])}–{shown(interval[1])}" if interval else "")


def test_the_page_is_whole_and_loads_nothing(made):
    page = Page((made / "run/report.html").read_text())
    assert not LOADED & {tag for tag, _ in page.tags}
    assert all(source.startswith("data:image/") for source in page.sources()) and page.sources()
    (policy,) = [a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]
    style = re.search("<style>(.*?)</style>", (made / "run/report.html").read_text(), re.S)[1]
    assert "url(" not in style and "@import" not in style and "@media print" in style
    headings = re.findall("<h2>(.*?)</h2>", (made / "run/report.html").read_text())
    assert headings == ["Training", "By cohort, scanner", "Segmentation on split “val”", "Against what looks at no pixel",
                        "Foreground against the rest", "Calibration", "Worst and best images", "What the model saw and said", "Images",
                        "Where the time went", "Data card", "Model card", "Reproduce"]


def test_no_path_of_the_machine_is_shown(made):
    """The config names the store by its whole path; the page, its name alone."""
    assert written(made / "run/config.json")["data"]["store"] == str(made / "n.zarr")
    text = (made / "run/report.html").read_text()
    assert str(made) not in text and str(made.parent) not in text and "n.zarr" in text


def test_figures_are_those_of_eval_json(made):
    page, result = Page((made / "run/report.html").read_text()), written(made / "run/eval.json")
    images = result["images"]
    rows = page.table("", "Name", "Cases", "Images", "Mean Dice")
    groups = {"All": {"": result["overall"]}, "Cohort": result["cohorts"], "Scanner": result["scanners"]}
    assert sorted(row[0] for row in rows[1:]) == sorted(kind for kind, of in groups.items() for _ in of)
    for kind, name, cases, count, dice, auc in rows[1:]:
        name, group = name.removesuffix("worst"), groups[kind][name.removesuffix("worst")]
        of = [i for i in images if kind == "All" or i[kind.lower()] == name]
        assert (int(cases), int(count)) == (len({i["case"] for i in of}), len(of))
        assert (dice, auc) == (cell(group, "mean_dice"), cell(group, "tumour", "auc"))
    cohorts = [row[1] for row in rows if row[0] == "Cohort"]
    by_dice = sorted(result["cohorts"], key=lambda name: result["cohorts"][name]["mean_dice"])
    assert cohorts == [by_dice[0] + "worst", *by_dice[1:]] and len(cohorts) == 3
    by_class = page.table("", "Name", "Cases", "Images", "background")[1:]  # the cohort with the lowest mean may have a class's best
    assert [row[1] for row in by_class if row[0] == "Cohort"] == by_dice
    listed = page.table("Image", "Case", "Cohort")[1:]
    assert [row[0] for row in listed] == [i["id"] for i in sorted(images, key=lambda i: (i["mean_dice"], i["id"]))]
    assert {row[0]: row[4] for row in listed} == {i["id"]: shown(i["mean_dice"]) for i in images}
    confusion = page.table("true \\ predicted")[1:]
    matrix = np.array(result["overall"]["matrix"], float)
    assert [[float(c.removesuffix("\u202f%")) for c in row[1:]] for row in confusion] == \
        [[round(v, 1) for v in row] for row in (100 * matrix / matrix.sum(1, keepdims=True)).tolist()]
    baseline = {row[0]: row[1:] for row in page.table("", "Network", "Baseline")[1:]}
    assert baseline["Mean Dice"] == [shown(result["overall"]["mean_dice"]), shown(result["baseline"]["overall"]["mean_dice"])]
    for cohort, figures in result["cohorts"].items():
        assert baseline[f"Mean Dice, cohort {cohort}"] == [shown(figures["mean_dice"]), shown(result["baseline"]["cohorts"][cohort]["mean_dice"])]
    assert sum(name.startswith("Mean Dice, ") for name in baseline) == len(result["cohorts"])  # one scanner is nothing to compare


def test_curves_have_every_validation_and_mark_the_best_step(made):
    text, summary = (made / "run/report.html").read_text(), written(made / "run/summary.json")
    steps = [line["step"] for line in map(json.loads, (made / "run/metrics.jsonl").read_text().splitlines()) if "validation" in line]
    chart = next(c for c in re.findall("<svg.*?</svg>", text, re.S) if "Validation Dice" in c)
    assert steps == [40, 80] and [int(at) for at in re.findall(r"<title>mean: [\d.]+ at (\d+)</title>", chart)] == steps
    # The line lies at the best step's part of the axis, which goes from 48 to 546 for the steps 0 to 80.
    (x,) = re.findall(r'class="marked" x1="([\d.]+)"', chart)
    assert float(x) == pytest.approx(48 + summary["best"]["step"] / 80 * 498, abs=0.06)


def test_gates_of_the_config_are_judged_at_the_top(made):
    page = Page((made / "run/report.html").read_text())
    assert "Gates missed: 1 of 2." in page.text
    rows = {row[1]: row for row in page.table("", "Figure", "Asked for", "Found")[1:]}
    result = written(made / "run/eval.json")["overall"]
    assert rows["dice.nucleus overall"] == ["✓ held", "dice.nucleus overall", "at least 0.2", f"{result['dice']['nucleus']:.4g} ({result['no_interval']})"]
    assert rows["mean_dice overall"] == ["✗ missed", "mean_dice overall", "at least 0.999", f"{result['mean_dice']:.4g} ({result['no_interval']})"]


def test_worst_and_best_are_chosen_from_all_images(made):
    result = written(made / "run/eval.json")
    order = sorted(result["images"], key=lambda i: (i["mean_dice"], i["id"]))
    best = sorted(result["images"], key=lambda i: (-i["mean_dice"], i["id"]))
    assert len(order) == 7  # of which a third, two, are best
    expected = [("worst", k + 1, i["id"], i["mean_dice"]) for k, i in enumerate(order[:4])] + \
        [("best", k + 1, i["id"], i["mean_dice"]) for k, i in enumerate(best[:2])]
    assert [(e["rank"], e["number"], e["image"], e["value"]) for e in result["examples"]] == expected


def decoded(run, name):
    return np.asarray(Image.open(run / name).convert("RGB")).astype(int)


def test_pictures_of_examples_are_the_image_with_its_annotation_outlined(made):
    """Against the PNG files: the original but for the JPEG's loss; what the second picture adds lies on the borders of the mask, inside it."""
    rows = {row["image"].split("/")[-1].removesuffix(".png"): row for row in rows_of(SAMPLES / "nuclei/cases.csv")}
    for example in written(made / "run/eval.json")["examples"]:
        source = np.asarray(Image.open(SAMPLES / "nuclei" / rows[example["image"]]["file"]).convert("RGB")).astype(int)
        original, truth = (decoded(made / "run", example[key]) for key in ("original", "truth"))
        if max(source.shape) > 512:  # reduced: compared where nothing is
            continue
        assert original.shape == source.shape and np.abs(original - source).mean() < 3
        mask = np.asarray(Image.open(SAMPLES / "nuclei" / rows[example["image"]]["annotation"])) > 0
        border = mask & ~scipy.ndimage.binary_erosion(mask, iterations=2, border_value=1)
        drawn = np.abs(truth - original).max(2) > 60
        assert drawn.sum() > 0.5 * border.sum() and (drawn & ~scipy.ndimage.binary_dilation(border, iterations=2)).mean() < 0.002
        green = truth[border & ~scipy.ndimage.binary_dilation(~mask, iterations=1)]
        assert len(green) and np.median(np.abs(green - [0x16, 0x96, 0x6e]).max(1)) < 60  # the colour of class 1 in the tables


def test_pictures_of_the_page_are_the_files_of_the_folder(made):
    page = Page((made / "run/report.html").read_text())
    inside = {base64.b64decode(source.split(",", 1)[1]) for source in page.sources()}
    assert inside == {path.read_bytes() for path in (made / "run/montage").iterdir()}
    for source in page.sources():
        Image.open(io.BytesIO(base64.b64decode(source.split(",", 1)[1]))).load()


def test_the_data_card_counts_cases_images_and_pixels(made):
    """Against the table; pixels against the masks (the index leaves background without tissue out, so only class 1)."""
    page, table = Page((made / "run/report.html").read_text()), rows_of(SAMPLES / "nuclei/cases.csv")
    splits = {row[0]: row[1:] for row in page.table("Split", "", "Cases")[1:]}
    for split, use in (("train", "trained on"), ("val", "judged on")):
        rows = [row for row in table if row["split"] == split]
        assert splits[split][:4] == [use, str(len({row["case"] for row in rows})), str(len(rows)), str(len(rows))]
    (pixels,) = [row for row in page.table("Class", "train", "val") if row[0] == "nucleus"]
    masks = {split: sum(int((np.asarray(Image.open(SAMPLES / "nuclei" / row["annotation"])) > 0).sum()) for row in table
                        if row["split"] == split) for split in ("train", "val")}
    assert [int(cell.replace("\u202f", "")) for cell in pixels[1:]] == [masks["train"], masks["val"]]


def test_hashes_and_commands_are_there(made):
    page, folder = Page((made / "run/report.html").read_text()), made / "run"
    run, summary = written(folder / "run.json"), written(folder / "summary.json")
    facts = {row[0]: row[1] for table in page.tables for row in table if len(row) == 2}
    assert (facts["config hash"], facts["dataset hash"], facts["weights SHA-256"]) == \
        (run["config_hash"], run["dataset_hash"], summary["weights_sha256"])
    for command in ("headrace replay run", "headrace eval --run run", "headrace view run", "headrace predict --run run n.zarr --images "):
        assert command in page.text
    assert "not a medical device" in page.text


def commands_of(page):
    """The lines that a reader copies, without their comments."""
    lines = [line.split("#")[0].strip() for line in page.text.split("kept here.")[1].splitlines()]
    return [line.removeprefix("Training is replayed in the run’s own folder, which has its steps.") for line in lines if "headrace " in line]


def test_the_commands_of_the_page_do_what_they_say(made, run, tmp_path):
    """As they stand, by a shell, in the folder that holds run and store; after each, what it is there for."""
    (tmp_path / "n.zarr").symlink_to(made / "n.zarr")
    replay, evaluate, view, predict, view_both = commands_of(Page((run / "report.html").read_text()))
    worst = written(run / "eval.json")["examples"][0]["image"]
    path = os.environ | {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}

    def done(command, code=0):
        finished = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=path, capture_output=True, text=True, timeout=300)
        assert finished.returncode == code, finished.stderr
        return finished.stdout

    def address(command):
        viewer = subprocess.Popen(["bash", "-c", f"exec {command} --no-open"], cwd=tmp_path, env=path, stdout=subprocess.PIPE, text=True)
        try:
            return viewer.stdout.readline()
        finally:
            viewer.terminate()
            viewer.wait(timeout=60)

    assert "10 of 80 steps are the run's" in done(replay)
    assert f"mean Dice {written(run / 'eval.json')['overall']['mean_dice']:.4f}" in done(evaluate, code=3)  # one of its gates is missed
    done(predict)
    assert [path.name for path in (tmp_path / "seen").iterdir() if path.is_dir()] == [worst]
    assert address(view).startswith("http://127.0.0.1:") and address(view_both).startswith("http://127.0.0.1:")


def rename(run, old, new):
    """Another name of a cohort and of an image in all files that the page is made of."""
    for name in ("eval.json", "run.json", "data_card.json"):
        text = (run / name).read_text()
        (run / name).write_text(text.replace(json.dumps(old), json.dumps(new)))


def test_text_of_the_data_is_never_markup(run):
    before = Page((run / "report.html").read_text())
    rename(run, "pink", EVIL)
    rename(run, "nucleus", "nu<i>cleus")
    worst = written(run / "eval.json")["examples"][0]["image"]
    rename(run, worst, "'; rm -rf <u>")
    text = (run / "metrics.jsonl").read_text()
    (run / "metrics.jsonl").write_text(text.replace('"nucleus"', '"nu<i>cleus"'))
    change(run / "config.json", lambda config: config["data"].update(labels=EVIL))
    page = page_of(run)
    assert {tag for tag, _ in page.tags} == {tag for tag, _ in before.tags}
    assert [tag for tag, _ in page.tags].count("b") == [tag for tag, _ in before.tags].count("b")
    assert EVIL in [row[1].removesuffix("worst") for row in page.table("", "Name", "Cases")[1:]]  # as text, whole
    assert "nu<i>cleus" in page.text and "--images ''\\''; rm -rf <u>'" in page.text  # one word for a shell


def test_a_picture_outside_the_run_folder_is_refused(run):
    change(run / "eval.json", lambda e: e["examples"][0].update(original="montage/../../../etc/passwd"))
    assert "not in montage/" in message_of(headrace("report", run, code=1))


def test_a_thousand_images_make_a_page_of_usable_size(run):
    def multiply(result):
        images = result["images"]
        result["images"] = [image | {"id": f"{image['id']}-{k:03}", "case": f"{image['case']}-{k:03}"}
                            for k in range(143) for image in images][:1000]
    size = (run / "report.html").stat().st_size
    change(run / "eval.json", multiply)
    page = page_of(run)
    assert "The 200 lowest of 1000 images" in page.text and "eval-slides.csv has all" in page.text
    assert len(page.table("Image", "Case", "Cohort")) == 201
    assert (run / "report.html").stat().st_size < size + 200_000


def test_many_cohorts_are_cut_with_a_count(run):
    def spread(result):
        one = next(iter(result["cohorts"].values()))
        result["cohorts"] = {f"site-{k:03}": one | {"mean_dice": k / 100} for k in range(60)}
    change(run / "eval.json", spread)
    rows = page_of(run).table("", "Name", "Cases")
    assert [row[1] for row in rows if row[0] == "Cohort"][:2] == ["site-000worst", "site-001"]
    assert [row[1] for row in rows if row[0] == "Cohort"][-1] == "20 more in eval.json"


def test_no_cohort_is_worse_than_one_without_a_figure(run):
    """Two of three have no mean Dice: there is nothing to be worse than."""
    def undefine(result):
        for name in sorted(result["cohorts"])[1:]:
            result["cohorts"][name]["mean_dice"] = None
    change(run / "eval.json", undefine)
    page = page_of(run)
    assert "worst" not in "".join(row[1] for row in page.table("", "Name", "Cases")[1:]) and "is the worst: Mean Dice" not in page.text
    assert page.text.count("Mean Dice is undefined there.") == 2


def test_a_missed_gate_never_reads_like_a_held_one(run):
    """0.79999 is 0.8 in four digits, and so is the bound that it misses."""
    def nearly(summary):
        summary["gate"] = {"passed": False, "figures": [
            {"figure": "mean_dice", "group": "overall", "least": 0.8, "found": 0.79999, "passed": False, "bound": "value"},
            {"figure": "hd95.nucleus", "group": "cohorts.pink", "most": 7, "found": None, "passed": False, "bound": "upper", "why": "<undefined>"}]}
    change(run / "summary.json", nearly)
    rows = page_of(run).table("", "Figure", "Asked for", "Found")[1:]
    assert rows == [["✗ missed", "mean_dice overall", "at least 0.8", "0.79999"],
                    ["✗ missed", "hd95.nucleus cohorts.pink", "at most 7, upper end of the interval", "undefined: <undefined>"]]


def test_pictures_that_are_gone_do_not_stop_the_page(run):
    shutil.rmtree(run / "montage")
    page = page_of(run)
    assert page.text.count("The pictures are not in this folder.") == 2 and not page.sources()


def test_a_promoted_model_has_its_page_elsewhere(run, tmp_path):
    """Its folder has no summary and no curves; another page in it would be damage."""
    change(run / "config.json", lambda config: config.update(gates=[{"figure": "mean_dice", "least": 0.01}]))
    headrace("promote", run, "--as", "nuclei", "--registry", tmp_path / "models")
    model = tmp_path / "models/nuclei"
    before = {path: path.read_bytes() for path in model.rglob("*") if path.is_file()}
    assert "--out" in message_of(headrace("report", model, code=2))
    page = page_of(model, out=tmp_path / "model.html")
    assert [command.split()[1] for command in commands_of(page)] == ["eval", "view", "predict", "view"]  # its folder has no steps to replay
    assert "A promoted model" in page.text and "has not come to its end" not in page.text and "Gates passed: all 1 hold." in page.text
    assert {path: path.read_bytes() for path in model.rglob("*") if path.is_file()} == before
    headrace("promote", "--list", "--registry", tmp_path / "models")
    both = page_of(run, model, out=tmp_path / "both.html")
    gates = {row[0]: row[3] for row in both.table("Run", "Task", "Steps", "Gates")[1:]}
    assert gates == {"A: run": "missed", "B: nuclei": "passed"}


@pytest.mark.parametrize("name", ["summary.json", "eval.json", "run.json"])
def test_a_file_that_lacks_something_is_no_failure_of_the_program(run, name):
    (run / name).write_text('{"labels": []}')
    message = message_of(headrace("report", run, code=1))
    assert str(run) in message and "another version" in message and "unexpected" not in message


def test_a_run_of_before_is_shown_without_what_it_lacks(run):
    """Neither data card nor pictures of examples nor gates, as runs had none."""
    (run / "data_card.json").unlink()
    change(run / "eval.json", lambda result: result.pop("examples"))
    for name in ("eval.json", "summary.json"):
        change(run / name, lambda value: value.pop("gate", None))
    page = page_of(run)
    assert "No gates" in page.text and "no data_card.json" in page.text and "Worst and best" not in page.text


def test_an_unfinished_run_is_shown_as_far_as_it_went(run):
    for name in ("eval.json", "summary.json"):
        (run / name).unlink()
    page = page_of(run)
    assert "has not come to its end" in page.text and "It has not been evaluated." in page.text
    assert [command.split()[1] for command in commands_of(page)] == ["replay", "view"]  # no weights yet that could be judged


def test_what_gives_access_is_not_shown(run, other, tmp_path):
    """Where a config has it, for functions of one's own: of an address the place remains, of a key its name."""
    held = {"url": "https://someone:pass-4711@models.example.org:8443/best.pt?sig=query-4711", "api_key": "key-4711", "tokens": 256,
            "login": {"Access-Token": "token-4711"}}
    change(run / "config.json", lambda config: config["train"].update(loss={"module": "own:loss", "arguments": held}))
    for page in (page_of(run), page_of(run, other, out=tmp_path / "both.html")):
        assert "https://models.example.org:8443/best.pt" in page.text and "256" in page.text and "(left out)" in page.text
        assert "4711" not in page.text and "someone" not in page.text


@pytest.fixture
def other(run, tmp_path):
    """A second run, of another learning rate and with other figures, for one cohort's sake also another name."""
    folder = shutil.copytree(run, tmp_path / "second <i>")
    change(folder / "config.json", lambda config: config["train"].update(lr=0.5))

    def worse(result):
        for group in (result["overall"], *result["cohorts"].values()):
            group["mean_dice"] /= 2
    change(folder / "eval.json", worse)
    return folder


def test_runs_stand_beside_each_other(run, other, tmp_path):
    page = page_of(run, other, out=tmp_path / "compare.html")
    a, b = written(run / "eval.json"), written(other / "eval.json")
    rows = page.table("", "Name", "A: run", "B: second <i>")[1:]
    assert [row[:2] for row in rows][:4] == [["All", ""], *(["Cohort", name] for name in sorted(a["cohorts"]))]
    assert rows[0][2:] == [cell(a["overall"], "mean_dice"), cell(b["overall"], "mean_dice")]
    for _, name, first, second in rows[1:4]:
        assert (first, second) == (cell(a["cohorts"][name], "mean_dice"), cell(b["cohorts"][name], "mean_dice"))
    assert page.table("Key")[1:] == [["train.lr", "0.005", "0.5"]]
    assert "judged on the same images" in page.text and not LOADED & {tag for tag, _ in page.tags}
    assert all(source.startswith("data:") for source in page.sources())
    charts = re.findall(r"<figcaption>(.*?)</figcaption>", (tmp_path / "compare.html").read_text())
    assert charts == ["Training loss", "Validation mean Dice", "Learning rate"]
    assert str(tmp_path) not in (tmp_path / "compare.html").read_text()


def test_runs_judged_on_other_images_are_told_apart(run, other, tmp_path):
    change(other / "eval.json", lambda result: result["images"].pop())
    assert "Not the same images." in page_of(run, other, out=tmp_path / "compare.html").text


def test_only_evaluated_runs_are_called_comparable(run, other, tmp_path):
    third = shutil.copytree(run, tmp_path / "third")
    same = "judged on the same images"

    def text():
        return page_of(run, other, third, out=tmp_path / "compare.html").text
    assert f"All were {same}" in text()
    (third / "eval.json").unlink()
    assert "1 of 3 runs have no evaluation." in text() and f"The others were {same}" in text() and "Not the same" not in text()
    (other / "eval.json").unlink()
    assert "2 of 3 runs have no evaluation." in text() and same not in text()
    (run / "eval.json").unlink()
    assert "3 of 3 runs have no evaluation." in text() and same not in text() and "Not the same" not in text()


def test_the_same_images_with_other_labels_are_not_comparable(run, other, tmp_path):
    change(other / "config.json", lambda config: config["data"].update(labels="second-reader"))
    page = page_of(run, other, out=tmp_path / "compare.html")
    assert "Not the same images." in page.text and ["data.labels", "annotation", "second-reader"] in page.table("Key")


def test_a_long_value_of_the_config_is_cut_between_characters(run, other, tmp_path):
    change(other / "config.json", lambda config: config["data"].update(version="a" + "é" * 200))
    page_of(run, other, out=tmp_path / "compare.html")  # reads the file as UTF-8


def test_several_runs_need_a_place_for_their_page(run, other):
    assert "--out" in message_of(headrace("report", run, other, code=2))
    assert "is missing" in message_of(headrace("report", run, other / "nothing", "--out", run / "x.html", code=1))
    assert not (run / "x.html").exists()
