"""Tells the library of the DICOM dictionary that a wheel brings along, so that DICOM is read without a DCMTK of the system.

DCMDICTPATH, which names other files, and the system's go first.
"""

from __future__ import annotations

import os

from . import _core

files = [os.path.join(os.path.dirname(__file__), name) for name in ("dicom.dic", "private.dic")]

if all(map(os.path.exists, files)):  # not in a build folder
    _core.suggest_dicom_dictionary(files)
