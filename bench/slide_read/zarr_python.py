import numpy as np
import stores

PACKAGES = ("zarr", "numcodecs")
NOTE = "chunk 512, blosc zstd 5"


def reader(context, pipeline=None):
    import zarr
    config = {"async.concurrency": context.threads, "threading.max_workers": context.threads}
    zarr.config.set(config | ({"codec_pipeline.path": pipeline} if pipeline else {}))
    array = zarr.open_array(stores.peer_store(context, "peer-c512.zarr", (3, 512, 512), None), mode="r")
    return lambda y, x: np.asarray(array[:, y:y + 512, x:x + 512]).transpose(1, 2, 0)
