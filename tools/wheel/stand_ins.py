"""Makes shared libraries that stand in a wheel for ones that Headrace never calls: stand_ins.py FOLDER.

DCMTK links libxml2 for reading XML (with ICU: 31 MB) and libwrap for the lists of hosts of a server (with NIS and Kerberos), libtiff
links libjbig (GPL) for fax pages. Each stand-in has the functions and versions that its users ask for, so that they load. One of
them that is called ends the process with a sentence, but for libjbig's: a TIFF with such a page is an ordinary error.
"""
import re
import subprocess
import sys
from pathlib import Path

# Soname: the library whose names it must have.
USERS = {"libxml2.so.2": "libdcmdata.so", "libwrap.so.0": "libdcmnet.so", "libjbig.so.0": "libtiff.so"}
REFUSED = 0x40  # JBG_EABORT of jbig.h


def found(library):
    """Where the linker finds it."""
    cc = subprocess.run(["cc", f"-print-file-name={library}"], capture_output=True, text=True, check=True, timeout=60)
    return Path(cc.stdout.strip()).resolve()


def symbols(library, which):
    """Name to (type letter, version or "")."""
    nm = subprocess.run(["nm", "-D", which, str(library)], capture_output=True, text=True, check=True, timeout=60)
    rows = re.findall(r"^(?:[0-9a-f]+)?\s+([A-Za-z]) ([^@\s]+)(?:@+(\S+))?$", nm.stdout, re.MULTILINE)
    return {name: (kind, version) for kind, name, version in rows}


def body(soname, name):
    if soname.startswith("libjbig"):
        return f'char* {name}(void) {{ return "JBIG is not part of this package"; }}' if name == "jbg_strerror" else \
            f"int {name}(void) {{ return {REFUSED}; }}"
    text = f"headrace: {name} of {soname} is not part of this package\\n"
    return f'void {name}(void) {{ fputs("{text}", stderr); abort(); }}'


def source_of(soname, used, offered):
    lines = ["#include <stdio.h>", "#include <stdlib.h>"]
    for name in sorted(used):
        lines.append(body(soname, name) if offered[name][0] in "TWi" else f"void* {name} = 0;")
    return "\n".join(lines) + "\n"


def map_of(used, offered):
    """A linker script with the versions; empty where the library has none."""
    versions = sorted({offered[name][1] for name in used} - {""})
    return "".join(f"{v} {{ global: {' '.join(f'{n};' for n in sorted(used) if offered[n][1] == v)} }};\n" for v in versions)


def make(soname, user, folder):
    offered = symbols(found(soname), "--defined-only")
    used = set(symbols(found(user), "--undefined-only")) & set(offered)
    if not used:
        raise SystemExit(f"{user} needs nothing of {soname}; leave it out of USERS")
    source, script = folder / f"{soname}.c", folder / f"{soname}.map"
    source.write_text(source_of(soname, used, offered))
    script.write_text(map_of(used, offered))
    versions = [f"-Wl,--version-script={script}"] if script.read_text() else []
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-fno-builtin", f"-Wl,-soname,{soname}", *versions, "-o", str(folder / soname), str(source)],
                   check=True, timeout=60)
    source.unlink()
    script.unlink()


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for soname, user in USERS.items():
        make(soname, user, folder)


if __name__ == "__main__":
    main()
