"""What affected.py says of changes, in a small tree and in this one; its tables against the tree that they speak of."""
import contextlib
import io
import unittest
from pathlib import Path

import affected
from project_tree import files_of
from small_tree import SmallTree

ROOT = Path(__file__).resolve().parents[2]


class Plans(SmallTree):
    """math < zarr < loader < train; paint is used by train, which only hands its page on; command `train` includes train, `look` zarr."""

    def setUp(self):
        super().setUp()
        self.write("headrace/LAYERS", "math:\nzarr: math\nloader: math zarr\npaint: math\ntrain: math zarr loader paint\n"
                   "cli: math zarr loader paint train\n")
        for layer in ("math", "zarr", "loader", "paint", "train"):
            self.write(f"headrace/{layer}/{layer}.hpp", "\n")
            self.write(f"tests/{layer}/CMakeLists.txt", f"headrace_test({layer}\n  SOURCES a_test.cpp\n  LINK headrace_{layer})\n")
        self.write("headrace/zarr/other.hpp", '#include "headrace/zarr/zarr.hpp"\n')
        self.write("tests/zarr/CMakeLists.txt", "headrace_test(zarr SOURCES a.cpp LINK headrace_zarr)\nheadrace_tool(zarr_tool SOURCES t.cpp LINK headrace_zarr)\n")
        self.write("tests/train/CMakeLists.txt", "headrace_test(train SOURCES ../loader/fixture.cpp LINK headrace_train)\n")
        self.write("tests/layering/CMakeLists.txt", "add_test(NAME layers COMMAND python3 check.py)\nadd_test(NAME headers COMMAND python3 h.py)\n")
        self.write("cli/commands.inc", "HR_COMMAND(train)\nHR_COMMAND(look)\nHR_COMMAND(sweep)\n")
        self.write("cli/train.cpp", '#include "cli/shared.hpp"\n#include "headrace/train/train.hpp"\n')
        self.write("cli/look.cpp", '#include "headrace/zarr/zarr.hpp"\n')
        self.write("cli/sweep.cpp", "\n")
        self.write("cli/shared.hpp", "\n")
        self.write("cli/shared.cpp", '#include "cli/shared.hpp"\n#include "cli/deep.hpp"\n')
        self.write("cli/deep.hpp", "\n")
        self.write("tests/layering/reach.txt", "shown paint: paint.html\nstarts sweep: train\ndrives tests/sweep: sweep\n")
        self.write("tests/conftest.py", "from helpers import trained\nfrom made import few\ndef run(few):\n    return trained()\n")
        self.write("tests/cli/helpers.py", "def trained():\n    return headrace('train')\ndef looked():\n    return headrace('look')\n")
        self.write("tests/cli/test_look.py", "from helpers import looked\ndef test_a():\n    looked()\n")
        self.write("tests/cli/test_fixture.py", "def test_a(run):\n    assert run\n")
        self.write("tests/cli/test_page.py", "def test_page(run):\n    open('paint.html')\ndef test_other(run):\n    pass\n")
        self.write("tests/zarr_readers/store_test.py", "def test_a():\n    run_tool('zarr_tool')\n")
        self.write("tests/sweep/test_sweep.py", "def test_a():\n    pass\n")

    def expect(self, changed, cases, pytest):
        plan = affected.plan_for(self.root, [changed])
        self.assertEqual(sorted(plan.cases), cases)
        self.assertEqual(sorted(plan.pytest), pytest)
        return plan

    TRAINED = ["tests/cli/test_fixture.py", "tests/cli/test_page.py", "tests/sweep/test_sweep.py"]

    def test_a_layer_reaches_those_above_it(self):
        self.expect("headrace/loader/a.cpp", ["loader", "train"], self.TRAINED)
        self.expect("headrace/zarr/a.cpp", ["loader", "train", "zarr"],
                    ["tests/cli/test_fixture.py", "tests/cli/test_look.py", "tests/cli/test_page.py", "tests/sweep/test_sweep.py",
                     "tests/zarr_readers/store_test.py"])

    def test_what_a_layer_above_only_hands_on_counts_where_it_is_looked_at(self):
        self.expect("headrace/paint/a.cpp", ["paint", "train"], ["tests/cli/test_page.py::test_page"])
        self.write("tests/layering/reach.txt", "shown paint: paint.html !tests/cli/test_page.py\n")
        self.expect("headrace/paint/a.cpp", ["paint", "train"], [])

    def test_a_helper_counts_function_by_function(self):
        self.write("tests/cli/test_look.py", "from helpers import looked, trained\ndef test_a():\n    trained()\n")
        self.expect("headrace/loader/a.cpp", ["loader", "train"], sorted([*self.TRAINED, "tests/cli/test_look.py"]))
        self.expect("tests/cli/helpers.py", [], ["tests/cli/test_fixture.py", "tests/cli/test_look.py", "tests/cli/test_page.py"])

    def test_a_file_of_the_program_reaches_its_commands(self):
        self.expect("cli/look.cpp", [], ["tests/cli/test_look.py"])
        self.expect("cli/deep.hpp", [], self.TRAINED)
        self.expect("cli/main.cpp", [], sorted([*self.TRAINED, "tests/cli/test_look.py"]))

    def test_helpers_of_other_folders_reach_who_compiles_them(self):
        self.expect("tests/loader/fixture.cpp", ["loader", "train"], [])
        self.expect("tests/loader/fixture.hpp", ["loader", "train"], [])

    def test_headers_are_compiled_with_those_that_include_them(self):
        plan = self.expect("headrace/zarr/zarr.hpp", ["loader", "train", "zarr"], sorted(self.TRAINED + ["tests/cli/test_look.py", "tests/zarr_readers/store_test.py"]))
        self.assertEqual(sorted(plan.headers), ["headrace/zarr/other.hpp", "headrace/zarr/zarr.hpp"])

    def test_what_no_rule_names_reaches_everything(self):
        for name in ("unheard/of", "CMakeLists.txt", "tests/matrices.py", "samples/a.tif", "headrace/LAYERS"):
            plan = affected.plan_for(self.root, [name])
            self.assertEqual(plan.everything, [name])
            self.assertEqual(plan.lists()["pytest"], ["tests"])
            self.assertEqual(plan.cases, {"math", "zarr", "loader", "paint", "train", "layers", "headers"})

    def test_the_second_half_is_reached_alike(self):
        self.write("headrace/LAYERS", "headrace/\nmath:\nzarr: math\nlearn/\nloader: math zarr\npaint: math\ntrain: math zarr loader\ncli/\ncli: math zarr train\n")
        (self.root / "tests/train/CMakeLists.txt").unlink()
        self.write("tests/learn/train/CMakeLists.txt", "headrace_test(train SOURCES ../../loader/fixture.cpp LINK headrace_train)\n")
        self.write("cli/train.cpp", '#include "learn/train/train.hpp"\n')
        self.expect("learn/train/a.cpp", ["train"], self.TRAINED)
        self.expect("tests/learn/train/a_test.cpp", ["train"], [])
        self.expect("tests/loader/fixture.cpp", ["loader", "train"], [])
        self.expect("learn/train/README.md", [], [])
        self.expect("learn/README.md", [], [])

    def test_docs_reach_who_reads_them(self):
        self.write("docs/keys.md", "\n")
        self.expect("docs/keys.md", [], [])
        self.write("tests/train/a_test.cpp", 'read("docs/keys.md");\n')
        self.write("tests/cli/test_look.py", "def test_a():\n    open('docs/keys.md')\n")
        self.expect("docs/keys.md", ["train"], ["tests/cli/test_look.py"])

    def test_programs_that_are_to_be_built(self):
        self.assertEqual(affected.plan_for(self.root, ["tests/zarr_readers/store_test.py"]).targets(), ["headrace", "headrace_python", "zarr_tool"])
        self.assertEqual(affected.plan_for(self.root, ["headrace/paint/README.md"]).targets(), [])
        self.write("build/build.ninja", "build test_train: CXX_EXECUTABLE_LINKER a\n")
        self.assertEqual(affected.plan_for(self.root, ["tests/loader/fixture.cpp"]).targets(self.root / "build"), ["test_train"])

    def test_an_unknown_commit_is_said(self):
        with self.assertRaises(SystemExit) as raised, contextlib.redirect_stdout(io.StringIO()):
            affected.main(["--root", str(self.root), "--base", "nosuch"])
        self.assertIn("git knows no commit 'nosuch'", str(raised.exception))


class ThisTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = affected.Tree(ROOT)

    def test_every_file_has_a_rule(self):
        self.assertEqual([n for n in files_of(ROOT) if affected.rule_of(n) is None], [])

    def test_every_python_test_drives_something(self):
        own = ("tests/layering/",)  # house rules: chosen by their folder
        idle = [n for n, (commands, tools, package, layers) in self.tree.drives.items() if not (commands or tools or package or layers)]
        self.assertEqual([n for n in idle if not n.startswith(own)], [])

    def test_every_cpp_test_links_a_layer(self):
        self.assertEqual([c for c, (folder, _, links) in self.tree.cpp.cases.items() if not links and folder != "layering"], [])

    def test_every_command_shows_a_layer(self):
        of_python = {"sweep", "track"}  # programs of the package
        self.assertEqual({c for c, layers in self.tree.command_layers.items() if not layers} - of_python, set())

    def test_exceptions_name_what_there_is(self):
        words = self.tree.commands | set(self.tree.rows) | {"package"}
        for (kind, name), values in self.tree.exceptions.items():
            self.assertIn(kind, ("shown", "starts", "drives"))
            self.assertTrue(values, name)
            if kind == "drives":
                self.assertTrue((ROOT / name).exists(), name)
            else:
                self.assertIn(name, self.tree.rows if kind == "shown" else self.tree.commands)
            for value in values:
                self.assertTrue(not value.startswith("!") or (ROOT / value[1:]).is_file(), value)
            if kind != "shown":
                self.assertLessEqual(set(values), words, name)

    def test_pages_reach_few_and_the_base_reaches_all(self):
        few = affected.plan_for(ROOT, ["learn/view/viewer.cpp"])
        files = {n.split("::")[0] for n in few.pytest}
        self.assertIn("tests/cli/test_view_page.py", files)
        self.assertIn("tests/cli/test_view_saving.py", files)
        self.assertIn("view", few.cases)
        self.assertNotIn("tests/cli/test_training.py", files)
        page = affected.plan_for(ROOT, ["learn/report/html.cpp"])
        self.assertIn("tests/cli/test_report.py", {n.split("::")[0] for n in page.pytest})
        self.assertIn("train", page.cases)
        core = affected.plan_for(ROOT, ["headrace/core/json.cpp"])
        idle = {n for n in self.tree.python.files if n not in core.pytest and not n.startswith("tests/layering/")}
        self.assertEqual(idle, set())
        self.assertIn("core", core.cases)


if __name__ == "__main__":
    unittest.main()
