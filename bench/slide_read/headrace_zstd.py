"""Ours: blosc zstd, pixels stored interleaved."""
import program
import stores

PACKAGES = ()
NOTE = "from the blosc-zstd store; positions by the sampler, uniform over the slide"


def reader(context):
    store = stores.headrace_store(context, "blosc-zstd")
    return lambda y, x: program.read(context, store, y, x)


def run(context, items):
    return program.bench(context, "read", stores.run_config(context, "blosc-zstd", chain=""), items)
