"""Features of patches that are listed: those of the grid at its own places, of any place by openslide-python, in every form of a list."""
import hashlib
import json
import sys

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from driving import SAMPLES, headrace
from feature_networks import Pixels, as_bytes, level0, padded, plain_loop, read_h5, small_network
from slides import CMU, PYRAMID

import headrace as hr
from headrace import _core
from headrace._patch_list import read_patch_list

JPEG = SAMPLES / "slides/derived/tcga-jpeg420-256.tif"
PLAIN = dict(mean=(0, 0, 0), std=(1, 1, 1), name="pixels")
PLACES = [(640, 512), (101, 7), (-60, -33), (640, 512), (2200, 2900), (3, 1500)]  # one twice, and some over the edges


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A store of two slides; nothing may write into it."""
    path = tmp_path_factory.mktemp("listed") / "s.zarr"
    headrace("ingest", "slides", CMU, JPEG, "--out", path)
    return path


def never(patches):
    raise AssertionError("the encoder was called")


def of_cmu(places=PLACES):
    return [hr.PatchSpec(CMU.stem, x, y) for x, y in places]


def write_csv(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("options", [{}, {"patch": 112, "step": 90, "mpp": 1.0}, {"mpp": 0.7, "patch": 128}, {"mpp": 0.3, "tissue": 0.5}])
def test_the_grids_own_places_give_the_bits_of_the_grid(options, store, tmp_path):
    """Pixels of a level, of a coarser one, averaged and enlarged; of slide files, a store and one image of it."""
    listed = {key: value for key, value in options.items() if key not in ("step", "tissue")}
    for number, source in enumerate(([CMU, PYRAMID, JPEG], hr.open(store), f"{store}::{CMU.stem}")):
        grid = hr.features(source, small_network(), tmp_path / f"grid{number}", batch=16, **options)
        again = hr.features(source, small_network(), tmp_path / f"list{number}", batch=16, patches=tmp_path / f"grid{number}", **listed)
        assert again["patches"] == grid["patches"] > 0 and again["without_patches"] == grid["without_patches"] == 0
        for name, path in grid["files"].items():
            expected, got = read_h5(path), read_h5(again["files"][name])
            assert got[0].tobytes() == expected[0].tobytes() and got[1].tobytes() == expected[1].tobytes()
            assert got[2] == {key: value for key, value in expected[2].items() if key != "overlap"}


def test_patches_at_any_place_are_those_of_openslide(tmp_path):
    report = hr.features(CMU, small_network(), tmp_path, patch=96, patches=of_cmu(), batch=4)
    features, coords, _ = read_h5(report["files"][CMU.stem])
    assert coords.tolist() == [list(place) for place in PLACES] and coords.dtype == np.int64
    np.testing.assert_allclose(features, plain_loop(CMU, small_network(), PLACES, 96), rtol=0, atol=1e-6)
    assert report["patches"] == len(PLACES)


def test_patches_at_any_place_are_averaged_by_area(tmp_path):
    """Pixels of 0.998 µm, for which the slide has no level: means of two by two."""
    edge = 64
    pixels = padded(level0(CMU), 4 * edge)
    (path,) = hr.features(CMU, Pixels(), tmp_path, patch=edge, mpp=0.998, patches=of_cmu(), **PLAIN)["files"].values()
    features, coords, attributes = read_h5(path)
    assert attributes["mpp"] == pytest.approx(0.998) and "overlap" not in attributes
    for (x, y), patch in zip(coords, as_bytes(features, edge), strict=True):
        fine = pixels[4 * edge + y:, 4 * edge + x:][:2 * edge, :2 * edge].astype(float)
        assert np.abs(patch - fine.reshape(edge, 2, edge, 2, 3).mean((1, 3))).max() < 0.51, (x, y)


def every_form(folder):
    """Two slides, whose rows lie between each other, in each form that keeps this order; then in those by slide."""
    rows = [("b 1", 4, 5), ("a", -3, 2), ("b 1", 4, 5), ("a", 70, 0), ("b 1", 0, 9)]
    names, x, y = zip(*rows)
    table = pa.table({"score": [0.5] * 5, "image": pa.array(names).dictionary_encode(), "y": y, "x": pa.array(x, pa.float64())})
    pa.parquet.write_table(table, folder / "list.parquet")
    spreadsheet = "\ufeffsep=;\r\nscore;Image; X;Y\r\n" + "".join(f'"0,5 ""?""";{name};{x};{y}.0\r\n\r\n' for name, x, y in rows)
    (folder / "spreadsheet.csv").write_bytes(spreadsheet.encode())
    (folder / "tabs.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in [("image", "x", "y"), *rows]))
    by_slide = {name: np.array([row[1:] for row in rows if row[0] == name]) for name in ("a", "b 1")}
    for kind, ending in (("clam", ""), ("trident", "_patches")):
        (folder / kind).mkdir()
        for name, places in by_slide.items():
            with h5py.File(folder / kind / f"{name}{ending}.h5", "w") as file:
                file.create_dataset("coords", data=places.astype(np.int32)).attrs["name"] = name
    kept = [write_csv(folder / "list.csv", ["image,x,y", *(",".join(map(str, row)) for row in rows)]), folder / "spreadsheet.csv",
            str(folder / "tabs.tsv"), folder / "list.parquet", table, rows, (hr.PatchSpec(*row) for row in rows)]
    return rows, kept, [by_slide, folder / "clam", folder / "trident", {name: places.tolist() for name, places in by_slide.items()}]


def test_every_form_is_the_same_list(tmp_path):
    rows, kept, by_slide = every_form(tmp_path)
    for form in kept:
        listed = read_patch_list(form)
        assert list(zip(listed.images, listed.x, listed.y, strict=True)) == rows
        assert listed.size is None and list(listed.places) == ["b 1", "a"]
    for form in (*kept[:-1], *by_slide):
        places = read_patch_list(form).places
        assert {name: xy.tolist() for name, xy in places.items()} == {"a": [[-3, 2], [70, 0]], "b 1": [[4, 5], [4, 5], [0, 9]]}
        assert all(xy.dtype == np.int64 and xy.flags.c_contiguous for xy in places.values())


def test_rows_of_a_slide_keep_their_order_between_those_of_others():
    rows = [(f"{k % 7}", k * 7919 % 1000, -k) for k in range(1000)]
    places = read_patch_list(rows).places
    assert list(places) == list("0123456")
    for name, xy in places.items():
        assert xy.tolist() == [list(row[1:]) for row in rows if row[0] == name]


def test_a_table_of_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows, kept, _ = every_form(tmp_path)
    table = pandas.DataFrame(rows, columns=["image", "x", "y"])
    gaps = table.assign(image=table["image"].astype("category"), x=table["x"].astype("Int64"), level=np.nan, width=pandas.NA)
    for form in (table, gaps, pandas.read_csv(kept[0]), table[::-1][::-1]):
        listed = read_patch_list(form)
        assert list(zip(listed.images, listed.x, listed.y, strict=True)) == rows and listed.size is None
    with pytest.raises(hr.UsageError, match=r"patches, row 1 \(from 0\): x is (<NA>|nan): expected a whole number"):
        read_patch_list(table.assign(x=pandas.array([1, None, 3, 4, 5], "Int64")))
    assert read_patch_list(pandas.DataFrame({"image": [17], "x": [1], "y": [2]})).images == ["17"]


def test_no_tissue_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(_core, "slide_tissue", never)
    report = hr.features([CMU, JPEG], small_network(), tmp_path, patches=write_csv(tmp_path / "list.csv", ["image,x,y", f"{JPEG.stem},8,8"]))
    assert list(report["files"]) == [JPEG.stem] and (report["slides"], report["patches"], report["without_patches"]) == (1, 1, 1)


@pytest.mark.parametrize("layout", ["h5", "zarr"])
def test_a_list_may_grow_by_slides_and_no_slide_may_change(layout, tmp_path):
    """The file keeps a SHA-256 of the slide's places, and neither a path nor another slide's."""
    def run(places, jpeg=(), out="out", **options):
        listed = write_csv(tmp_path / f"{len(list(tmp_path.iterdir()))}.csv", [
            "image,x,y", *(f"{JPEG.stem},{x},{y}" for x, y in jpeg), *(f"{CMU.stem},{x},{y}" for x, y in places)])
        return hr.features([CMU, JPEG], small_network(), tmp_path / out, layout=layout, patch=64, patches=listed, **options)

    assert run(PLACES)["slides"] == 1
    (path,) = (tmp_path / "out").glob(f"*.{layout}")
    if layout == "h5":
        with h5py.File(path) as file:
            facts = json.loads(file.attrs["headrace"])
    else:
        facts = json.loads((path / "zarr.json").read_text())["attributes"]["headrace"]
    assert facts["patches_sha256"] == hashlib.sha256("".join(f"{x},{y}\n" for x, y in PLACES).encode()).hexdigest()
    assert ".csv" not in json.dumps(facts) + (tmp_path / "out/headrace-features.json").read_text()
    report = run(PLACES, [(5, 6)])
    assert (report["slides"], report["kept"], report["without_patches"]) == (1, 1, 0)
    assert (run(PLACES)["kept"], run([], [(5, 6)])["kept"]) == (1, 1)
    for changed in (PLACES[::-1], PLACES[:-1], [*PLACES[:-1], (3, 1501)]):
        with pytest.raises(hr.UsageError, match=rf"{CMU.stem}\.{layout}: was made of other patches than are listed of this slide now; remove"):
            run(changed, [(5, 6)])
    report = run(PLACES[:2], [(5, 6)], on_error="skip")
    assert report["kept"] == 1 and [bad["slide"] for bad in report["skipped"]] == [str(CMU)]


def test_a_list_and_a_grid_do_not_share_a_folder(tmp_path):
    hr.features(JPEG, small_network(), tmp_path / "grid")
    with pytest.raises(hr.UsageError, match="patches None, this call 'listed'"):
        hr.features(CMU, small_network(), tmp_path / "grid", patches=of_cmu())
    hr.features(CMU, small_network(), tmp_path / "list", patches=of_cmu())
    with pytest.raises(hr.UsageError, match="patches 'listed', this call None"):
        hr.features(JPEG, small_network(), tmp_path / "list", tissue=None)


@pytest.mark.parametrize(("size", "options"), [
    ((None, 256, 256), {}), ((0, 256, 256), {}), ((1, 128, 128), {}), ((2, 256, 256), {"mpp": 2.0}), ((1, 640, 640), {"patch": 500, "mpp": 1.28}),
    ((3, None, None), {}), ((0, 254, 258), {})])
def test_sizes_that_are_the_field_of_patch_and_mpp(size, options, tmp_path):
    assert hr.features(PYRAMID, small_network(), tmp_path, patches=[(PYRAMID.stem, 70, 90, *size)], **options)["patches"] == 1


@pytest.mark.parametrize(("size", "what"), [
    ((0, 512, 512), r"have 512 × 512 pixels of level 0, which are 255.5 × 255.5 µm, and those of patch=256 and mpp=0.5 are 128 µm wide; "
                    r"give patch=512 and mpp=0.499, or a list without"),
    ((2, 128, 128), "give patch=128 and mpp=1.996"), ((0, 256, 252), "give square ones"),
    ((4, 16, 16), "of level 4, and the slide has levels 0 to 3")])
def test_sizes_that_are_another_field(size, what, tmp_path):
    with pytest.raises(hr.UsageError, match=f"4level.svs: the listed patches .*{what}"):
        hr.features(PYRAMID, never, tmp_path, name="never", patches=[hr.PatchSpec(PYRAMID.stem, 70, 90, *size)])


def test_patches_outside_of_their_slide(tmp_path):
    """By one pixel on each side; a patch of 64 pixels of 1 µm has 128.3 of level 0."""
    width, height = level0(CMU).shape[1::-1]
    inside = [(width - 1, 0), (0, height - 1), (-128, 5), (5, -128)]
    options = dict(name="means", patch=64, mpp=1.0)
    report = hr.features(CMU, lambda patches: patches.mean((2, 3)), tmp_path / "in", patches=of_cmu(inside), **options)
    assert report["patches"] == 4
    for x, y in ((width, 0), (0, height), (-129, 5), (5, -129), (1 << 50, 0)):
        listed = [*of_cmu(inside), hr.PatchSpec(CMU.stem, x, y), hr.PatchSpec(JPEG.stem, 3, 4)]
        with pytest.raises(hr.UsageError, match=rf"Region\.svs: the listed patch at x {x}, y {y} lies outside of the slide, which has 2220 × 2967"):
            hr.features([CMU, JPEG], never, tmp_path / "out", patches=listed, **options)
    report = hr.features([CMU, JPEG], lambda patches: patches.mean((2, 3)), tmp_path / "out", patches=listed, on_error="skip", **options)
    assert list(report["files"]) == [JPEG.stem] and "lies outside" in report["skipped"][0]["reason"]
    with pytest.raises(hr.UsageError, match="at x -64, y 5 lies outside"):  # it ends where the slide begins
        hr.features(CMU, never, tmp_path / "whole", name="never", patch=64, patches=of_cmu([(-63, 5), (-64, 5)]))


@pytest.mark.parametrize(("patches", "what"), [
    ([], "patches: lists no patches"), ({}, "patches: lists no patches"), ({"a": np.zeros((0, 2))}, "lists no patches"),
    ([("CMU-1-Smal-Region", 1, 2)], "image 'CMU-1-Smal-Region' is none of the slides; did you mean 'CMU-1-Small-Region'"),
    ([(CMU.name, 1, 2), ("b", 1, 2)], r"'CMU-1-Small-Region.svs' is none of the slides, as are 1 more; did you mean 'CMU-1-Small-Region'\?"),
    ([("another-hospital's", 1, 2)], "is none of the slides; there are CMU-1-Small-Region, tcga-jpeg420-256"),
    ([("a", 1.5, 2)], r"patches\[0\]: x is 1.5: expected a whole number"), ([("a", 1, 2), ("a", 1, "z")], r"patches\[1\]: y is 'z'"),
    ({"a": [[1, 2], [3, np.nan]]}, r"patches\['a'\], row 1 \(from 0\): y is nan"), ([("a", True, 2)], "x is True"), ([("a", 1, None)], "y is None"),
    ({"a": np.zeros((2, 3))}, r"patches\['a'\]: has the shape \(2, 3\): expected \(n, 2\)"), ({"a": [[1, 2], [3]]}, r"expected \(n, 2\)"),
    ({3.5: [[1, 2]]}, r"patches\[3.5\]: image is 3.5: expected the name"),
    ([("", 1, 2)], r"patches\[0\]: image is ''"), (7, "patches is 7: expected a CSV"),
    ([("a", 1)], r"patches\[0\] is \('a', 1\): expected a headrace.PatchSpec"), (["a"], r"patches\[0\] is 'a'"), ([("a", 10**400, 2)], "x is 10000"),
    (pa.table({"image": ["a"], "X": [1], "z": [2]}), "patches: has no column 'y': expected image, x and y, there are image, X, z"),
    (pa.table({"slide": ["a"], "x": [1]}), "has no column 'image' and no column 'y'"),
    (pa.table({"image": ["a"], "x": [None], "y": [1]}), "x is None"),
    ([hr.PatchSpec("a", 1, 2, 0, 256)], "states the width 256 of its patches, and no height"), ([("a", 1, 2, -1, 8, 8)], "level is -1: .* from 0 on"),
    ([("a", 1, 2, 0, 0, 8)], "width is 0: expected a whole number from 1 on"),
    ([("a", 1, 2, 0, 8, 8), ("a", 1, 2, 1, 8, 8)], r"patches\[1\]: level is 1, and 0 before: expected patches of one size"),
    ([("a", 1, 2, 0, 8, 8), ("a", 1, 2)], r"patches\[1\]: level is None, and 0 before")])
def test_lists_that_are_wrong(patches, what, tmp_path):
    with pytest.raises(hr.UsageError, match=what):
        hr.features([CMU, JPEG], never, tmp_path / "out", name="never", patches=patches)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("options", "what"), [({"step": 256}, "step=256"), ({"tissue": 0.5}, "tissue=0.5"), ({"tissue": None}, "tissue=None")])
def test_a_list_has_neither_step_nor_tissue(options, what, tmp_path):
    with pytest.raises(hr.UsageError, match=f"patches and {what} are given: expected one of them"):
        hr.features(CMU, never, tmp_path / "out", name="never", patches=of_cmu(), **options)


@pytest.mark.parametrize(("name", "text", "kind", "what"), [
    ("a.csv", "image,x,y\na,1,2\n\na,1.5,2\n", hr.UsageError, r"a\.csv, line 4: x is '1.5', expected a whole number"),
    ("a.csv", "sep=;\nimage;x;y\na;1;two\n", hr.UsageError, r"a\.csv, line 3: y is 'two'"),
    ("a.csv", "image,x,y\n,1,2\n", hr.UsageError, "line 2: names no image"),
    ("a.csv", "image,x,y\na,1\n", hr.UsageError, "line 2: y is '', expected a whole number"),
    ("a.csv", "image,x,y\n", hr.UsageError, "lists no patches"),
    ("a.csv", "", hr.UsageError, r"has no column 'image'.*Its columns are none"), ("a.csv", "name,x,y\na,1,2", hr.UsageError, "Its columns are name, x, y"),
    ("a.csv", "image,x,y,width,height\na,1,2,8,8\na,1,2,8,9\n", hr.UsageError, "line 3: 8x9 pixels of level 0, and rows before have 8x8"),
    ("a.csv", "image,x,y\na,1_0,2", hr.UsageError, "x is '1_0'"), ("a.csv", 'image,x,y\n"a,1,2', hr.MalformedError, "a.csv, line 2"),
    ("a.csv", b"image,x,y\n\xe9,1,2", hr.MalformedError, "a.csv.*UTF-8"),
    ("a.parquet", "no", hr.MalformedError, "can't be read as Parquet"),
    ("a.h5", "no", hr.StorageError, "a.h5: can't be read as HDF5"), ("a.xlsx", "", hr.UsageError, "a.xlsx: ends in '.xlsx': expected a CSV"),
    ("folder/a.txt", "", hr.UsageError, "folder: has no .h5 files")])
def test_files_that_are_wrong(name, text, kind, what, tmp_path):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(kind, match=what):
        read_patch_list(path.parent if path.parent != tmp_path else path)
    with pytest.raises(hr.NotFoundError, match="there is no such file"):
        read_patch_list(tmp_path / "another.csv")


def test_files_of_coords_that_are_wrong(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["places"] = np.zeros((3, 2))
    with pytest.raises(hr.UsageError, match="a.h5: has no dataset 'coords': .* there are places"):
        read_patch_list(tmp_path)
    for name in ("a", "a_patches"):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file.create_dataset("coords", data=np.zeros((3, 2))).attrs["name"] = "a"
    with pytest.raises(hr.UsageError, match="a.h5 and .*a_patches.h5 are both of slide 'a'"):
        read_patch_list(tmp_path)


def test_names_that_a_spreadsheet_would_compute(tmp_path):
    """Our tables have an apostrophe in front of them."""
    path = write_csv(tmp_path / "a.csv", ["image,x,y", "'-case,1,2", "'case,3,4"])
    assert read_patch_list(path).images == ["-case", "'case"]


def test_packages_that_are_not_installed(tmp_path, monkeypatch):
    _, kept, by_slide = every_form(tmp_path)
    for package in ("pyarrow", "pyarrow.parquet", "pandas", "h5py"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(hr.UnsupportedError, match=r"list.parquet: Parquet is read by pyarrow or pandas, which are not installed: pip install"):
        read_patch_list(kept[3])
    with pytest.raises(hr.UnsupportedError, match="HDF5 is read by h5py, which is not installed: pip install h5py"):
        read_patch_list(by_slide[1])
