"""The numbers of include_graph.py, counted by hand in a small tree and in commits of it."""
import contextlib
import io
import subprocess
import unittest

import include_graph
from small_tree import SmallTree


class Graphs(SmallTree):
    """core <- zarr (two folders that include each other) <- train; learn/ includes zarr twice."""

    def setUp(self):
        super().setUp()
        self.write("headrace/LAYERS", "headrace/\ncore:\nzarr: core\nlearn/\ntrain: core zarr\n")
        self.write("headrace/core/error.hpp", "\n")
        self.write("headrace/zarr/array.hpp", '#include "headrace/core/error.hpp"\n#include <vector>\n')
        self.write("headrace/zarr/cpu/rows.cpp", '#include "headrace/zarr/array.hpp"\n#include "headrace/core/error.hpp"\n')
        self.write("headrace/zarr/codec/crc32c.hpp", '#include "headrace/zarr/array.hpp"\n')
        self.write("headrace/zarr/array.cpp", '#include "headrace/zarr/codec/crc32c.hpp"\n')
        self.write("learn/train/train.cpp", '#include "headrace/zarr/array.hpp"\n  #  include "headrace/zarr/codec/crc32c.hpp"\n')

    def said(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            include_graph.main([*arguments, str(self.root)])
        return out.getvalue().splitlines()

    def row(self, lines, name):
        (found,) = [line[20:].split() for line in lines if line[:20].strip() == name]
        return [int(value) for value in found]

    def test_folders_files_and_arrows_are_counted(self):
        lines = self.said()
        self.assertEqual(self.row(lines, "headrace/"), [2, 3, 5, 3, 1, 4])
        self.assertEqual(self.row(lines, "learn/"), [1, 1, 1, 0, 0, 0])
        self.assertEqual(self.row(lines, "learn/ -> headrace/"), [0, 0, 0, 2, 1, 2])
        self.assertEqual(self.row(lines, "headrace/ -> learn/"), [0] * 6)
        self.assertEqual(self.row(lines, "together"), [3, 4, 6, 5, 2, 6])
        self.assertEqual(lines[-3:], ["pairs of folders that include each other: 1",
                                      "  headrace/zarr headrace/zarr/codec  (1 includes there, 1 back)", "circles of three folders or more: 0"])

    def test_every_arrow_is_listed(self):
        lines = self.said("--list")
        self.assertIn("  learn/train -> headrace/zarr/codec  1", lines)
        self.assertEqual(lines[lines.index("arrows of layers:"):], ["arrows of layers:", "  train -> zarr  2", "  zarr -> core  2"])

    def test_a_circle_is_found_where_no_pair_is(self):
        self.write("headrace/zarr/array.cpp", '#include "headrace/zarr/plan/plan.hpp"\n')
        self.write("headrace/zarr/plan/plan.hpp", '#include "headrace/zarr/codec/crc32c.hpp"\n')
        self.assertEqual(self.said()[-3:], ["pairs of folders that include each other: 0", "circles of three folders or more: 1",
                                            "  headrace/zarr headrace/zarr/codec headrace/zarr/plan"])

    def test_a_commit_is_counted_as_it_was(self):
        git = ["git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        (self.root / "learn/train/train.cpp").unlink()
        self.write("headrace/train/train.cpp", '#include "headrace/zarr/array.hpp"\n')
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "before"]):
            subprocess.run([*git, *words], check=True)
        (self.root / "headrace/train/train.cpp").unlink()
        self.write("learn/train/train.cpp", "\n")
        before = self.said("--rev", "HEAD")
        self.assertEqual(self.row(before, "learn/ -> headrace/"), [0, 0, 0, 1, 1, 1])
        self.assertEqual(self.row(before, "learn/"), [1, 1, 1, 0, 0, 0])
        self.assertEqual(self.row(self.said(), "learn/ -> headrace/"), [0] * 6)
        with self.assertRaises(SystemExit) as raised:
            self.said("--rev", "nosuch")
        self.assertIn("no code of commit 'nosuch'", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
