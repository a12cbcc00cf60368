"""`headrace process` reads a TIFF however it is stored: the pixels are those that tifffile reads."""
import numpy as np
import pytest
import tifffile
import zarr
from driving import SAMPLES, headrace

RGB = tifffile.imread(SAMPLES / "slides/derived/cmu-lzw-pred-256.tif", key=0)[:700, :900]


def saved(path, out):
    headrace("process", "save", path, out)
    return np.moveaxis(zarr.open_array(str(out / "0"), mode="r")[:], 0, -1)


@pytest.mark.parametrize("how", [
    {"tile": (256, 256)},
    {"tile": (240, 272)},  # 195,840 bytes a tile: no multiple of 1 KiB
    {"tile": (240, 272), "bigtiff": True},
    {"tile": (256, 256), "byteorder": ">"},
    {"tile": (128, 256), "compression": "lzw", "predictor": True},
    {"tile": (512, 512), "compression": "deflate", "bigtiff": True},
    {"tile": (240, 240), "compression": "zstd"},
    {"rowsperstrip": 64},
    {"rowsperstrip": 100, "compression": "packbits"},
], ids=lambda how: "-".join(map(str, how.values())))
def test_pixels_are_those_of_tifffile(tmp_path, how):
    tifffile.imwrite(tmp_path / "in.tif", RGB, photometric="rgb", **how)
    assert np.array_equal(saved(tmp_path / "in.tif", tmp_path / "out.zarr"), RGB)


@pytest.mark.parametrize("kind, expected", [("minisblack", RGB[..., 0]), ("miniswhite", 255 - RGB[..., 0])])
def test_grey_is_repeated_in_three_channels(tmp_path, kind, expected):
    tifffile.imwrite(tmp_path / "in.tif", RGB[..., 0], photometric=kind, tile=(256, 256))
    found = saved(tmp_path / "in.tif", tmp_path / "out.zarr")
    assert all(np.array_equal(found[..., c], expected) for c in range(3))


def test_planes_are_put_together(tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", np.moveaxis(RGB, -1, 0), photometric="rgb", planarconfig="separate", tile=(256, 256))
    assert np.array_equal(saved(tmp_path / "in.tif", tmp_path / "out.zarr"), RGB)


def test_every_level_of_a_pyramid_is_read(tmp_path):
    with tifffile.TiffWriter(tmp_path / "in.tif") as tiff:
        for step in (1, 2, 4):
            tiff.write(RGB[::step, ::step], photometric="rgb", tile=(256, 256), subfiletype=0 if step == 1 else 1)
    for level, step in enumerate((1, 2, 4)):
        out = tmp_path / f"{level}.zarr"
        headrace("process", "save", tmp_path / "in.tif", out, "--level", level)
        assert np.array_equal(np.moveaxis(zarr.open_array(str(out / "0"), mode="r")[:], 0, -1), RGB[::step, ::step])
