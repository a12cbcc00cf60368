"""House rules that a compiler does not hold: who may include and link whom, that what makes batches knows nothing of what works with them, folders that include each other, sizes, banned words, the one
door for bytes, the one file that parses command lines, samples, links of the docs.

Usage: check_layers.py [ROOT]      prints one line a violation, each with file and line; exit code 1 if there is any.
"""
import re
import sys
from pathlib import Path

from folder_cycles import check_folders
from include_reach import includers, units_with
from precompiled_names import missing_includes
from project_tree import CODE, HALVES, MAKES, WORKS, files_of, layer_of, read_homes, read_layers

MAX_LINES, MAX_TEST_LINES = 500, 700
# A transform's header is for its own source and for what makes or reads lists; what only holds one includes the list's name.
OPERATION = re.compile(r"headrace/transform/[^/]+/operations/[^/]+\.hpp")
MAX_REACH = 40
MAX_SAMPLES_BYTES = 25 * 1024 * 1024
# word -> where it is allowed, and why nowhere else
BANNED = {
    "random_device": ((), "results must repeat: draw from math/philox.hpp"),
    "__CUDA_ARCH__": (("headrace/math/", "headrace/device/"), "one source for both back ends"),
    "fast-math": ((), "it changes the bytes"),
    "std::unordered_": ((), "its order is not ours: take std::map, or sort"),
    "std::rand(": ((), "results must repeat: draw from math/philox.hpp"),
    "#pragma omp atomic": ((), "the sum would depend on the order of threads"),
}
# In code below headrace/ and learn/, comments and literals apart: what a process does to itself and shows to its user is the program's.
PROGRAMS_OWN = (
    (re.compile(r"(?<![\w.>])(setenv|unsetenv|putenv|mallopt)\s*\("), "the library changes neither environment nor malloc"),
    (re.compile(r"(?<![\w.>])(sigaction\b|signal\s*\()"), "the library installs no signal handler"),
    (re.compile(r"(std::(?:cout|cerr|clog)|fmt::print|(?<![\w.>])(?:v?f?printf|f?puts|f?putc|putchar|perror)\s*\()"), "the library prints nothing"),
)
# In code outside of headrace/storage, the two files of core that it stands on, and tests, likewise. Exceptions: one_door.txt.
DOORS = ("headrace/storage/", "headrace/core/posix.cpp", "headrace/core/folder_walk.cpp", "tests/")
OPENED = "bytes come from storage::open_input and open_store, or core's read_file, which know every kind of place and which tests can make fail"
ONE_DOOR = (
    (re.compile(r"\b(std::[io]?fstream|fopen|TIFFOpen(?:Ext)?|TIFFFdOpen|loadFile(?:UntilTag)?)\b"), OPENED),
    (re.compile(r"(?<![\w>])(::(?:open|openat|creat|pread))\s*\("), OPENED),
    (re.compile(r"\b((?:recursive_)?directory_iterator|opendir|nftw|fts_open)\b"), "folders are listed by core's list_folder and walk_folder"),
    (re.compile(r"\b(LocalStore)\b"), "a store comes from storage::open_store, which knows every kind"),
    (re.compile(r"((?<![\w.>])(?:\w*::)*rename(?:at2?)?|\bcalls\(\)\.rename)\s*\("), "storage::AtomicFile and AtomicFolder write whole or not at all"),
)
# The one file that may include CLI11, which takes several seconds a file to compile.
PARSER = re.compile(r'^\s*#\s*include\s*[<"]CLI/')
PARSERS_HOME = "cli/command_line.cpp"
FLAG = re.compile(r"--[a-z][a-z-]*")
FLAGS_OF_OTHERS = ("gdcmconv --raw",)  # commands of other programs that a sentence may quote
NO_FLAGS = ("learn/report/style_sheet.cpp",)  # variables of CSS look the same
COMMENT_OR_LITERAL = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.S)
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")


def check_includes(root, names, rows, homes):
    for name in names:
        layer, half = layer_of(name), name.split("/")[0]
        if half not in (*HALVES, "cli") or not name.endswith(CODE):
            continue
        if layer and layer not in rows:
            yield f"{name}:1: layer '{layer}' is not in headrace/LAYERS"
            continue
        if layer and half in HALVES and homes[layer] != half:
            yield f"{name}:1: layer '{layer}' lies in {homes[layer]}/, as headrace/LAYERS states"
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+["<](headrace|learn)/(?:([a-z0-9_]+)/)?', line)
            if found and half == MAKES and found[1] == WORKS:
                yield f"{name}:{number}: {MAKES}/ makes batches and includes nothing of {WORKS}/; move what it needs of it down, or itself up"
            elif found and layer and found[2] and found[2] != layer and found[2] not in rows[layer]:
                yield f"{name}:{number}: {layer} includes {found[2]}; it may include: {' '.join([layer, *rows[layer]])}"


def check_kinds(root, names):
    """What only slides have and what only volumes have does not know the other; what both need lies outside of either's folder."""
    other = {"slide": "volume", "volume": "slide"}
    for name in names:
        parts = name.split("/")
        if layer_of(name) in (None, "cli") or not name.endswith(CODE) or parts[2] not in other:
            continue
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            found = re.match(rf'\s*#\s*include\s+"(?:headrace|learn)/[a-z0-9_]+/({other[parts[2]]})/', line)
            if found:
                yield f"{name}:{number}: {parts[2]} includes {found[1]}; move what both need out of the two folders"


def check_headers(root, names):
    """A header's name stands once, and it includes what it uses of the headers that are precompiled."""
    first = {}
    for name in names:
        if layer_of(name) is None or not name.endswith((".hpp", ".cuh")):
            continue
        path = Path(name)
        if path.name in first:
            yield f"{name}:1: {first[path.name]} has the same name; #include and search need one name a header"
        first.setdefault(path.name, name)
        for header, line in missing_includes((root / name).read_text(errors="replace")):
            yield f"{name}:{line}: uses <{header}> and does not include it"


def check_reach(root, names):
    """A change of one transform rebuilds few units."""
    by_file = includers(root, names)
    for name in names:
        if not OPERATION.fullmatch(name):
            continue
        units = units_with(name, by_file)
        if len(units) > MAX_REACH:
            yield (f"{name}:1: in {len(units)} units, {MAX_REACH} allowed; a header that holds a list of transforms includes "
                   "slide_transform_list.hpp or volume_transform_list.hpp in place of the operations")


def check_links(root, names, rows, homes):
    for name in names:
        layer = layer_of(name)
        if not name.endswith("CMakeLists.txt") or not (layer or name.startswith(f"{MAKES}/")):
            continue
        for number, line in enumerate((root / name).read_text().splitlines(), 1):
            for target in re.findall(r"\bheadrace_([a-z0-9]+)\b", line.split("#")[0]):
                if layer is None:
                    if homes.get(target, target) == WORKS:
                        yield f"{name}:{number}: {MAKES}/ links headrace_{target} of {WORKS}/"
                elif target in rows and target != layer and target not in rows.get(layer, []):
                    yield f"{name}:{number}: {layer} links headrace_{target}; it may link: {' '.join(rows.get(layer, []))}"


def check_cycles(rows, homes):
    seen = []
    for layer, allowed in rows.items():
        for lower in allowed:
            if lower not in seen:
                yield f"headrace/LAYERS: {layer} names {lower}, which does not stand above it"
            elif homes[layer] == MAKES and homes[lower] == WORKS:
                yield f"headrace/LAYERS: {layer} of {MAKES}/ names {lower} of {WORKS}/"
        seen.append(layer)


def reasons(path):
    """'name  reason' lines of a list of exceptions; a name without a reason does not count."""
    lines = path.read_text().splitlines() if path.exists() else []
    pairs = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    return {pair[0] for pair in pairs if len(pair) == 2}


def check_sizes(root, names):
    excepted = reasons(root / "tests/layering/long_files.txt")
    for name in names:
        if not name.endswith((*CODE, ".py")) or name in excepted:
            continue
        limit = MAX_TEST_LINES if name.startswith("tests/") else MAX_LINES
        count = (root / name).read_bytes().count(b"\n")
        if count > limit:
            yield f"{name}:{limit}: {count} lines, {limit} allowed; split it by idea, or give a reason in long_files.txt"


def check_words(root, names):
    for name in names:
        if not name.endswith((*CODE, ".py", ".cmake", ".txt", ".sh")) or name.startswith(("tests/layering/", "samples/")):
            continue
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            for word, (allowed, why) in BANNED.items():
                if word in line and not name.startswith(allowed or ("\0",)):
                    yield f"{name}:{number}: '{word}' is banned here: {why}"
            if UNFINISHED.search(line):
                yield f"{name}:{number}: '{UNFINISHED.search(line)[0]}': finish it, or leave it out"


def split_code(text):
    """The code without comments and literals, and the literals as (line number, text); line numbers stay."""
    literals = []

    def blank(found):
        if found[0][0] in "\"R":
            literals.append((text.count("\n", 0, found.start()) + 1, found[0]))
        return " " + "\n" * found[0].count("\n")

    return COMMENT_OR_LITERAL.sub(blank, text), literals


def check_manners(root, names):
    for name in names:
        if name.split("/")[0] not in HALVES or not name.endswith(CODE):
            continue
        code, literals = split_code((root / name).read_text(errors="replace"))
        for number, line in enumerate(code.splitlines(), 1):
            for pattern, why in PROGRAMS_OWN:
                for found in pattern.finditer(line):
                    yield f"{name}:{number}: '{found[1].rstrip('( ')}': {why}; a program in cli/ does"
        for number, literal in literals if name not in NO_FLAGS else ():
            for command in FLAGS_OF_OTHERS:
                literal = literal.replace(command, "")
            for flag in FLAG.findall(literal):
                yield f"{name}:{number}: '{flag}': the library names no flag; write {{}} and Option{{\"{flag[2:].replace('-', '_')}\"}}"


def check_one_door(root, names):
    excepted = reasons(root / "tests/layering/one_door.txt")
    for name in names:
        if not name.endswith(CODE) or name.startswith(DOORS) or name in excepted:
            continue
        code, _ = split_code((root / name).read_text(errors="replace"))
        for number, line in enumerate(code.splitlines(), 1):
            for pattern, why in ONE_DOOR:
                if why is OPENED and name.startswith(("bench/", "examples/")):
                    continue  # what they write is theirs alone
                for found in pattern.finditer(line):
                    yield f"{name}:{number}: '{found[1]}' outside of headrace/storage: {why}"


def check_parser(root, names):
    for name in names:
        if not name.endswith(CODE) or name == PARSERS_HOME:
            continue
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            if PARSER.match(line):
                yield f"{name}:{number}: includes CLI11, which {PARSERS_HOME} alone does; options are added by cli/command_line.hpp"


def check_samples(root, names):
    total = sum((root / n).stat().st_size for n in names if n.startswith("samples/"))
    if total > MAX_SAMPLES_BYTES:
        yield f"samples/: {total} bytes, {MAX_SAMPLES_BYTES} allowed"


def anchors_of(text):
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def check_links_of_docs(root, names):
    anchors = {}
    for name in names:
        if not name.endswith(".md"):
            continue
        for number, line in enumerate((root / name).read_text().splitlines(), 1):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                path, _, anchor = target.partition("#")
                if "://" in path or path.startswith("mailto:"):
                    continue
                file = (root / name).parent / path if path else root / name
                if not file.exists():
                    yield f"{name}:{number}: dead link '{target}'"
                elif anchor and file.suffix == ".md":
                    if file not in anchors:
                        anchors[file] = anchors_of(file.read_text())
                    if anchor not in anchors[file]:
                        yield f"{name}:{number}: no heading of {path or name} is #{anchor}"


def check_readmes(root, homes):
    for layer, home in homes.items():
        folder = root / "cli" if layer == "cli" else root / home / layer
        readme = folder / "README.md"
        if not readme.exists():
            yield f"{readme.relative_to(root)}:1: missing; say what the layer is, may not do, and where to add the usual thing"
        elif len(readme.read_text().splitlines()) > 30:
            yield f"{readme.relative_to(root)}:30: over 30 lines"


def violations(root):
    names, rows, homes = files_of(root), read_layers(root), read_homes(root)
    yield from check_cycles(rows, homes)
    yield from check_includes(root, names, rows, homes)
    yield from check_kinds(root, names)
    yield from check_headers(root, names)
    yield from check_reach(root, names)
    yield from check_folders(root, names)
    yield from check_links(root, names, rows, homes)
    yield from check_sizes(root, names)
    yield from check_words(root, names)
    yield from check_manners(root, names)
    yield from check_one_door(root, names)
    yield from check_parser(root, names)
    yield from check_samples(root, names)
    yield from check_links_of_docs(root, names)
    yield from check_readmes(root, homes)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    found = list(violations(root))
    print("\n".join(found) if found else "layers, sizes, words, samples and links are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
