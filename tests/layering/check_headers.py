"""Every public header must compile alone, with the flags that its layer's sources are compiled with.

A source whose first line of code includes a header has shown that by being built; the headers that no source begins with are
compiled here. Usage: check_headers.py ROOT BUILD      BUILD holds compile_commands.json; exit code 1 if a header does not.
"""
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_layers import files_of, layer_of


def built_sources(root, build):
    """(path relative to root, compiler's words, object file) of what the build compiles."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        words = words[next((i for i, w in enumerate(words) if w.endswith("ccache")), -1) + 1:]
        path = Path(entry["file"])
        if path.is_relative_to(root):
            yield str(path.relative_to(root)), words, Path(entry["directory"]) / words[words.index("-o") + 1]


def flags_by_layer(sources):
    """Include paths, definitions and the compiler of one source file of each layer; '' serves layers without any."""
    flags = {}
    for name, words, _ in sources:
        kept, i = [words[0]], 1
        while i < len(words):
            if words[i] in ("-isystem", "-idirafter", "-I"):
                kept += words[i:i + 2]
                i += 1
            elif re.match(r"-(I|D|isystem|std=)", words[i]):
                kept.append(words[i])
            i += 1
        flags.setdefault(layer_of(name), kept)
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


def compile_alone(root, header, flags):
    command = [*flags, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-x", "c++", "-"]
    text = f'#include "{header}"\n#include "{header}"\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=root)
    return (header, done.stderr) if done.returncode else None


def main():
    root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    sources = list(built_sources(root, build))
    flags = flags_by_layer(sources)
    headers = [n for n in files_of(root) if layer_of(n) and n.endswith(".hpp")]
    built = [h for h in headers if layer_of(h) not in ("model", "inference", "train", "predict", "cli") or layer_of(h) in flags]
    shown = shown_by_build(root, sources)
    failed = [(h, "it lacks #pragma once") for h in built if not re.search(r"^#pragma once$", (root / h).read_text(), re.MULTILINE)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        alone = pool.map(lambda h: compile_alone(root, h, flags.get(layer_of(h), flags[""])), [h for h in built if h not in shown])
        failed += [f for f in alone if f]
    for header, text in failed:
        print(f"{header} does not compile alone:\n{text}")
    print(f"{len(built) - len({h for h, _ in failed})} of {len(built)} headers compile alone, {len(shown & set(built))} of them as the build shows")
    return 1 if failed or not built else 0


if __name__ == "__main__":
    sys.exit(main())
