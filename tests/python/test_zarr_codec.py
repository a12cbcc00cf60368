"""zarr-python, dask and ome-zarr-models on a store of copied JPEG tiles, by the package's codec: OpenSlide's pixels."""
import importlib
import os
import subprocess
import sys
import tomllib

import imagecodecs
import dask.array
import numpy as np
import ome_zarr_models.v05
import openslide
import pytest
import zarr
import zarr.registry
from driving import ROOT, SAMPLES, headrace

import headrace as hr
from headrace.zarr_codec import ImagecodecsJpeg, ImagecodecsJpeg2k

NAME = "cmu-aperio-style-4level"
SLIDE = SAMPLES / f"slides/derived/{NAME}.svs"


@pytest.fixture(scope="module", autouse=True)
def known():
    """As an installed package makes the codec known."""
    zarr.registry.register_codec("imagecodecs_jpeg", ImagecodecsJpeg)
    with zarr.config.set({"codecs.imagecodecs_jpeg": "headrace.zarr_codec.ImagecodecsJpeg"}):
        yield


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    out = tmp_path_factory.mktemp("slide") / "s.zarr"
    headrace("ingest", "slides", SLIDE, "--out", out)
    return out


def openslide_level(level):
    slide = openslide.OpenSlide(str(SLIDE))
    return np.asarray(slide.read_region((0, 0), level, slide.level_dimensions[level]).convert("RGB"))


def test_the_packages_metadata_names_the_codec():
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["zarr.codecs"]
    for codec, known in (("imagecodecs_jpeg", ImagecodecsJpeg), ("imagecodecs_jpeg2k", ImagecodecsJpeg2k)):
        module, name = entries[codec].split(":")
        assert getattr(importlib.import_module(module), name) is known


def test_zarr_python_reads_openslides_pixels(store):
    group = zarr.open_group(store, mode="r")[f"images/{NAME}"]
    image = hr.open(store)[NAME]
    assert image.codec == "jpeg"
    for level in range(4):
        pixels = group[str(level)][:].transpose(1, 2, 0)
        np.testing.assert_array_equal(pixels, openslide_level(level))
        np.testing.assert_array_equal(pixels, image.level(level)[...])
    np.testing.assert_array_equal(group["0"][1, 300:333, 5:7], openslide_level(0)[300:333, 5:7, 1])


def test_jpeg_2000_tiles_are_read_as_the_store_reads_them(tmp_path):
    headrace("ingest", "slides", SAMPLES / "slides/TCGA-CR-7395-01A-01-TS1.svs", "--out", tmp_path / "s.zarr")
    image = hr.open(tmp_path / "s.zarr")["TCGA-CR-7395-01A-01-TS1"]
    assert image.codec == "jpeg2k"
    zarr.registry.register_codec("imagecodecs_jpeg2k", ImagecodecsJpeg2k)
    group = zarr.open_group(tmp_path / "s.zarr", mode="r")["images/TCGA-CR-7395-01A-01-TS1"]
    for level in (1, 2):
        np.testing.assert_array_equal(group[str(level)][:].transpose(1, 2, 0), image.level(level)[...])
    options = {"name": "imagecodecs_jpeg2k", "configuration": {"level": 60, "tile": [64, 64]}}
    assert ImagecodecsJpeg2k.from_dict(options).to_dict()["configuration"] == {"level": 60, "tile": (64, 64)}
    with pytest.raises(hr.Error, match="imagecodecs_jpeg2k.*planar"):
        ImagecodecsJpeg2k.from_dict({"name": "imagecodecs_jpeg2k", "configuration": {"planar": True}})
    wrong = zarr.create_array(tmp_path / "a", shape=(32, 32, 3), chunks=(32, 32, 3), dtype="uint8", serializer=ImagecodecsJpeg2k(), compressors=None)
    with pytest.raises(hr.UnsupportedError, match="only copied"):
        wrong[...] = 1


def test_dask_reads_the_same(store):
    array = dask.array.from_zarr(str(store / f"images/{NAME}/0"))
    np.testing.assert_array_equal(array[:, 500:800, 100:900].compute(), openslide_level(0)[500:800, 100:900].transpose(2, 0, 1))
    level = hr.open(store)[NAME].level(1)
    np.testing.assert_array_equal(dask.array.from_array(level, chunks=(256, 256, 3))[100:400].compute(), openslide_level(1)[100:400])


def test_ome_zarr_models_accepts_the_image(store):
    image = ome_zarr_models.v05.Image.from_zarr(zarr.open_group(store / f"images/{NAME}", mode="r"))
    assert len(image.ome_attributes.multiscales[0].datasets) == 4


@pytest.mark.parametrize("shape", [(64, 96, 3), (1, 64, 96, 3), (64, 96), (64, 96, 1)])
def test_what_it_writes_is_a_jpeg_that_others_read(tmp_path, shape):
    pixels = np.resize(openslide_level(3)[:64, :96], shape)
    array = zarr.create_array(tmp_path / "a", shape=shape, chunks=shape, dtype="uint8", serializer=ImagecodecsJpeg(level=95, subsampling="444"),
                              compressors=None, filters=None)
    array[...] = pixels
    read = zarr.open_array(tmp_path / "a", mode="r")[:]
    [chunk] = [path for path in (tmp_path / "a/c").rglob("*") if path.is_file()]
    np.testing.assert_array_equal(imagecodecs.jpeg8_decode(chunk.read_bytes()).reshape(shape), read)
    assert chunk.read_bytes()[:2] == b"\xff\xd8" and np.abs(read.astype(int) - pixels).mean() < 3
    assert zarr.open_array(tmp_path / "a").metadata.codecs == (ImagecodecsJpeg(95, "444"),)


def test_a_transposed_array_is_written_and_read(tmp_path):
    pixels = openslide_level(2)[:130, :140].transpose(2, 0, 1)
    array = zarr.create_array(tmp_path / "a", shape=pixels.shape, chunks=(3, 64, 64), dtype="uint8", compressors=None,
                              filters=zarr.codecs.TransposeCodec(order=(1, 2, 0)), serializer=ImagecodecsJpeg(level=100, subsampling="444"))
    array[...] = pixels
    assert np.abs(array[:].astype(int) - pixels).max() < 8


def test_damage_and_other_configurations_are_refused(tmp_path):
    array = zarr.create_array(tmp_path / "a", shape=(32, 32, 3), chunks=(32, 32, 3), dtype="uint8", serializer=ImagecodecsJpeg(), compressors=None)
    array[...] = np.arange(32 * 32 * 3, dtype=np.uint8).reshape(32, 32, 3)
    chunk = tmp_path / "a/c/0/0/0"
    whole = chunk.read_bytes()
    for damaged in (b"no picture", whole[: len(whole) // 2], b""):
        chunk.write_bytes(damaged)
        with pytest.raises(hr.CorruptError, match="imagecodecs_jpeg"):
            array[:]
    chunk.write_bytes(whole)
    assert array[:].shape == (32, 32, 3)
    for configuration in ({"level": 101}, {"level": "best"}, {"subsampling": "411"}, {"lossless": True}, {"quality": 90}):
        with pytest.raises(hr.Error, match=f"imagecodecs_jpeg.*{next(iter(configuration))}"):
            ImagecodecsJpeg.from_dict({"name": "imagecodecs_jpeg", "configuration": configuration})
    assert ImagecodecsJpeg.from_dict({"name": "imagecodecs_jpeg"}).to_dict() == {"name": "imagecodecs_jpeg", "configuration": {}}
    for shape, dtype in (((8, 8, 3), "int16"), ((2, 8, 8, 3), "uint8")):
        wrong = zarr.create_array(tmp_path / "b", shape=shape, chunks=shape, dtype=dtype, serializer=ImagecodecsJpeg(), compressors=None,
                                  overwrite=True)
        with pytest.raises(hr.UnsupportedError, match="expected uint8"):
            wrong[...] = 1


def test_without_zarr_python_one_sentence_says_so():
    code = "import sys; sys.modules['zarr.abc.codec'] = None\nimport headrace\ntry:\n    import headrace.zarr_codec\nexcept ImportError as e:\n    print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout.strip() == "headrace.zarr_codec needs zarr-python 3, which is not installed: pip install 'zarr>=3'", done.stderr
