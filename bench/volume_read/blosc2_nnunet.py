"""As nnU-Net lays out int16 for patches of 96³ (its comp_blosc2_params)."""
import volume_stores

PACKAGES = ("blosc2",)
NOTE = "LZ4HC 5, byte shuffle, chunk 144³, block 64×32×32, mmap"


def store(context):
    return volume_stores.blosc2_store(context, "ct", (144, 144, 144), (64, 32, 32))


def stored_mb(context):
    return volume_stores.stored_mb(store(context))


def reader(context):
    array = volume_stores.open_blosc2(context, store(context))
    return lambda z, y, x: array[0:1, z:z + 96, y:y + 96, x:x + 96]
