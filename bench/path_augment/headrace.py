"""Ours: the chain compiled into one gather; windows of the same size, read before the clock starts."""
import program
import stores

PACKAGES = ()
NOTE = "stain matrix of the slide, estimated once at ingest; the window of the drawn geometry, no padding"
TIMES = 8  # more patches than the peers' sixteen, so that a few milliseconds are not the noise of the clock


def checked(context):
    return "see tests/transform: each operation against an independent reference"


def run(context, items):
    config = stores.run_config(context, "blosc-zstd", foreground=1)
    return {name: value / TIMES for name, value in program.bench(context, "transform", config, items * TIMES).items()}
