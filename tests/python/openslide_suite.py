"""Runs openslide-python's own tests with Headrace's classes in place of its own: python openslide_suite.py FOLDER_OF_ITS_TESTS.

Its exceptions stay its own: ours must be caught by those names. Label and macro images and all properties are asked for, as its tests
look at them.
"""
import sys
import unittest

import openslide

import headrace.slide


class OpenSlide(headrace.slide.OpenSlide):
    """Opened as openslide-python opens: with everything."""

    def __init__(self, filename, **options):
        super().__init__(filename, **{"private": True, **options})


headrace.slide.OpenSlide = openslide.OpenSlide = OpenSlide
openslide.ImageSlide = headrace.slide.ImageSlide
openslide.OpenSlideCache = headrace.slide.OpenSlideCache
openslide.open_slide = headrace.slide.open_slide

sys.path.insert(0, sys.argv[1])
found = unittest.defaultTestLoader.discover(sys.argv[1])
done = unittest.TextTestRunner(verbosity=2).run(found)
print(f"{done.testsRun} run, {len(done.failures)} failed, {len(done.errors)} errors, {len(done.skipped)} skipped")
sys.exit(not done.wasSuccessful())
