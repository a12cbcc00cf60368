import program
import volume_stores

PACKAGES = ()
NOTE = "from the blosc-lz4 store, two threads; positions uniform over the body's box"


def run(context, items):
    return program.bench(context, "loader", volume_stores.run_config(context, "blosc-lz4"), items)
