"""Runs tiffslide's own tests with headrace.tiffslide in place of its module: python tiffslide_suite.py FOLDER_OF_ITS_TESTS.

Its words and associated images are asked for, as its tests look at them. What they would download is the sample of the same name; of the
files that they compare with openslide-python this one alone is here. The last line says how many passed.
"""
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "samples/slides/CMU-1-Small-Region.svs"

LEFT_OUT = {
    "test_benchmark.py": "measures times, of large slides that are not here",
    "test_kerchunk.py": "tests tiffslide's private module _kerchunk, which makes an instance of tiffslide's own class",
    "test_zarr.py": "tests tiffslide's private module _zarr, and how often tifffile's store is asked",
}

# Programs that tests start import this, too.
MODULE = """import sys

import headrace.tiffslide

headrace.tiffslide.TiffSlide.__init__.__kwdefaults__["private"] = True
headrace.tiffslide.open_slide.__kwdefaults__["private"] = True
sys.modules["tiffslide"] = headrace.tiffslide
"""


class Counts:
    def __init__(self):
        self.of = {"passed": 0, "failed": 0, "skipped": 0, "xfailed": 0}

    def pytest_runtest_logreport(self, report):
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        if report.when == "call" or outcome != "passed":
            self.of[outcome] += 1


def main(folder):
    with tempfile.TemporaryDirectory() as work:
        tests, modules, slides = Path(work) / "tests", Path(work) / "modules", Path(work) / "slides/Aperio"
        shutil.copytree(folder, tests)
        for name in LEFT_OUT:
            (tests / name).unlink()
        for beside in (tests / "data", slides):
            beside.mkdir(parents=True)
            shutil.copy(SAMPLE, beside)
        modules.mkdir()
        (modules / "tiffslide.py").write_text(MODULE)
        sys.path.insert(0, str(modules))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(modules), os.environ.get("PYTHONPATH")]))
        os.environ["OPENSLIDE_TESTDATA_DIR"] = str(slides.parent)
        counts = Counts()
        code = pytest.main(["-q", "-rfE", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "ignore::pytest.PytestUnknownMarkWarning", f"--rootdir={work}",
                            str(tests)], plugins=[counts])
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.of.items()))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
