"""The floor: nothing is packed."""
import numpy as np
import volume_stores

PACKAGES = ("numpy",)
NOTE = "uncompressed, memory-mapped"


def stored_mb(context):
    return volume_stores.stored_mb(context.data / "ct.npy")


def reader(context):
    ct = volume_stores.volume(context, "ct")
    return lambda z, y, x: np.ascontiguousarray(ct[z:z + 96, y:y + 96, x:x + 96])
