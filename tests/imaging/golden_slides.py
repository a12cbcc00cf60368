"""Pixel hashes of the sample slides by readers that are not ours; writes golden_slides.json beside this file.

Level 0, and whole levels of any slide: openslide-python, transparent pixels on white. Windows of lower levels of TIFFs:
tifffile, which decodes the stored level (OpenSlide shifts such windows where the downsample is not a whole number).
Plain images: Pillow, and tifffile for what it does not know. Versions: tools/deps/requirements-test.txt. Run: python tests/imaging/golden_slides.py
"""
import hashlib
import json
import pathlib

import numpy as np
import openslide
import tifffile
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = HERE.parents[1] / "samples"
SLIDES = [
    "slides/CMU-1-Small-Region.svs",
    "slides/TCGA-CR-7395-01A-01-TS1.svs",
    "slides/hamamatsu-DAPI-387.ndpi",
    "slides/dicom-bone-jpeg.dcm",
    "slides/dicom-bone-jpeg2000.dcm",
    "slides/dicom-camelyon-lowres.dcm",
    "slides/derived/cmu-aperio-style-4level.svs",
    "slides/derived/cmu-bigtiff-deflate-512.tif",
    "slides/derived/cmu-lzw-pred-256.tif",
    "slides/derived/cmu-zstd-subifd.ome.tif",
    "slides/derived/tcga-jpeg420-256.tif",
]
TIFF_LEVELS = {"slides/derived/cmu-aperio-style-4level.svs": 1, "slides/derived/tcga-jpeg420-256.tif": 2}
IMAGES = [
    "tissue/stain_target.png", "tissue/tcga-lung-rgb.png", "tissue/no-tissue.png",
    "odd/tiff/imagetiff-bigtiff-BigTIFF.tif", "odd/tiff/imagetiff-bigtiff-BigTIFFMotorola.tif",
    "odd/tiff/imagetiff-quad-tile.jpg.tiff", "odd/tiff/imagetiff-tiled-jpeg-ycbcr.tif",
    "odd/tiff/imagetiff-tiled-rect-rgb-u8.tif",
    "odd/tiff/pillow-child_ifd.tiff", "odd/tiff/pillow-hopper_bigtiff.tif",
    "odd/tiff/pillow-tiff_tiled_planar_lzw.tiff", "odd/tiff/pillow-tiff_tiled_ycbcr_jpeg_2x2_sampling.tif",
]


def sha(pixels):
    return hashlib.sha256(np.ascontiguousarray(pixels, dtype=np.uint8).tobytes()).hexdigest()


def on_white(region):
    rgba = np.asarray(region).astype(int)
    assert set(np.unique(rgba[..., 3])) <= {0, 255}, "no sample has half-transparent pixels"
    return np.where(rgba[..., 3:] == 255, rgba[..., :3], 255)


def window(level, y, x, h, w, pixels):
    return {"level": level, "y": y, "x": x, "height": h, "width": w, "sha256": sha(pixels)}


def slide_entry(name):
    slide = openslide.OpenSlide(str(SAMPLES / name))
    windows = []
    for level, (w, h) in enumerate(slide.level_dimensions):
        windows.append(window(level, 0, 0, h, w, on_white(slide.read_region((0, 0), level, (w, h)))))
    w, h = slide.dimensions
    # Over the lower right edge: what lies outside is white.
    windows.append(window(0, h - 123, w - 45, 200, 100, on_white(slide.read_region((w - 45, h - 123), 0, (100, 200)))))
    windows.append(window(0, 37, 101, 211, 307, on_white(slide.read_region((101, 37), 0, (307, 211)))))
    if name in TIFF_LEVELS:
        level = TIFF_LEVELS[name]
        with tifffile.TiffFile(SAMPLES / name) as tiff:
            wanted = slide.level_dimensions[level][::-1]
            stored = next(p for p in tiff.pages if p.is_tiled and p.shape[:2] == wanted).asarray()
        windows.append(window(level, 111, 87, 90, 130, stored[111:201, 87:217]))
    levels = [[h, w] for w, h in slide.level_dimensions]
    if name.endswith(".ome.tif"):  # OpenSlide does not look into SubIFDs
        with tifffile.TiffFile(SAMPLES / name) as tiff:
            for number, level in enumerate(tiff.series[0].levels[1:], 1):
                pixels = level.asarray()
                levels.append(list(pixels.shape[:2]))
                windows.append(window(number, 0, 0, *pixels.shape[:2], pixels))
                windows.append(window(number, 11, 7, 90, 70, pixels[11:101, 7:77]))
    get = slide.properties.get
    return {
        "file": name,
        "format": get("openslide.vendor"),
        "levels": levels,
        "mpp_x": get("openslide.mpp-x"), "mpp_y": get("openslide.mpp-y"),
        "objective_power": get("openslide.objective-power"),
        "icc_bytes": len(slide.color_profile.tobytes()) if slide.color_profile else 0,
        "windows": windows,
    }


def rgb(name):
    try:
        return np.asarray(Image.open(SAMPLES / name).convert("RGB"))
    except OSError:  # big-endian BigTIFF: Pillow knows only the other kind
        grey = tifffile.imread(SAMPLES / name)
        return grey if grey.ndim == 3 else np.repeat(grey[..., None], 3, axis=2)


def label_entry(name):
    labels = np.asarray(Image.open(SAMPLES / name)).astype(np.uint16)
    return {"file": name, "height": labels.shape[0], "width": labels.shape[1], "max": int(labels.max()),
            "sha256": hashlib.sha256(labels.astype("<u2").tobytes()).hexdigest()}


def main():
    labels = sorted(str(p.relative_to(SAMPLES)) for p in (SAMPLES / "nuclei/instances").glob("*.png"))[:3]
    golden = {
        "slides": [slide_entry(name) for name in SLIDES],
        "images": [{"file": name, "sha256": sha(rgb(name))} for name in IMAGES],
        "labels": [label_entry(name) for name in labels],
    }
    (HERE / "golden_slides.json").write_text(json.dumps(golden, indent=1) + "\n")


main()
