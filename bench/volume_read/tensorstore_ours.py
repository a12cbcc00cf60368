"""TensorStore on our own store: what our layout alone is worth to others."""
import volume_stores

PACKAGES = ("tensorstore",)
NOTE = "the blosc-lz4 store that `headrace ingest volumes` wrote"


def level0(context):
    return volume_stores.level0(volume_stores.headrace_store(context, "blosc-lz4"))


def stored_mb(context):
    return volume_stores.stored_mb(level0(context))


def reader(context):
    array = volume_stores.open_tensorstore(context, level0(context))
    return lambda z, y, x: array[z:z + 96, y:y + 96, x:x + 96].read().result()
