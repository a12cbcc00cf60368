"""A small tree in a folder of its own, in which a test breaks a rule."""
import tempfile
import unittest
from pathlib import Path


class SmallTree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def expect_violations(self, found, starts):
        """As many lines as `starts`, each beginning so."""
        self.assertEqual(len(found), len(starts), found)
        for line, start in zip(found, starts):
            self.assertTrue(line.startswith(start), line)
