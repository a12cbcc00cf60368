"""Stores of volumes, held against SimpleITK, NumPy and SciPy through foreign readers of Zarr."""
import shutil

import numpy as np
import pytest
import SimpleITK as sitk
import tensorstore
import zarr
from driving import SAMPLES, headrace, label_group, version_of
from plain_sites import thin_part, tissue_rows, volume_rows
from volume_store_support import (CLASSES, MADE, body_mask, cells, halve, ingest_volumes, lesions, make_cohort, pick, plan_levels)


@pytest.fixture(scope="module")
def cohort(tmp_path_factory):
    folder = tmp_path_factory.mktemp("volumes")
    made = make_cohort(folder)
    # Small shards, so that every level has several of them.
    ingest_volumes(folder / "ct", "--labels", folder / "labels", "--classes", ",".join(CLASSES), "--lesion-classes", "tumour",
                   "--out", folder / "s.zarr", "--chunk", 16, "--shard", 48)
    return folder / "s.zarr", made


def facts_of(store, name):
    return zarr.open_group(str(store), mode="r")[f"images/{name}"].attrs["headrace"]


def zarr_python(store, path):
    return np.asarray(zarr.open_group(str(store), mode="r")[path])


def by_tensorstore(store, path):
    return tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{store}/{path}"}}).result().read().result()


def spacing_zyx(image):
    return image.GetSpacing()[::-1]


@pytest.mark.parametrize("read", [zarr_python, by_tensorstore])
@pytest.mark.parametrize("name", MADE)
def test_levels_are_the_files_voxels_and_their_means(cohort, name, read):
    store, made = cohort
    image, _ = made[name]
    expected = sitk.GetArrayFromImage(image)
    levels = plan_levels(expected.shape, spacing_zyx(image))
    facts = facts_of(store, name)
    assert facts["levels"] == [list(shape) for shape, _ in levels]
    assert facts["downsample"] == [list(factor) for _, factor in levels]
    assert len(levels) >= 2
    before = (1, 1, 1)
    for k, (shape, factor) in enumerate(levels):
        if k > 0:
            expected = halve(expected, [f // b for f, b in zip(factor, before, strict=True)])
        before = factor
        assert expected.shape == shape
        stored = read(store, f"images/{name}/{k}")
        assert stored.dtype == np.int16
        np.testing.assert_array_equal(stored, expected)


@pytest.mark.parametrize("name", MADE)
def test_a_world_point_is_the_same_voxel(cohort, name):
    store, made = cohort
    image, _ = made[name]
    facts = facts_of(store, name)
    affine = np.array(facts["affine_lps"]).reshape(4, 4)
    np.testing.assert_allclose(facts["spacing_mm"], spacing_zyx(image), rtol=1e-6)
    np.testing.assert_allclose(affine[:3, 3], image.GetOrigin(), atol=1e-4)
    np.testing.assert_allclose(affine[:3, :3], np.array(image.GetDirection()).reshape(3, 3) * image.GetSpacing(), atol=1e-5)
    rng = np.random.default_rng(5)
    voxels = zarr_python(store, f"images/{name}/0")
    for _ in range(50):
        index = [int(rng.integers(n)) for n in image.GetSize()]
        point = image.TransformIndexToPhysicalPoint(index)
        found = np.linalg.solve(affine, [*point, 1])[:3]
        np.testing.assert_allclose(found, index, atol=1e-3)
        x, y, z = np.rint(found).astype(int)
        assert voxels[z, y, x] == image.GetPixel(index)


def test_scale_and_translation_place_the_levels(cohort):
    store, made = cohort
    image, _ = made["fine"]  # its axes are the patient's, so that OME-Zarr 0.5 can say all of it
    affine = np.array(facts_of(store, "fine")["affine_lps"]).reshape(4, 4)
    ome = zarr.open_group(str(store), mode="r")["images/fine"].attrs["ome"]["multiscales"][0]
    assert [(a["name"], a["type"], a["unit"]) for a in ome["axes"]] == [(n, "space", "millimeter") for n in "zyx"]
    for (_, factor), level in zip(plan_levels(image.GetSize()[::-1], spacing_zyx(image)), ome["datasets"], strict=True):
        scale, translation = (t[t["type"]] for t in level["coordinateTransformations"])
        np.testing.assert_allclose(scale, np.array(spacing_zyx(image)) * factor, rtol=1e-6)
        centre = [(f - 1) / 2 for f in factor[::-1]]  # of the fine voxels under the first coarse one, x first
        np.testing.assert_allclose(translation, (affine @ [*centre, 1])[2::-1], atol=1e-4)


@pytest.mark.parametrize("read", [zarr_python, by_tensorstore])
def test_labels_are_picked_at_the_centre(cohort, read):
    store, made = cohort
    for name, (image, labels) in made.items():
        assert list(version_of(store)["images"][name]["labels"]) == ([] if labels is None else ["annotation"])
        if labels is None:
            assert not (store / f"images/{name}/labels").exists()
            continue
        for k, (shape, factor) in enumerate(plan_levels(labels.shape, spacing_zyx(image))):
            np.testing.assert_array_equal(read(store, f"{label_group(store, name)}/{k}"), pick(labels, shape, factor))


@pytest.mark.parametrize("name", MADE)
def test_body_histogram_and_index_are_scipys(cohort, name):
    store, made = cohort
    image, labels = made[name]
    hu = sitk.GetArrayFromImage(image)
    body = body_mask(hu, spacing_zyx(image))
    assert 0.1 < body.mean() < 0.8, "the made body is no test"
    np.testing.assert_array_equal(zarr_python(store, f"images/{name}/masks/body"), body.astype(np.uint8))

    def check_histogram(path, values):
        found, counts = np.unique(values, return_counts=True)
        rows = zarr_python(store, path).astype(np.int64)
        assert rows[:, 0].tolist() == [int(v) + 32768 for v in found] and rows[:, 1].tolist() == counts.tolist()

    check_histogram(f"histograms/{name}", hu[body])
    stated = facts_of(store, name)["body"]
    assert stated["voxels"] == body.sum() and stated["threshold_hu"] == -300
    found = [stated[key] for key in ("fraction", "mean", "std", "p00_5", "p05", "p50", "p95", "p99_5")]
    inside = hu[body].astype(np.float64)
    np.testing.assert_allclose(found, [body.mean(), inside.mean(), inside.std(), *np.percentile(inside, [0.5, 5, 50, 95, 99.5])])

    part = thin_part(spacing_zyx(image))
    assert zarr.open_array(str(store / f"index/{name}"), mode="r").attrs["headrace"] == {"cell_size_zyx": [16] * 3, "part": part}
    np.testing.assert_array_equal(zarr_python(store, f"index/{name}"), tissue_rows(body, (16, 16, 16), part))
    if labels is None:
        return
    group = label_group(store, name)
    check_histogram(f"{group}/histogram", hu[(labels > 0) & (labels != 255)])
    np.testing.assert_array_equal(zarr_python(store, f"{group}/index"), cells(labels, range(len(CLASSES))))
    assert zarr.open_array(str(store / group / "sites"), mode="r").attrs["headrace"] == {"block": [16] * 3, "part": part}
    np.testing.assert_array_equal(zarr_python(store, f"{group}/sites"), volume_rows(labels, part, [2]))


def test_lesions_are_scipys_components(cohort):
    store, made = cohort
    for name in ("oblique", "fine"):
        image, labels = made[name]
        expected = lesions(labels, image, [2])
        assert len(expected) == 3
        np.testing.assert_allclose(zarr_python(store, f"{label_group(store, name)}/lesions"), expected, rtol=1e-6, atol=1e-3)
    assert version_of(store)["facts"]["lesion_classes"] == ["tumour"]


def test_ome_zarr_py_reads_image_and_labels(cohort):
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader
    store, made = cohort
    image, labels = made["oblique"]
    nodes = list(Reader(parse_url(f"{store}/images/oblique"))())
    assert [axis["name"] for axis in nodes[0].metadata["axes"]] == ["z", "y", "x"]
    np.testing.assert_array_equal(np.asarray(nodes[0].data[0]), sitk.GetArrayFromImage(image))
    (found,) = [node for node in nodes if node.data and node.data[0].dtype == np.uint8]
    np.testing.assert_array_equal(np.asarray(found.data[0]), labels)


@pytest.mark.parametrize("codec", ["blosc-lz4", "blosc-zstd", "zstd"])
def test_every_codec_is_read_by_others(tmp_path, codec):
    source = SAMPLES / "ct/sarcoma/sts-002.nii.gz"
    ingest_volumes(source, "--out", tmp_path / "s.zarr", "--codec", codec)
    expected = sitk.GetArrayFromImage(sitk.ReadImage(str(source)))
    for read in (zarr_python, by_tensorstore):
        np.testing.assert_array_equal(read(tmp_path / "s.zarr", "images/sts-002/0"), expected)
    assert facts_of(tmp_path / "s.zarr", "sts-002")["codec"] == codec


def test_real_dicom_with_its_segmentation_is_simpleitks(tmp_path):
    folder = SAMPLES / "ct/liver-3slice"
    files = sorted(str(p) for p in folder.glob("0*.dcm"))
    (tmp_path / "study").mkdir()
    for i, file in enumerate([*reversed(files), str(folder / "liver_seg.dcm")]):
        shutil.copy(file, tmp_path / f"study/{i}")
    ingest_volumes(tmp_path / "study", "--classes", "background,liver=Liver", "--out", tmp_path / "s.zarr")
    image = sitk.ReadImage(sorted(files, key=lambda p: float(sitk.ReadImage(p).GetOrigin()[2])))
    (name,) = zarr.open_group(str(tmp_path / "s.zarr"), mode="r")["images"].group_keys()
    np.testing.assert_array_equal(zarr_python(tmp_path / "s.zarr", f"images/{name}/0"), sitk.GetArrayFromImage(image))
    mask = sitk.GetArrayFromImage(sitk.ReadImage(str(folder / "liver_seg.nii.gz")))
    np.testing.assert_array_equal(zarr_python(tmp_path / "s.zarr", f"{label_group(tmp_path / 's.zarr', name)}/0") > 0, mask > 0)


def test_air_is_not_stored(tmp_path):
    hu = np.full((70, 70, 70), -1024, np.int16)
    hu[:20, :20, :20] = 50
    sitk.WriteImage(sitk.GetImageFromArray(hu), str(tmp_path / "a.nii.gz"))
    ingest_volumes(tmp_path / "a.nii.gz", "--out", tmp_path / "s.zarr", "--chunk", 16, "--shard", 32)
    shards = [p for p in (tmp_path / "s.zarr/images/a/0/c").rglob("*") if p.is_file()]
    assert len(shards) == 1
    np.testing.assert_array_equal(zarr_python(tmp_path / "s.zarr", "images/a/0"), hu)


def test_verify_finds_a_flipped_bit(cohort, tmp_path):
    store = tmp_path / "copy.zarr"
    shutil.copytree(cohort[0], store)
    headrace("verify", store)
    for key in ("images/fine/0/c/0/0/0", "images/fine/masks/body/c/1/0/0", "histograms/fine/c/0/0", f"{label_group(store, 'fine')}/lesions/c/0/0"):
        path = store / key
        whole = path.read_bytes()
        path.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
        assert key in headrace("verify", store, code=4).stdout
        path.write_bytes(whole)
