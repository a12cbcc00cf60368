"""Makes derived files of samples/: crops of CMU-1-Small-Region.svs and of the TCGA slide in other layouts.

Usage: python tools/derive_samples.py      (needs tifffile, imagecodecs, numpy; rewrites the files in place)
"""
from pathlib import Path

import numpy as np
import tifffile

SAMPLES = Path(__file__).resolve().parent.parent / "samples"


def write_plain(path, levels, bigtiff, **options):
    with tifffile.TiffWriter(path, bigtiff=bigtiff) as tif:
        for i, pixels in enumerate(levels):
            tif.write(pixels, photometric="rgb", subfiletype=1 if i else 0, metadata=None, software="",
                      resolution=(20000 / 2**i,) * 2, resolutionunit="CENTIMETER", **options)


def write_ome(path, levels):
    size = {f"PhysicalSize{a}": 0.5 for a in "XY"} | {f"PhysicalSize{a}Unit": "µm" for a in "XY"}
    options = dict(photometric="rgb", tile=(256, 256), compression="zstd", predictor=True)
    with tifffile.TiffWriter(path, bigtiff=True, ome=True) as tif:
        tif.write(levels[0], subifds=1, **options,
                  metadata={"axes": "YXS", "UUID": "urn:uuid:00000000-0000-4000-8000-000000000001"} | size)
        tif.write(levels[1], subfiletype=1, metadata=None, **options)


def halved(pixels):
    h, w = pixels.shape[0] // 2, pixels.shape[1] // 2
    return ((pixels.reshape(h, 2, w, 2, 3).astype(np.uint32).sum((1, 3)) + 2) // 4).astype(np.uint8)


def main():
    source = tifffile.imread(SAMPLES / "slides/CMU-1-Small-Region.svs", key=0)
    crop = np.ascontiguousarray(source[900:1172, 700:972])
    half = halved(crop)
    out = SAMPLES / "slides/derived"
    write_plain(out / "cmu-lzw-pred-256.tif", (crop, half), False, tile=(256, 256), compression="lzw", predictor=True)
    write_plain(out / "cmu-bigtiff-deflate-512.tif", (crop, half), True, tile=(512, 512), compression="adobe_deflate")
    write_ome(out / "cmu-zstd-subifd.ome.tif", (crop, half))
    tcga = [np.ascontiguousarray(tifffile.imread(SAMPLES / "slides/TCGA-CR-7395-01A-01-TS1.svs", key=0)[900:1796, 1200:2096])]
    for _ in range(3):
        tcga.append(halved(tcga[-1]))
    write_plain(out / "tcga-jpeg420-256.tif", tcga, False, tile=(256, 256), compression="jpeg", subsampling=(2, 2),
                compressionargs={"level": 85, "outcolorspace": "ycbcr"})
    with tifffile.TiffWriter(SAMPLES / "odd/slides/smaller-than-a-tile.svs") as tif:
        tif.write(np.ascontiguousarray(crop[:16, :16]), photometric="rgb", tile=(64, 64), compression="jpeg",
                  compressionargs={"level": 85}, metadata=None, software="",
                  description="Aperio Image Library v11.0.0\r\n16x16 (64x64) JPEG/RGB Q=85|AppMag = 20|MPP = 0.499")


main()
