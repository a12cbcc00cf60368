"""Worklists: uncertainty, distances and order against NumPy and SciPy on the maps; what is labelled stays out; what can't be compared is said."""
import shutil

import imageio.v3 as iio
import numpy as np
import pytest
import scipy.ndimage
import scipy.spatial.distance
import scipy.stats
import zarr
from driving import headrace, json_of, message_of, rows_of, version_of, write_table
from predictions import findings_of, phantom_scan_config, slide_config, trained

LABELLED = 5  # the first slides of the cohort
TRUTH = ("primary", "secondary", "grade_group", "annotation")


@pytest.fixture(scope="module")
def few_labelled(tmp_path_factory):
    """Phantom slides of two scanners, of which the first have labels; two runs on these; predictions of all."""
    folder = tmp_path_factory.mktemp("suggest")
    headrace("phantom", "slides", "--out", folder / "in", "--count", 12, "--size", 1100, "--scanners", 2, "--seed", 3)
    rows = rows_of(folder / "in/cases.csv")
    for row in rows[LABELLED:]:
        row.update({key: "" for key in TRUTH})
    write_table(folder / "in/few.csv", rows)
    classes = (folder / "in/classes.txt").read_text().split()
    headrace("ingest", "slides", folder / "in/slides", "--table", folder / "in/few.csv", "--classes", ",".join(classes), "--out", folder / "s.zarr")
    for name, epochs in (("run", 2), ("fold1", 1)):
        trained(folder, name, slide_config(folder / "s.zarr", batches=30, widths=(8, 16), epochs=epochs))
    headrace("predict", "--run", folder / "run", folder / "s.zarr", "--out", folder / "one")
    headrace("predict", "--run", folder / "run", "--run", folder / "fold1", folder / "s.zarr", "--out", folder / "both")
    return folder


def suggested(*arguments):
    return [line["id"] for line in json_of("suggest", *arguments)["suggestions"]]


def uncertainty_of(folder):
    """Entropy of the most uncertain tenth, the cells being of 32² pixels; disagreement; open doubt; and all of them."""
    group = zarr.open_group(folder, mode="r")
    classes, p = group["labels/classes/0"][:], group["0"][:] / 255
    known = classes != 255
    entropy = -np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(0) / np.log(len(p))
    y, x = np.indices(classes.shape) // 32
    cells = (y * 10000 + x)[known]
    mean = scipy.ndimage.mean(entropy[known], cells, np.unique(cells))
    values = np.sort(mean[np.searchsorted(np.unique(cells), cells)])[::-1]
    tail = values[: (len(values) + 9) // 10].mean()
    found = findings_of(folder)
    disputed = found.get("ensemble", {}).get("disputed_share")
    regions, tumour = found["slide"]["equivocal"]["list"], found["slide"]["tumour"]["pixels"]
    opened = 0
    if regions:
        changing = [r["doubt"] for r in regions if r["changes_grade_group"]]
        opened = min(1, max([sum(r["doubt"] * r["pixels"] for r in regions) / tumour, *changing]))
    return tail, disputed, opened, 1 - (1 - tail) * (1 - (disputed or 0)) * (1 - opened)


def standardised(columns):
    """A group of features: by median and MAD, else by the mean deviation, cut at 3.5."""
    out = []
    for column in np.asarray(columns, float).T:
        away = column - np.median(column)
        spread = scipy.stats.median_abs_deviation(column) * 1.4826 or np.abs(away).mean() * 1.2533
        if spread > 0:
            out.append(np.clip(away / spread, -3.5, 3.5))
    return np.array(out).T / np.sqrt(len(out))


def features_of(store, out, ids):
    shares, bins, looks = [], [], []
    columns = {name: image["columns"] for name, image in version_of(store)["images"].items()}
    for name in ids:
        group = zarr.open_group(out / name, mode="r")
        classes, p = group["labels/classes/0"][:], group["0"][:]
        known = classes != 255
        shares.append(np.sqrt([(classes[known] == c).mean() for c in range(len(p))]))
        bins.append(np.sqrt([np.mean(plane[known] // 32 == b) for plane in p for b in range(8)]))
        own = zarr.open_group(store / "images" / name, mode="r").attrs["headrace"]
        looks.append(np.concatenate([own["od_mean"], own["od_std"], np.ravel(own["stain"]["he"]), own["stain"]["max_concentration"]]))
    names = [[columns[name][key] for name in ids] for key in ("scanner", "cohort")]
    origin = [[value == other for column in names for value, other in ((column[i], o) for o in sorted(set(column)))] for i in range(len(ids))]
    return np.hstack([standardised(shares), standardised(bins), standardised(looks), np.array(origin, float) / np.sqrt(2)])


def expected_order(uncertainty, points, labelled, cases):
    """By definition: image, distance and nearest of each step."""
    apart = scipy.spatial.distance.cdist(points, points)
    taken, steps = [i for i, known in enumerate(labelled) if known], []
    seen = {cases[i] for i in taken}
    while left := [i for i in range(len(points)) if i not in taken]:
        if not any(cases[i] not in seen for i in left):
            seen = set()
        best = max((i for i in left if cases[i] not in seen), key=lambda i: (uncertainty[i] * (apart[i, taken].min() if taken else 1), -i))
        steps.append((best, apart[best, taken].min() if taken else None, taken[int(apart[best, taken].argmin())] if taken else None))
        taken.append(best)
        seen.add(cases[best])
    return steps


@pytest.mark.parametrize("out", ["one", "both"])
def test_the_list_is_its_definition(few_labelled, out):
    ids = sorted(path.name for path in (few_labelled / out).iterdir() if path.is_dir() and not path.name.startswith("."))
    parts = [uncertainty_of(few_labelled / out / name) for name in ids]
    rows = {row["image"]: row for row in rows_of(few_labelled / "in/few.csv")}
    labelled = [bool(rows[name]["annotation"]) for name in ids]
    points = features_of(few_labelled / "s.zarr", few_labelled / out, ids)
    done = json_of("suggest", few_labelled / out, "--store", few_labelled / "s.zarr")
    assert done["candidates"] == len(ids) - LABELLED and done["labelled"] == LABELLED
    expected = expected_order([p[3] for p in parts], points, labelled, [rows[name]["case"] for name in ids])
    assert [line["id"] for line in done["suggestions"]] == [ids[i] for i, _, _ in expected]
    for line, (image, distance, nearest) in zip(done["suggestions"], expected):
        tail, disputed, opened, total = parts[image]
        assert line["entropy"] == pytest.approx(tail, abs=2e-4)
        assert line["disputed_share"] == (None if disputed is None else pytest.approx(disputed, abs=1e-4))
        assert line["open_doubt"] == pytest.approx(opened, abs=1e-4)
        assert line["uncertainty"] == pytest.approx(total, abs=3e-4)
        assert line["distance"] == pytest.approx(distance, abs=1e-3) and line["nearest"] == ids[nearest]
        assert line["case"] == rows[line["id"]]["case"] and line["source"] == str(few_labelled / "s.zarr")
        regions = findings_of(few_labelled / out / line["id"])["slide"]["equivocal"]["list"]
        assert line["places"] == [region["number"] for region in regions[:5]]
        assert line["why"] and line["look_first"]


def test_the_table_holds_the_list(few_labelled, tmp_path):
    arguments = [few_labelled / "both", "--store", few_labelled / "s.zarr", "--count", 4]
    shown = headrace("suggest", *arguments, "--out", tmp_path / "worklist.csv").stdout
    lines = json_of("suggest", *arguments)["suggestions"]
    rows = rows_of(tmp_path / "worklist.csv")
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    for row, line in zip(rows, lines):
        assert row["id"] in shown and line["why"] in shown
        for key in ("id", "case", "scanner", "source", "why", "look_first", "nearest"):
            assert row[key] == line[key]
        for key in ("uncertainty", "distance", "entropy", "disputed_share", "open_doubt"):
            assert float(row[key]) == line[key]
    assert not list(tmp_path.glob("*part*")) and len(list(tmp_path.iterdir())) == 1


def test_threads_and_the_order_of_results_do_not_matter(few_labelled, tmp_path):
    folders = sorted(path for path in (few_labelled / "one").iterdir() if (path / "findings.json").exists())
    for name, arguments in (("a", [few_labelled / "one", "--threads", 1]), ("b", [*reversed(folders), "--threads", 5])):
        headrace("suggest", *arguments, "--store", few_labelled / "s.zarr", "--out", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_each_case_comes_once_before_any_comes_twice(few_labelled):
    cases = {row["image"]: row["case"] for row in rows_of(few_labelled / "in/few.csv")}
    order = [cases[name] for name in suggested(few_labelled / "one", "--count", 12)]  # without a store nothing is labelled
    number = len(set(cases.values()))
    assert len(order) == 12 and len(set(order[:number])) == number
    # Files that were never ingested have their cases from the prediction: each image is its own.
    line = json_of("suggest", few_labelled / "one", "--count", 1)["suggestions"][0]
    assert line["distance"] is None and line["nearest"] is None
    assert line["id"] == max((uncertainty_of(few_labelled / "one" / name)[3], name) for name in cases)[1]
    assert sorted(suggested(few_labelled / "one", "--cases", "any", "--count", 12)) == sorted(cases)


def test_another_store_tells_what_is_labelled(few_labelled, tmp_path):
    known = {row["image"] for row in rows_of(few_labelled / "in/few.csv") if row["annotation"]}
    done = json_of("suggest", few_labelled / "one", "--labelled", few_labelled / "s.zarr")
    assert not known & {line["id"] for line in done["suggestions"]} and done["labelled"] == LABELLED
    # A labelled image without a prediction can't be compared with, and that is said.
    (tmp_path / "some").mkdir()
    for path in (few_labelled / "one").glob("phantom-*"):
        if path.name not in sorted(known)[1:] + ["phantom-0012"]:
            shutil.copytree(path, tmp_path / "some" / path.name)
    done = json_of("suggest", tmp_path / "some", "--store", few_labelled / "s.zarr")
    assert done["labelled"] == 1 and done["labelled_without_prediction"] == LABELLED - 1
    assert done["left_out"]["not_predicted"] == ["phantom-0012"]
    shown = headrace("suggest", tmp_path / "some", "--store", few_labelled / "s.zarr").stdout
    assert "likeness to them is not known" in shown and "neither labels nor a prediction: phantom-0012" in shown


def test_labels_of_several_sets(few_labelled, tmp_path):
    """Another reader's slide counts as labelled where the reader's set is named."""
    shutil.copytree(few_labelled / "s.zarr", tmp_path / "s.zarr")
    (tmp_path / "masks").mkdir()
    shutil.copy(few_labelled / "in/masks/phantom-0009.tif", tmp_path / "masks")
    headrace("ingest", "labels", tmp_path / "s.zarr", "--annotations", tmp_path / "masks", "--set", "reader2")
    own, both = (suggested(few_labelled / "one", "--store", tmp_path / "s.zarr", "--set", sets) for sets in ("annotation", "annotation,reader2"))
    assert set(own) - set(both) == {"phantom-0009"}
    assert "it has: annotation, reader2" in message_of(headrace("suggest", few_labelled / "one", "--store", tmp_path / "s.zarr", "--set", "annotation,reader3", code=2))


def test_only_images_of_a_split(few_labelled):
    splits = {row["image"]: row["split"] for row in rows_of(few_labelled / "in/few.csv")}
    done = json_of("suggest", few_labelled / "one", "--store", few_labelled / "s.zarr", "--split", "train")
    assert {splits[line["id"]] for line in done["suggestions"]} == {"train"}
    assert done["of_other_splits"] == sum(s == "val" for name, s in splits.items() if name > f"phantom-{LABELLED:04d}")


def test_glass_is_left_out(few_labelled, tmp_path):
    iio.imwrite(tmp_path / "glass.png", np.full((900, 700, 3), 243, np.uint8))
    headrace("predict", "--run", few_labelled / "run", tmp_path / "glass.png", "--mpp", 0.5, "--out", tmp_path / "out")
    done = json_of("suggest", few_labelled / "one", tmp_path / "out", "--count", 99)
    assert done["left_out"]["nothing_predicted"] == ["glass"] and len(done["suggestions"]) == 12
    said = message_of(headrace("suggest", tmp_path / "out", code=2))
    assert "in none of the images without labels was anything predicted" in said and "glass" in said
    done = json_of("suggest", few_labelled / "one", tmp_path / "out", "--store", few_labelled / "s.zarr")
    assert done["left_out"]["not_in_store"] == ["glass"]


def test_what_can_not_be_compared_is_refused(few_labelled, tmp_path):
    one, store = few_labelled / "one", few_labelled / "s.zarr"

    def refusal(*arguments, code=2):
        said = message_of(headrace("suggest", *arguments, "--out", tmp_path / "list.csv", code=code))
        assert not (tmp_path / "list.csv").exists()
        return said

    assert "no finished prediction there" in refusal(tmp_path, code=1)
    shutil.copytree(few_labelled / "both/phantom-0001", tmp_path / "other/phantom-0099")
    group = tmp_path / "other/phantom-0099/zarr.json"
    group.write_text(group.read_text().replace('"phantom-0001"', '"phantom-0099"'))
    assert "different networks can't be compared" in refusal(one, tmp_path / "other")
    assert "two predictions of image 'phantom-0001'" in refusal(one, one / "phantom-0001")
    assert "'vall'" in refusal(one, "--store", store, "--split", "vall")
    assert "--store" in refusal(one, "--split", "train")
    assert "no labels of the set 'reader2'; it has: annotation" in refusal(one, "--store", store, "--set", "reader2")
    assert "have labels already (set annotation)" in refusal(one / "phantom-0001", one / "phantom-0002", "--labelled", store)
    assert "predict them first" in refusal(one / "phantom-0001", "--store", store)
    refusal(one, "--cases", "all")
    shutil.copytree(one / "phantom-0007", tmp_path / "broken/phantom-0007")
    (tmp_path / "broken/phantom-0007/findings.json").write_text('{"slide": {}}')
    assert "phantom-0007/findings.json: not the findings of a prediction" in refusal(tmp_path / "broken", code=1)
    array = next(p for p in (one / "phantom-0007/0").rglob("*") if p.is_file() and p.name != "zarr.json")
    shutil.copytree(one / "phantom-0007", tmp_path / "damaged/phantom-0007")
    damaged = tmp_path / "damaged/phantom-0007" / array.relative_to(one / "phantom-0007")
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    assert "phantom-0007" in refusal(tmp_path / "damaged", code=4)


def test_scans(tmp_path):
    """Phantom CT: lesions near the operating point, and where there is none."""
    headrace("phantom", "volumes", "--out", tmp_path / "in", "--count", 3, "--size", 48, "--slices", 24, "--phases", 1, "--lesion-mm", "30,60", "--seed", 4)
    headrace("ingest", "volumes", tmp_path / "in/images", "--table", tmp_path / "in/cases.csv", "--classes", "background,colon,lesion",
             "--lesion-classes", "lesion", "--out", tmp_path / "ct.zarr")
    trained(tmp_path, "run", phantom_scan_config(tmp_path / "ct.zarr"))
    headrace("predict", "--run", tmp_path / "run", tmp_path / "ct.zarr", "--out", tmp_path / "out")
    done = json_of("suggest", tmp_path / "out")
    assert len(done["suggestions"]) == 3
    for line in done["suggestions"]:
        found = findings_of(tmp_path / "out" / line["id"])["volume"]
        flag = found["study"]["flag"]
        t = flag["operating_point"]["threshold"] if flag else 0.5
        near = [1 - abs(lesion["score"] - t) / max(t, 1 - t) for lesion in found["lesions"]]
        assert line["open_doubt"] == pytest.approx(max(near, default=0), abs=1e-4)
        assert line["places"] == [k + 1 for k in sorted(range(len(near)), key=lambda k: (-near[k], k)) if near[k] >= 0.5][:5]
        if not line["places"]:
            assert "mm (LPS)" in line["look_first"]
    said = message_of(headrace("suggest", tmp_path / "out", "--store", tmp_path / "ct.zarr", code=2))
    assert "have labels already (set annotation)" in said
