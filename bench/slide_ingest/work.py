"""The whole slide, all five levels, to OME-Zarr 0.5 with two threads or processes. A subject gives ingest(context, out).

After the first run the store's pixels are compared at one 512 patch of the first three levels: they must be the file's own, or, where a
subject makes the level itself, within one of the 2×2 averages of level 0.
"""
import shutil

import numpy as np
import program

ITEMS, EDGE, LEVELS = 1, 20480, 5
BYTES_PER_ITEM = sum((EDGE >> i) ** 2 * 3 for i in range(LEVELS))


def stored_patch(context, store, level, origin):
    import zarr
    if (store / "images").exists():  # ours: by the program, since this zarr-python knows no JPEG codec
        return program.read(context, store, origin, origin, level=level)
    group = zarr.open_group(str(store), mode="r")
    attributes = group.attrs.get("ome", {}).get("multiscales")
    array = group[attributes[0]["datasets"][level]["path"] if attributes else str(level)]
    return np.asarray(array[:, origin:origin + 512, origin:origin + 512]).transpose(1, 2, 0)


def source_patch(context, level, y, x, edge):
    import tifffile
    import zarr
    source = zarr.open(tifffile.imread(context.slide, aszarr=True, level=level), mode="r")
    return (source["0"] if hasattr(source, "array_keys") else source)[y:y + edge, x:x + edge]


def averaged(pixels, times):
    for _ in range(times):
        h, w = pixels.shape[0] // 2, pixels.shape[1] // 2
        pixels = (pixels.reshape(h, 2, w, 2, 3).astype(np.uint16).sum((1, 3)) + 2) // 4
    return pixels


def check(context, store):
    found = []
    for level in range(3):
        o = ((EDGE >> level) // 2 // 256) * 256 - 128
        stored = stored_patch(context, store, level, o).astype(np.int16)
        if np.array_equal(stored, source_patch(context, level, o, o, 512)):
            found.append("the file's")
        else:
            whole = averaged(source_patch(context, 0, o << level, o << level, 512 << level), level).astype(np.int16)
            if level == 0 or np.abs(stored - whole).max() > 1:
                raise SystemExit(f"level {level}: stored pixels are neither the file's nor averages of level 0")
            found.append("2×2 averages")
    return found


def size_of(store):
    return sum(f.stat().st_size for f in store.rglob("*") if f.is_file())


def prepare(subject, context):
    out = context.data / f"ingested-{subject.__name__}.zarr"

    def run():
        shutil.rmtree(out, ignore_errors=True)
        subject.ingest(context, out)

    run()
    levels = check(context, out)
    ratio = size_of(out) / (context.data / "slide20k.tif").stat().st_size
    return run, {"levels": levels, "size_over_source": round(ratio, 3)}
