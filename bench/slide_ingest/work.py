"""The whole slide, all five levels, to OME-Zarr 0.5 with two threads or processes. A subject gives ingest(context, out).

After the first run the store's pixels are compared with the file at one 512 patch a level: level 0 (and every level that a
subject copies) exactly; levels that it computes itself within a mean difference of 2.
"""
import shutil

import numpy as np

ITEMS, EDGE, LEVELS = 1, 20480, 5
BYTES_PER_ITEM = sum((EDGE >> i) ** 2 * 3 for i in range(LEVELS))


def stored_level(store, level):
    import zarr
    group = zarr.open_group(str(store), mode="r")
    if "images" in group:  # ours: a cohort
        group = group["images/slide20k"]
    attributes = group.attrs.get("ome", {}).get("multiscales")
    return group[attributes[0]["datasets"][level]["path"] if attributes else str(level)]


def differences(store, slide):
    import tifffile
    import zarr
    import imagecodecs.numcodecs
    import imagecodecs.zarr  # noqa: F401  registers imagecodecs_jpeg
    found = []
    for level in range(LEVELS):
        edge = EDGE >> level
        o = (edge // 2 // 256) * 256 - 128
        source = zarr.open(tifffile.imread(slide, aszarr=True, level=level), mode="r")
        source = (source["0"] if hasattr(source, "array_keys") else source)[o:o + 512, o:o + 512]
        stored = np.asarray(stored_level(store, level)[:, o:o + 512, o:o + 512]).transpose(1, 2, 0)
        found.append(round(float(np.abs(stored.astype(np.int16) - source).mean()), 3))
    return found


def size_of(store):
    return sum(f.stat().st_size for f in store.rglob("*") if f.is_file())


def prepare(subject, context):
    out = context.data / f"ingested-{subject.__name__}.zarr"

    def run():
        shutil.rmtree(out, ignore_errors=True)
        subject.ingest(context, out)

    run()
    difference = differences(out, context.slide)
    if difference[0] > 0 or max(difference) > 2:
        raise SystemExit(f"stored pixels differ from the file's by {difference} on the mean")
    ratio = size_of(out) / (context.data / "slide20k.tif").stat().st_size
    return run, {"mean_difference_by_level": difference, "size_over_source": round(ratio, 3)}
