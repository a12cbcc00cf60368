import subprocess

PACKAGES = ()
NOTE = "--codec blosc-zstd; with tissue mask, stain and colour statistics, and a SHA-256 of every object"


def ingest(context, out):
    subprocess.run([context.headrace, "ingest", "slides", context.slide, "--out", out, "--codec", "blosc-zstd",
                    "--jobs", str(context.threads), "--json"], check=True, capture_output=True)
