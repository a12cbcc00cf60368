import program
import stores

PACKAGES = ()
NOTE = "from the blosc-zstd store, two threads; positions uniform over the slide"


def run(context, items):
    return program.bench(context, "loader", stores.run_config(context, "blosc-zstd"), items)
