PACKAGES = ("ome-zarr", "dask", "zarr")
NOTE = "write_multiscale from dask, its default compressor, dask threads"


def ingest(context, out):
    import dask
    import dask.array
    import tifffile
    import zarr
    from ome_zarr.writer import write_multiscale
    zarr.config.set({"async.concurrency": context.threads, "threading.max_workers": context.threads})

    def level(i):
        source = zarr.open(tifffile.imread(context.slide, aszarr=True, level=i), mode="r")
        return dask.array.from_array(source, chunks=(512, 512, 3)).transpose(2, 0, 1).rechunk((3, 512, 512))
    group = zarr.open_group(str(out), mode="w", zarr_format=3)
    with dask.config.set(scheduler="threads", num_workers=context.threads):
        write_multiscale([level(i) for i in range(5)], group, axes="cyx", storage_options={"chunks": (3, 512, 512)})
