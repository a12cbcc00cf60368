"""Every public header must compile alone, with the flags that its layer's sources are compiled with.

A source whose first line of code includes a header has shown that by being built alone; the other headers are compiled here, several in one unit
where none uses a name of a header that it does not include. Usage: check_headers.py ROOT BUILD [HEADER...]      BUILD holds
compile_commands.json; all headers, or those named, relative to ROOT; exit code 1 if a header does not.
"""
import functools
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from project_tree import files_of, layer_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cmake"))
import unity_groups


def built_sources(root, build):
    """(path relative to root, compiler's words, object file) of what the build compiles."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        words = words[next((i for i, w in enumerate(words) if w.endswith("ccache")), -1) + 1:]
        path = Path(entry["file"])
        if path.is_relative_to(root):
            yield str(path.relative_to(root)), words, Path(entry["directory"]) / words[words.index("-o") + 1]


def layer_built(name):
    """The layer that a source belongs to, or the sources of a group that the build made (cmake/HeadraceUnity.cmake)."""
    group = re.search(r"/CMakeFiles/headrace_(\w+)\.dir/Unity/", name)
    return {"program": "cli"}.get(group[1], group[1]) if group else layer_of(name)


def flags_by_layer(sources):
    """The compiler and all its flags, the precompiled headers too, of one source of each layer; '' serves layers without any."""
    flags = {}
    for name, words, _ in sources:
        kept, i = [], 0
        while i < len(words):
            if words[i] in ("-o", "-MF", "-MT", "-MQ"):
                i += 1
            elif words[i] not in ("-c", "-MD", "-MMD") and not words[i].endswith((".cpp", ".cxx")):
                kept.append(words[i])
            i += 1
        flags.setdefault(layer_built(name), kept)
    flags.setdefault("", flags.get("core") or next(iter(flags.values())))
    return flags


def first_included(text):
    """What a source includes before it says anything else, or None."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL).lstrip()
    found = re.match(r'#include "([^"]+)"', code)
    return found[1] if found else None


def shown_by_build(root, sources):
    """Headers that a source of their own layer begins with, whose object is no older than either of the two."""
    shown = set()
    for name, _, built in sources:
        header = first_included((root / name).read_text()) if name.endswith(".cpp") and built.exists() else None
        if header and layer_of(header) == layer_of(name) and (root / header).is_file():
            if built.stat().st_mtime >= max((root / n).stat().st_mtime for n in (name, header)):
                shown.add(header)
    return shown


@functools.cache
def text_of(path):
    return path.read_text()


@functools.cache
def names_of(path):
    """Names that a header declares, and those that it uses without declaring them."""
    declared = unity_groups.own_names(text_of(path))[1]
    return declared, unity_groups.used_names(text_of(path)) - declared


@functools.cache
def closure(root, header):
    """A header and all headers of this project that it includes, directly or not."""
    found, waiting = set(), [header]
    while waiting:
        one = waiting.pop()
        if one in found or not (root / one).is_file():
            continue
        found.add(one)
        waiting += re.findall(r'^ *#include "([^"]+)"', text_of(root / one), re.MULTILINE)
    return frozenset(found)


def units_of(root, headers, largest=16):
    """Lists of headers that are compiled together: each finds only names of what it includes itself, as if it were alone."""
    units = []
    for header in sorted(headers, key=lambda h: (layer_of(h), len(closure(root, h)), h)):
        own = closure(root, header)
        for unit, seen in units:
            others = set().union(*(names_of(root / h)[0] for h in seen - own))
            if len(unit) < largest and layer_of(unit[0]) == layer_of(header) and not names_of(root / header)[1] & others:
                unit.append(header)
                seen |= own
                break
        else:
            units.append(([header], set(own)))
    return [unit for unit, _ in units]


def compile_together(root, headers, flags):
    """What the compiler says of these headers, of each alone where it says anything of them together."""
    command = [*flags, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-x", "c++", "-"]
    text = "".join(f'#include "{header}"\n#include "{header}"\n' for header in headers)
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=root)
    if not done.returncode:
        return []
    return [(headers[0], done.stderr)] if len(headers) == 1 else [f for h in headers for f in compile_together(root, [h], flags)]


def main():
    root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    sources = list(built_sources(root, build))
    flags = flags_by_layer(sources)
    headers = [n for n in files_of(root) if layer_of(n) and n.endswith(".hpp") and (len(sys.argv) == 3 or n in sys.argv[3:])]
    built = [h for h in headers if layer_of(h) not in ("model", "inference", "train", "predict", "cli") or layer_of(h) in flags]
    shown = shown_by_build(root, sources)
    failed = [(h, "it lacks #pragma once") for h in built if not re.search(r"^#pragma once$", (root / h).read_text(), re.MULTILINE)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        units = units_of(root, [h for h in built if h not in shown])
        failed += [f for said in pool.map(lambda u: compile_together(root, u, flags.get(layer_of(u[0]), flags[""])), units) for f in said]
    for header, text in failed:
        print(f"{header} does not compile alone:\n{text}")
    print(f"{len(built) - len({h for h, _ in failed})} of {len(built)} headers compile alone, {len(shown & set(built))} of them as the build shows, "
          f"the others in {len(units)} units")
    return 1 if failed or not built else 0


if __name__ == "__main__":
    sys.exit(main())
