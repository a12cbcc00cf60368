import subprocess

PACKAGES = ()
NOTE = "--codec jpeg; with tissue mask, stain and colour statistics, and a SHA-256 of every object"


def ingest(context, out):
    subprocess.run([context.headrace, "ingest", "slides", context.slide, "--out", out, "--codec", "jpeg",
                    "--jobs", str(context.threads), "--json"], check=True, capture_output=True)
