"""The peer of `headrace process` on a GPU: tifffile and CuPy, the image whole, Sobel of its luminance to Zarr v3 (float32, uncompressed
chunks), in the stages of `headrace bench process`. Where a package is missing it says so and measures nothing.

Usage: python process_peer.py SLIDE OUT [--trial]
    SLIDE  a TIFF without compression, for which tifffile needs no other package   OUT  a folder that is not there; removed at the end
    --trial  NumPy in CuPy's place, once, to see that it runs; no figures
"""
import os
import shutil
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

ROUNDS = 3
CHUNKS = (256, 512, 1024, 2048)


def missing(trial):
    """Why nothing can be measured; empty where it can."""
    absent = [name for name in ("tifffile", "numpy", *(("scipy",) if trial else ("cupy", "cupyx"))) if find_spec(name) is None]
    if absent:
        return f"there is no {', '.join(absent)} in this Python"
    if trial:
        return ""
    import cupy
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy finds no GPU: {error}"
    return "" if count else "CuPy counts no GPU"


class Peer:
    def __init__(self, slide, out, trial):
        import numpy
        self.slide, self.out, self.np = slide, out, numpy
        if trial:
            from scipy.ndimage import correlate1d
            self.xp, self.correlate1d, self.wait, self.to_host = numpy, correlate1d, lambda: None, lambda a: a
        else:
            import cupy
            from cupyx.scipy.ndimage import correlate1d
            self.xp, self.correlate1d, self.to_host = cupy, correlate1d, cupy.asnumpy
            self.wait = cupy.cuda.Device().synchronize

    def load(self, threads):
        import tifffile
        image = self.xp.asarray(tifffile.imread(self.slide, key=0, maxworkers=threads))
        self.wait()
        return image

    def sobel(self, rgb):
        xp, correlate = self.xp, self.correlate1d
        grey = (0.2125 * rgb[..., 0] + 0.7154 * rgb[..., 1] + 0.0721 * rgb[..., 2]).astype(xp.float32) / 255
        smooth, edge = xp.array([.25, .5, .25], xp.float32), xp.array([-1, 0, 1], xp.float32)
        gy = correlate(correlate(grey, edge, 0, mode="reflect"), smooth, 1, mode="reflect")
        gx = correlate(correlate(grey, edge, 1, mode="reflect"), smooth, 0, mode="reflect")
        edges = xp.sqrt((gy * gy + gx * gx) / 2)
        self.wait()
        return edges

    def save(self, edges, edge, threads):
        """Chunks as files, each from the GPU: with no Zarr library, whose time would be measured too. Synced, as ours are."""
        rows = range(0, edges.shape[0], edge)
        for y in rows:
            (self.out / "0" / "c" / str(y // edge)).mkdir(parents=True)

        def store(y):
            for x in range(0, edges.shape[1], edge):
                chunk = self.np.zeros((edge, edge), self.np.float32)
                part = self.to_host(edges[y:y + edge, x:x + edge])
                chunk[:part.shape[0], :part.shape[1]] = part
                (self.out / "0" / "c" / str(y // edge) / str(x // edge)).write_bytes(chunk)

        if threads == 1:
            for y in rows:
                store(y)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(store, rows))
        os.sync()


def seconds(work, rounds, clean=lambda: None):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begin)
        clean()
    return statistics.median(times), result


def main():
    arguments = [a for a in sys.argv[1:] if a != "--trial"]
    trial = len(arguments) + 1 < len(sys.argv)
    slide, out = arguments[0], Path(arguments[1])
    reason = missing(trial)
    if reason:
        print(f"tifffile + CuPy: not measured: {reason}")
        return 0
    peer, cores = Peer(slide, out, trial), len(os.sched_getaffinity(0))
    remove = lambda: shutil.rmtree(out)  # noqa: E731
    rounds = 1 if trial else ROUNDS
    peer.sobel(peer.load(cores))  # the driver begins, kernels are compiled, pages come into the cache
    print(f"tifffile + {'NumPy, a trial' if trial else 'CuPy'}, medians of {rounds}, seconds; saving ends with a sync\n\n"
          f"| threads | load | sobel | {' | '.join(f'save {c}' for c in CHUNKS)} | whole, chunks of 512 |\n" + "|---" * 8 + "|")
    for threads in sorted({1, cores}):
        load, image = seconds(lambda n=threads: peer.load(n), rounds)
        process, edges = seconds(lambda i=image: peer.sobel(i), rounds)
        saves = [seconds(lambda c=c, n=threads: peer.save(edges, c, n), rounds, remove)[0] for c in CHUNKS]
        del image
        whole, _ = seconds(lambda n=threads: peer.save(peer.sobel(peer.load(n)), 512, n), rounds, remove)
        figures = ["ran"] * 7 if trial else [f"{s:.2f}" for s in (load, process, *saves, whole)]
        print(f"| {threads} | {' | '.join(figures)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
