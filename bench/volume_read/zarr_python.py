import volume_stores

PACKAGES = ("zarr", "numcodecs")
NOTE = "chunk 96³, blosc zstd 5 with byte shuffle, no shards: its best layout for this work"


def stored_mb(context):
    return volume_stores.stored_mb(volume_stores.zarr_store(context, "ct", 96, None))


def reader(context):
    import zarr
    zarr.config.set({"async.concurrency": context.threads, "threading.max_workers": context.threads})
    array = zarr.open_array(volume_stores.zarr_store(context, "ct", 96, None), mode="r")
    return lambda z, y, x: array[z:z + 96, y:y + 96, x:x + 96]
