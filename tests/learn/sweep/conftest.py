"""The folder of these tests, and the package that was built, on Python's path."""
import sys
from pathlib import Path

from driving import PROGRAM

sys.path[:0] = [str(Path(__file__).parent), str(PROGRAM.parent / "python")]
