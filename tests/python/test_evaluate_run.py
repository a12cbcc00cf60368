"""`evaluate_segmentation` gives the figures of `headrace eval` for the same predictions: of runs whose network takes each pixel by itself, so that
what it says of an image can be computed here."""
import json

import headrace as package
import numpy as np
import pytest
import scipy.ndimage
import torch
import zarr
from ct_inputs import CT
from driving import headrace, write_table

OURS = {"sensitivity", "precision", "volume_ml"}  # of images, and of groups that eval.json does not have
NETWORK = """
import torch


class Pointwise(torch.nn.Module):
    # Training changes nothing that is seen.
    def __init__(self, channels, classes, slope, middles):
        super().__init__()
        self.trained = torch.nn.Parameter(torch.zeros(1))
        self.slope, self.middles = slope, middles

    def forward(self, x):
        grey = x.mean(1, keepdim=True)
        return torch.cat([-self.slope * (grey - middle) ** 2 for middle in self.middles], 1) + 0 * self.trained


def build(channels, classes, slope, middles):
    return Pointwise(channels, classes, slope, middles)
"""


def probabilities(grey, slope, middles):
    """(classes, …) of the network above. grey: (…) 0 to 1."""
    logits = torch.stack([-slope * (torch.from_numpy(grey) - middle) ** 2 for middle in middles])
    return torch.softmax(logits, 0).numpy()


def assert_same(ours, theirs, path=""):
    """Everything that `theirs` has at the same place; floats but for a step of a rounded score (1/65535), since the last bit of an
    exponential depends on where in memory it is computed; all else exactly."""
    if isinstance(theirs, dict):
        for key, value in theirs.items():
            assert key in ours, f"{path}.{key}"
            assert_same(ours[key], value, f"{path}.{key}")
        assert set(ours) - set(theirs) <= OURS, path
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), path
        for i, value in enumerate(theirs):
            assert_same(ours[i], value, f"{path}[{i}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=2e-6, abs=1.6e-5), path
    else:
        assert ours == theirs, path


def compared(ours, evaluation):
    """What an evaluation has beside figures is of the run and the store."""
    theirs = json.loads(json.dumps(evaluation))
    for key in ("baseline", "dataset_hash", "missing_classes", "patch", "split", "tiles", "time", "unknown_classes", "unknown_scanners", "run",
                "store", "weights", "weights_sha256", "rules", "code_version", "loader", "trained_cases"):
        theirs.pop(key, None)
    assert_same(ours, theirs)


def trained(folder, config):
    (folder / "nets.py").write_text(NETWORK)
    (folder / "run.yaml").write_text(config)
    headrace("train", "--config", folder / "run.yaml", "--out", folder / "run", cwd=folder)
    return folder / "run"


MIDDLES = {"volumes": [0.1, 0.52], "slides": [0.95, 0.75, 0.6, 0.5, 0.4, 0.2]}


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """A store of four CT of two sites, all of them in val but one, and a run on it."""
    folder = tmp_path_factory.mktemp("scans")
    rows = [{"file": str(CT / f"sarcoma/{name}.nii.gz"), "image": name, "case": case, "split": split, "cohort": site, "phase": phase,
             "labels": str(CT / f"sarcoma/{name}-gtv.nii.gz")}
            for name, case, split, site, phase in (("sts-002", "p", "val", "a", "native"), ("sts-012", "q", "val", "a", "arterial"),
                                                   ("sts-018", "q", "val", "b", "native"), ("sts-024", "r", "val", "b", "native"),
                                                   ("sts-019", "s", "train", "b", "native"))]
    table = write_table(folder / "cases.csv", rows)
    headrace("ingest", "volumes", CT / "sarcoma", "--table", table, "--classes", "background,tumour", "--out", folder / "ct.zarr")
    run = trained(folder, f"""task: colorectal
data: {{store: {folder}/ct.zarr}}
patch: {{size: [48, 112, 112], spacing_mm: null}}
sampling: {{seed: 11, batch: 1, batches_per_epoch: 1}}
transforms: [{{window_hu: {{low: -160, high: 240}}}}]
model: {{module: "nets:build", arguments: {{slope: 40, middles: {MIDDLES["volumes"]}}}}}
train: {{epochs: 1, threads: 1, validate_every: 0}}
eval: {{lesion_lowest: 0.3, lesion_classes: [tumour], lesion_min_mm3: 20, surface_tolerance_mm: 3, bootstrap: 40, lesion_diameters_mm: [15, 40]}}
loader: {{threads: 1, prefetch: 1}}
""")
    return folder / "ct.zarr", json.loads(headrace("eval", "--run", run, "--json", cwd=folder).stdout)


def near_body(store, image):
    """Where `headrace eval` takes predictions at their word: parts of the index that hold body, and those beside them."""
    part = zarr.open_array(str(store), path=f"index/{image.id}", mode="r").attrs["headrace"]["part"]
    body = np.asarray(image.body_mask().mask) > 0
    padded = np.pad(body, [(0, -size % edge) for size, edge in zip(body.shape, part)])
    counts = [size // edge for size, edge in zip(padded.shape, part)]
    held = padded.reshape(counts[0], part[0], counts[1], part[1], counts[2], part[2]).any((1, 3, 5))
    near = scipy.ndimage.binary_dilation(held, np.ones((3, 3, 3), bool))
    return np.kron(near, np.ones(part, bool))[tuple(slice(size) for size in body.shape)]


def limited(predicted, region):
    """Background beyond the region."""
    predicted = np.array(predicted)
    predicted[0][~region], predicted[1:, ~region] = 1, 0
    return predicted


def test_volumes_have_the_figures_of_eval(scans):
    store, evaluation = scans
    images = [image for image in package.open(store) if image.split == "val"]
    assert [image.id for image in images] == [image["id"] for image in evaluation["images"]] and len(images) == 4
    grey = [np.clip((image.level(0)[...].astype(np.float32) + 160) / 400, 0, 1) for image in images]
    truth = [image.labels("annotation").level(0)[...] for image in images]
    ours = package.evaluate_segmentation(
        [limited(probabilities(one, 40, MIDDLES["volumes"]), near_body(store, image)) for one, image in zip(grey, images)],
        truth, classes=["background", "tumour"], task="colorectal",
        spacing=[image.spacing for image in images], body=[image.body_mask().mask for image in images], affines=[image.affine for image in images],
        names=[image.id for image in images], cases=[image.case for image in images], cohorts=[image.cohort for image in images],
        scanners=[image.scanner for image in images], phases=[image.phase for image in images],
        lesion_lowest=0.3, lesion_classes=["tumour"], lesion_min_mm3=20, surface_tolerance_mm=3, bootstrap=40, lesion_diameters_mm=[15, 40], seed=11)
    compared(ours, evaluation)
    assert ours["overall"]["lesion"]["lesions"] >= 4 and len(ours["cohorts"]) == 2 and len(ours["phases"]) == 2 and len(ours["cases"]) == 3
    assert "no_interval" in ours["overall"]
    assert ours["images"][0]["dice"]["tumour"] > 0 and ours["overall"]["lesion"]["curve"]


@pytest.fixture(scope="module")
def slides(cohort, tmp_path_factory):
    """The cohort of phantom slides, the config of a run on it, and the run's evaluation."""
    folder = tmp_path_factory.mktemp("slides")
    run = trained(folder, f"""task: gleason
data: {{store: {cohort}/s.zarr, train: val, val: train}}
patch: {{size: [64, 64], mpp: 2.0}}
sampling: {{seed: 5, batch: 1, batches_per_epoch: 1}}
transforms: [{{normalize: {{mean: [0, 0, 0], std: [1, 1, 1]}}}}]
model: {{module: "nets:build", arguments: {{slope: 90, middles: {MIDDLES["slides"]}}}}}
train: {{epochs: 1, threads: 1, validate_every: 0}}
eval: {{overlap: 0.25, bootstrap: 30, specificity: 0.6, min_cancer: 0.01}}
loader: {{threads: 1, prefetch: 1}}
""")
    return cohort / "s.zarr", folder / "run.yaml", json.loads(headrace("eval", "--run", run, "--json", cwd=folder).stdout)


def as_the_network_sees(config, split, names, shapes):
    """Of each slide the mean of its colours, put together from the tiles of the split, and where there are any; at 4 pixels of level 0 a pixel."""
    sizes = [tuple(-(-edge // 4) for edge in shape) for shape in shapes]
    seen, covered = ([np.zeros(size, np.float32) for size in sizes] for _ in range(2))
    with package.Loader(config, split=split, as_="numpy") as tiles:
        for batch in tiles:
            for pixels, name, place in zip(batch["image"], batch["meta"].images, batch["meta"].places):
                y, x = (int(round(float(middle) / 4 - 32)) for middle in place)
                height, width = sizes[names.index(name)]
                inside = np.s_[max(y, 0) : min(y + 64, height), max(x, 0) : min(x + 64, width)]
                grey = torch.from_numpy(np.array(pixels[0])).mean(0).numpy()
                seen[names.index(name)][inside] = grey[inside[0].start - y : inside[0].stop - y, inside[1].start - x : inside[1].stop - x]
                covered[names.index(name)][inside] = 1
    return seen, covered


def test_slides_have_the_figures_of_eval(slides):
    store, config, evaluation = slides
    images = [image for image in package.open(store) if image.split == "train"]
    assert [image.id for image in images] == [image["id"] for image in evaluation["images"]] and len(images) == 4
    seen, covered = as_the_network_sees(config, "train", [image.id for image in images], [image.shape for image in images])
    ours = package.evaluate_segmentation(
        [probabilities(grey, 90, MIDDLES["slides"]) * under for grey, under in zip(seen, covered)],
        [image.labels("annotation").level(2)[...] for image in images],  # of 2 µm a pixel
        classes=evaluation["classes"], task="gleason", names=[image.id for image in images], cases=[image.case for image in images],
        cohorts=[image.cohort for image in images], scanners=[image.scanner for image in images],
        grades=[(image.primary, image.secondary) for image in images], bootstrap=30, specificity=0.6, min_cancer=0.01, seed=5)
    compared(ours, evaluation)
    assert ours["overall"]["tumour"]["auc"] is not None and ours["overall"]["objects"]["benign"]["missed"] > 0
