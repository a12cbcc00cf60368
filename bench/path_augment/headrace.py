"""Ours: the chain compiled into one gather; windows of the same size, read before the clock starts."""
import program
import stores

PACKAGES = ()
NOTE = "stain matrix of the slide, estimated once at ingest; the window of the drawn geometry, no padding"


def checked(context):
    return "see tests/transform: each operation against an independent reference"


def run(context, items):
    return program.bench(context, "transform", stores.run_config(context, "blosc-zstd", foreground=1), items)
