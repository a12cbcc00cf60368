import program
import volume_stores

PACKAGES = ()
NOTE = "from the blosc-zstd store, two threads; positions uniform over the body's box"


def run(context, items):
    return program.bench(context, "loader", volume_stores.run_config(context, "blosc-zstd"), items)
