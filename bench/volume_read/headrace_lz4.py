import program
import volume_stores

PACKAGES = ()
NOTE = "the blosc-lz4 store that `headrace ingest volumes` wrote, crc32c checked"
CODEC = "blosc-lz4"


def stored_mb(context):
    return volume_stores.stored_mb(volume_stores.level0(volume_stores.headrace_store(context, CODEC)))


def reader(context):
    store = volume_stores.headrace_store(context, CODEC)
    image = volume_stores.image_of(store)
    return lambda z, y, x: program.read_volume(context, store, image, (z, y, x), (96, 96, 96))


def run(context, items):
    store = volume_stores.headrace_store(context, CODEC)
    return program.bench_read(context, store, volume_stores.image_of(store), size=96, seed=404, count=items)
