"""The peer of `headrace process` on a GPU: tifffile and CuPy, the image whole, Sobel of its luminance to Zarr v3 (float32, chunks of 512,
uncompressed), with the same stages as `headrace bench process`. Where a package is missing it says so and measures nothing.

Usage: python process_peer.py SLIDE OUT    OUT: a folder that is not there; it is removed at the end
"""
import shutil
import statistics
import sys
import time
from importlib.util import find_spec
from pathlib import Path

NEEDED = ("tifffile", "imagecodecs", "cupy", "cupyx", "numpy")
ROUNDS = 5


def missing():
    """Why nothing can be measured; empty where it can."""
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        return f"there is no {', '.join(absent)} in this Python"
    import cupy
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy finds no GPU: {error}"
    return "" if count else "CuPy counts no GPU"


def store(edges, out):
    """Chunks as files, each from the GPU: with no Zarr library, whose time would be measured too."""
    import cupy
    import numpy as np
    for y in range(0, edges.shape[0], 512):
        row = out / "0" / "c" / str(y // 512)
        row.mkdir(parents=True)
        for x in range(0, edges.shape[1], 512):
            chunk = np.zeros((512, 512), np.float32)
            part = cupy.asnumpy(edges[y:y + 512, x:x + 512])
            chunk[:part.shape[0], :part.shape[1]] = part
            (row / str(x // 512)).write_bytes(chunk)


def once(slide, out):
    """Seconds of load, process, save and the whole."""
    import cupy
    import tifffile
    from cupyx.scipy.ndimage import correlate1d
    wait = cupy.cuda.get_current_stream().synchronize
    start = time.perf_counter()
    rgb = cupy.asarray(tifffile.imread(slide, key=0))
    wait()
    loaded = time.perf_counter()
    grey = (0.2125 * rgb[..., 0] + 0.7154 * rgb[..., 1] + 0.0721 * rgb[..., 2]).astype(cupy.float32) / 255
    smooth, edge = cupy.array([.25, .5, .25], cupy.float32), cupy.array([-1, 0, 1], cupy.float32)
    gy = correlate1d(correlate1d(grey, edge, 0, mode="reflect"), smooth, 1, mode="reflect")
    gx = correlate1d(correlate1d(grey, edge, 1, mode="reflect"), smooth, 0, mode="reflect")
    edges = cupy.sqrt((gy * gy + gx * gx) / 2)
    wait()
    processed = time.perf_counter()
    store(edges, out)
    saved = time.perf_counter()
    return loaded - start, processed - loaded, saved - processed, saved - start


def main():
    slide, out = sys.argv[1], Path(sys.argv[2])
    reason = missing()
    if reason:
        print(f"tifffile + CuPy: not measured: {reason}")
        return
    runs = []
    for _ in range(ROUNDS + 1):
        runs.append(once(slide, out))
        shutil.rmtree(out)
    load, process, save, whole = (statistics.median(r[i] for r in runs[1:]) for i in range(4))  # the first one warms
    print(f"tifffile + CuPy, median of {ROUNDS}: load {load:.2f} s, process {process:.2f} s, save {save:.2f} s (not synced), "
          f"whole {whole:.2f} s")


if __name__ == "__main__":
    main()
