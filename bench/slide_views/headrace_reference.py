"""Pixels by reference: the slide's own file, and a store of tables beside it."""
import program
import stores

PACKAGES = ()
NOTE = "the slide by reference, nothing copied"


def bench(context, items):
    return program.bench(context, "loader", stores.views_config(context, stores.headrace_store(context, "reference")), items)
