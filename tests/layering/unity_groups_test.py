"""Groups of files that are compiled as one (cmake/unity_groups.py): what clashes is kept apart, what does not shares a group."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cmake"))
import unity_groups


class Groups(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def groups(self, *texts, parts="", largest=10):
        files = [self.root / f"{i}.cpp" for i in range(len(texts))]
        for file, text in zip(files, texts):
            file.write_text(text)
        parted = [(parts[i:i + 1], str(file)) for i, file in enumerate(files)]
        return unity_groups.groups_of(parted, largest, str(self.root))

    def test_own_names_are_kept_apart(self):
        for own in ("int count(int a) { return a; }", "struct count { int a; };", "constexpr int count = 3;", "using count = int;",
                    "template <typename T>\nT count(T a) {\n  return a;\n}", "const std::vector<int> count{1, 2};", "int count[3];",
                    "enum class count { a };", "class count final : public Base {\n public:\n  count();\n};"):
            text = "namespace a {\nnamespace {\n" + own + "\n}\n}\n"
            self.assertEqual(self.groups(text, text), [0, 1], own)
            self.assertEqual(self.groups(text, text.replace("count", "sum")), [0, 0], own)

    def test_a_name_that_another_uses_is_kept_apart(self):
        own = "namespace {\nint count(int) { return 1; }\n}\n"
        self.assertEqual(self.groups(own, "int a() { return count(2); }\n"), [0, 1])
        self.assertEqual(self.groups("int a() { return count(2); }\n", own), [0, 1])
        self.assertEqual(self.groups(own, "int a(B b) { return b.count(2) + std::count(b) + c->count(); }\n"), [0, 0])
        self.assertEqual(self.groups(own, '// count\nconst char* a = "count";\n#define B count\n'), [0, 0])
        (self.root / "h.hpp").write_text("namespace a {\nint count(int, int);\n}\n")
        self.assertEqual(self.groups(own, '#include "h.hpp"\nint a;\n'), [0, 1])

    def test_names_inside_bodies_are_nobody_elses(self):
        text = "namespace {\nint %s() {\n  int count = 1;\n  return count;\n}\nstruct %s {\n  int count() { return 1; }\n};\n}\n"
        self.assertEqual(unity_groups.own_names(text % ("a", "B"))[0], {"a", "B"})
        self.assertEqual(self.groups(text % ("a", "B"), text % ("c", "D")), [0, 0])

    def test_names_of_named_namespaces_are_not_own(self):
        self.assertEqual(unity_groups.own_names("namespace a {\nint b() { return 1; }\n}\n"), (set(), {"b"}))
        self.assertEqual(unity_groups.own_names("namespace {\nnamespace c {\nint d;\n}\n}\nint e;\n"), ({"d"}, {"e"}))

    def test_groups_are_full_at_their_largest_and_of_one_part(self):
        self.assertEqual(self.groups("", "", "", "", "", largest=2), [0, 0, 1, 1, 2])
        self.assertEqual(self.groups("", "", "", "", parts="aabb", largest=3), [0, 0, 1, 1])


if __name__ == "__main__":
    unittest.main()
