"""Every rule of check_layers.py, broken once in a small tree, must be found with its file and line."""
import unittest

import check_layers
from small_tree import SmallTree


class Rules(SmallTree):
    def setUp(self):
        super().setUp()
        self.write("headrace/LAYERS", "math:\ncore: math\nzarr: math core\n")
        for layer in ("math", "core", "zarr"):
            self.write(f"headrace/{layer}/README.md", "A layer.\n")
        self.write("headrace/zarr/array.hpp", '#include "headrace/core/error.hpp"\n')
        self.write("headrace/zarr/CMakeLists.txt", "headrace_layer(zarr LINK headrace_core)\n")
        self.write("README.md", "[layers](headrace/LAYERS) [web](https://example.org/x)\n")

    def expect(self, *starts):
        self.expect_violations(list(check_layers.violations(self.root)), starts)

    def test_a_clean_tree_passes(self):
        self.expect()

    def test_an_upward_include_is_named_with_its_line(self):
        self.write("headrace/core/up.cpp", '#include <vector>\n#include "headrace/zarr/array.hpp"\n')
        self.expect("headrace/core/up.cpp:2: core includes zarr")

    def test_what_makes_batches_includes_nothing_that_works_with_them(self):
        self.write("headrace/LAYERS", "headrace/\nmath:\ncore: math\nzarr: math core\nlearn/\ntrain: core zarr\n")
        self.write("learn/train/README.md", "A layer.\n")
        self.write("learn/train/train.cpp", '#include "headrace/zarr/array.hpp"\n#include "learn/train/train.hpp"\n')
        self.write("learn/train/CMakeLists.txt", "headrace_layer(train LINK headrace_zarr)\n")
        self.expect()
        self.write("headrace/zarr/up.cpp", '#include "headrace/zarr/array.hpp"\n#include "learn/train/train.hpp"\n')
        self.write("headrace/all.hpp", "#include <learn/learn.hpp>\n")
        self.write("headrace/CMakeLists.txt", "add_library(all INTERFACE)\ntarget_link_libraries(all INTERFACE headrace_zarr headrace_train)\n")
        self.expect("headrace/all.hpp:1: headrace/ makes batches and includes nothing of learn/",
                    "headrace/zarr/up.cpp:2: headrace/ makes batches and includes nothing of learn/", "headrace/CMakeLists.txt:2: headrace/ links headrace_train")

    def test_a_row_of_the_first_half_names_none_of_the_second(self):
        self.write("learn/train/README.md", "A layer.\n")
        self.write("headrace/LAYERS", "learn/\ntrain:\nheadrace/\nmath:\ncore: math train\nzarr: math core\n")
        self.expect("headrace/LAYERS: core of headrace/ names train of learn/")

    def test_a_layer_lies_in_its_half(self):
        self.write("headrace/LAYERS", "headrace/\nmath:\ncore: math\nzarr: math core\nlearn/\ntrain: core zarr\n")
        self.write("learn/train/README.md", "A layer.\n")
        self.write("headrace/train/a.cpp", "\n")
        self.expect("headrace/train/a.cpp:1: layer 'train' lies in learn/")

    def test_slides_and_volumes_do_not_know_each_other(self):
        self.write("headrace/zarr/slide/a.cpp", '#include "headrace/zarr/array.hpp"\n#include "headrace/zarr/volume/b.hpp"\n')
        self.write("headrace/zarr/volume/c.cpp", '#include "headrace/core/slide/d.hpp"\n')
        self.expect("headrace/zarr/slide/a.cpp:2: slide includes volume", "headrace/zarr/volume/c.cpp:1: volume includes slide")

    def test_folders_that_include_each_other_are_named_and_listed(self):
        self.write("headrace/zarr/codec/blosc.hpp", '#include "headrace/zarr/array.hpp"\n#include "headrace/core/error.hpp"\n')
        self.write("headrace/zarr/cpu/rows.hpp", '#include "headrace/zarr/array.hpp"\n')
        self.write("headrace/zarr/read.cpp", '#include "headrace/zarr/cpu/rows.hpp"\n')
        self.expect()
        self.write("headrace/zarr/open.cpp", '\n#include "headrace/zarr/codec/blosc.hpp"\n')
        self.expect("headrace/zarr/open.cpp:2: headrace/zarr includes headrace/zarr/codec, which includes it")
        self.write("tests/layering/folder_cycles.txt", "# why\nheadrace/zarr/codec  headrace/zarr  a factory\n")
        self.expect()
        self.write("tests/layering/folder_cycles.txt", "# why\nheadrace/zarr/codec  headrace/zarr\n")
        self.expect("tests/layering/folder_cycles.txt:2: give the reason")
        self.write("tests/layering/folder_cycles.txt", "# why\nheadrace/zarr/codec  headrace/zarr  a factory\n")
        self.write("headrace/zarr/open.cpp", "")
        self.expect("tests/layering/folder_cycles.txt:2: headrace/zarr and headrace/zarr/codec do not include each other")

    def test_a_name_of_a_header_stands_once(self):
        self.write("headrace/core/array.hpp", "\n")
        self.expect("headrace/zarr/array.hpp:1: headrace/core/array.hpp has the same name")

    def test_a_header_includes_what_is_precompiled(self):
        self.write("headrace/core/text.hpp", "// std::map is not used\nstd::vector<int> a();\n")
        self.expect("headrace/core/text.hpp:2: uses <vector>")
        self.write("headrace/core/text.hpp", "#include <vector>\nstd::vector<int> a();\n")
        self.expect()

    def test_a_transforms_header_is_in_few_units(self):
        operations = "headrace/transform/slide/operations"
        self.write("headrace/LAYERS", "math:\ntransform: math\ncore: math transform\nzarr: math core transform\ncli: core\n")
        for readme in ("headrace/transform", "cli"):
            self.write(f"{readme}/README.md", "A layer.\n")
        self.write(f"{operations}/slide_turn.hpp", "\n")
        self.write("headrace/transform/slide/list.hpp", f'#include "{operations}/slide_turn.hpp"\n')
        self.write("headrace/core/holder.hpp", '#include "headrace/transform/slide/list.hpp"\n')
        for i in range(check_layers.MAX_REACH - 1):
            self.write(f"headrace/zarr/a{i}.cpp", '#include "headrace/core/holder.hpp"\n')
        self.write("cli/a.cpp", "#include <headrace/core/holder.hpp>\n")
        self.write("tests/a.cpp", '#include "headrace/core/holder.hpp"\n')
        self.expect()
        self.write("python/src/a.cpp", f'#include "{operations}/slide_turn.hpp"\n')
        self.expect(f"{operations}/slide_turn.hpp:1: in {check_layers.MAX_REACH + 1} units")

    def test_a_layer_out_of_the_table_is_refused(self):
        self.write("headrace/extra/a.hpp", "\n")
        self.expect("headrace/extra/a.hpp:1: layer 'extra'")

    def test_an_upward_link_is_refused(self):
        self.write("headrace/core/CMakeLists.txt", "headrace_layer(core\n  LINK headrace_zarr)\n")
        self.expect("headrace/core/CMakeLists.txt:2: core links headrace_zarr")

    def test_a_table_with_a_cycle_is_refused(self):
        self.write("headrace/LAYERS", "math:\ncore: math zarr\nzarr: math core\n")
        self.expect("headrace/LAYERS: core names zarr")

    def test_long_files_need_a_reason(self):
        self.write("headrace/core/long.cpp", "int a;\n" * 501)
        self.expect("headrace/core/long.cpp:500: 501 lines")
        self.write("tests/layering/long_files.txt", "headrace/core/long.cpp\n")
        self.expect("headrace/core/long.cpp:500: 501 lines")
        self.write("tests/layering/long_files.txt", "headrace/core/long.cpp  one generated table\n")
        self.expect()

    def test_stores_and_renames_come_from_storage(self):
        self.write("headrace/zarr/a.cpp", "// LocalStore, ::rename(a, b)\nconst char* c = \"LocalStore\";\nLocalStore store(path);\n")
        self.write("headrace/zarr/b.cpp", "std::filesystem::rename(a, b);\nfs::rename(a, b, error);\n::rename(a, b);\nposix::calls().rename(a, b);\n")
        self.write("cli/c.cpp", "auto a = std::make_shared<storage::LocalStore>(path);\nrename_all(a);\nlist.rename(a);\n")
        self.write("headrace/LAYERS", "math:\ncore: math\nstorage: core\nzarr: math core\ncli:\n")
        for folder in ("headrace/storage", "cli"):
            self.write(f"{folder}/README.md", "A layer.\n")
        self.write("headrace/storage/local_store.cpp", "LocalStore::LocalStore() { ::rename(a, b); }\n")
        self.write("tests/zarr/a_test.cpp", "LocalStore store(path);\n")
        lines = [f"headrace/zarr/b.cpp:{n}: '{name}'" for n, name in enumerate(("std::filesystem::rename", "fs::rename", "::rename", "calls().rename"), 1)]
        self.expect("cli/c.cpp:1: 'LocalStore'", "headrace/zarr/a.cpp:3: 'LocalStore'", *lines)
        self.write("tests/layering/one_door.txt", "cli/c.cpp  why\nheadrace/zarr/a.cpp\nheadrace/zarr/b.cpp  why\n")
        self.expect("headrace/zarr/a.cpp:3: 'LocalStore'")

    def test_bytes_come_by_one_door(self):
        self.write("headrace/core/a.cpp", "std::ifstream a(p);\nauto b = std::fopen(p, m);\nint c = ::open(p, 0);\nfor (auto& e : fs::directory_iterator(p)) {}\n"
                   "auto t = TIFFOpenExt(p, m, o);\nfile.loadFileUntilTag(p);\n")
        self.write("headrace/core/b.cpp", "Cohort::open(p);\nTIFFClientOpenExt(p);\nTIFFOpenOptionsAlloc();\nstd::istringstream s(text);\n// std::ifstream, ::open(p)\n")
        self.write("headrace/core/posix.cpp", "int real_open() { return ::open(p, 0); }\n")
        self.write("tests/core/a_test.cpp", "std::ifstream file(p);\n")
        names = ("std::ifstream", "fopen", "::open", "directory_iterator", "TIFFOpenExt", "loadFileUntilTag")
        self.expect(*[f"headrace/core/a.cpp:{n}: '{name}'" for n, name in enumerate(names, 1)])

    def test_one_file_includes_the_parser_of_command_lines(self):
        self.write("headrace/LAYERS", "math:\ncore: math\nzarr: math core\ncli:\n")
        self.write("cli/README.md", "A layer.\n")
        self.write("cli/command_line.cpp", "#include <CLI/CLI.hpp>\n")
        self.write("cli/info.cpp", "// <CLI/CLI.hpp>\n#  include <CLI/App.hpp>\n#include \"cli/command_line.hpp\"\n")
        self.write("tests/a.cpp", "#include <CLI/CLI.hpp>\n")
        self.expect("cli/info.cpp:2: includes CLI11", "tests/a.cpp:1: includes CLI11")

    def test_banned_words_are_found_where_they_are_banned(self):
        self.write("headrace/core/a.cpp", "int a;\nstd::unordered_map<int, int> b;\n")
        self.write("headrace/math/b.hpp", "#ifdef __CUDA_ARCH__\n#endif\n")
        self.write("headrace/zarr/c.cpp", "#ifdef __CUDA_ARCH__\n#endif\n")
        self.expect("headrace/core/a.cpp:2: 'std::unordered_'", "headrace/zarr/c.cpp:1: '__CUDA_ARCH__'")

    def test_unfinished_work_is_found(self):
        self.write("headrace/core/a.cpp", "// TO" + "DO: later\n")
        self.expect("headrace/core/a.cpp:1: 'TO" + "DO'")

    def test_a_flag_in_a_text_of_the_library_is_refused(self):
        self.write("headrace/core/a.cpp", '// as --out\nint a = 1\'000;\nfail("of {}; // give "\n     "another --on-error");\n')
        self.write("headrace/core/b.cpp", 'fail("see gdcmconv --raw", a--b);\n')
        self.write("tests/a.cpp", 'run("--out");\n')
        self.expect("headrace/core/a.cpp:4: '--on-error'")

    def test_what_is_the_programs_is_refused_in_the_library(self):
        calls = ('setenv("A", "b", 1)', "::mallopt(1, 2)", "struct sigaction a", "std::signal(2, f)", "std::cerr << 1",
                 "std::fprintf(stderr, a)", "puts (a)", "fmt::print(a)")
        for call in calls:
            self.write("headrace/core/a.cpp", f"/* puts(a);\n printf(a) */ int b;\n{call};\n")
            found = list(check_layers.violations(self.root))
            self.assertEqual(len(found), 1, (call, found))
            self.assertTrue(found[0].startswith("headrace/core/a.cpp:3: '"), found)
        self.write("headrace/core/a.cpp", 'std::snprintf(a, 2, "puts(a)");\nlisten.signal();\nstd::getenv("A");\noutputs(1);\n')
        self.expect()

    def test_samples_have_a_limit(self):
        self.write("samples/big.bin", "x" * (check_layers.MAX_SAMPLES_BYTES + 1))
        self.expect("samples/: ")

    def test_dead_links_are_found(self):
        self.write("README.md", "\n[gone](docs/gone.md)\n")
        self.expect("README.md:2: dead link 'docs/gone.md'")
        self.write("README.md", "\n[here](#two-words), [gone](#gone)\n## `Two` words!\n")
        self.expect("README.md:2: no heading of README.md is #gone")

    def test_every_layer_has_a_short_readme(self):
        self.write("headrace/zarr/README.md", "line\n" * 31)
        (self.root / "headrace/core/README.md").unlink()
        self.expect("headrace/core/README.md:1: missing", "headrace/zarr/README.md:30: over 30")


if __name__ == "__main__":
    unittest.main()
