"""The command ``headrace`` of the wheel: the program lies beside this file."""

import os
import sys
import sysconfig
from typing import NoReturn


def main() -> NoReturn:
    """Replaces this process by the program, with its arguments; OpenSlide is that of openslide-bin, where it is installed;
    commands in Python run in this one."""
    folder = os.path.dirname(__file__)
    program = os.path.join(folder, "headrace")
    dictionary = [os.path.join(os.path.dirname(folder), "headrace", name) for name in ("dicom.dic", "private.dic")]
    os.environ.setdefault("DCMDICTPATH", os.pathsep.join(dictionary))
    openslide = os.path.join(sysconfig.get_path("platlib"), "openslide_bin", "libopenslide.so.1")
    if os.path.exists(openslide):
        os.environ.setdefault("HEADRACE_OPENSLIDE", openslide)
    os.environ.setdefault("HEADRACE_PYTHON", sys.executable)
    os.execv(program, ["headrace", *sys.argv[1:]])
