"""What others see of a result: napari, OpenSlide, tifffile, shapely and OME's own readers on predicted slides; a DICOM slide in Orthanc's viewer and
in headrace."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pydicom
import pytest
import shapely
import shapely.geometry
import zarr
from driving import SAMPLES, headrace
from local_servers import installed
from orthanc import PLUGINS
from predictions import findings_of, maps_of

SLIDE = SAMPLES / "slides/CMU-1-Small-Region.svs"
HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def result(predicted):
    """One predicted slide, that with the most regions."""
    return max((p for p in predicted.iterdir() if p.is_dir()), key=lambda p: findings_of(p)["slide"]["regions"]["count"])


def facts_of(folder):
    return json.loads((folder / "zarr.json").read_text())["attributes"]["headrace"]["facts"]["slide"]


def test_ome_zarr_models_accept_image_and_labels(result):
    from ome_zarr_models.v05.image import Image
    from ome_zarr_models.v05.image_label import ImageLabel
    from ome_zarr_models.v05.labels import Labels

    Image.from_zarr(zarr.open_group(result, mode="r"))
    assert Labels.from_zarr(zarr.open_group(result / "labels", mode="r")).ome_attributes.labels == ["classes"]
    label = ImageLabel.from_zarr(zarr.open_group(result / "labels/classes", mode="r")).ome_attributes.image_label
    values = {colour.label_value for colour in label.colors}
    classes, _ = maps_of(result)
    assert values >= set(np.unique(classes).tolist()) - {255}


def test_ome_zarr_py_finds_the_labels(result):
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader

    nodes = list(Reader(parse_url(str(result), mode="r"))())
    classes, probability = maps_of(result)
    read = {tuple(node.data[0].shape): np.asarray(node.data[0]) for node in nodes if node.data}
    np.testing.assert_array_equal(read[classes.shape], classes)
    np.testing.assert_array_equal(read[probability.shape], probability)


def test_the_class_map_opens_as_a_slide(result, tmp_path):
    """In tifffile with values and classes, in OpenSlide with the colours and the size of a pixel."""
    import openslide
    import tifffile

    headrace("export", result, "--as", "ome-tiff", "--out", tmp_path)
    file = tmp_path / f"{result.name}.ome.tif"
    classes, _ = maps_of(result)
    with tifffile.TiffFile(file) as tiff:
        assert tiff.is_ome
        np.testing.assert_array_equal(tiff.series[0].asarray(), classes)
        palette = tiff.pages[0].colormap >> 8
        pixels = tifffile.xml2dict(tiff.ome_metadata)["OME"]["Image"]["Pixels"]
    mpp = facts_of(result)["mpp"]
    assert (pixels["PhysicalSizeX"], pixels["PhysicalSizeY"]) == (mpp, mpp)
    with openslide.OpenSlide(file) as slide:
        assert slide.dimensions == classes.shape[::-1]
        assert float(slide.properties["openslide.mpp-x"]) == float(slide.properties["openslide.mpp-y"]) == pytest.approx(mpp)
        colours = np.asarray(slide.read_region((0, 0), 0, slide.dimensions))[..., :3]
    np.testing.assert_array_equal(colours, palette.T[classes])


def painted(shapes, names, facts):
    """Regions as a map: the class whose polygon contains a pixel's centre, 0 where none does; shapely decides."""
    across, down = np.meshgrid((np.arange(facts["width"]) + 0.5) * facts["level0_px_yx"][1], (np.arange(facts["height"]) + 0.5) * facts["level0_px_yx"][0])
    out = np.zeros(across.shape, np.uint8)
    for name, shape in shapes:
        out[shapely.contains_xy(shape, across, down)] = names.index(name)
    return out


def shapes_of(file):
    features = json.loads(file.read_text())["features"]
    return [(f["properties"]["classification"]["name"], shapely.geometry.shape(f["geometry"])) for f in features]


def test_shapely_paints_the_map_from_the_outlines(result, tmp_path):
    """Exact without a tolerance; with one, no outline is farther off than that, and only pixels so near to an edge may change."""
    facts, classes = facts_of(result), maps_of(result)[0]
    names = list(findings_of(result)["slide"]["classes"])
    headrace("export", result, "--as", "geojson", "--min-area-mm2", 0, "--out", tmp_path / "exact")
    exact = shapes_of(tmp_path / f"exact/{result.name}.geojson")
    assert all(shape.is_valid for _, shape in exact)
    expected = np.where(classes == 255, 0, classes)
    assert len(np.unique(expected)) > 1
    np.testing.assert_array_equal(painted(exact, names, facts), expected)

    tolerance_um = 6
    limit = tolerance_um / facts["mpp"] * facts["level0_px_yx"][0]  # pixels of level 0
    headrace("export", result, "--as", "geojson", "--min-area-mm2", 0, "--tolerance", tolerance_um, "--out", tmp_path / "simple")
    simple = shapes_of(tmp_path / f"simple/{result.name}.geojson")
    assert [name for name, _ in simple] == [name for name, _ in exact]
    count = lambda shapes: sum(len(shapely.get_coordinates(shape)) for _, shape in shapes)
    assert count(simple) < count(exact)
    edges = shapely.union_all([shape.boundary for _, shape in exact])
    for (_, ours), (_, theirs) in zip(simple, exact):
        assert shapely.hausdorff_distance(ours.boundary, theirs.boundary) <= limit + 1
    for y, x in np.argwhere(painted(simple, names, facts) != expected):
        centre = shapely.Point((x + 0.5) * facts["level0_px_yx"][1], (y + 0.5) * facts["level0_px_yx"][0])
        assert centre.distance(edges) <= limit + 1


def napari_python():
    """A Python that has napari: $HEADRACE_NAPARI, else this one."""
    python = os.environ.get("HEADRACE_NAPARI", sys.executable)
    done = subprocess.run([python, "-c", "import importlib.util as u; raise SystemExit(not (u.find_spec('napari') and u.find_spec('napari_ome_zarr')))"],
                          timeout=60)
    if done.returncode:
        pytest.skip("not run: neither this Python nor $HEADRACE_NAPARI has napari and napari-ome-zarr")
    if shutil.which("xvfb-run") is None:
        pytest.skip("not run: Debian package xvfb is not installed")
    return python


def test_napari_lays_the_classes_over_the_slide(cohort, result, tmp_path):
    """Image of the store and labels of the result, of other pixel sizes, in one place; the picture has the slide's colours and those of the classes."""
    image = cohort / "s.zarr/images" / result.name
    done = subprocess.run(["xvfb-run", "-a", napari_python(), HERE / "napari_picture.py", tmp_path / "napari.png", image, result], capture_output=True,
                          text=True, timeout=300, env=os.environ | {"LIBGL_ALWAYS_SOFTWARE": "1", "NAPARI_CONFIG": str(tmp_path / "napari.yaml")})
    assert done.returncode == 0, done.stderr[-3000:]
    layers = json.loads(done.stdout.splitlines()[-1])
    facts = facts_of(result)
    [labels] = [layer for layer in layers if layer["kind"] == "Labels" and "classes" in layer["name"]]
    assert labels["shape"] == [facts["height"], facts["width"]] and labels["scale"] == [facts["mpp"]] * 2
    slides = [layer for layer in layers if layer["kind"] == "Image" and layer["shape"] == [facts["level0_height"], facts["level0_width"]]]
    assert len(slides) == 3 and all(layer["scale"] == [0.5, 0.5] for layer in slides)  # red, green and blue
    for size, scale in zip(labels["shape"], labels["scale"]):
        assert abs(size * scale - facts["level0_height"] * 0.5) < 2 * scale
    # The most frequent class lies over the slide with 70 % of its colour, on about as much of the canvas as of the map.
    picture = iio.imread(tmp_path / "napari.png")[..., :3].astype(int)
    classes, _ = maps_of(result)
    value = np.bincount(classes[(classes > 0) & (classes < 255)]).argmax()
    palette = json.loads((result / "labels/classes/zarr.json").read_text())["attributes"]["ome"]["image-label"]["colors"]
    [colour] = [entry["rgba"][:3] for entry in palette if entry["label-value"] == value]
    near = (np.abs(picture - 0.7 * np.array(colour) - 0.3 * 128) <= 0.3 * 128 + 2).all(2).sum()
    canvas = 700 * 700  # of a window of 1200x800, at least half of it
    assert near > 0.5 * canvas / 2 * (classes == value).mean()
    assert len(np.unique(picture.reshape(-1, 3) // 8, axis=0)) > 500, "tissue has many colours"


# A DICOM slide in Orthanc.


def write_slide(server, folder):
    """Makes the DICOM slide by Orthanc's own writer and gives its files, put right where that (1.1) departs from the standard: it states a
    concatenation of one file, and exchanges the edges of a pixel. Tiles that it copies instead of encoding them anew are declared YCbCr, which those
    of this slide are not."""
    import openslide_bin

    library = next(Path(openslide_bin.__file__).parent.glob("libopenslide.so*"))
    (folder / "dataset.json").write_text(json.dumps({"PatientID": "SLIDES", "ImageType": "DERIVED\\PRIMARY\\VOLUME\\NONE"}))
    done = subprocess.run([*installed("OrthancWSIDicomizer"), "--openslide", library, "--orthanc", f"http://127.0.0.1:{server.http}", "--pyramid", "1",
                           "--reencode", "1", "--smooth", "1", "--dataset", folder / "dataset.json", "--jpeg-quality", "95", SLIDE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    (folder / "slide").mkdir()
    for number in server.get("instances"):
        path = folder / f"slide/{number}.dcm"
        path.write_bytes(server.get(f"instances/{number}/file", binary=True))
        level = pydicom.dcmread(path)
        for name in ("ConcatenationUID", "SOPInstanceUIDOfConcatenationSource", "InConcatenationNumber", "ConcatenationFrameOffsetNumber"):
            delattr(level, name)
        edge = 0.000499 * 2220 / level.TotalPixelMatrixColumns  # mm, as the slide states
        level.SharedFunctionalGroupsSequence[0].PixelMeasuresSequence[0].PixelSpacing = [round(edge, 9)] * 2
        level.ImagedVolumeWidth, level.ImagedVolumeHeight = 2220 * 0.000499, 2967 * 0.000499
        level.save_as(path)
    return folder / "slide"


@pytest.fixture
def slide_server(orthanc, tmp_path):
    """An Orthanc that got the DICOM slide by headrace; the slide's folder; its series in Orthanc."""
    if installed("OrthancWSIDicomizer") is None:
        pytest.skip("not run: Orthanc's whole-slide tools are neither installed (Debian package orthanc-wsi) nor unpacked (tools/deps/install.sh test)")
    writer, server = orthanc(PLUGINS), orthanc(PLUGINS)
    slide = write_slide(writer, tmp_path)
    headrace("send", slide, "--to", server.to)
    [series] = server.get("series")
    return server, slide, series


def test_a_dicom_slide_is_predicted_as_its_source(slide_server, cohort, tmp_path):
    """Files of a PACS are an input as any other; their JPEG was encoded anew, so single pixels may differ."""
    server, slide, series = slide_server
    (tmp_path / "fetched").mkdir()
    for number in server.get(f"series/{series}")["Instances"]:
        (tmp_path / f"fetched/{number}.dcm").write_bytes(server.get(f"instances/{number}/file", binary=True))
    for name, path in (("dicom", tmp_path / "fetched"), ("svs", SLIDE)):
        headrace("predict", "--run", cohort / "run", path, "--out", tmp_path / name)
    (ours,) = [p for p in (tmp_path / "dicom").iterdir() if p.is_dir()]
    (theirs,) = [p for p in (tmp_path / "svs").iterdir() if p.is_dir()]
    assert facts_of(ours)["mpp"] == facts_of(theirs)["mpp"] == 4.0
    a, b = maps_of(ours)[1].astype(int), maps_of(theirs)[1].astype(int)
    assert a.shape == b.shape
    assert np.abs(a - b).mean() < 8


def test_orthancs_viewer_shows_the_slide(slide_server, tmp_path):
    """In a browser: the picture is the slide, at the place and in the size that the viewer gives it."""
    if shutil.which("chromium") is None:
        pytest.skip("not run: Debian package chromium is not installed")
    server, _, series = slide_server
    pyramid = server.get(f"wsi/pyramids/{series}")
    assert (pyramid["TotalWidth"], pyramid["TotalHeight"]) == (2220, 2967) and len(pyramid["Sizes"]) == 5
    subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'chromium'}", "--window-size=1000,800",
                    "--virtual-time-budget=15000", f"--screenshot={tmp_path / 'viewer.png'}",
                    f"http://127.0.0.1:{server.http}/wsi/app/viewer.html?series={series}"], capture_output=True, timeout=200, check=True)
    picture = iio.imread(tmp_path / "viewer.png")[..., :3].astype(int)
    seen = (np.abs(picture - 255).sum(2) > 6) & (picture.min(2) < 252)
    seen[:80, :60] = seen[-40:, -60:] = False  # the viewer's buttons
    seen[:, :4] = seen[:4] = False
    rows, columns = np.flatnonzero(seen.any(1)), np.flatnonzero(seen.any(0))
    shown = picture[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]
    assert shown.shape[0] / shown.shape[1] == pytest.approx(2967 / 2220, rel=0.02) and shown.shape[0] > 300
    from PIL import Image
    import openslide

    with openslide.OpenSlide(SLIDE) as slide:
        thumbnail = np.asarray(slide.get_thumbnail((60, 60)).convert("RGB").resize((24, 32), Image.BOX)).astype(int)
    small = np.asarray(Image.fromarray(shown.astype(np.uint8)).resize((24, 32), Image.BOX)).astype(int)
    assert np.abs(small - thumbnail).mean() < 12
