"""Where OME-Zarr says that pixels lie: a dark square and a bright box have the same world coordinates in every level of the image, in stored and
predicted class maps and in exports. Places come from the metadata alone (zarr-python and JSON), and are wrong without the translations."""
import json

import nibabel
import numpy as np
import ome_zarr.io
import ome_zarr.reader
import pytest
import tifffile
import zarr
from driving import headrace, label_group, version_of, write_table
from ome_zarr_models.v05 import Image, ImageLabel
from results_by_hand import slide_result, volume_result

MPP, MAP_MPP, SIZE = 0.5, 4.0, 2048
MARK = (slice(768, 1280), slice(512, 1152))  # of the slide that is looked at; edges of map pixels, off the middle
CONFIG = """task: segmentation
data: {{store: {store}, train: train, val: val}}
patch: {{size: [64, 64], mpp: 4.0}}
sampling: {{seed: 5, batch: 8, batches_per_epoch: 80}}
transforms:
  - normalize: {{mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}}
model: {{name: unet2d, widths: [8, 16]}}
train: {{epochs: 1, lr: 1.0e-2, threads: 1, validate_every: 0}}
eval: {{overlap: 0.25, batch: 4}}
loader: {{threads: 1, prefetch: 2}}
"""


def write_slide(path, mark, mpp=MPP):
    """Tissue with one dark rectangle, glass around it."""
    pixels = np.full((SIZE, SIZE, 3), 244, np.uint8)
    random = np.random.default_rng(len(path.name))
    pixels[128:-128, 128:-128] = (214, 150, 190) + random.integers(-12, 13, (SIZE - 256, SIZE - 256, 1))
    pixels[mark] = (70, 30, 110)
    per_cm = {} if mpp is None else {"resolution": (1e4 / mpp, 1e4 / mpp), "resolutionunit": "CENTIMETER"}
    tifffile.imwrite(path, pixels, tile=(256, 256), compression="zlib", photometric="rgb", **per_cm)
    return path


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """Slides in a store with the marks as labels, and a run that finds them."""
    folder = tmp_path_factory.mktemp("marks")
    rows = []
    others = [(slice(256, 900), slice(1000, 1700)), (slice(1100, 1800), slice(300, 700)), (slice(400, 1500), slice(900, 1300))]
    for k, mark in enumerate([MARK, *others]):
        write_slide(folder / f"s{k}.tif", mark)
        label = np.zeros((SIZE, SIZE), np.uint8)
        label[mark] = 1
        tifffile.imwrite(folder / f"s{k}_mask.tif", label, tile=(256, 256), compression="zlib")
        rows.append({"file": f"s{k}.tif", "split": "val" if k == 0 else "train", "annotation": f"s{k}_mask.tif", "coding": "classes"})
    table = write_table(folder / "cases.csv", rows)
    headrace("ingest", "slides", "--table", table, *(folder / row["file"] for row in rows), "--classes", "background,mark", "--codec", "blosc-zstd",
             "--out", folder / "s.zarr")
    (folder / "run.yaml").write_text(CONFIG.format(store=folder / "s.zarr"))
    headrace("train", "--config", folder / "run.yaml", "--out", folder / "run")
    return folder


@pytest.fixture(scope="module")
def result(marked, tmp_path_factory):
    out = tmp_path_factory.mktemp("result")
    headrace("predict", "--run", marked / "run", marked / "s0.tif", "--out", out / "out")
    return out / "out/s0"


def multiscales_of(folder):
    return json.loads((folder / "zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]


def weights_of(values):
    """How much of the mark is in each pixel: labels state it, pictures by their darkness between tissue and mark."""
    if values.ndim == 2:
        return (values == 1).astype(float)
    return np.clip((150 - values[1].astype(float)) / 120, 0, 1) * (values[1] < 130)


def centre_of(folder, level, weights=weights_of, translated=True):
    """World coordinates of the mark's centre along the axes of space, and the size of a pixel there."""
    dataset = multiscales_of(folder)["datasets"][level]
    found = {step["type"]: np.array(step[step["type"]]) for step in dataset["coordinateTransformations"]}
    part = weights(zarr.open_array(folder / dataset["path"], mode="r")[...])
    scale, translation = found["scale"][-part.ndim:], found["translation"][-part.ndim:]
    index = np.array([np.average(grid, weights=part) for grid in np.indices(part.shape)])
    return index * scale + (translation if translated else 0), scale


def assert_in_place(folder, levels, expected, limit, weights=weights_of):
    """Within `limit` pixels of the level, and not without the translation."""
    for level in levels:
        found, scale = centre_of(folder, level, weights)
        assert (np.abs(found - expected) <= limit * scale).all(), (folder, level, found, expected)
        if level:
            assert (np.abs(centre_of(folder, level, weights, translated=False)[0] - expected) > limit * scale).any()


def assert_at(folder, expected, weights=weights_of):
    """Of a network's map: within a quarter of its pixel, and not without the translation."""
    assert np.abs(centre_of(folder, 0, weights)[0] - expected).max() <= 0.25 * MAP_MPP
    assert np.abs(centre_of(folder, 0, weights, translated=False)[0] - expected).min() > 0.25 * MAP_MPP


def truth(mark=MARK, mpp=MPP):
    return np.array([(edge.start + edge.stop - 1) / 2 * mpp for edge in mark])


def levels_of(folder):
    return range(len(multiscales_of(folder)["datasets"]))


def test_levels_and_labels_of_an_exported_store(marked, tmp_path):
    headrace("export", marked / "s.zarr", "--as", "ome-zarr", "--images", "s0", "--out", tmp_path)
    out = tmp_path / "s0.ome.zarr"
    assert list(levels_of(out)) == [0, 1, 2]
    for level, dataset in enumerate(multiscales_of(out)["datasets"]):
        half = (2**level - 1) / 2 * MPP
        assert dataset["coordinateTransformations"] == [{"type": "scale", "scale": [1.0, MPP * 2**level, MPP * 2**level]},
                                                        {"type": "translation", "translation": [0.0, half, half]}]
    np.testing.assert_allclose(centre_of(out, 0)[0], truth(), atol=1e-3)
    assert_in_place(out, levels_of(out), truth(), 0.05)
    assert_in_place(out / "labels/annotation", levels_of(out), truth(), 0.05)
    Image.from_zarr(zarr.open_group(out, mode="r"))
    ImageLabel.from_zarr(zarr.open_group(out / "labels/annotation", mode="r"))
    # The store states scales alone: its version counts these bytes.
    for group in ("images/s0", label_group(marked / "s.zarr", "s0")):
        stored = multiscales_of(marked / "s.zarr" / group)["datasets"]
        assert all([step["type"] for step in dataset["coordinateTransformations"]] == ["scale"] for dataset in stored)


def test_a_class_map_lies_over_the_slide(result):
    """The map's pixels are eight of the slide's: without the translation it is 1.75 µm off."""
    labels = result / "labels/classes"
    first = multiscales_of(labels)["datasets"][0]["coordinateTransformations"]
    assert first == [{"type": "scale", "scale": [MAP_MPP] * 2}, {"type": "translation", "translation": [(MAP_MPP - MPP) / 2] * 2}]
    assert_at(labels, truth())
    probability = multiscales_of(result)["datasets"][0]["coordinateTransformations"]
    assert probability == [{"type": "scale", "scale": [1.0, MAP_MPP, MAP_MPP]}, {"type": "translation", "translation": [0.0, 1.75, 1.75]}]
    assert_at(result, truth(), lambda values: (values[1] > 127).astype(float))
    Image.from_zarr(zarr.open_group(result, mode="r"))
    ImageLabel.from_zarr(zarr.open_group(labels, mode="r"))


def test_ome_zarr_py_gets_the_translation(result):
    [node] = [node for node in ome_zarr.reader.Reader(ome_zarr.io.parse_url(str(result / "labels/classes"), mode="r"))()
              if node.data and node.data[0].ndim == 2]
    assert node.metadata["coordinateTransformations"][0][1] == {"type": "translation", "translation": [1.75, 1.75]}


@pytest.mark.parametrize("source", ["s0.tif", "s.zarr"])
def test_exported_predictions_have_image_and_classes_in_one_place(marked, result, tmp_path, source):
    """Of the file the image has one level, of the store three; the map's coarser levels are thinned."""
    headrace("export", result, "--as", "ome-zarr", "--source", marked / source, "--out", tmp_path)
    out = tmp_path / "s0.ome.zarr"
    assert len(levels_of(out)) == len(levels_of(out / "labels/classes")) == (1 if source == "s0.tif" else 3)
    assert_in_place(out, levels_of(out), truth(), 0.05)
    for level in levels_of(out / "labels/classes"):
        found, scale = centre_of(out / "labels/classes", level)
        assert (np.abs(found - truth()) <= 0.5 * scale).all(), (level, found, truth())
    assert multiscales_of(out / "labels/classes")["datasets"][0] == multiscales_of(result / "labels/classes")["datasets"][0]


def test_levels_of_a_result_cover_pixels_and_thinned_ones_keep_their_place(tmp_path):
    """The result's two levels, and a third that holds every other pixel of the second; without a pixel size the unit is a pixel of level 0."""
    write_slide(tmp_path / "plain.tif", MARK, mpp=None)
    headrace("ingest", "slides", tmp_path / "plain.tif", "--out", tmp_path / "s.zarr")
    folder, _ = slide_result(tmp_path / "r", tmp_path / "s.zarr", (SIZE, SIZE), 4, name="plain", mpp=0)
    headrace("export", folder, "--as", "ome-zarr", "--out", tmp_path / "out")
    image, labels = (multiscales_of(tmp_path / "out/plain.ome.zarr" / name) for name in ("", "labels/classes"))
    places = [{step["type"]: step[step["type"]] for step in dataset["coordinateTransformations"]} for dataset in labels["datasets"]]
    assert [place["scale"] for place in places] == [[4.0, 4.0], [8.0, 8.0], [16.0, 16.0]]
    assert [place["translation"] for place in places] == [[1.5, 1.5], [3.5, 3.5], [3.5, 3.5]]
    assert all("unit" not in axis for axis in image["axes"] + labels["axes"])
    values = [zarr.open_array(tmp_path / f"out/plain.ome.zarr/labels/classes/{k}", mode="r")[...] for k in range(3)]
    np.testing.assert_array_equal(values[2], values[1][::2, ::2])  # so a pixel is where that of level 1 is


def test_labels_of_a_volume_lie_in_its_levels(tmp_path):
    """Millimetres from the volume's origin, which is not 0, on axes of other spacings."""
    voxels = np.full((40, 150, 160), -1000, np.int16)
    box = (slice(9, 30), slice(41, 99), slice(32, 128))
    voxels[4:36, 20:130, 20:140], voxels[box] = 20, 400
    affine = np.diag([-0.8, -0.8, 2.5, 1.0])
    affine[:3, 3] = (61.5, 40.25, -310.0)
    nibabel.save(nibabel.Nifti1Image(voxels.transpose(2, 1, 0), affine), tmp_path / "scan.nii.gz")
    headrace("ingest", "volumes", tmp_path / "scan.nii.gz", "--out", tmp_path / "ct.zarr")
    [name] = version_of(tmp_path / "ct.zarr")["images"]
    grid = {"shape_zyx": list(voxels.shape), "affine_lps": list((np.diag([-1.0, -1, 1, 1]) @ affine).ravel())}
    lesions = np.zeros(voxels.shape, np.uint8)
    lesions[box] = 1
    folder, _ = volume_result(tmp_path / "r", tmp_path / "ct.zarr", grid, grid, ([0, 1, 2], [False] * 3), ["background", "a"], lesions, name=name)
    headrace("export", folder, "--as", "ome-zarr", "--out", tmp_path / "out")
    out = tmp_path / f"out/{name}.ome.zarr"
    centre = [(edge.start + edge.stop - 1) / 2 for edge in box]
    expected = np.array([-310.0 + 2.5 * centre[0], -40.25 + 0.8 * centre[1], -61.5 + 0.8 * centre[2]])
    assert len(levels_of(out)) > 1
    assert_in_place(out, levels_of(out), expected, 0.05, lambda values: np.clip((values - 20.0) / 380, 0, 1))
    for level in levels_of(out):
        found, scale = centre_of(out / "labels/lesions", level, lambda values: (values == 1).astype(float))
        assert (np.abs(found - expected) <= 0.5 * scale).all(), (level, found, expected)
        assert multiscales_of(out / "labels/lesions")["datasets"][level]["coordinateTransformations"][0]["scale"] == list(scale)


def test_a_predicted_volume_states_its_origin(predicted_ct):
    """Of its grid, as the images of stores do, so that both lie in one place."""
    grid = json.loads((predicted_ct / "zarr.json").read_text())["attributes"]["headrace"]["facts"]["volume"]["grid"]
    affine = np.array(grid["affine_lps"]).reshape(4, 4)
    for name, channels in (("", 1), ("labels/classes", 0), ("labels/lesions", 0)):
        [dataset] = multiscales_of(predicted_ct / name)["datasets"]
        found = {step["type"]: step[step["type"]] for step in dataset["coordinateTransformations"]}
        np.testing.assert_allclose(found["scale"][channels:], np.linalg.norm(affine[:3, :3], axis=0)[::-1], rtol=1e-9)
        assert found["translation"] == [0.0] * channels + list(affine[2::-1, 3])
        assert np.abs(affine[:3, 3]).min() > 1  # a place that would be missed
