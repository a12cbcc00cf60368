"""The types that the package states: of its own code, of the stub made from the C++ part, and as a user's type checker sees them."""
import subprocess
import sys
from pathlib import Path

import headrace

PACKAGE = Path(headrace.__file__).parent

PROGRAM = """
import io

import headrace
import headrace.tiffslide
from headrace import transforms as tf

image = headrace.open("s.zarr")[0]
reveal_type(image.level(0)[0:4, 0:4])
reveal_type(headrace.Loader("run.yaml").state_dict())
reveal_type(headrace.OpenSlide("a.svs").read_regions([((0, 0), 0, (4, 4))]))
reveal_type(headrace.tiffslide.TiffSlide(io.BytesIO(b"")).read_region((0, 0), 0, (4, 4), as_array=True))
headrace.OpenSlide(open("a.svs", "rb"), storage_options={"anon": True})
headrace.Loader("run.yaml", epoch="one")
headrace.ingest_slides("in", "out.zarr", codec=3)
tf.Affine(rotate_deg=(-180, 180), flip=True)
tf.Normalize(method="zscore")
tf.Affine(rotation=3)
tf.Affine(flip="yes")
"""


def test_the_package_and_what_its_users_see(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "/dev/null", PACKAGE, file]
    said = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=PACKAGE.parent).stdout.splitlines()
    level, state, regions, region = [line.split("Revealed type is ")[1] for line in said if "Revealed type is" in line]
    assert level.startswith('"numpy.ndarray[') and state == '"dict[str, Any]"'
    assert regions.startswith('"numpy.ndarray[') and "unsignedinteger" in regions and region.startswith('"numpy.ndarray[')
    errors = [line for line in said if ": error: " in line]
    expected = [(14, 'Argument "epoch"'), (15, 'Argument "codec"'), (18, 'Unexpected keyword argument "rotation"'), (19, 'Argument "flip"')]
    assert len(errors) == len(expected), "\n".join(errors)
    for error, (line, words) in zip(errors, expected):
        assert f"{file}:{line}: error: {words}" in error
