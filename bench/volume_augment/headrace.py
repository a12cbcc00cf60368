"""Ours: geometry in one gather, then one pass of intensities; windows of the CT in memory before the clock starts."""
import program
import volume_stores

PACKAGES = ()
NOTE = "windows of the drawn geometry from the volume, so no border is made up; image and label"
TIMES = 8  # more patches than the peers' six, so that a few milliseconds are not the noise of the clock


def checked(context):
    return "see tests/transform: against a double-precision model and SimpleITK"


def run(context, items):
    config = volume_stores.run_config(context, "blosc-lz4")
    return {name: value / TIMES for name, value in program.bench(context, "transform", config, items * TIMES).items()}
