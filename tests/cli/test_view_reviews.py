"""Verdicts of `headrace view`: kept beside the prediction, and made into label sets of the store whose pixels are those of the reviewed regions."""
import json
import shutil

import numpy as np
import pytest
import scipy.ndimage
import zarr
from driving import headrace, label_group
from view_server import serving


@pytest.fixture(scope="module")
def many_regions(cohort, tmp_path_factory):
    """Results of the cohort with regions as small as a few pixels."""
    out = tmp_path_factory.mktemp("many") / "out"
    headrace("predict", "--run", cohort / "run", cohort / "s.zarr", "--min-region-mm2", 0.001, "--out", out)
    return out


def test_verdicts_are_kept_beside_the_prediction(many_regions, tmp_path):
    out = shutil.copytree(many_regions, tmp_path / "out")
    with serving(out, "--reviewer", "M. M.") as server:
        name, item = max(server.items().items(), key=lambda pair: pair[1]["findings"])
        listed = server.ask(f"/api/items/{item['n']}/findings").json["findings"]
        found = json.loads((out / name / "findings.json").read_text())["slide"]
        first = [region["number"] for region in found["equivocal"]["list"]]
        others = [region["number"] for region in found["regions"]["list"] if region["number"] not in first]
        assert [finding["number"] for finding in listed] == first + others and item["findings"] == len(listed) > 0
        where = f"/api/items/{item['n']}/findings/{listed[0]['list']}/{listed[0]['number']}/verdict"
        for bad in ({"verdict": "maybe"}, {"verdict": "reclass", "class": "stroma"}, {"verdict": "accept", "outline": [[[0, 0]]]}, []):
            assert server.put(where, bad).status == 400
        assert server.ask(where, "PUT", "{", X_Headrace="1").status == 400
        assert server.put(where.replace(f"/{listed[0]['number']}/", "/987654/"), {"verdict": "accept"}).status == 404
        assert not (out / "reviews").exists()
        stored = server.put(where, {"verdict": "reclass", "class": "benign", "comment": "glänzend"}).json
        assert stored["reviewer"] == "M. M." and stored["class"] == "benign" and stored["time"].endswith("Z")
    with serving(out) as server:  # it is still there
        listed = server.ask(f"/api/items/{item['n']}/findings").json["findings"]
        assert listed[0]["verdict"] == stored and all(finding["verdict"] is None for finding in listed[1:])
        assert server.put(where, None, "DELETE").status == 200
        assert server.ask(f"/api/items/{item['n']}/findings").json["findings"][0]["verdict"] is None
    kept = json.loads((out / f"reviews/{name}.json").read_text())
    assert kept["verdicts"] == {}
    kept["findings_sha256"] = "0" * 64
    (out / f"reviews/{name}.json").write_text(json.dumps(kept))
    with serving(out) as server:
        answer = server.ask(f"/api/items/{item['n']}/findings")
        assert answer.status == 400 and "another prediction" in answer.json["error"]


def region_pixels(classes, names, findings):
    """The map's pixels of each listed region, found by SciPy: by class, pixels and box."""
    out = {}
    for region in findings["regions"]["list"]:
        value = names.index(region["class"])
        marked, _ = scipy.ndimage.label(classes == value)
        y, x = (c / 8 for c in region["centroid_level0_yx"])
        for k in range(1, marked.max() + 1):
            inside = marked == k
            centre = np.argwhere(inside).mean(0) + 0.5
            if inside.sum() == region["pixels"] and np.allclose(centre, (y, x), atol=0.01):
                out[region["number"]] = inside
    assert len(out) == len(findings["regions"]["list"])
    return out


def test_reviewed_regions_become_a_label_set_of_the_store(cohort, many_regions, tmp_path):
    store = shutil.copytree(cohort / "s.zarr", tmp_path / "s.zarr")
    out = shutil.copytree(many_regions, tmp_path / "out")
    with serving(out, "--store", store, "--reviewer", "mm") as server:
        name, item = max(server.items().items(), key=lambda pair: pair[1]["findings"])
        at = f"/api/items/{item['n']}"
        assert server.put(f"{at}/labels", {}, "POST").status == 400  # no verdict yet
        listed = server.ask(f"{at}/findings").json["findings"]
        verdicts = [{"verdict": "accept"}, {"verdict": "reject"}, {"verdict": "reclass", "class": "benign"}]
        outline = [[[100, 200], [100, 260], [180, 260], [180, 200]], [[120, 220], [120, 240], [150, 240], [150, 220]]]
        given = dict(zip((finding["number"] for finding in listed), verdicts))
        for finding in listed[:3]:
            assert server.put(f"{at}/findings/{finding['list']}/{finding['number']}/verdict", given[finding["number"]]).status == 200
        corrected = listed[0]["number"]
        assert server.put(f"{at}/findings/{listed[0]['list']}/{corrected}/verdict", {"verdict": "accept", "outline": outline}).status == 200
        saved = server.put(f"{at}/labels", {}, "POST").json
        assert saved["set"] == "review-mm"
    classes = zarr.open_group(out / name, mode="r")["labels/classes/0"][:]
    names = ["background", "benign", "hgpin", "pattern3", "pattern4", "pattern5"]
    findings = json.loads((out / name / "findings.json").read_text())["slide"]
    regions = region_pixels(classes, names, findings)
    predicted = {region["number"]: region["class"] for region in findings["regions"]["list"]}
    image = zarr.open_array(store / f"images/{name}/0", mode="r")
    expected = np.full(image.shape[-2:], 255, np.uint8)
    value_of = {number: {"accept": names.index(predicted[number]), "reject": 0, "reclass": 1}[verdict["verdict"]] for number, verdict in given.items()}
    for number in sorted(given):
        if number != corrected:
            whole = np.kron(regions[number], np.ones((8, 8), bool))[:expected.shape[0], :expected.shape[1]]
            expected[whole] = value_of[number]
    ring = np.zeros_like(expected, bool)
    ring[100:180, 200:260] = True
    ring[120:150, 220:240] = False
    expected[ring] = value_of[corrected]
    stored = zarr.open_array(store / label_group(store, name, "review-mm") / "0", mode="r")[:]
    np.testing.assert_array_equal(stored, expected)
    assert saved["pixels"] == (expected != 255).sum() > 0
    headrace("verify", store)
    with serving(store) as server:
        assert "annotation:review-mm" in [layer["name"] for layer in server.items()[name]["layers"]]


def test_reviewed_lesions_become_a_label_set_of_the_store(ct_cohort, predicted_ct_val, tmp_path):
    store = shutil.copytree(ct_cohort / "ct.zarr", tmp_path / "ct.zarr")
    out = shutil.copytree(predicted_ct_val, tmp_path / "out")
    with serving(store, out) as server:
        item = server.items()["sts-012"]
        at = f"/api/items/{item['n']}"
        listed = server.ask(f"{at}/findings").json["findings"]
        lesions = zarr.open_group(out / "sts-012", mode="r")["labels/lesions/0"][:]
        assert [finding["list"] for finding in listed] == ["lesions"] * int(lesions.max()) and listed
        for finding in listed:
            np.testing.assert_allclose(finding["centre"], np.argwhere(lesions == finding["number"]).mean(0), atol=0.01)
        expected = np.full(lesions.shape, 255, np.uint8)
        for finding, (verdict, value) in zip(listed, (("accept", 1), ("reject", 0))):
            assert server.put(f"{at}/findings/lesions/{finding['number']}/verdict", {"verdict": verdict}).status == 200
            expected[lesions == finding["number"]] = value
        assert server.put(f"{at}/findings/lesions/1/verdict", {"verdict": "accept", "outline": [[[0, 0], [0, 9], [9, 9]]]}).status == 400
        saved = server.put(f"{at}/labels", {}, "POST").json
        assert saved["set"] == "review" and saved["pixels"] == (expected != 255).sum() > 0
    stored = zarr.open_array(store / label_group(store, "sts-012", "review") / "0", mode="r")[:]
    np.testing.assert_array_equal(stored, expected)
    headrace("verify", store)
