"""Slides that other tools write: TIFF with JPEG 2000, pyramids in SubIFDs, slides of several DICOM files; against tifffile, imagecodecs and OpenSlide."""
import json

import imagecodecs
import numpy as np
import openslide
import pydicom
import pytest
import tifffile
import zarr
from driving import SAMPLES, headrace, json_of, message_of, write_table
from written_slides import lossless, tiles_of, write_jpeg2000, ycbcr

CMU = SAMPLES / "slides/CMU-1-Small-Region.svs"
BONE = SAMPLES / "slides/dicom-bone-jpeg.dcm"
CAMELYON = SAMPLES / "slides/dicom-camelyon-lowres.dcm"


@pytest.fixture(scope="module")
def tissue():
    """Real stained tissue, 600×700."""
    return tifffile.imread(CMU, key=0)[700:1300, 500:1200].copy()


def stored(store, image, level=0):
    """A level's pixels by our own reader: zarr-python lacks the codecs of copied tiles."""
    _, height, width = json.loads((store / f"images/{image}/{level}/zarr.json").read_text())["shape"]
    out = store.parent / f"{image}-{level}.png"
    headrace("read", store, image, "--level", level, "--origin", "0,0", "--size", f"{height},{width}", "--out", out)
    return imagecodecs.png_decode(out.read_bytes())


def codec_of(store, image):
    return zarr.open_group(str(store), mode="r")[f"images/{image}"].attrs["headrace"]["codec"]


def rgb_of(components):
    """JFIF's inverse in floats: within one of any integer form of it."""
    y, cb, cr = np.moveaxis(components.astype(float), -1, 0)
    return np.clip(np.rint(np.stack([y + 1.402 * (cr - 128), y - 0.344136 * (cb - 128) - 0.714136 * (cr - 128), y + 1.772 * (cb - 128)], -1)), 0, 255)


@pytest.mark.parametrize("compression, photometric", [(33005, "rgb"), (34712, "rgb"), (33003, "ycbcr"), (34712, "ycbcr")])
def test_tiff_with_jpeg_2000_has_its_colours(tmp_path, tissue, compression, photometric):
    components = ycbcr(tissue) if photometric == "ycbcr" else tissue
    path = write_jpeg2000(tmp_path / "slide.tif", components, compression, photometric)
    with tifffile.TiffFile(path) as tiff:
        assert tiff.pages[0].compression == compression
    headrace("ingest", "slides", path, "--out", tmp_path / "out.zarr")
    found = stored(tmp_path / "out.zarr", "slide")
    if photometric == "rgb":
        np.testing.assert_array_equal(found, tissue)
    else:
        assert np.abs(found - rgb_of(components)).max() <= 1
        assert np.abs(found.astype(int) - tissue).max() <= 3, "the colours of the tissue, but for the rounding of YCbCr"
    facts = zarr.open_group(str(tmp_path / "out.zarr"), mode="r")["images/slide"].attrs["headrace"]
    assert facts["mpp"] == [0.5, 0.5] and facts["codec"] == "jpeg2k" and facts["copied_levels"] == [0]
    headrace("verify", tmp_path / "out.zarr")


@pytest.mark.parametrize("compression", [33003, 33005])
def test_aperio_files_and_plain_ones_have_the_same_pixels(tmp_path, tissue, compression):
    """The same tiles with Aperio's description go through OpenSlide, without it through our own reader."""
    photometric = "ycbcr" if compression == 33003 else "rgb"
    components = ycbcr(tissue) if compression == 33003 else tissue
    lossy = lambda tile: imagecodecs.jpeg2k_encode(tile, level=60, mct=False, codecformat="j2k")
    plain = write_jpeg2000(tmp_path / "plain.tif", components, compression, photometric, lossy)
    aperio = write_jpeg2000(tmp_path / "aperio.svs", components, compression, photometric, lossy, description="Aperio Image Library v10.0.51\r\n700x600|AppMag = 20|MPP = 0.5")
    slide = openslide.OpenSlide(str(aperio))
    assert slide.properties["openslide.vendor"] == "aperio"
    expected = np.asarray(slide.read_region((0, 0), 0, slide.dimensions))[..., :3]
    headrace("ingest", "slides", plain, aperio, "--out", tmp_path / "out.zarr")
    np.testing.assert_array_equal(stored(tmp_path / "out.zarr", "aperio"), expected)
    np.testing.assert_array_equal(stored(tmp_path / "out.zarr", "plain"), expected)
    assert codec_of(tmp_path / "out.zarr", "aperio") == codec_of(tmp_path / "out.zarr", "plain") == "jpeg2k"


def test_a_colour_transform_of_the_codestream_and_jp2_files(tmp_path, tissue):
    """34712 as libraries write it by default: RGB by the codestream's own transform, in JP2 boxes."""
    path = write_jpeg2000(tmp_path / "slide.tif", tissue, 34712, "rgb", lambda tile: imagecodecs.jpeg2k_encode(tile, level=0, reversible=True, codecformat="jp2"))
    headrace("ingest", "slides", path, "--out", tmp_path / "out.zarr")
    np.testing.assert_array_equal(stored(tmp_path / "out.zarr", "slide"), tissue)
    assert codec_of(tmp_path / "out.zarr", "slide") == "jpeg2k"


def test_a_real_slide_keeps_its_pixels_as_plain_tiff(tmp_path):
    """Tiles of a TCGA slide (33005), copied into a TIFF without Aperio's description."""
    source = SAMPLES / "slides/TCGA-CR-7395-01A-01-TS1.svs"
    with tifffile.TiffFile(source) as tiff:
        page = tiff.pages[0]
        expected = page.asarray()
        raw = [tiff.filehandle.seek(at) and tiff.filehandle.read(count) for at, count in zip(page.dataoffsets, page.databytecounts)]
        with tifffile.TiffWriter(tmp_path / "slide.tif") as out:
            out.write(iter(raw), shape=page.shape, dtype=np.uint8, tile=(page.tilelength, page.tilewidth), photometric="rgb", compression=33005, metadata=None)
    headrace("ingest", "slides", tmp_path / "slide.tif", "--out", tmp_path / "out.zarr")
    # Lossy JPEG 2000 is inverted in floats: two builds of OpenJPEG differ by one in a few of 47 million values.
    difference = np.abs(stored(tmp_path / "out.zarr", "slide").astype(int) - expected)
    assert difference.max() <= 1 and (difference > 0).sum() < 100


def test_damaged_jpeg_2000_is_refused_in_one_sentence(tmp_path, tissue):
    good = list(tiles_of(tissue, 256, lossless))
    other = lossless(np.zeros((4096, 4096, 3), np.uint8))
    for name, bad, code in (("cut", good[3][:len(good[3]) // 2], 4), ("noise", bytes(range(256)) * 8, 4), ("larger", other, 4),
                            ("grey", lossless(tissue[:256, :256, 0].copy()), 4)):
        tiles = good.copy()
        tiles[3] = bad
        with tifffile.TiffWriter(tmp_path / f"{name}.tif") as tiff:
            tiff.write(iter(tiles), shape=tissue.shape, dtype=np.uint8, tile=(256, 256), photometric="rgb", compression=33005, metadata=None)
        text = message_of(headrace("ingest", "slides", tmp_path / f"{name}.tif", "--out", tmp_path / "out.zarr", code=code))
        assert f"{name}.tif" in text and "tile row 1, column 0" in text, text
        text = message_of(headrace("ingest", "slides", tmp_path / f"{name}.tif", "--out", tmp_path / "out.zarr", "--codec", "blosc-zstd", code=4))
        assert f"{name}.tif" in text and "tile" in text, text
    whole = (tmp_path / "cut.tif").read_bytes()
    (tmp_path / "short.tif").write_bytes(whole[:1000])
    assert "short.tif" in message_of(headrace("ingest", "slides", tmp_path / "short.tif", "--out", tmp_path / "out.zarr", code=4))
    assert not list((tmp_path / "out.zarr").rglob("*"))


def halves(pixels, count):
    levels = []
    for _ in range(count):
        height, width = (n // 2 * 2 for n in pixels.shape[:2])
        pixels = pixels[:height, :width].reshape(height // 2, 2, width // 2, 2, 3).mean((1, 3)).round().astype(np.uint8)
        levels.append(pixels)
    return levels


def test_a_pyramid_in_sub_ifds_is_copied_level_by_level(tmp_path):
    """OME-TIFF as Bio-Formats and QuPath write it, JPEG tiles: each level's own tiles are in the store."""
    pixels = tifffile.imread(CMU, key=0)[500:2548, 100:2148]
    levels = halves(pixels, 2)
    with tifffile.TiffWriter(tmp_path / "slide.ome.tif", bigtiff=True) as tiff:
        options = {"tile": (256, 256), "photometric": "ycbcr", "compression": "jpeg", "compressionargs": {"level": 85}}
        tiff.write(pixels, subifds=2, metadata={"axes": "YXS", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.5, "PhysicalSizeYUnit": "µm"}, **options)
        for level in levels:
            tiff.write(level, subfiletype=1, **options)
    result = json_of("ingest", "slides", tmp_path / "slide.ome.tif", "--out", tmp_path / "out.zarr")
    assert result["passthrough_share"] > 0.8 and result["footprint_ratio"] < 1.2
    facts = zarr.open_group(str(tmp_path / "out.zarr"), mode="r")["images/slide.ome"].attrs["headrace"]
    assert facts["copied_levels"] == [0, 1, 2] and facts["mpp"] == [0.5, 0.5]
    with tifffile.TiffFile(tmp_path / "slide.ome.tif") as tiff:
        for number, level in enumerate(tiff.series[0].levels):
            out = tmp_path / f"{number}.png"
            height, width = level.shape[:2]
            headrace("read", tmp_path / "out.zarr", "slide.ome", "--level", number, "--origin", "0,0", "--size", f"{height},{width}", "--out", out)
            import imageio.v3 as iio
            assert np.abs(iio.imread(out).astype(int) - level.asarray()).max() <= 4  # two libraries' chroma interpolation
    headrace("verify", tmp_path / "out.zarr")


def test_levels_that_are_none_are_left_alone(tmp_path, tissue):
    """A SubIFD of another shape, one that points into nothing, and one that points to itself."""
    with tifffile.TiffWriter(tmp_path / "slide.ome.tif") as tiff:
        tiff.write(tissue, subifds=3, tile=(256, 256), photometric="rgb", compression="zlib")
        for wrong in (tissue[:64, :300], tissue[:300, :350], tissue[:100, :50]):
            tiff.write(wrong, subfiletype=1, photometric="rgb")
    whole = bytearray((tmp_path / "slide.ome.tif").read_bytes())
    with tifffile.TiffFile(tmp_path / "slide.ome.tif") as tiff:
        tag = tiff.pages[0].tags[330]
        first = tiff.pages[0].offset
    for name, offsets in (("gone", [2 ** 31, first, first]), ("shape", list(tag.value))):
        whole[tag.valueoffset:tag.valueoffset + 12] = np.array(offsets, "<u4").tobytes()
        path = tmp_path / f"{name}.ome.tif"
        path.write_bytes(whole)
        headrace("ingest", "slides", path, "--out", tmp_path / f"{name}.zarr")
        np.testing.assert_array_equal(stored(tmp_path / f"{name}.zarr", f"{name}.ome"), tissue)


def dicom_level(source, path, series, instance, kind="VOLUME", scale=1):
    data = pydicom.dcmread(source)
    data.SeriesInstanceUID, data.SOPInstanceUID = series, instance
    data.file_meta.MediaStorageSOPInstanceUID = instance
    data.ImageType = ["DERIVED", "PRIMARY", kind, "RESAMPLED" if kind == "VOLUME" else "NONE"]
    data.BarcodeValue = "S19-4711"
    path.parent.mkdir(parents=True, exist_ok=True)
    data.save_as(path)
    return path


def half_level(source, path, series, instance):
    """The same picture at half its size, as one uncompressed level more of the slide."""
    slide = openslide.OpenSlide(str(source))
    width, height = slide.dimensions
    full = np.asarray(slide.read_region((0, 0), 0, (width, height)))[..., :3]
    half = halves(full, 1)[0]
    data = pydicom.dcmread(source)
    edge = 256
    tiles = list(tiles_of(half, edge, lambda tile: tile.tobytes()))
    data.SeriesInstanceUID, data.SOPInstanceUID = series, instance
    data.file_meta.MediaStorageSOPInstanceUID = instance
    data.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    data.ImageType = ["DERIVED", "PRIMARY", "VOLUME", "RESAMPLED"]
    data.TotalPixelMatrixRows, data.TotalPixelMatrixColumns = half.shape[:2]
    data.Rows = data.Columns = edge
    data.NumberOfFrames = len(tiles)
    data.PhotometricInterpretation, data.PlanarConfiguration = "RGB", 0
    data.PixelData = b"".join(tiles)
    data["PixelData"].VR = "OB"
    data["PixelData"].is_undefined_length = False
    path.parent.mkdir(parents=True, exist_ok=True)
    data.save_as(path)
    return path


@pytest.fixture()
def dicom_slides(tmp_path):
    """Two slides of two levels each, one with label, overview and thumbnail, in a folder of their own; and one slide of one file."""
    for number, source in ((1, CAMELYON), (2, BONE)):
        series = f"1.2.826.0.1.{number}"
        dicom_level(source, tmp_path / f"in/slide-{number}/b.dcm", series, f"{series}.1")
        half_level(source, tmp_path / f"in/slide-{number}/a.dcm", series, f"{series}.2")
    for i, kind in enumerate(("LABEL", "OVERVIEW", "THUMBNAIL")):
        dicom_level(BONE, tmp_path / f"in/slide-1/{kind}.dcm", "1.2.826.0.1.1", f"1.2.826.0.1.1.{5 + i}", kind)
    dicom_level(CAMELYON, tmp_path / "in/alone.dcm", "1.2.826.0.1.3", "1.2.826.0.1.3.1")
    return tmp_path / "in"


def test_several_dicom_files_of_a_slide_are_one_slide(tmp_path, dicom_slides):
    store = tmp_path / "out.zarr"
    result = json_of("ingest", "slides", dicom_slides, "--out", store)
    assert result["images"] == 3 and result["associated_left_out"] == 3
    images = zarr.open_group(str(store), mode="r")["images"]
    assert sorted(images.group_keys()) == ["alone", "slide-1", "slide-2"]
    for name, source in (("slide-1", CAMELYON), ("slide-2", BONE), ("alone", CAMELYON)):
        slide = openslide.OpenSlide(str(source))
        expected = np.asarray(slide.read_region((0, 0), 0, slide.dimensions))[..., :3]
        np.testing.assert_array_equal(stored(store, name), expected)
    sizes = sum(path.stat().st_size for path in (dicom_slides / "slide-2").iterdir())
    assert images["slide-2"].attrs["headrace"]["source"]["bytes"] == sizes
    assert "4711" not in "".join(path.read_bytes().decode("latin-1") for path in store.rglob("zarr.json"))
    headrace("verify", store)
    files = sorted(dicom_slides.rglob("*.dcm"))
    one_by_one = json_of("ingest", "slides", *reversed(files), "--out", tmp_path / "files.zarr")
    assert one_by_one["dataset_hash"] == result["dataset_hash"]


def test_a_table_names_one_file_of_a_dicom_slide(tmp_path, dicom_slides):
    rows = [{"file": "slide-1/a.dcm", "image": "s1", "case": "p1"}, {"file": "slide-2/b.dcm", "image": "", "case": "p2"}]
    table = write_table(dicom_slides / "cases.csv", rows)
    json_of("ingest", "slides", "--table", table, "--out", tmp_path / "out.zarr")
    images = zarr.open_group(str(tmp_path / "out.zarr"), mode="r")["images"]
    assert sorted(images.group_keys()) == ["s1", "slide-2"] and images["s1"].attrs["headrace"]["levels"][0] == [700, 1152]
    rows.append({"file": "slide-1/b.dcm", "image": "s1-again", "case": "p1"})
    text = message_of(headrace("ingest", "slides", "--table", write_table(dicom_slides / "twice.csv", rows), "--out", tmp_path / "two.zarr", code=2))
    assert "line 4" in text and "same DICOM slide" in text
    rows[2]["file"] = "slide-1/LABEL.dcm"
    text = message_of(headrace("ingest", "slides", "--table", write_table(dicom_slides / "label.csv", rows), "--out", tmp_path / "two.zarr", code=2))
    assert "line 4" in text and "label, overview or thumbnail" in text


def test_two_slides_in_one_folder_keep_their_files_names(tmp_path, dicom_slides):
    for path in (dicom_slides / "slide-2").iterdir():
        path.rename(dicom_slides / f"slide-1/second-{path.name}")
    json_of("ingest", "slides", dicom_slides, "--out", tmp_path / "out.zarr")
    images = zarr.open_group(str(tmp_path / "out.zarr"), mode="r")["images"]
    assert sorted(images.group_keys()) == ["alone", "b", "second-b"]
