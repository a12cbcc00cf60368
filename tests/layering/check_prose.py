"""House rules for the words of the docs: short sentences, and words that a reader must not have to guess.

A sentence ends at . ! or ?, or with its paragraph or list item; tables, headings and code are no prose, and a piece of code or of a formula in
backticks counts as one word. Usage: check_prose.py [ROOT]      prints one line a violation, each with file and line; exit code 1 if there is any.
"""
import re
import sys
from pathlib import Path
from typing import NamedTuple

from project_tree import files_of

MEASURED = re.compile(r"(README|CONTRIBUTING|docs/[^/]+)\.md")
MAX_MEAN, MAX_WORDS = 25, 60
# Shorter ones are the labels of list items ("**Files.**") and would hide long sentences in the mean.
FEWEST_WORDS = 3
SHOWN = 8  # words of a sentence that a message repeats
BANNED = (
    (r"told", "write reported, said, distinguished or known"),
    (r"mend(?:s|ed|ing)?", "write fix, repair or correct"),
    (r"(?:go|goes|going|went|gone) by", "write depends on, is identified by, follows or uses"),
    (r"of before", "write earlier or previous, or say before what"),
    (r"lest", "write so that … not"),
    (r"(?<!set )aside", "write temporary, beside, or apart from"),
)
BANNED = tuple((re.compile(rf"\b{pattern}\b", re.IGNORECASE), instead) for pattern, instead in BANNED)
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')”*_]*\s+")
FENCE = re.compile(r"\s*(```|~~~)")
CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
BLANK = "\x01"  # stands for a space within code, which then stays one word
ITEM = re.compile(r"\s*([-*+]|\d+\.)\s+")


class Sentence(NamedTuple):
    line: int
    text: str

    @property
    def words(self):
        return sum(1 for word in self.text.split() if re.search(r"[\w`]", word))

    @property
    def start(self):
        return " ".join(self.text.split()[:SHOWN]).replace(BLANK, " ")


def code_as_words(text):
    """The text with every fenced block blanked, and every piece of code in backticks without spaces; line numbers stay."""
    kept, fence = [], None
    for line in text.splitlines():
        found = FENCE.match(line)
        if found and fence in (None, found[1]):
            fence, line = (None if fence else found[1]), ""
        kept.append("" if fence else line)

    def one_word(code):
        return "`" + re.sub(r"\s+", BLANK, code[2].strip().replace("`", "'")) + "`" + "\n" * code[0].count("\n")

    # Paragraph by paragraph: a single backtick must not pair with one further down.
    return "".join(part if part.isspace() else CODE.sub(one_word, part) for part in re.split(r"(\n\s*\n)", "\n".join(kept)))


def blocks(text):
    """The paragraphs, list items and table rows, as (is prose, [(line number, line)])."""
    block = []
    for number, line in enumerate([*code_as_words(text).splitlines(), ""], 1):
        bare = line.strip()
        alone = bare.startswith(("|", "#", "<"))
        if block and (not bare or alone or ITEM.match(line)):
            yield True, block
            block = []
        if alone:
            yield False, [(number, bare)]
        elif bare:
            block.append((number, bare))


def sentences(block):
    """The sentences of a paragraph, each with the line that it begins in; a link counts as its words, emphasis as none."""
    text, lines = "", []
    for number, line in block:
        item = ITEM.match(line)
        line = " " + line if text else line[item.end():] if item else line
        text += line
        lines += [number] * len(line)
    # Marks that go are replaced one by one, so that `lines` still fits.
    for marks in (r"\*\*", r"(?<=\])\([^)\s]*\)", r"[\[\]]"):
        for found in reversed(list(re.finditer(marks, text))):
            text = text[:found.start()] + text[found.end():]
            del lines[found.start():found.end()]
    begin = 0
    for end in [*(found.end() for found in SENTENCE_END.finditer(text)), len(text)]:
        if text[begin:end].strip():
            yield Sentence(lines[begin], text[begin:end].strip())
        begin = end


def check_lengths(name, found):
    counted = [s for s in found if s.words >= FEWEST_WORDS]
    for sentence in counted:
        if sentence.words > MAX_WORDS:
            yield f"{name}:{sentence.line}: a sentence of {sentence.words} words, {MAX_WORDS} allowed; split it: '{sentence.start} …'"
    mean = sum(s.words for s in counted) / max(len(counted), 1)
    if mean > MAX_MEAN:
        longest = max(counted, key=lambda s: s.words)
        yield (f"{name}:{longest.line}: {mean:.1f} words a sentence on average, {MAX_MEAN} allowed; the longest has {longest.words}: "
               f"'{longest.start} …'")


def check_banned(name, found):
    for sentence in found:
        for pattern, instead in BANNED:
            for word in pattern.finditer(re.sub(r"`[^`]*`", "X", sentence.text)):
                yield f"{name}:{sentence.line}: '{word[0]}': {instead}; in '{sentence.start} …'"


def violations(root):
    for name in files_of(root):
        if not name.endswith(".md") or re.match("third_party/.+/", name):
            continue  # what others wrote stays as it is
        prose, all_found = [], []
        for is_prose, block in blocks((root / name).read_text(errors="replace")):
            found = list(sentences(block))
            all_found += found
            if is_prose:
                prose += found
        yield from check_banned(name, all_found)
        if MEASURED.fullmatch(name):
            yield from check_lengths(name, prose)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    found = list(violations(root))
    print("\n".join(found) if found else "sentences and words of the docs are in order")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
