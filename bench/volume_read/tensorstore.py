import volume_stores

PACKAGES = ("tensorstore",)
NOTE = "shard 192³, inner 32³, blosc zstd 5 with byte shuffle: its best layout for this work"


def store(context):
    return volume_stores.zarr_store(context, "ct", 32, 192)


def stored_mb(context):
    return volume_stores.stored_mb(store(context))


def reader(context):
    array = volume_stores.open_tensorstore(context, store(context))
    return lambda z, y, x: array[z:z + 96, y:y + 96, x:x + 96].read().result()
