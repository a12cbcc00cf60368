"""Stores in Python: what they say against `headrace info` and the store's JSON, what they read against zarr-python, NumPy and `headrace read`."""
import base64
import json
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import imageio.v3 as iio
import numpy as np
import pytest
import SimpleITK as sitk
import zarr
from driving import SAMPLES, headrace, json_of, label_group, rows_of, version_of, write_table
from pet_inputs import NAMED, ingest, study

import headrace as hr

CMU = "CMU-1-Small-Region"
GTV = SAMPLES / "ct/sarcoma/sts-019-gtv.nii.gz"


@pytest.fixture(scope="module")
def phantoms(tmp_path_factory):
    """Three annotated slides with grades, without loss; one of another cohort, whose name HTML would misread."""
    folder = tmp_path_factory.mktemp("phantoms")
    headrace("phantom", "slides", "--out", folder / "in", "--count", 3, "--size", 1100, "--scanners", 2, "--seed", 3)
    rows = rows_of(folder / "in/cases.csv")
    rows[2]["cohort"] = "R&D"
    write_table(folder / "in/cases.csv", rows)
    headrace("ingest", "slides", folder / "in/slides", "--table", folder / "in/cases.csv", "--out", folder / "s.zarr", "--codec", "blosc-zstd",
             "--class-sets", "cancer=pattern3+pattern4+pattern5")
    return folder / "s.zarr"


@pytest.fixture(scope="module")
def cmu(tmp_path_factory):
    """A real slide of four levels, without loss."""
    store = tmp_path_factory.mktemp("cmu") / "s.zarr"
    headrace("ingest", "slides", SAMPLES / f"slides/{CMU}.svs", "--out", store, "--codec", "blosc-zstd", "--shard", 1024)
    return store


@pytest.fixture(scope="module")
def volumes(tmp_path_factory):
    """A real CT as two channels, the second brighter, with its tumour; and one that lacks the second."""
    folder = tmp_path_factory.mktemp("volumes")
    scan = sitk.Cast(sitk.ReadImage(str(SAMPLES / "ct/sarcoma/sts-019.nii.gz")), sitk.sitkInt16)
    for case in ("case-a", "case-b"):
        (folder / "in").mkdir(exist_ok=True)
        (folder / "labels").mkdir(exist_ok=True)
        sitk.WriteImage(scan, str(folder / f"in/{case}_0000.nii.gz"))
        shutil.copy(GTV, folder / f"labels/{case}.nii.gz")
    sitk.WriteImage(scan + 57, str(folder / "in/case-a_0001.nii.gz"))
    headrace("ingest", "volumes", folder / "in", "--channels", "arterial,portal-venous", "--labels", folder / "labels",
             "--classes", "background,tumour", "--on-error", "skip", "--missing-channels", "zero", "--out", folder / "ct.zarr")
    return folder / "ct.zarr"


@pytest.fixture(params=["phantoms", "cmu", "volumes"])
def store(request):
    return request.getfixturevalue(request.param)


def stored(path, image, level, colours=True):
    """A level as zarr-python reads it, in the order of the package."""
    array = zarr.open_group(path, mode="r")[f"images/{image}/{level}"][:]
    return array.transpose(1, 2, 0) if array.shape[0] == 3 and colours else array


def labels_of(path, image, level):
    return zarr.open_group(path, mode="r")[f"{label_group(path, image)}/{level}"][:]


def test_a_cohort_says_what_headrace_info_says(store):
    cohort, facts = hr.open(store), json_of("info", store)
    assert (cohort.path, cohort.kind, cohort.dataset_hash) == (str(store), facts["kind"], facts["dataset_hash"])
    assert list(cohort.classes) == facts["classes"] and {name: list(of) for name, of in cohort.class_sets.items()} == facts["class_sets"]
    assert list(cohort.channels) == facts.get("channels", [])
    ids = [image["id"] for image in facts["images"]]
    assert [image.id for image in cohort] == list(cohort.images.keys()) == ids and len(cohort) == len(cohort.images) == len(ids)
    assert cohort[0] is cohort.images[ids[0]] and cohort[-1].id == ids[-1] and cohort.images[0:1] == (cohort[0],)
    assert ids[0] in cohort and "nobody" not in cohort and cohort[0] in cohort.images and cohort.images.get("nobody") is None
    assert dict(cohort.images.items())[ids[0]] == cohort[0]


def test_an_image_says_what_headrace_info_says(store):
    cohort = hr.open(store)
    for facts in json_of("info", store)["images"]:
        image = cohort[facts["id"]]
        for name in ("case", "cohort", "scanner", "split", "codec", "source_bytes", "kind"):
            assert getattr(image, name) == facts[name], name
        assert list(image.label_names) == facts["labels"] and len(image.levels) == len(facts["levels"])
        for level, expected in zip(image.levels, facts["levels"]):
            if image.kind == "slide":
                assert [level.shape[2], *level.shape[:2]] == expected["shape"] and level.dtype == np.uint8
                assert level.spacing is None and (level.mpp and list(level.mpp)) == expected["spacing"]
            else:
                assert list(level.shape) == expected["shape"] and level.dtype == np.int16 and level.mpp is None
                assert list(level.spacing) == expected["spacing"] and (level.unit, level.per_unit) == ("HU", 1)
            assert level.ndim == 3 and level.size == np.prod(level.shape) and level.nbytes == level.size * level.dtype.itemsize
        if image.kind == "slide":
            assert [image.primary, image.secondary, image.grade_group] == [facts[name] for name in ("primary", "secondary", "grade_group")]
            assert image.affine is None and image.spacing is None and image.mpp == image.levels[0].mpp and image.phase == ""
        else:
            assert image.affine.shape == (4, 4) and image.affine.ravel().tolist() == facts["affine_lps"]
            assert image.phase == facts["phase"] and image.body[0].mean == facts["body"]["mean"] and image.mpp is None
            assert [body and body.mean for body in image.body] == [channel["mean"] for channel in facts["channels"]]


def test_levels_state_their_place_in_the_pyramid(cmu, volumes):
    for number, level in enumerate(hr.open(cmu)[CMU].levels):
        assert level.downsample == (2**number, 2**number) and level.mpp == (0.499 * 2**number,) * 2
        assert level.chunks == (128, 128, 3)
    image = hr.open(volumes)["case-a"]
    own = zarr.open_group(volumes, mode="r")["images/case-a"].attrs["headrace"]
    assert [list(level.downsample) for level in image.levels] == own["downsample"]
    assert list(image.spacing) == own["spacing_mm"]


def test_an_affine_leads_to_the_sources_place(volumes):
    """The corner voxel of the canonical order, and of the file as SimpleITK turns it."""
    image = hr.open(volumes)["case-a"]
    scan = sitk.DICOMOrient(sitk.ReadImage(str(SAMPLES / "ct/sarcoma/sts-019.nii.gz")), "LPS")
    for index in ((0, 0, 0), (3, 5, 7), (10, 2, 4)):
        place = (image.affine @ [*index, 1])[:3]
        np.testing.assert_allclose(place, scan.TransformContinuousIndexToPhysicalPoint([float(i) for i in index]), atol=1e-4)


def test_colour_and_masks_are_those_of_the_store(phantoms, volumes):
    for image in hr.open(phantoms):
        group = zarr.open_group(phantoms, mode="r")[f"images/{image.id}"]
        own, colour = group.attrs["headrace"], image.colour
        assert colour.pixels == own["od"]["pixels"] > 0
        np.testing.assert_allclose(colour.od_mean, own["od_mean"], rtol=1e-12)
        np.testing.assert_allclose(colour.od_std, own["od_std"], rtol=1e-12)
        assert colour.stain_od.tolist() == own["stain"]["he"] and colour.max_concentration.tolist() == own["stain"]["max_concentration"]
        tissue, downsample = image.tissue_mask()
        assert tissue.dtype == bool and downsample == group["masks/tissue"].attrs["headrace"]["downsample"]
        np.testing.assert_array_equal(tissue, group["masks/tissue"][:] == 1)
        assert tissue.any() and not tissue.all()
    image = hr.open(volumes)["case-b"]
    body, downsample = image.body_mask()
    np.testing.assert_array_equal(body, zarr.open_group(volumes, mode="r")["images/case-b/masks/body"][:] == 1)
    assert downsample == 1 and body.shape == image.shape and body.sum() == image.body[0].voxels
    values = np.asarray(image.level(0))[body]
    assert image.body[0].mean == pytest.approx(values.mean()) and image.body[0].std == pytest.approx(values.std())


def test_what_is_not_known_of_a_picture_is_none(tmp_path):
    """No tissue, no micrometres a pixel, no labels."""
    headrace("ingest", "slides", SAMPLES / "tissue/no-tissue.png", "--out", tmp_path / "s.zarr")
    cohort = hr.open(tmp_path / "s.zarr")
    [image] = cohort
    assert image.mpp is None and image.level(0).mpp is None and image.label_names == () and image.grade_group is None
    assert (image.colour.pixels, image.colour.stain_od, image.colour.max_concentration) == (0, None, None)
    assert image.colour.od_mean.tolist() == [0, 0, 0] and not image.tissue_mask().mask.any()
    assert "not known" in cohort._repr_html_() and "<img " in image._repr_html_()
    np.testing.assert_array_equal(np.asarray(image.level(0)), iio.imread(SAMPLES / "tissue/no-tissue.png")[..., :3])


def test_pet_says_its_unit(tmp_path):
    """A real CT with the PET of its study; beside it uptake reads as 0."""
    study(tmp_path / "in")
    ingest(tmp_path, *NAMED)
    [image] = hr.open(tmp_path / "ct.zarr")
    ct, pet = image.level(0, 0), image.level(0, 1)
    assert [(level.unit, level.per_unit) for level in (ct, pet)] == [("HU", 1), ("SUV", 100)]
    assert 5 < pet[...].max() / pet.per_unit < 100
    outside = (ct.shape[0], 0, 0), (1, 2, 2)
    assert (ct.read(*outside) == -1024).all() and (pet.read(*outside) == 0).all()
    in_body = (pet[...] / pet.per_unit)[image.body_mask().mask]
    assert image.body[1].voxels < in_body.size  # those that the shorter series shows
    assert image.body[1].mean * image.body[1].voxels == pytest.approx(in_body.sum())


def test_lesions_and_histograms_are_those_of_the_voxels(volumes):
    image = hr.open(volumes)["case-a"]
    labels = image.labels().level(0)[...]
    [lesion] = image.lesions("annotation")
    assert (lesion.class_name, lesion.class_value, lesion.voxels) == ("tumour", 1, int((labels == 1).sum()))
    places = np.argwhere(labels == 1)
    assert lesion.origin == tuple(places.min(0)) and lesion.size == tuple(np.ptp(places, axis=0) + 1)
    assert lesion.volume_mm3 == pytest.approx(lesion.voxels * np.prod(image.spacing))
    np.testing.assert_allclose(lesion.centre_lps, (image.affine @ [*places.mean(0)[::-1], 1])[:3], rtol=1e-6)
    assert image.lesions("reader2") == []
    body = image.body_mask().mask
    for channel in (0, "portal-venous"):
        voxels, histogram = image.level(0, channel)[...], image.histogram("annotation", channel)
        for mask, counts in ((body, histogram.body), (labels == 1, histogram.foreground)):
            expected = dict(zip(*np.unique(voxels[mask], return_counts=True)))
            assert {v: c for v, c in zip(histogram.stored, counts) if c} == expected
    assert image.histogram("reader2").foreground.sum() == 0


def test_random_regions_are_those_of_zarr_python(cmu, volumes):
    rng = np.random.default_rng(4)
    for path, name, fill in ((cmu, CMU, 255), (volumes, "case-a", -1024)):
        image = hr.open(path)[name]
        for number, level in enumerate(image.levels):
            whole = stored(path, name, number)
            axes = 2 if image.kind == "slide" else 3
            padded = np.pad(whole, [(50, 50)] * axes + [(0, 0)] * (3 - axes), constant_values=fill)
            for _ in range(20):
                origin = [int(rng.integers(-50, n + 20)) for n in whole.shape[:axes]]
                size = [int(rng.integers(1, n + 50 - o + 1)) if o > 0 else int(rng.integers(1, n)) for o, n in zip(origin, whole.shape)]
                cut = tuple(slice(o + 50, o + 50 + s) for o, s in zip(origin, size))
                got = image.read(number, origin, size)
                np.testing.assert_array_equal(got, padded[cut])
                assert got.flags.c_contiguous and got.flags.owndata is False and got.flags.writeable


def test_regions_are_those_of_headrace_read(cmu, phantoms, volumes, tmp_path):
    out = tmp_path / "x.npy"
    for path, name, level, origin, size, label in (
        (cmu, CMU, 1, (-20, 1000), (300, 200), None),
        (phantoms, "phantom-001", 0, (500, -3), (700, 900), "annotation"),
        (volumes, "case-b", 0, (-2, 40, 10), (9, 80, 300), None),
        (volumes, "case-b", 0, (2, -7, 10), (9, 80, 300), "annotation"),
    ):
        image = hr.open(path).images
        name = name if name in image else image[0].id
        choice = ["--label", label] if label else []
        headrace("read", path, name, "--level", level, f"--origin={','.join(map(str, origin))}", "--size", ",".join(map(str, size)),
                 *choice, "--out", out)
        source = image[name].labels(label) if label else image[name]
        np.testing.assert_array_equal(source.read(level, origin, size), np.load(out))


def random_key(rng, shape):
    """What NumPy and a level both take: whole numbers, slices in and beyond the bounds, an ellipsis, fewer parts than axes."""
    parts = []
    for length in shape[: rng.randint(0, len(shape))]:
        kind = rng.random()
        bound = [None, *(rng.randint(-length - 9, length + 9) for _ in range(2))]
        parts.append(rng.randrange(-length, length) if kind < 0.25 else slice(rng.choice(bound), rng.choice(bound), rng.choice([None, 1])))
    if rng.random() < 0.3:
        if rng.random() < 0.5:  # the parts after it are those of the last axes
            parts = [parts[0] if parts and not isinstance(parts[0], int) else slice(None)]
            return (Ellipsis, *parts)
        parts.append(Ellipsis)
    return parts[0] if len(parts) == 1 and rng.random() < 0.5 else tuple(parts)


def test_indexing_is_numpys(cmu, phantoms, volumes):
    cases = [(hr.open(cmu)[CMU].level(2), stored(cmu, CMU, 2)), (hr.open(volumes)["case-a"].level(0), stored(volumes, "case-a", 0))]
    name = hr.open(phantoms)[0].id
    cases.append((hr.open(phantoms)[name].labels("annotation").level(0), labels_of(phantoms, name, 0)))
    rng = random.Random(11)
    for level, whole in cases:
        np.testing.assert_array_equal(np.asarray(level), whole)
        assert len(level) == len(whole) and level.shape == whole.shape
        for _ in range(200):
            key = random_key(rng, whole.shape)
            got, expected = level[key], whole[key]
            assert type(got) is type(expected) and got.shape == expected.shape and got.dtype == expected.dtype, key
            np.testing.assert_array_equal(got, expected, err_msg=str(key))
    level, whole = cases[0]
    assert np.array_equal(level[np.int64(5), np.uint8(7)], whole[5, 7]) and np.asarray(level, np.float32).dtype == np.float32


def test_what_is_not_read_is_refused_with_a_reason(cmu, volumes):
    image = hr.open(cmu)[CMU]
    level = image.level(0)
    for key, words in ((np.s_[::2], "axis 0: a step of 2"), (np.s_[:, ::-1], "axis 1: a step of -1"), ([1, 2], "neither a whole number nor a slice"),
                       (np.s_[:, None], "neither"), (True, "neither"), (1.5, "neither"), (np.zeros(level.shape, bool), "neither")):
        with pytest.raises(hr.UsageError, match=words):
            level[key]
    for key in (level.shape[0], -level.shape[0] - 1, (0, 0, 3), (0, 0, 0, 0), (Ellipsis, Ellipsis)):
        with pytest.raises(IndexError):
            level[key]
    for origin, size in (((0,), (1, 1)), ((0, 0), (1, 1, 3)), ((0.5, 0), (1, 1)), ((0, 0), (-1, 1)), ((1 << 50, 0), (1, 1))):
        with pytest.raises(hr.UsageError):
            level.read(origin, size)
    with pytest.raises(hr.OutOfMemoryError, match="more than 2\\^40"):
        level.read((0, 0), (1 << 30, 1 << 30))
    with pytest.raises(hr.UsageError, match="has levels 0 to 3"):
        image.level(4)
    with pytest.raises(ValueError, match="copy"):
        np.array(level, copy=False)
    ct = hr.open(volumes)
    with pytest.raises(hr.UsageError, match="'venous'.*arterial, portal-venous"):
        ct["case-a"].level(0, "venous")
    with pytest.raises(hr.NotFoundError, match="case-b.*lacks.*portal-venous"):
        ct["case-b"].level(0, 1)
    with pytest.raises(hr.NotFoundError, match="no labels 'reader2'; it has: annotation"):
        ct["case-a"].labels("reader2")
    for wrong in (lambda: ct["case-a"].tissue_mask(), lambda: ct["case-a"].colour, lambda: image.body_mask(), lambda: image.body,
                  lambda: image.lesions(), lambda: image.histogram(), lambda: image.level(0, "red"), lambda: image.level(0, 1)):
        with pytest.raises(hr.UsageError):
            wrong()


def test_names_that_are_not_there_are_named_with_the_nearest(volumes, tmp_path):
    cohort = hr.open(volumes)
    with pytest.raises(hr.NotFoundError, match="Did you mean 'case-a'"):
        cohort["case-aa"]
    with pytest.raises(FileNotFoundError):
        hr.open(tmp_path / "nothing.zarr")
    with pytest.raises(IndexError):
        cohort[2]


def test_an_open_cohort_keeps_its_version(tmp_path):
    store, table = tmp_path / "s.zarr", tmp_path / "t.csv"
    rows = [row for row in rows_of(SAMPLES / "nuclei/cases.csv")][:2]
    for row in rows:
        row["file"], row["annotation"] = (str(SAMPLES / "nuclei" / row[key]) for key in ("file", "annotation"))
    headrace("ingest", "slides", SAMPLES / "nuclei/images", "--table", write_table(table, rows), "--out", store)
    before = hr.open(store)
    other = "test" if before[0].split != "test" else "val"
    changed = [{"image": image.id, "case": image.case, "split": other} for image in before]
    headrace("ingest", "labels", store, "--table", write_table(table, changed))
    after = hr.open(str(store))
    assert {image.split for image in after} == {other} and after.dataset_hash != before.dataset_hash
    old = hr.open(store, version=before.dataset_hash[:8])
    assert [image.split for image in old] == [image.split for image in before] != [image.split for image in after]
    assert after[0] != before[0] == old[0] and len({before[0], old[0], after[0]}) == 2
    with pytest.raises(hr.UsageError):
        hr.open(store, version="0123456789")


def test_eight_threads_read_one_cohort(cmu, volumes):
    cohorts = {path: hr.open(path) for path in (cmu, volumes)}
    whole = {(path, name, k): stored(path, name, k) for path, name, levels in ((cmu, CMU, 4), (volumes, "case-a", 1)) for k in range(levels)}

    def work(seed):
        rng = random.Random(seed)
        for _ in range(12):
            (path, name, k), expected = rng.choice(list(whole.items()))
            key = random_key(rng, expected.shape)
            np.testing.assert_array_equal(cohorts[path][name].level(k)[key], expected[key])
        return seed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))


def test_damage_is_an_error_and_the_cohort_goes_on(cmu, tmp_path):
    store = shutil.copytree(cmu, tmp_path / "s.zarr")
    cohort, expected = hr.open(store), stored(cmu, CMU, 2)
    shard = store / f"images/{CMU}/2/c/0/0/0"
    data = shard.read_bytes()
    shard.write_bytes(data[:1000] + bytes(b ^ 255 for b in data[1000:1020]) + data[1020:])
    level = cohort[CMU].level(2)
    for _ in range(2):
        with pytest.raises(hr.CorruptError, match=f"{CMU}/2"):
            level[...]
    shard.write_bytes(data)
    np.testing.assert_array_equal(hr.open(store)[CMU].level(2)[...], expected)
    np.testing.assert_array_equal(cohort[CMU].level(3)[...], stored(cmu, CMU, 3))
    for index in (store / "versions").glob("*.index"):  # which has the metadata as well
        index.unlink()
    cohort = hr.open(store)
    metadata = store / f"images/{CMU}/1/zarr.json"
    text = metadata.read_text()
    metadata.unlink()
    with pytest.raises(FileNotFoundError, match=f"{CMU}/1"):
        cohort[CMU].level(1)
    metadata.write_text(text)
    np.testing.assert_array_equal(cohort[CMU].level(1)[...], stored(cmu, CMU, 1))
    first = store / f"images/{CMU}/0/c/0/0/0"
    first.write_bytes(first.read_bytes()[:-100])
    with pytest.raises(hr.CorruptError, match=f"{CMU}/0"):
        cohort[CMU].level(0)[:10, :10]
    np.testing.assert_array_equal(cohort[CMU].level(0)[1500:1700, 10:20], stored(cmu, CMU, 0)[1500:1700, 10:20])
    first.unlink()
    assert (hr.open(store)[CMU].level(0)[:10, :10] == 255).all()  # as every reader of Zarr takes a chunk that is not there
    headrace("verify", store, code=4)
    (store / "manifest.json").unlink()
    with pytest.raises(hr.CorruptError, match="manifest"):
        hr.open(store)


def test_everything_can_be_pickled(volumes):
    cohort = hr.open(volumes)
    image = cohort["case-a"]
    held = (cohort, list(cohort), image.level(0, 1), image.labels().level(0))
    again, images, level, labels = pickle.loads(pickle.dumps(held))
    assert again.dataset_hash == cohort.dataset_hash and images == list(cohort) == list(again)
    assert images[0]._store is images[1]._store is again._store
    np.testing.assert_array_equal(level[3], image.level(0, "portal-venous")[3])
    np.testing.assert_array_equal(labels[...], image.labels().level(0)[...])


def test_a_forked_process_reads_on(cmu):
    """As the workers of a DataLoader do, after the parent's threads have read."""
    code = f"""
import os, sys, headrace, numpy
level = headrace.open({str(cmu)!r})[{CMU!r}].level(0)
whole = level[...]
for _ in range(3):
    child = os.fork()
    if child == 0:
        os._exit(0 if numpy.array_equal(level[...], whole) else 3)
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})


def test_nothing_is_printed(volumes):
    code = f"import headrace; image = headrace.open({str(volumes)!r})[0]; image.level(0)[...]; repr(image); image._repr_html_()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120, check=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout == done.stderr == b""


def picture_of(html):
    [data] = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return iio.imread(base64.b64decode(data), extension=".png")


def test_notebooks_show_tables_and_thumbnails(phantoms, volumes):
    cohort = hr.open(phantoms)
    html = cohort._repr_html_()
    assert "R&amp;D" in html and "R&D" not in html and cohort.dataset_hash[:12] in html and "pattern3" in html
    assert html.count("<tr>") == html.count("</tr>") > 5 and "1100 × 1100" in html and "annotation: " in html
    np.testing.assert_array_equal(picture_of(cohort[0]._repr_html_()), stored(phantoms, cohort[0].id, len(cohort[0].levels) - 1))
    image = hr.open(volumes)["case-a"]
    html = image._repr_html_()
    level = image.levels[-1]
    grey = picture_of(html).astype(float)
    values = level[level.shape[0] // 2].astype(float)
    np.testing.assert_allclose(grey, np.clip((values + 160) / 400 * 255, 0, 255), atol=0.5)
    width, height = (int(re.search(rf'{side}="(\d+)"', html)[1]) for side in ("width", "height"))
    mm = [n * edge for n, edge in zip(image.shape, image.spacing)]
    assert width / height == pytest.approx(mm[2] / mm[1], rel=0.02)
    assert "portal-venous" in hr.open(volumes)._repr_html_() and "case-a" in repr(image) and "2 images" in repr(hr.open(volumes))


def test_versions_json_is_the_version_that_was_opened(volumes):
    assert hr.open(volumes).classes == tuple(version_of(volumes, hr.open(volumes).dataset_hash)["classes"])
    assert json.loads((volumes / "manifest.json").read_text())["dataset_hash"] == hr.open(volumes).dataset_hash
