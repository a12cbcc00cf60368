"""Ours: the slide's own file, and a store of tables beside it."""
import program
import stores

PACKAGES = ()
NOTE = "the slide by reference; positions by the sampler, uniform over the slide"


def reader(context):
    store = stores.headrace_store(context, "reference")
    return lambda y, x: program.read(context, store, y, x)


def run(context, items):
    return program.bench(context, "read", stores.run_config(context, "reference", chain=""), items)
