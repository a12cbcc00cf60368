"""Batches of CT and PET and trainings on them: values in SUV as NumPy has them, a lesion that PET alone shows is learnt from it, and runs keep
to the unit that they were trained in."""
import json
import shutil

import numpy as np
import pytest
import SimpleITK as sitk
import zarr
from channel_inputs import channel
from ct_inputs import facts, labels
from driving import headrace, json_of, message_of
from PIL import Image
from test_training_channels import SHAPE, ball, batches, config_of, write

NAMES = ("CT", "PET")
WINDOWS = "  - window_hu: {low: -100, high: 250}\n  - window_suv: {low: 0.5, high: 5}"
FOREGROUND = "  - normalize: {method: foreground}"
LABELLED = ["--classes", "background,lesion"]


def study(seed):
    """CT in HU and PET in SUV of a body, and its mask. The CT has a bright ball somewhere, the PET another: the lesion."""
    rng = np.random.default_rng(seed)
    ct, pet = rng.normal(40, 12, SHAPE), rng.gamma(9, 1 / 6, SHAPE)
    lesion = ball(rng)
    ct[ball(rng)] += 150
    pet[lesion] += 4
    return np.rint(ct).astype(np.int16), pet.astype(np.float32), lesion.astype(np.uint8)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studies")
    for name in ("ct", "masks"):
        (folder / name).mkdir()
    for i in range(8):
        ct, pet, lesion = study(i)
        write(folder / f"ct/s{i}_0000.nii.gz", ct)
        write(folder / f"ct/s{i}_0001.nii.gz", pet, "RIA")
        write(folder / f"masks/s{i}.nii.gz", lesion, "SAR")
    return folder


def ingest(inputs, out, channels=NAMES, *more):
    headrace("ingest", "volumes", inputs / "ct", "--channels", ",".join(channels), *LABELLED, "--accept", "values", "--val-fraction", "0.3", "--out", out, *more)
    return out


@pytest.fixture(scope="module")
def store(inputs, tmp_path_factory):
    return ingest(inputs, tmp_path_factory.mktemp("store") / "ct.zarr", NAMES, "--labels", inputs / "masks")


@pytest.fixture(scope="module")
def later(inputs, tmp_path_factory):
    """The same, whose labels came later."""
    out = ingest(inputs, tmp_path_factory.mktemp("later") / "ct.zarr")
    headrace("ingest", "labels", out, "--annotations", inputs / "masks", *LABELLED)
    return out


def of_split(store, split):
    return [name for name, image in facts(store)[1].items() if image["split"] == split]


def stored(store, image):
    """Values of both channels in their units, from the store."""
    return channel(store, image, 0).astype(np.float64), channel(store, image, 1) / 100


def under_labels(store, number):
    """Values of a channel under the lesions of the training split."""
    return np.concatenate([stored(store, name)[number][labels(store, name) == 1] for name in of_split(store, "train")])


# ---- batches -------------------------------------------------------------------------------------

def whole(store, folder, transforms):
    """The validation's volumes, a window each, in the order of their names."""
    config = config_of(folder / "run.yaml", store, transforms=transforms)
    config.write_text(config.read_text().replace("[16, 32, 32]", str(list(SHAPE))))
    images, found, _ = batches(config, folder / "out", "--split", "val")
    names = of_split(store, "val")
    assert len(images) == len(names) > 0
    for name, of_image in zip(names, found):
        np.testing.assert_array_equal(of_image, labels(store, name))
    return zip(names, images)


def clipped(values, low, high):
    return (np.clip(values, low, high) - low) / (high - low)


def test_windows_are_numpys_in_each_channels_unit(store, tmp_path):
    for name, image in whole(store, tmp_path, WINDOWS):
        hu, suv = stored(store, name)
        np.testing.assert_allclose(image[0], clipped(hu, -100, 250), atol=1e-6)
        np.testing.assert_allclose(image[1], clipped(suv, 0.5, 5), atol=1e-6)
        assert (image[1] == 0).any() and (image[1] == 1).any() and 0.1 < image[1].mean() < 0.5


def test_values_without_transforms_are_suv(store, tmp_path):
    for name, image in whole(store, tmp_path, ""):
        np.testing.assert_allclose(image[1], stored(store, name)[1], atol=1e-6)


def test_windows_by_name(store, tmp_path):
    named = "  - window_suv: {low: 0, high: 10, channel: PET}\n  - window_hu: {low: -100, high: 250, channel: CT}"
    for name, image in whole(store, tmp_path, named):
        np.testing.assert_allclose(image[1], np.clip(np.float32(channel(store, name, 1)) / 100, 0, 10) / 10, atol=1e-6)
        np.testing.assert_allclose(image[0], clipped(stored(store, name)[0], -100, 250), atol=1e-6)


def test_statistics_of_the_body_are_in_suv(store, tmp_path):
    transforms = "  - clip_percentiles: {of: patient}\n  - normalize: {method: zscore}"
    for name, image in whole(store, tmp_path, transforms):
        body = zarr.open_group(store, mode="r")[f"images/{name}/masks/body"][:] > 0
        for values, ours in zip(stored(store, name), image):
            inside = values[body]
            expected = (np.clip(values, *np.percentile(inside, [0.5, 99.5])) - inside.mean()) / inside.std()
            np.testing.assert_allclose(ours, expected, atol=2e-5)


@pytest.mark.parametrize("when", ["store", "later"])
def test_foreground_statistics_are_in_suv(when, tmp_path, request):
    """nnU-Net's normalisation, and what a run keeps of it; whenever the labels came."""
    at = request.getfixturevalue(when)
    fitted = [under_labels(at, number) for number in range(2)]
    for name, image in whole(at, tmp_path, FOREGROUND):
        for values, ours, under in zip(stored(at, name), image, fitted):
            expected = (np.clip(values, *np.percentile(under, [0.5, 99.5])) - under.mean()) / under.std()
            np.testing.assert_allclose(ours, expected, atol=2e-5)
    headrace("train", "--config", config_of(tmp_path / "few.yaml", at, transforms=FOREGROUND, batches=2, epochs=1), "--out", tmp_path / "run")
    kept = json.loads((tmp_path / "run/preprocessing.json").read_text())["channels"]
    assert [(c["name"], c.get("unit", "HU")) for c in kept] == [("CT", "HU"), ("PET", "SUV")]
    for channel_, under in zip(kept, fitted):
        expected = {"voxels": under.size, "mean": under.mean(), "std": under.std(), "p00_5": np.percentile(under, 0.5), "p99_5": np.percentile(under, 99.5)}
        assert channel_["foreground"] == pytest.approx(expected)
    assert 4 < kept[1]["foreground"]["mean"] < 7


@pytest.mark.parametrize("transforms, words", [
    ("  - window_hu: {low: 0, high: 9, channel: PET}", ["transforms[1]", "window_hu", "'PET'", "HU"]),
    ("  - window_suv: {low: 0, high: 9, channel: CT}", ["transforms[1]", "window_suv", "'CT'", "SUV"]),
    ("  - window_hu: {low: 0, high: 9}", ["no window", "'PET'"]),
    ("  - window_suv: {low: 0, high: 9}", ["no window", "'CT'"]),
    ("  - window_suv: {low: 9, high: 9}", ["window_suv", "empty"]),
    (WINDOWS + "\n  - window_suv: {low: 0, high: 9}", ["a second window_suv"]),
    ("  - window_suv: {low: 0, high: 9, channel: liver}", ["transforms[1]", "liver"]),
])
def test_configs_that_do_not_fit_are_refused(store, tmp_path, transforms, words):
    config = config_of(tmp_path / "run.yaml", store, transforms=transforms)
    said = message_of(headrace("train", "--config", config, "--out", tmp_path / "run", code=2))
    assert all(word in said for word in words), said
    assert not (tmp_path / "run").exists()


def test_pictures_of_pet_are_in_suv(store, tmp_path):
    """Stored values from black at 0 to white at 10, or by the run's window."""
    means = []
    for i, window in enumerate(("", "  - window_suv: {low: 0, high: 3}")):
        config = config_of(tmp_path / f"{i}.yaml", store, data=", channels: [PET]", transforms=window)
        headrace("sample", "--config", config, "--count", 4, "--out", tmp_path / f"{i}.png")
        picture = np.asarray(Image.open(tmp_path / f"{i}.png").convert("L"))
        assert len(np.unique(picture)) > 50
        means.append(np.median(picture[(picture > 8) & (picture < 245)]))  # neither edge nor page
    # 1.5 SUV is what the body has.
    assert means[0] < 80 < 100 < means[1]


# ---- training ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def runs(store, tmp_path_factory):
    """Trained on both channels, and on the CT alone."""
    folder = tmp_path_factory.mktemp("runs")
    for name, channels, windows in (("both", "", WINDOWS), ("ct", ", channels: [CT]", WINDOWS.splitlines()[0])):
        config = config_of(folder / f"{name}.yaml", store, data=channels, transforms=windows, batches=40)
        headrace("train", "--config", config, "--out", folder / name)
    return folder


def test_what_pet_alone_shows_is_learnt_from_it(runs):
    dice = {name: json.loads((runs / name / "eval.json").read_text())["overall"]["dice"]["lesion"] for name in ("both", "ct")}
    assert dice["both"] > 0.7 and dice["ct"] < 0.35, dice
    kept = json.loads((runs / "both/preprocessing.json").read_text())["channels"]
    assert [(c["name"], c.get("unit", "HU")) for c in kept] == [("CT", "HU"), ("PET", "SUV")]


def test_channels_in_another_order_on_another_store(runs, inputs, tmp_path):
    """A second phase stands between CT and PET, which the run does not know."""
    (tmp_path / "ct").mkdir()
    for file in (inputs / "ct").iterdir():
        (tmp_path / "ct" / file.name.replace("_0001", "_0002")).symlink_to(file)
        if "_0000" in file.name:
            late = sitk.ReadImage(str(file)) + 90
            sitk.WriteImage(late, str(tmp_path / "ct" / file.name.replace("_0000", "_0001")))
    other = ingest(tmp_path, tmp_path / "ct.zarr", ("CT", "late", "PET"), "--labels", inputs / "masks")
    assert json_of("info", other)["channel_units"] == ["HU", "HU", "SUV"]
    result = json_of("eval", "--run", shutil.copytree(runs / "both", tmp_path / "run"), "--store", other)
    expected = json.loads((runs / "both/eval.json").read_text())
    assert result["overall"]["dice"] == expected["overall"]["dice"] and result["overall"]["matrix"] == expected["overall"]["matrix"]


def test_a_store_with_the_channel_in_another_unit_is_refused(runs, inputs, tmp_path):
    other = ingest(inputs, tmp_path / "ct.zarr", ("CT", "PET=HU"), "--labels", inputs / "masks")
    said = message_of(headrace("eval", "--run", runs / "both", "--store", other, code=2))
    assert "'PET'" in said and "SUV" in said and "HU" in said
