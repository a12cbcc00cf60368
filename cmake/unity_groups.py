"""Which files of a target can be compiled as one: no name that one keeps to itself in an unnamed namespace is used by another of its group.

  unity_groups.py LARGEST ROOT PART:FILE...   prints the number of each file's group, a line each, in the order given

A group has files of one part. ROOT is the folder that `#include "..."` starts from. Names are found by reading declarations, not by a compiler: a name too many costs a group,
a name too few a compiler's error.
"""
import functools
import os
import re
import sys

# Comments, strings and preprocessor lines hold no names.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
NAMESPACE = re.compile(r"(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*$")
TYPE = re.compile(r"\b(?:struct|class|enum(?:\s+class|\s+struct)?|union)\s+(?:alignas\s+)?(\w+)")
MACRO = re.compile(r"^[A-Z][A-Z0-9_]*$")


def declared(statement):
    """The names that one declaration at namespace scope gives; `statement` has no bodies and no round brackets' contents."""
    statement = statement.strip()
    alias = re.match(r"(?:template\s*<.*>\s*)?(?:using|namespace)\s+(\w+)\s*=", statement, re.S)
    if alias:
        return {alias[1]}
    if statement.startswith(("using", "friend", "static_assert", "extern template")):
        return set()
    types = set(TYPE.findall(statement))
    if types and "(" not in statement:
        return types
    names = set(re.findall(r"(?<![:\w])(\w+)\s*(?:\(|=(?!=)|\[(?!\[)|\{|,|;|$)", statement))
    return types | {name for name in names if not MACRO.match(name) and not name[0].isdigit()}


def own_names(text):
    """Names that a file declares directly in a namespace: in unnamed ones, and in others."""
    text = NOISE.sub(" ", text)
    unnamed, named = set(), set()
    scopes, statement, depth = [], "", 0  # scopes: True for an unnamed namespace, False for another, None for a body

    def end_statement():
        nonlocal statement
        (unnamed if scopes and scopes[-1] else named).update(declared(statement))
        statement = ""

    for piece in re.findall(r"[{}();]|[^{}();]+", text):
        in_body = bool(scopes) and scopes[-1] is None
        outside = depth == 0 and not in_body
        if piece == "(":
            statement += "(" if outside else ""
            depth += 1
        elif piece == ")":
            depth -= 1
        elif piece == "{":
            space = NAMESPACE.search(statement) if outside else None
            if space:
                scopes.append(space[1] is None or (bool(scopes) and scopes[-1] is True))
                statement = ""
            else:
                statement += "{" if outside else ""
                scopes.append(None)
        elif piece == "}":
            if scopes:
                scopes.pop()
            back_outside = depth == 0 and not (scopes and scopes[-1] is None)
            if back_outside and re.search(r"\(|\b(?:struct|class|enum|union)\b", statement):
                end_statement()  # of a function or a type; after an initialiser the statement goes on to its semicolon
        elif outside:
            statement += piece
            if piece == ";":
                end_statement()
    return unnamed, named


def used_names(text):
    """Names that a file uses without saying whose they are."""
    return set(re.findall(r"(?<![\w.:])(?<!->)([A-Za-z_]\w*)", NOISE.sub(" ", text)))


@functools.cache
def names_of_header(path):
    return own_names(read(path))[1] if os.path.exists(path) else set()


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def groups_of(parted, largest, root):
    """The group of each file: the first of its part with room where no name clashes."""
    groups, chosen = [], []
    for part, file in parted:
        text = read(file)
        own = own_names(text)[0]
        used = used_names(text).union(*(names_of_header(os.path.join(root, header)) for header in re.findall(r'#include "(.*?)"', text)))
        for number, group in enumerate(groups):
            if group["part"] == part and group["files"] < largest and not own & group["used"] and not used & group["own"]:
                break
        else:
            number, group = len(groups), {"part": part, "files": 0, "own": set(), "used": set()}
            groups.append(group)
        group["files"] += 1
        group["own"] |= own
        group["used"] |= used
        chosen.append(number)
    return chosen


if __name__ == "__main__":
    print("\n".join(map(str, groups_of([file.split(":", 1) for file in sys.argv[3:]], int(sys.argv[1]), sys.argv[2]))))
