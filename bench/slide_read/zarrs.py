"""zarr-python with the Rust codec pipeline."""
import numpy as np
import stores

PACKAGES = ("zarr", "zarrs")
NOTE = "shard 4096, inner 256, blosc zstd 5"


def reader(context):
    import zarr
    import zarrs  # noqa: F401  registers the pipeline
    zarr.config.set({"async.concurrency": context.threads, "threading.max_workers": context.threads,
                     "codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    array = zarr.open_array(stores.peer_store(context, "peer-s4096-256.zarr", (3, 256, 256), (3, 4096, 4096)), mode="r")
    return lambda y, x: np.asarray(array[:, y:y + 512, x:x + 512]).transpose(1, 2, 0)
