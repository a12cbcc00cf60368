import program
import stores

PACKAGES = ()
NOTE = "from the jpeg store"


def bench(context, items):
    return program.bench(context, "loader", stores.views_config(context, stores.headrace_store(context, "jpeg")), items)
