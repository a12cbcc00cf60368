"""Ours: the transform with nothing declared, in bands of 32 slices, from int16 in memory."""
import program

PACKAGES = ()
NOTE = "float32 out; smoothed where an axis is reduced by more than 1.5"


def output(context):
    return program.prepare_array(context, "resample")


def run(context):
    return program.prepare_times(context, "resample")
