"""Annotations of a store: label pyramids, class counts and the sampler's index, against NumPy and scikit-image."""
import csv
import gzip
import json

import imageio.v3 as iio
import numpy as np
import pytest
import zarr
from driving import SAMPLES, label_group, version_of
from plain_sites import slide_rows, tissue_rows
from skimage.draw import polygon2mask
from store_support import SLIDES, centre_picks, group, ingest

NUCLEI = SAMPLES / "nuclei"


@pytest.fixture(scope="session")
def nuclei(tmp_path_factory):
    store = tmp_path_factory.mktemp("nuclei") / "n.zarr"
    ingest(NUCLEI / "images", "--table", NUCLEI / "cases.csv", "--out", store)
    return store


def test_every_mask_is_stored_as_its_coding_says(nuclei):
    for row in csv.DictReader(open(NUCLEI / "cases.csv", newline="")):
        mask = iio.imread(NUCLEI / row["annotation"])
        node = group(nuclei, row["image"])
        for level in range(len(node.attrs["headrace"]["levels"])):
            stored = np.asarray(zarr.open_group(str(nuclei), mode="r")[f"{label_group(nuclei, row['image'])}/{level}"])
            picks = [centre_picks(size, level, count) for size, count in zip(mask.shape, stored.shape)]
            np.testing.assert_array_equal(stored, (mask[np.ix_(*picks)] > 0).astype(np.uint8))


def test_the_index_counts_tissue_and_classes_of_every_cell(nuclei):
    root = zarr.open_group(str(nuclei), mode="r")
    for name in list(root["images"].group_keys())[:5]:
        index = root["index"][name]
        cell = index.attrs["headrace"]["cell_size_px"]
        label = np.asarray(root[f"{label_group(nuclei, name)}/0"])
        mask = root["images"][name]["masks/tissue"]
        tissue = np.kron(np.asarray(mask), np.ones([mask.attrs["headrace"]["downsample"]] * 2, np.uint8))[:label.shape[0], :label.shape[1]]
        classes = []
        for y in range(0, label.shape[0], cell):
            for x in range(0, label.shape[1], cell):
                inside = label[y:y + cell, x:x + cell]
                count = [int((inside == value).sum()) for value in range(label[label < 255].max() + 1)]
                if any(count):
                    classes.append([y // cell, x // cell, *count])
        assert index.attrs["headrace"]["part"] == [cell // 16] * 2
        np.testing.assert_array_equal(np.asarray(index), tissue_rows(tissue > 0, [cell] * 2, [cell // 16] * 2))
        by_label = root[f"{label_group(nuclei, name)}/index"]
        assert by_label.attrs["headrace"]["cell_size_px"] == cell
        np.testing.assert_array_equal(np.asarray(by_label), np.array(classes, np.uint32))
        sites = root[f"{label_group(nuclei, name)}/sites"]
        assert sites.attrs["headrace"] == {"block": [cell // 2] * 2, "part": [cell // 32] * 2}
        np.testing.assert_array_equal(np.asarray(sites), slide_rows(label, cell // 2, cell // 32))


def distance(point, a, b):
    point, a, b = map(np.array, (point, a, b))
    along = np.clip(np.dot(point - a, b - a) / np.dot(b - a, b - a), 0, 1)
    return np.linalg.norm(point - a - along * (b - a))


def test_qupath_polygons_are_painted(tmp_path):
    outer = [[100.2, 200.7], [900.0, 260.0], [700.0, 1100.0], [150.0, 900.0], [100.2, 200.7]]
    hole = [[300.0, 400.0], [500.0, 420.0], [420.0, 600.0], [300.0, 400.0]]
    feature = {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [outer, hole]},
               "properties": {"objectType": "annotation", "classification": {"name": "Gleason 4"}}}
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/CMU-1-Small-Region.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    ingest(SLIDES / "CMU-1-Small-Region.svs", "--annotations", tmp_path / "notes", "--out", tmp_path / "s.zarr")
    node = zarr.open_group(str(tmp_path / "s.zarr"), mode="r")[label_group(tmp_path / "s.zarr", "CMU-1-Small-Region")]
    stored = np.asarray(node["0"])
    inside = polygon2mask(stored.shape, np.array(outer)[:, ::-1] - 0.5) & ~polygon2mask(stored.shape, np.array(hole)[:, ::-1] - 0.5)
    for y, x in np.argwhere(np.where(inside, 4, 0) != stored):  # a centre on an edge may fall to either side
        assert min(distance((x + 0.5, y + 0.5), *edge) for ring in (outer, hole) for edge in zip(ring, ring[1:])) < 1e-9
    assert stored.sum() / 4 > 100_000
    names = {p["label-value"]: p["class"] for p in node.attrs["ome"]["image-label"]["properties"]}
    assert names[4] == "pattern4"


def test_pandas_layout_is_recognised(tmp_path):
    tissue = iio.imread(NUCLEI / "images/dsb_00ae65c1c663.png")
    for folder in ("train_images", "train_label_masks"):
        (tmp_path / "panda" / folder).mkdir(parents=True)
    rng = np.random.default_rng(3)
    masks = {}
    for name, values in (("aaa", 6), ("bbb", 3)):
        iio.imwrite(tmp_path / f"panda/train_images/{name}.tiff", tissue)
        masks[name] = rng.integers(0, values, tissue.shape[:2], dtype=np.uint8)
        iio.imwrite(tmp_path / f"panda/train_label_masks/{name}_mask.tiff", masks[name])
    (tmp_path / "panda/train.csv").write_text(
        "image_id,data_provider,isup_grade,gleason_score\naaa,radboud,4,4+4\nbbb,karolinska,0,0+0\n")
    ingest(tmp_path / "panda", "--out", tmp_path / "p.zarr")
    tables = {"aaa": [0, 0, 1, 3, 4, 5], "bbb": [0, 6, 7]}
    for name, table in tables.items():
        node = zarr.open_group(str(tmp_path / "p.zarr"), mode="r")[label_group(tmp_path / "p.zarr", name)]
        np.testing.assert_array_equal(np.asarray(node["0"]), np.array(table, np.uint8)[masks[name]])
    facts = version_of(tmp_path / "p.zarr")["images"]["aaa"]["columns"]
    assert (facts["cohort"], facts["primary"], facts["secondary"], facts["grade_group"]) == ("radboud", 4, 4, 4)


def qupath(kind, ring, name=None, **more):
    """One object as QuPath 0.5 writes it."""
    classification = {"classification": {"name": name, "color": [200, 0, 0]}} if name else {}
    geometry = ring if isinstance(ring, dict) else {"type": "Polygon", "coordinates": [ring]}
    return {"type": "Feature", "id": "6f7c1f0c-0b7e-4b4c-9f43-2f1d6f1f1d0a", "geometry": geometry,
            "properties": {"objectType": kind, "isLocked": kind == "annotation", **classification}, **more}


def square(x, y, edge):
    return [[x, y], [x + edge, y], [x + edge, y + edge], [x, y + edge], [x, y]]


def stored_labels(store):
    return zarr.open_array(str(store), path=f"{label_group(store, 'CMU-1-Small-Region')}/0", mode="r")[:]


def ingested(*arguments):
    return json.loads(ingest(*arguments, "--json").stdout)


QUPATH = [
    qupath("annotation", square(900, 900, 300), "Ignore*"),
    qupath("annotation", square(100, 100, 1000), "Tumor"),
    qupath("annotation", square(200, 200, 200), "Tumor: Positive"),
    qupath("annotation", square(500, 500, 100), "Stroma"),
    qupath("annotation", square(0, 0, 2000)),
    qupath("annotation", square(0, 0, 1500), "Region*"),
    qupath("annotation", {"type": "MultiPoint", "coordinates": [[5, 5], [50, 50]]}, "Tumor"),
    qupath("annotation", {"type": "LineString", "coordinates": [[5, 5], [50, 50]]}),
    qupath("annotation", {"type": "MultiPolygon", "coordinates": [[square(1300, 100, 50)], [square(1400, 100, 60), square(1420, 120, 10)]]}, "Stroma"),
    qupath("cell", square(1300, 1300, 40), "Tumor", nucleusGeometry={"type": "Polygon", "coordinates": [square(1310, 1310, 10)]}),
    qupath("detection", square(1400, 1300, 40), "Stroma"),
    qupath("tile", square(1500, 1300, 40)),
]


def expected_labels(shape, cells=False):
    expected = np.zeros(shape, np.uint8)
    expected[100:1100, 100:1100] = 1
    expected[200:400, 200:400] = 1
    expected[500:600, 500:600] = 2
    expected[100:150, 1300:1350] = 2
    expected[100:160, 1400:1460] = 2
    expected[120:130, 1420:1430] = 0
    if cells:
        expected[1300:1340, 1300:1340] = 1
        expected[1300:1340, 1400:1440] = 2
    expected[900:1200, 900:1200] = 255
    return expected


@pytest.mark.parametrize("form", ["collection", "list", "gzip"])
def test_a_whole_qupath_export_is_taken_by_stated_rules(tmp_path, form):
    """Ignore* over the area whatever the order, derived classes as what they derive from; unclassified polygons, Region*, points, lines, detections and tiles are counted and left out."""
    (tmp_path / "notes").mkdir()
    text = json.dumps(QUPATH if form == "list" else {"type": "FeatureCollection", "features": QUPATH})
    if form == "gzip":
        (tmp_path / "notes/CMU-1-Small-Region.geojson.gz").write_bytes(gzip.compress(text.encode()))
    else:
        (tmp_path / "notes/CMU-1-Small-Region.geojson").write_text(text)
    arguments = (SLIDES / "CMU-1-Small-Region.svs", "--annotations", tmp_path / "notes", "--classes", "background,tumor,stroma")
    result = ingested(*arguments, "--out", tmp_path / "s.zarr")
    assert result["annotations"] == {"ignored_areas": 1, "unclassified": 1, "outlines": 1, "points": 1, "lines": 1, "other_objects": 3}
    stored = stored_labels(tmp_path / "s.zarr")
    np.testing.assert_array_equal(stored, expected_labels(stored.shape))
    result = ingested(*arguments, "--objects", "annotation,cell,detection", "--out", tmp_path / "c.zarr")
    assert result["annotations"]["other_objects"] == 1
    stored = stored_labels(tmp_path / "c.zarr")
    np.testing.assert_array_equal(stored, expected_labels(stored.shape, cells=True))


def test_a_single_feature_and_a_file_of_things_to_leave_out(tmp_path):
    (tmp_path / "notes").mkdir()
    note = tmp_path / "notes/CMU-1-Small-Region.geojson"
    arguments = (SLIDES / "CMU-1-Small-Region.svs", "--annotations", tmp_path / "notes", "--classes", "background,tumor,stroma")
    note.write_text(json.dumps(QUPATH[1]))
    ingest(*arguments, "--out", tmp_path / "one.zarr")
    stored = stored_labels(tmp_path / "one.zarr")
    assert stored.sum() == 1_000_000 and (stored[100:1100, 100:1100] == 1).all()
    note.write_text(json.dumps(QUPATH[4:8]))
    result = ingested(*arguments, "--accept", "no-area", "--out", tmp_path / "none.zarr")
    assert result["annotations"]["unclassified"] == 1 and not stored_labels(tmp_path / "none.zarr").any()


def test_all_unknown_classes_of_a_file_are_named(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/CMU-1-Small-Region.geojson").write_text(json.dumps([*QUPATH, qupath("annotation", square(1, 1, 9), "Necrosis"), qupath("annotation", square(1, 1, 9), "Other: Fat")]))
    done = ingest(SLIDES / "CMU-1-Small-Region.svs", "--annotations", tmp_path / "notes", "--classes", "background,tumor,stroma", "--out", tmp_path / "s.zarr", code=2).stderr
    assert "classes 'Necrosis', 'Other: Fat' are not known" in done and not (tmp_path / "s.zarr").exists()
