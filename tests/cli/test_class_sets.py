"""Labels that stand for several classes: from a PANDA-like folder of both providers to a network that either one has taught cancer."""
import json

import imageio.v3 as iio
import nibabel
import numpy as np
import pytest
from ct_inputs import CT
from driving import SAMPLES, headrace, json_of, message_of, rows_of, version_of, write_table

CONFIG = """task: gleason
data: {{store: {store}, train: train, val: val}}
patch: {{size: [64, 64], mpp: 4.0}}
sampling: {{seed: 5, batch: 4, batches_per_epoch: 40}}
model: {{name: unet2d, widths: [16, 32]}}
train: {{epochs: 2, lr: 4.0e-3, threads: 1, validate_every: 0}}
eval: {{bootstrap: 20}}
loader: {{threads: 1, prefetch: 2}}
"""


@pytest.fixture(scope="module")
def panda(tmp_path_factory):
    """PANDA's layout made of phantoms, the first four slides of Radboud and the same four of Karolinska, with each provider's values:
    Radboud stroma 1, benign epithelium 2, patterns 3 to 5; Karolinska benign tissue 1, cancerous tissue 2."""
    folder = tmp_path_factory.mktemp("panda")
    headrace("phantom", "slides", "--out", folder / "in", "--count", 8, "--size", 1024, "--scanners", 1, "--seed", 3)
    for name in ("train_images", "train_label_masks"):
        (folder / "panda" / name).mkdir(parents=True)
    radboud = np.array([1, 2, 2, 3, 4, 5], np.uint8)
    karolinska = np.array([1, 1, 1, 2, 2, 2], np.uint8)
    lines = ["image_id,data_provider,isup_grade,gleason_score"]
    for row in rows_of(folder / "in/cases.csv"):
        truth = iio.imread(folder / "in" / row["annotation"])
        slide = (folder / "in" / row["file"]).read_bytes()
        for provider, values in (("radboud", radboud), ("karolinska", karolinska)):
            name = f"{provider}-{row['image']}"
            (folder / f"panda/train_images/{name}.tiff").write_bytes(slide)
            iio.imwrite(folder / f"panda/train_label_masks/{name}_mask.tiff", values[truth])
            lines.append(f"{name},{provider},{row['grade_group']},{row['primary']}+{row['secondary']}")
    (folder / "panda/train.csv").write_text("\n".join(lines) + "\n")
    return folder / "panda"


def only(panda, provider, folder):
    """The same folder with the table's rows of one provider."""
    for name in ("train_images", "train_label_masks"):
        (folder / name).symlink_to(panda / name)
    lines = (panda / "train.csv").read_text().splitlines()
    (folder / "train.csv").write_text("\n".join(lines[:1] + [line for line in lines if f",{provider}," in line]) + "\n")
    return folder


def test_a_store_of_both_says_what_its_labels_mean(panda, tmp_path):
    headrace("ingest", "slides", panda, "--out", tmp_path / "s.zarr")
    facts = json_of("info", tmp_path / "s.zarr")
    assert facts["class_sets"] == {"benign_tissue": ["background", "benign", "hgpin"], "cancer": ["pattern3", "pattern4", "pattern5"]}
    assert "label 'cancer' stands for one of: pattern3, pattern4, pattern5" in headrace("info", tmp_path / "s.zarr").stdout
    headrace("verify", tmp_path / "s.zarr")


def train_on(panda, provider, folder):
    (folder / "in").mkdir()
    headrace("ingest", "slides", only(panda, provider, folder / "in"), "--out", folder / "taught.zarr", "--val-fraction", "0.5")
    headrace("ingest", "slides", panda, "--out", folder / "both.zarr", "--val-fraction", "0")
    (folder / "run.yaml").write_text(CONFIG.format(store=folder / "taught.zarr"))
    headrace("train", "--config", folder / "run.yaml", "--out", folder / "run")
    return folder


def evaluation(folder, store):
    headrace("eval", "--run", folder / "run", "--store", store, "--split", "train")
    prefix = json_of("info", store)["dataset_hash"][:12]
    return json.loads(next((folder / "run").glob(f"eval-*-train-{prefix}*.json")).read_text())


@pytest.fixture(scope="module")
def taught(panda, tmp_path_factory):
    """A run that Karolinska's masks taught, and stores to judge it on."""
    return train_on(panda, "karolinska", tmp_path_factory.mktemp("taught"))


@pytest.mark.parametrize("provider", ["radboud", "karolinska"])
def test_each_providers_cancer_teaches_cancer(panda, provider, tmp_path, request):
    tmp_path = request.getfixturevalue("taught") if provider == "karolinska" else train_on(panda, provider, tmp_path)
    own = json.loads((tmp_path / "run/eval.json").read_text())["overall"]
    assert own["tumour"]["classes"] == ["pattern3", "pattern4", "pattern5"]
    assert own["tumour"]["dice"] > 0.7 and own["tumour"]["auc"] > 0.9, own["tumour"]
    best = json.loads((tmp_path / "run/summary.json").read_text())["best"]
    assert best["mean_dice"] == pytest.approx(own["tumour"]["dice"] if provider == "karolinska" else own["mean_dice"])
    assert own["set_pixels"] > 0 if provider == "karolinska" else own["set_pixels"] == 0
    # On the slides of either provider, whose tumour is the same: Radboud's by pattern, Karolinska's as a set.
    found = evaluation(tmp_path, tmp_path / "both.zarr")
    cohorts = found["cohorts"]
    assert cohorts["radboud"]["tumour"]["dice"] == cohorts["karolinska"]["tumour"]["dice"] > 0.7
    assert cohorts["karolinska"]["pixels"] < cohorts["karolinska"]["set_pixels"]
    interval = found["overall"]["interval_95"]
    assert interval["tumour"]["dice"][0] <= found["overall"]["tumour"]["dice"] <= interval["tumour"]["dice"][1]
    page = (tmp_path / "run/report.html").read_text()
    assert "Tumour against the rest" in page and "Structures" in page
    lines = rows_of(tmp_path / "run/eval-slides.csv")
    assert all(line["tumour_auc"] and line["tumour_pq"] for line in lines if line["cancer"] == "true")
    assert {line["case"] for line in rows_of(tmp_path / "run/eval-cases.csv")} == {line["case"] for line in lines}


def test_a_store_of_other_order_and_names_gives_the_same_figures(panda, taught, tmp_path):
    """The Karolinska slides once more, from a table: classes in another order, sets by other names."""
    (tmp_path / "masks").mkdir()
    rows = []
    for row in rows_of(panda / "train.csv"):
        if row["data_provider"] == "karolinska":
            mask = iio.imread(panda / f"train_label_masks/{row['image_id']}_mask.tiff")
            iio.imwrite(tmp_path / f"masks/{row['image_id']}.png", np.array([0, 6, 7], np.uint8)[mask])
            rows.append({"file": str(panda / f"train_images/{row['image_id']}.tiff"), "split": "train", "cohort": "again"})
    headrace("ingest", "slides", "--table", write_table(tmp_path / "t.csv", rows), "--annotations", tmp_path / "masks", "--classes",
             "background,pattern5,pattern4,pattern3,hgpin,benign", "--class-sets", "tumor=pattern3+pattern4+pattern5,healthy=hgpin+background+benign",
             "--out", tmp_path / "again.zarr")
    assert list(json_of("info", tmp_path / "again.zarr")["class_sets"]) == ["healthy", "tumor"]
    both, again = (evaluation(taught, store) for store in (taught / "both.zarr", tmp_path / "again.zarr"))
    ours, theirs = again["cohorts"]["again"], both["cohorts"]["karolinska"]
    assert again["unknown_classes"] == [] and again["labels"] == both["labels"]
    assert ours["set_pixels"] > 0 and 0 < ours["tumour"]["dice"] < 1
    for key in ("dice", "matrix", "tumour", "objects", "calibration", "set_pixels"):
        assert ours[key] == theirs[key], key


def test_a_set_with_a_class_that_the_run_lacks_is_ignored(panda, taught, tmp_path):
    row = next(row for row in rows_of(panda / "train.csv") if row["data_provider"] == "radboud")
    mask = iio.imread(panda / f"train_label_masks/{row['image_id']}_mask.tiff")
    (tmp_path / "masks").mkdir()
    iio.imwrite(tmp_path / f"masks/{row['image_id']}.png", np.array([0, 0, 1, 5, 2, 3], np.uint8)[mask])  # pattern3 → unclear
    table = write_table(tmp_path / "t.csv", [{"file": str(panda / f"train_images/{row['image_id']}.tiff"), "split": "train"}])
    headrace("ingest", "slides", "--table", table, "--annotations", tmp_path / "masks", "--classes", "background,benign,pattern4,pattern5,seminal",
             "--class-sets", "unclear=pattern4+seminal", "--out", tmp_path / "other.zarr")
    found = evaluation(taught, tmp_path / "other.zarr")
    assert found["unknown_classes"] == ["seminal", "unclear"] and found["missing_classes"] == ["hgpin", "pattern3"]
    # What the store has no name for is said by the network all the same; it has no figures and lowers no mean.
    overall, matrix = found["overall"], np.array(found["overall"]["matrix"])
    lacking = [found["classes"].index(name) for name in found["missing_classes"]]
    assert matrix[lacking].sum() == 0 and matrix[:, lacking].sum() > 0
    assert all(overall[key][name] is None for key in ("dice", "iou") for name in found["missing_classes"])
    assert all(overall["objects"][name]["f1"] is None for name in found["missing_classes"])
    told = [value for name, value in overall["dice"].items() if name not in (found["classes"][0], *found["missing_classes"]) and value is not None]
    assert told and abs(overall["mean_dice"] - sum(told) / len(told)) < 1e-12
    assert found["overall"]["set_pixels"] == 0 and found["overall"]["pixels"] > 0


def test_rows_without_a_mask_need_no_provider(panda, tmp_path):
    (tmp_path / "train_images").symlink_to(panda / "train_images")
    first, second = [row["image_id"] for row in rows_of(panda / "train.csv")][:2]
    grades = write_table(tmp_path / "train.csv", [{"image_id": first, "isup_grade": 1}, {"image_id": second, "isup_grade": 2}])
    headrace("ingest", "slides", tmp_path, "--out", tmp_path / "s.zarr")
    columns = version_of(tmp_path / "s.zarr")["images"][second]["columns"]
    assert (columns["grade_group"], columns["cohort"]) == (2, "default")
    rows = [{"image_id": first, "data_provider": "uppsala", "isup_grade": 1}, {"image_id": second, "data_provider": "", "isup_grade": 2}]
    headrace("ingest", "slides", "--table", write_table(tmp_path / "third.csv", rows), "--out", tmp_path / "third.zarr")
    assert version_of(tmp_path / "third.zarr")["images"][first]["columns"]["cohort"] == "uppsala"

    # Grades alone may be updated, and GeoJSON needs no coding; a mask image needs that of its provider.
    write_table(grades, [{"image_id": first, "isup_grade": 1}, {"image_id": second, "isup_grade": 3}])
    assert json_of("ingest", "labels", tmp_path / "s.zarr", "--table", grades)["columns"] == 1
    (tmp_path / "notes").mkdir()
    square = {"type": "Polygon", "coordinates": [[[10, 10], [90, 10], [90, 90], [10, 90], [10, 10]]]}
    feature = {"type": "Feature", "properties": {"classification": {"name": "pattern3"}}, "geometry": square}
    (tmp_path / f"notes/{first}.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    labels = ("ingest", "labels", tmp_path / "s.zarr", "--table", grades, "--annotations", tmp_path / "notes")
    assert json_of(*labels)["added"] == 1
    (tmp_path / f"notes/{second}_mask.tiff").write_bytes((panda / f"train_label_masks/{second}_mask.tiff").read_bytes())
    said = message_of(headrace(*labels, "--coding", "panda-radboud", code=2))
    assert f"train.csv, line 3: mask {tmp_path}/notes/{second}_mask.tiff needs a data_provider (radboud or karolinska); add the column" in said


def test_diff_and_info_name_sets(panda, tmp_path):
    headrace("ingest", "slides", only(panda, "karolinska", tmp_path), "--out", tmp_path / "s.zarr")
    image = next(row["image_id"] for row in rows_of(tmp_path / "train.csv") if row["isup_grade"] != "0")
    mask = iio.imread(panda / f"train_label_masks/{image}_mask.tiff")
    cancer = int((mask == 2).sum())
    assert cancer > 0
    (tmp_path / "notes").mkdir()
    iio.imwrite(tmp_path / f"notes/{image}_mask.tiff", np.minimum(mask, 1))
    done = json_of("ingest", "labels", tmp_path / "s.zarr", "--annotations", tmp_path / "notes", "--coding", "panda-karolinska")
    said = headrace("diff", tmp_path / "s.zarr", done["before"], done["dataset_hash"]).stdout
    scale = json_of("diff", tmp_path / "s.zarr", done["before"], done["dataset_hash"])["labels"][0]["changed"]
    assert scale >= cancer and f"{scale:,} from cancer to benign_tissue" in said and "value" not in said
    assert json_of("info", tmp_path / "s.zarr")["class_sets"].keys() == {"benign_tissue", "cancer"}


def test_sets_that_do_not_fit_are_refused_with_what_is_wrong(tmp_path):
    done = headrace("ingest", "slides", SAMPLES / "nuclei/images", "--out", tmp_path / "s.zarr", "--classes", "background,nucleus",
                    "--class-sets", "any=background+nucleos", code=2)
    assert "did you mean 'nucleus'?" in message_of(done)
    assert not (tmp_path / "s.zarr").exists()


def test_volumes_take_sets_and_verify_knows_their_names(tmp_path):
    image = nibabel.load(CT / "sarcoma/sts-019.nii.gz")
    mask = np.zeros(image.shape, np.uint8)
    mask[10:20, 10:20, 2:5], mask[30:40, 10:20, 2:5] = 1, 3
    nibabel.save(nibabel.Nifti1Image(mask, image.affine), tmp_path / "sts-019.nii.gz")
    headrace("ingest", "volumes", CT / "sarcoma/sts-019.nii.gz", "--labels", tmp_path, "--classes", "background,cyst,tumour",
             "--class-sets", "lesion=cyst+tumour", "--out", tmp_path / "s.zarr")
    headrace("verify", tmp_path / "s.zarr")
    assert json_of("info", tmp_path / "s.zarr")["class_sets"] == {"lesion": ["cyst", "tumour"]}
    # Their values follow the classes', so neither may change any more.
    done = headrace("ingest", "labels", tmp_path / "s.zarr", "--classes", "background,cyst,tumour,other", code=2)
    assert "no class can be added" in message_of(done)
