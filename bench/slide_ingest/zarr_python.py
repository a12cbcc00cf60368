import numpy as np

PACKAGES = ("zarr", "numcodecs", "tifffile")
NOTE = "chunk 512, blosc zstd 5; bands of 512 rows, a process a core"


def band(job):
    import tifffile
    import zarr
    slide, out, level, y = job
    zarr.config.set({"async.concurrency": 1, "threading.max_workers": 1})
    store = tifffile.imread(slide, aszarr=True, level=level)
    source = zarr.open(store, mode="r")
    source = source["0"] if hasattr(source, "array_keys") else source
    zarr.open_array(f"{out}/{level}", mode="r+")[:, y:y + 512] = np.asarray(source[y:y + 512]).transpose(2, 0, 1)
    store.close()


def ingest(context, out):
    import multiprocessing

    import zarr
    from zarr.codecs import BloscCodec
    group, jobs = zarr.open_group(str(out), mode="w", zarr_format=3), []
    for level in range(5):
        edge = 20480 >> level
        group.create_array(str(level), shape=(3, edge, edge), chunks=(3, 512, 512), dtype="uint8",
                           compressors=BloscCodec(cname="zstd", clevel=5, shuffle="shuffle"))
        jobs += [(context.slide, str(out), level, y) for y in range(0, edge, 512)]
    with multiprocessing.get_context("fork").Pool(context.threads) as pool:
        pool.map(band, jobs, chunksize=1)
        pool.close()
        pool.join()
