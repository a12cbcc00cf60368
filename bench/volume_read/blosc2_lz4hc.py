"""The best that blosc2 reached: int16, blocks of 32³."""
import volume_stores

PACKAGES = ("blosc2",)
NOTE = "LZ4HC 5, byte shuffle, chunk 96×128×128, block 32³, mmap"


def store(context):
    return volume_stores.blosc2_store(context, "ct", (96, 128, 128), (32, 32, 32))


def stored_mb(context):
    return volume_stores.stored_mb(store(context))


def reader(context):
    array = volume_stores.open_blosc2(context, store(context))
    return lambda z, y, x: array[0:1, z:z + 96, y:y + 96, x:x + 96]
