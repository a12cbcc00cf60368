"""Batches of several channels and trainings on them: one geometry for all channels, values by each for itself, the same bytes for any threads;
what only the second channel shows is learnt from it; channels are matched by name on other stores."""
import json
import shutil

import numpy as np
import pytest
import SimpleITK as sitk
from ct_inputs import facts
from driving import headrace, json_of, message_of
from killed_training import train_killed_and_resumed
from test_training import same, without_times

NAMES = ("arterial", "portal-venous")
SHAPE = (24, 48, 48)
CONFIG = """task: segmentation
data: {{store: {store}{data}}}
patch: {{size: [16, 32, 32], spacing_mm: [1, 1, 1]}}
sampling: {{seed: 7, batch: 2, batches_per_epoch: {batches}, foreground: 0.7}}
transforms:
  - affine: {{rotate_deg: [-15, 15], scale: [0.9, 1.1], flip: true}}
{transforms}
model: {{name: unet3d, widths: [8, 16]}}
train: {{epochs: {epochs}, lr: 1.0e-2, checkpoint_every: 2, threads: 1, log_every: 1, validate_every: 0}}
loader: {{threads: {threads}, prefetch: 2}}
"""
VALUES = """  - window_hu: {low: -100, high: 250, channel: arterial}
  - window_hu: {low: -60, high: 290, channel: portal-venous}
  - gaussian_noise: {sigma: [0, 0.05], probability: 0.5}"""


def config_of(path, store, data="", transforms=VALUES, threads=1, batches=6, epochs=2):
    path.write_text(CONFIG.format(store=store, data=data, transforms=transforms, threads=threads, batches=batches, epochs=epochs))
    return path


def ball(rng, radius=7):
    centre = [rng.uniform(radius + 1, n - radius - 1) for n in SHAPE]
    places = np.meshgrid(*map(np.arange, SHAPE), indexing="ij")
    return sum((p - c) ** 2 for p, c in zip(places, centre)) < radius**2


def study(seed):
    """Two phases of a body and its mask. Each phase has a bright ball of its own; the second one's is the lesion, and the first one's lies
    anywhere: it tells nothing."""
    rng = np.random.default_rng(seed)
    phases = [rng.normal(40, 12, SHAPE) for _ in NAMES]
    lesion = ball(rng)
    phases[0][ball(rng)] += 150
    phases[1][lesion] += 150
    return [np.rint(p).astype(np.int16) for p in phases], lesion.astype(np.uint8)


def write(path, values, order="LPS"):
    image = sitk.GetImageFromArray(values)
    image.SetOrigin((10, -20, 30))
    sitk.WriteImage(sitk.DICOMOrient(image, order), str(path))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Eight studies in nnU-Net's names; the second phase in another order of axes."""
    folder = tmp_path_factory.mktemp("studies")
    for name in ("ct", "masks"):
        (folder / name).mkdir()
    for i in range(8):
        phases, lesion = study(i)
        for number, (values, order) in enumerate(zip(phases, ("LPS", "RIA"))):
            write(folder / f"ct/s{i}_000{number}.nii.gz", values, order)
        write(folder / f"masks/s{i}.nii.gz", lesion, "SAR")
    return folder


def ingest(inputs, out, channels=NAMES, *more):
    headrace("ingest", "volumes", inputs / "ct", "--channels", ",".join(channels), "--labels", inputs / "masks", "--classes", "background,lesion", "--accept", "values",
             "--val-fraction", "0.3", "--out", out, *more)
    return out


@pytest.fixture(scope="module")
def store(inputs, tmp_path_factory):
    return ingest(inputs, tmp_path_factory.mktemp("store") / "ct.zarr")


# ---- batches -------------------------------------------------------------------------------------

def batches(config, folder, *arguments):
    """Images (sample, channel, z, y, x) and labels (sample, z, y, x) of the batches of a config, and the batches' hashes."""
    result = json_of("batches", "--config", config, "--count", 3, "--out", folder, *arguments)
    arrays = [np.concatenate([np.load(folder / f"batch-{b['epoch']}-{b['batch']}-{what}.npy") for b in result["batches"]]) for what in ("images", "labels")]
    return *arrays, [json.dumps(b, sort_keys=True) for b in result["batches"]]


ALL = """  - elastic: {grid: 3, magnitude_mm: 3}
  - window_hu: {low: -200, high: 300}
  - brightness: {factor: [0.8, 1.2]}
  - gaussian_noise: {sigma: [0.01, 0.05]}
  - gamma: {gamma: [0.8, 1.2], probability: 0.5}"""


def test_the_same_bytes_for_any_threads(store, tmp_path):
    config = config_of(tmp_path / "run.yaml", store, transforms=ALL)
    expected = batches(config, tmp_path / "1", "--threads", 1)
    assert expected[0].shape == (6, 2, 16, 32, 32)
    for threads in (2, 7):
        assert batches(config, tmp_path / str(threads), "--threads", threads)[2] == expected[2]


def test_geometry_is_one_and_values_are_each_channels_own(inputs, tmp_path):
    """With the same voxels in both channels: alike without operations on values, each with numbers of its own with them; the first channel
    has the bytes of a store of one channel."""
    for name in ("both/ct", "one"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "both/masks").symlink_to(inputs / "masks")
    for i in range(8):
        for number in range(2):
            (tmp_path / f"both/ct/s{i}_000{number}.nii.gz").symlink_to(inputs / f"ct/s{i}_0000.nii.gz")
        (tmp_path / f"one/s{i}.nii.gz").symlink_to(inputs / f"ct/s{i}_0000.nii.gz")
    both = ingest(tmp_path / "both", tmp_path / "both.zarr")
    headrace("ingest", "volumes", tmp_path / "one", "--labels", inputs / "masks", "--classes", "background,lesion", "--val-fraction", "0.3",
             "--out", tmp_path / "one.zarr")
    turned = "  - elastic: {grid: 3, magnitude_mm: 3}\n  - window_hu: {low: -200, high: 300}"
    for name, transforms in (("geometry", turned), ("all", ALL)):
        images, labels, _ = batches(config_of(tmp_path / "run.yaml", both, transforms=transforms), tmp_path / name)
        alone, alone_labels, _ = batches(config_of(tmp_path / "run.yaml", tmp_path / "one.zarr", transforms=transforms), tmp_path / f"{name}-one")
        assert images[:, :1].tobytes() == alone.tobytes() and labels.tobytes() == alone_labels.tobytes()
        same = images[:, 0] == images[:, 1]
        assert same.all() if name == "geometry" else not same.all(axis=(1, 2, 3)).any()
    noisy = config_of(tmp_path / "run.yaml", both, transforms="  - gaussian_noise: {sigma: 1000}")
    images, _, _ = batches(noisy, tmp_path / "noise")
    for sample in images.reshape(-1, 2, 16 * 32 * 32):
        assert abs(np.corrcoef(sample)[0, 1]) < 0.03


def test_windows_by_channel_are_numpys(store, tmp_path):
    """Tiles of validation without anything random: each channel by its own window."""
    config = config_of(tmp_path / "run.yaml", store, transforms=VALUES)
    images, labels, _ = batches(config, tmp_path / "val", "--split", "val")
    plain, _, _ = batches(config_of(tmp_path / "run.yaml", store, transforms=""), tmp_path / "plain", "--split", "val")
    for c, (low, high) in enumerate(((-100, 250), (-60, 290))):
        expected = np.clip((plain[:, c] - low) / (high - low), 0, 1)
        np.testing.assert_allclose(images[:, c], expected, atol=1e-6)
    # The lesion is bright in the second channel alone.
    assert plain[:, 1][labels == 1].mean() - plain[:, 1][labels == 0].mean() > 100
    assert abs(plain[:, 0][labels == 1].mean() - plain[:, 0][labels == 0].mean()) < 60


def test_foreground_statistics_are_each_channels_own(store, tmp_path):
    """nnU-Net's normalisation: by the voxels under labels of the training split, of each channel."""
    normalize = "  - normalize: {method: foreground}"
    images, _, _ = batches(config_of(tmp_path / "run.yaml", store, transforms=normalize), tmp_path / "n", "--split", "val")
    plain, _, _ = batches(config_of(tmp_path / "run.yaml", store, transforms=""), tmp_path / "p", "--split", "val")
    training = [i for i, (name, image) in enumerate(facts(store)[1].items()) if image["split"] == "train"]
    studies = [study(i) for i in training]
    for c in range(2):
        under = np.concatenate([phases[c][lesion == 1] for phases, lesion in studies]).astype(np.float64)
        low, high = np.percentile(under, [0.5, 99.5])
        np.testing.assert_allclose(images[:, c], (np.clip(plain[:, c], low, high) - under.mean()) / under.std(), atol=2e-5)


def test_a_missing_channel_is_zero(inputs, store, tmp_path):
    (tmp_path / "ct").mkdir()
    (tmp_path / "masks").symlink_to(inputs / "masks")
    for file in (inputs / "ct").iterdir():
        if not (file.name.endswith("_0001.nii.gz") and file.name[1] in "0246"):
            (tmp_path / "ct" / file.name).symlink_to(file)
    zero = ingest(tmp_path, tmp_path / "ct.zarr", NAMES, "--missing-channels", "zero")
    images, labels, _ = batches(config_of(tmp_path / "run.yaml", zero, transforms=ALL), tmp_path / "zero")
    whole, same_labels, _ = batches(config_of(tmp_path / "run.yaml", store, transforms=ALL), tmp_path / "whole")
    assert images[:, 0].tobytes() == whole[:, 0].tobytes() and labels.tobytes() == same_labels.tobytes()
    lacks = (images[:, 1] == 0).all(axis=(1, 2, 3))
    assert 0 < lacks.sum() < lacks.size and (images[:, 1] == whole[:, 1])[~lacks].all() and not (whole[:, 1] == 0).all(axis=(1, 2, 3)).any()
    alone = config_of(tmp_path / "alone.yaml", zero, data=", channels: [portal-venous]", transforms="")
    said = message_of(headrace("batches", "--config", alone, "--count", 6, code=2))
    assert "lacks every channel" in said
    # Known before the first step.
    said = message_of(headrace("train", "--config", alone, "--out", tmp_path / "run", code=2))
    assert "lack every channel" in said and not (tmp_path / "run").exists()


def test_a_channel_without_a_body_is_refused_where_it_is_normalised_by_it(inputs, tmp_path):
    (tmp_path / "masks").symlink_to(inputs / "masks")
    shutil.copytree(inputs / "ct", tmp_path / "ct")
    for number in range(2):
        write(tmp_path / f"ct/s3_000{number}.nii.gz", np.full(SHAPE, -1000, np.int16))
    store = ingest(tmp_path, tmp_path / "ct.zarr")
    transforms = "  - normalize: {method: zscore, channel: arterial}\n  - normalize: {method: none, channel: portal-venous}"
    config = config_of(tmp_path / "run.yaml", store, transforms=transforms)
    said = message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))
    assert "have no body" in said and "s3" in said and not (tmp_path / "run").exists()


# ---- training ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def trained(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    headrace("train", "--config", config_of(folder / "run.yaml", store), "--out", folder / "run")
    return folder / "run"


def evaluation(path):
    return without_times(json.loads(path.read_text()))


def test_what_the_second_channel_shows_is_learnt_from_it(store, tmp_path):
    dice = {}
    for name, channels in (("both", ""), ("second", ", channels: [portal-venous]"), ("first", ", channels: [arterial]")):
        transforms = "  - window_hu: {low: -100, high: 250}"
        config = config_of(tmp_path / f"{name}.yaml", store, data=channels, transforms=transforms, batches=40)
        headrace("train", "--config", config, "--out", tmp_path / name)
        dice[name] = json.loads((tmp_path / name / "eval.json").read_text())["overall"]["dice"]["lesion"]
    assert dice["both"] > 0.7 and dice["second"] > 0.7 and dice["first"] < 0.35, dice


def test_twice_the_same_with_other_loader_threads(trained, store, tmp_path):
    headrace("train", "--config", config_of(tmp_path / "run.yaml", store, threads=3), "--out", tmp_path / "run")
    same(trained, tmp_path / "run")
    assert evaluation(trained / "eval.json") == evaluation(tmp_path / "run/eval.json")
    preprocessing = json.loads((trained / "preprocessing.json").read_text())
    assert [c["name"] for c in preprocessing["channels"]] == list(NAMES)


def test_killed_in_the_middle_and_resumed(trained, store, tmp_path):
    config, run = config_of(tmp_path / "run.yaml", store), tmp_path / "run"
    train_killed_and_resumed(config, run)
    same(trained, run)
    assert evaluation(trained / "eval.json") == evaluation(run / "eval.json")


def test_channels_are_matched_by_name_on_another_store(trained, inputs, tmp_path):
    """The same studies in a store whose first channel is the other one."""
    (tmp_path / "ct").mkdir()
    (tmp_path / "masks").symlink_to(inputs / "masks")
    for file in (inputs / "ct").iterdir():
        other = file.name.replace("_0000", "_000x").replace("_0001", "_0000").replace("_000x", "_0001")
        (tmp_path / "ct" / other).symlink_to(file)
    swapped = ingest(tmp_path, tmp_path / "ct.zarr", NAMES[::-1])
    assert json_of("info", swapped)["channels"] == list(NAMES[::-1])
    run = shutil.copytree(trained, tmp_path / "run")
    result = json_of("eval", "--run", run, "--store", swapped)
    expected = json.loads((trained / "eval.json").read_text())
    assert result["overall"]["dice"] == expected["overall"]["dice"] and result["overall"]["matrix"] == expected["overall"]["matrix"]


def test_a_store_without_the_runs_channels_is_refused(trained, store, inputs, tmp_path):
    (tmp_path / "one").mkdir()
    for i in range(8):
        (tmp_path / f"one/s{i}.nii.gz").symlink_to(inputs / f"ct/s{i}_0000.nii.gz")
    headrace("ingest", "volumes", tmp_path / "one", "--labels", inputs / "masks", "--classes", "background,lesion", "--val-fraction", "0.3",
             "--out", tmp_path / "one.zarr")
    said = message_of(headrace("eval", "--run", trained, "--store", tmp_path / "one.zarr", code=2))
    assert "no channel 'arterial'" in said and "one channel, which has no name" in said
    headrace("train", "--config", config_of(tmp_path / "one.yaml", tmp_path / "one.zarr", transforms="  - window_hu: {low: -100, high: 250}"),
             "--out", tmp_path / "run")
    said = message_of(headrace("eval", "--run", tmp_path / "run", "--store", store, code=2))
    assert "arterial, portal-venous" in said and "one channel" in said


@pytest.mark.parametrize("data, transforms, words", [
    (", channels: [arterial, venous]", "", ["no channel 'venous'", "arterial, portal-venous"]),
    (", channels: [arterial, arterial]", "", ["twice"]),
    (", channels: []", "", ["leave it out for all"]),
    (", channels: [arterial]", VALUES, ["transforms[2]", "portal-venous", "[arterial]"]),
    ("", "  - window_hu: {low: 0, high: 9, channel: liver}", ["transforms[1]", "liver"]),
    ("", "  - window_hu: {low: 0, high: 9}\n  - window_hu: {low: 0, high: 9, channel: arterial}", ["a second window_hu"]),
    ("", "  - window_hu: {low: 0, high: 9, channel: arterial}", ["no window or normalize for channel 'portal-venous'"]),
    ("", "  - gaussian_noise: {sigma: 1, channel: arterial}\n  - window_hu: {low: 0, high: 9, channel: arterial}", ["Hounsfield"]),
])
def test_configs_that_do_not_fit_are_refused(store, tmp_path, data, transforms, words):
    config = config_of(tmp_path / "run.yaml", store, data=data, transforms=transforms)
    said = message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))
    assert all(word in said for word in words), said
    assert not (tmp_path / "run").exists()


def test_pictures_of_several_channels(store, tmp_path):
    """They show the first channel that the run reads, of every sample: as the run that reads it alone does."""
    pictures = {}
    for name, data in (("both", ""), ("first", ", channels: [arterial]"), ("second", ", channels: [portal-venous]")):
        config = config_of(tmp_path / f"{name}.yaml", store, data=data, transforms=ALL)
        headrace("sample", "--config", config, "--count", 4, "--out", tmp_path / f"{name}.png")
        pictures[name] = (tmp_path / f"{name}.png").read_bytes()
    assert pictures["both"] == pictures["first"] != pictures["second"]
