"""Ours: the source's own JPEG tiles, copied."""
import program
import stores

PACKAGES = ()
NOTE = "from the jpeg store; positions by the sampler, uniform over the slide"


def reader(context):
    store = stores.headrace_store(context, "jpeg")
    return lambda y, x: program.read(context, store, y, x)


def run(context, items):
    return program.bench(context, "read", stores.run_config(context, "jpeg", chain=""), items)
