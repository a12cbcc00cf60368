"""zarr-python with the Rust codec pipeline."""
import volume_stores

PACKAGES = ("zarr", "zarrs")
NOTE = "shard 192³, inner 32³, blosc zstd 5 with byte shuffle"


def stored_mb(context):
    return volume_stores.stored_mb(volume_stores.zarr_store(context, "ct", 32, 192))


def reader(context):
    import zarr
    import zarrs  # noqa: F401  registers the pipeline
    zarr.config.set({"async.concurrency": context.threads, "threading.max_workers": context.threads,
                     "codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    array = zarr.open_array(volume_stores.zarr_store(context, "ct", 32, 192), mode="r")
    return lambda z, y, x: array[z:z + 96, y:y + 96, x:x + 96]
