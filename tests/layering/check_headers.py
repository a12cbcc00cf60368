"""Compiles every public header alone, with the flags that its layer's sources are compiled with.

Usage: check_headers.py ROOT BUILD      BUILD holds compile_commands.json; exit code 1 if any header needs another before it.
"""
import json
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_layers import files_of, layer_of


def flags_by_layer(root, build):
    """Include paths, definitions and the compiler of one source file of each layer; '' serves layers without any."""
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        words = words[1:] if words[0].endswith("ccache") else words
        kept, i = [words[0]], 1
        while i < len(words):
            if words[i] in ("-isystem", "-idirafter", "-I"):
                kept += words[i:i + 2]
                i += 1
            elif re.match(r"-(I|D|isystem|std=)", words[i]):
                kept.append(words[i])
            i += 1
        path = Path(entry["file"])
        if path.is_relative_to(root):
            flags.setdefault(layer_of(str(path.relative_to(root))), kept)
    flags.setdefault("", flags.get("core") or next(iter(flags.values())))
    return flags


def compile_alone(root, header, flags):
    command = [*flags, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-x", "c++", "-"]
    text = f'#include "{header}"\n#include "{header}"\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=root)
    return (header, done.stderr) if done.returncode else None


def main():
    root, build = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    flags = flags_by_layer(root, build)
    headers = [n for n in files_of(root) if layer_of(n) and n.endswith(".hpp")]
    built = [h for h in headers if layer_of(h) not in ("model", "train", "cli") or layer_of(h) in flags]
    with ThreadPoolExecutor(2) as pool:
        failed = [f for f in pool.map(lambda h: compile_alone(root, h, flags.get(layer_of(h), flags[""])), built) if f]
    for header, text in failed:
        print(f"{header} does not compile alone:\n{text}")
    print(f"{len(built) - len(failed)} of {len(built)} headers compile alone")
    return 1 if failed or not built else 0


if __name__ == "__main__":
    sys.exit(main())
