"""Outlines that are drawn on slices of a CT in `headrace view`: kept beside the prediction, and with the verdicts a label set of the store, on the
study's own grid whatever the order of its axes. A set that was saved is shown at once."""
import concurrent.futures
import json
import shutil

import nibabel
import numpy as np
import pytest
import zarr
from ct_inputs import CT
from driving import headrace, label_group
from outline_voxels import inside
from view_server import serving, tiles_of, volume_of

RING = [[20.2, 30.4], [21.7, 70.1], [60.3, 64.9], [48.5, 25.0]]
HOLE = [[30, 40], [30, 50], [40, 50], [40, 40]]
ORDERS = ("LPS", "RAS", "PSR")


def outline(*rings, name="tumour"):
    return {"class": name, "rings": list(rings)}


def put_slice(server, item, z, *outlines):
    return server.put(f"/api/items/{item}/outlines/{z}", {"outlines": list(outlines)})


def labels_of(store, image, name):
    return zarr.open_array(store / label_group(store, image, name) / "0", mode="r")[:]


def slice_of(server, item, layer, z, dtype, shape):
    answer = server.ask(f"/volumes/{item}/{layer}/slices/{z}")
    assert answer.status == 200, answer.body
    return np.frombuffer(answer.body, dtype).reshape(shape)


@pytest.fixture
def study(ct_cohort, predicted_ct_val, tmp_path):
    """A store with one predicted image, sts-012; both may be written into."""
    return shutil.copytree(ct_cohort / "ct.zarr", tmp_path / "ct.zarr"), shutil.copytree(predicted_ct_val, tmp_path / "out")


@pytest.fixture(scope="module")
def reordered(ct_cohort, tmp_path_factory):
    """Parts of one scan with its axes in several orders, in a store, predicted; and the part itself, (x, y, z) in the order LPS."""
    folder = tmp_path_factory.mktemp("orders")
    (folder / "in").mkdir()
    lps = nibabel.orientations.axcodes2ornt("LPS")
    image = nibabel.load(CT / "sarcoma/sts-012.nii.gz")
    image = image.as_reoriented(nibabel.orientations.ornt_transform(nibabel.io_orientation(image.affine), lps)).slicer[10:106, 4:100, 5:29]
    for order in ORDERS:
        turned = image.as_reoriented(nibabel.orientations.ornt_transform(lps, nibabel.orientations.axcodes2ornt(order)))
        nibabel.save(turned, folder / f"in/{order}.nii.gz")
    headrace("ingest", "volumes", folder / "in", "--classes", "background,tumour", "--out", folder / "s.zarr")
    headrace("predict", "--run", ct_cohort / "run", folder / "s.zarr", "--out", folder / "out")
    return folder, image


def test_outlines_lie_where_they_were_drawn_whatever_the_order_of_the_axes(reordered, tmp_path):
    folder, image = reordered
    store, out = shutil.copytree(folder / "s.zarr", tmp_path / "s.zarr"), shutil.copytree(folder / "out", tmp_path / "out")
    expected = np.full(image.shape[::-1], 255, np.uint8)
    drawn = inside([RING, HOLE], expected.shape[1:])
    assert 500 < drawn.sum() < inside([RING], drawn.shape).sum()
    expected[3][drawn] = expected[17][drawn] = 1
    expected[17][inside([HOLE], drawn.shape)] = 0
    with serving(store, out, "--reviewer", "mm") as server:
        for order in ORDERS:
            item = server.items()[order]["n"]
            assert put_slice(server, item, 3, outline(RING, HOLE)).status == 200
            assert put_slice(server, item, 17, outline(RING), outline(HOLE, name="background")).status == 200
            saved = server.put(f"/api/items/{item}/labels", {}, "POST").json
            assert (saved["set"], saved["pixels"]) == ("review-mm", (expected != 255).sum())
    for order in ORDERS:
        np.testing.assert_array_equal(labels_of(store, order, "review-mm"), expected)
        # The label file is on the file's own grid; what it marks lies at the same places of the patient.
        file = nibabel.load(out / f"reviews/labels/{order}/{order}.nii.gz")
        assert "".join(nibabel.aff2axcodes(file.affine)) == order
        voxels = np.asarray(file.dataobj)
        there = nibabel.affines.apply_affine(file.affine, np.argwhere(voxels == 1))
        wanted = nibabel.affines.apply_affine(image.affine, np.argwhere(expected.transpose(2, 1, 0) == 1))
        np.testing.assert_allclose(there[np.lexsort(there.round(2).T)], wanted[np.lexsort(wanted.round(2).T)], atol=1e-3)
    headrace("verify", store)


def test_outlines_are_kept_slice_by_slice(study):
    _, out = study
    with serving(out, "--reviewer", "A. B.") as server:
        item = server.items()["sts-012"]["n"]
        assert server.get(f"/api/items/{item}/outlines") == {"slices": {}}
        first = put_slice(server, item, 4, outline(RING)).json["outlines"]
        assert first[0]["reviewer"] == "A. B." and first[0]["time"].endswith("Z") and first[0]["rings"] == [RING]
        assert put_slice(server, item, 9, outline(HOLE, name="background")).status == 200
    with serving(out, "--reviewer", "C. D.") as server:  # they are still there; a second reader adds one
        listed = server.get(f"/api/items/{item}/outlines")["slices"]
        assert listed["4"] == first and set(listed) == {"4", "9"}
        both = put_slice(server, item, 4, *first, outline(HOLE)).json["outlines"]
        assert both[0] == first[0] and both[1]["reviewer"] == "C. D."
        assert put_slice(server, item, 9).json == {"outlines": []}
        kept = json.loads((out / "reviews/sts-012.json").read_text())
        assert kept["slices"] == {"4": both} and kept["verdicts"] == {}
        assert server.put(f"/api/items/{item}/findings/lesions/1/verdict", {"verdict": "accept"}).status == 200
        assert server.get(f"/api/items/{item}/outlines")["slices"] == {"4": both}  # a verdict leaves them


def test_what_is_no_outline_is_refused(study, cohort):
    store, out = study
    with serving(store, out, cohort / "in/slides") as server:
        items = server.items()
        item = items["sts-012"]["n"]
        depth = server.get(f"/api/items/{item}")["shape_zyx"][0]
        for bad in (outline(RING, name="stroma"), outline(RING[:2]), outline(), {"class": "tumour"}, outline([[0, 0], [1], [2, 2]]), 5,
                    outline([[0, 0], [1e300, 1], [2, 2]])):
            assert put_slice(server, item, 3, bad).status == 400, bad
        for body in ([], {}, {"outlines": 3}):
            assert server.put(f"/api/items/{item}/outlines/3", body).status == 400
        assert server.ask(f"/api/items/{item}/outlines/3", "PUT", "{", X_Headrace="1").status == 400
        assert server.ask(f"/api/items/{item}/outlines/3", "PUT", '{"outlines": []}').status == 403  # without X-Headrace
        for z in (depth, -1, "x"):
            assert put_slice(server, item, z, outline(RING)).status == 404
        slide = next(n for n in items.values() if n["kind"] == "slide")["n"]
        assert put_slice(server, slide, 0, outline(RING)).status == 404
        other = items["sts-018"]["n"]
        answer = put_slice(server, other, 0, outline(RING))
        assert answer.status == 400 and "no prediction" in answer.json["error"]
        assert not (out / "reviews").exists()


def test_verdicts_and_outlines_together_become_labels(study):
    store, out = study
    lesions = zarr.open_group(out / "sts-012", mode="r")["labels/lesions/0"][:]
    slices = {number: (lesions == number).any((1, 2)) for number in range(1, lesions.max() + 1)}
    accepted = next(number for number, there in slices.items() if not there.all())
    rejected = next(number for number in slices if number != accepted)
    z, empty = int(slices[accepted].argmax()), int(slices[accepted].argmin())
    expected = np.full(lesions.shape, 255, np.uint8)
    expected[lesions == accepted], expected[lesions == rejected] = 1, 0
    with serving(store, out) as server:
        item = server.items()["sts-012"]["n"]
        for number, verdict in ((accepted, "accept"), (rejected, "reject")):
            assert server.put(f"/api/items/{item}/findings/lesions/{number}/verdict", {"verdict": verdict}).status == 200
        contours = f"/api/items/{item}/findings/lesions/{accepted}/contours"
        rings = server.get(f"{contours}/{z}")["rings"]
        np.testing.assert_array_equal(inside(rings, lesions.shape[1:]), lesions[z] == accepted)
        assert server.get(f"{contours}/{empty}") == {"rings": []}
        assert server.ask(f"{contours}/{len(lesions)}").status == 404
        # A corner of the lesion is erased, and what it is on this slice is drawn on another one.
        y, x = np.argwhere(lesions[z] == accepted)[0]
        erased = [[y - 1, x - 1], [y - 1, x + 2], [y + 2, x + 2], [y + 2, x - 1]]
        erased = [[float(b), float(a)] for b, a in erased]
        assert put_slice(server, item, z, outline(erased, name="background")).status == 200
        assert put_slice(server, item, empty, outline(*rings)).status == 200
        expected[z][inside([erased], lesions.shape[1:])] = 0
        expected[empty][lesions[z] == accepted] = 1
        saved = server.put(f"/api/items/{item}/labels", {}, "POST").json
        assert saved["pixels"] == (expected != 255).sum()
    stored = labels_of(store, "sts-012", "review")
    np.testing.assert_array_equal(stored, expected)
    assert (stored[z][lesions[z] == accepted] == 0).any() and (stored[lesions == accepted] == 1).any()


def test_a_saved_set_is_shown_at_once_and_again(study):
    store, out = study
    with serving(store, out, "--reviewer", "mm") as server:
        item = server.items()["sts-012"]["n"]
        shape = tuple(server.get(f"/api/items/{item}")["shape_zyx"])
        before = volume_of(server, item, "image")[1]
        for ring in (RING, HOLE):
            assert put_slice(server, item, 6, outline(ring)).status == 200
            assert server.put(f"/api/items/{item}/labels", {}, "POST").status == 200
            layers = [layer["name"] for layer in server.get(f"/api/items/{item}")["layers"]]
            assert layers == [layer["name"] for layer in server.items()["sts-012"]["layers"]] and "annotation:review-mm" in layers
            expected = np.full(shape, 255, np.uint8)
            expected[6][inside([ring], shape[1:])] = 1
            np.testing.assert_array_equal(volume_of(server, item, "annotation:review-mm")[1], expected)
            np.testing.assert_array_equal(slice_of(server, item, "annotation:review-mm", 6, np.uint8, shape[1:]), expected[6])
        np.testing.assert_array_equal(volume_of(server, item, "image")[1], before)


def test_saving_disturbs_nobody(study):
    store, out = study
    with serving(store, out) as server, concurrent.futures.ThreadPoolExecutor(12) as pool:
        item = server.items()["sts-012"]["n"]
        assert put_slice(server, item, 6, outline(RING)).status == 200
        asked = [f"/volumes/{item}/{layer}/slices/{z}" for z in range(20) for layer in ("image", "annotation", "prediction")]
        before = {path: server.ask(path).body for path in asked}
        saving = [pool.submit(server.put, f"/api/items/{item}/labels", {}, "POST") for _ in range(3)]
        readers = list(pool.map(server.ask, asked * 4))
        assert [future.result().status for future in saving] == [200] * 3
        for path, answer in zip(asked * 4, readers):
            assert answer.status == 200 and answer.body == before[path]


def test_a_saved_set_of_a_slide_is_shown_at_once(cohort, predicted, tmp_path):
    store, out = shutil.copytree(cohort / "s.zarr", tmp_path / "s.zarr"), shutil.copytree(predicted, tmp_path / "out")
    with serving(store, out) as server:
        name, item = next((name, item) for name, item in server.items().items() if item["findings"])
        at, finding = f"/api/items/{item['n']}", server.get(f"/api/items/{item['n']}/findings")["findings"][0]
        for box in ([[40, 50], [40, 300], [280, 300], [280, 50]], [[500, 600], [500, 700], [600, 700], [600, 600]]):
            verdict = {"verdict": "reclass", "class": "benign", "outline": [box]}
            assert server.put(f"{at}/findings/{finding['list']}/{finding['number']}/verdict", verdict).status == 200
            assert server.put(f"{at}/labels", {}, "POST").status == 200
            facts = server.get(at)
            assert "annotation:review" in [layer["name"] for layer in facts["layers"]]
            shape = facts["height"], facts["width"]
            shown = tiles_of(server, item["n"], "annotation:review", facts["levels"] - 1, shape)
            np.testing.assert_array_equal(shown[..., 3] > 0, inside([box], shape))
        np.testing.assert_array_equal(labels_of(store, name, "review") == 1, inside([box], shape))


def test_slices_are_the_voxels_of_the_study(study):
    store, out = study
    with serving(store, out) as server:
        item = server.items()["sts-012"]["n"]
        for layer, dtype in (("image", np.int16), ("prediction", np.uint8), ("annotation", np.uint8)):
            voxels = volume_of(server, item, layer)[1]
            for z in (0, len(voxels) // 2, len(voxels) - 1):
                np.testing.assert_array_equal(slice_of(server, item, layer, z, dtype, voxels.shape[1:]), voxels[z])
            for z in (len(voxels), -1, "x"):
                assert server.ask(f"/volumes/{item}/{layer}/slices/{z}").status == 404
