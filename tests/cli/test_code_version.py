"""What a program says that it was built from: the version, and of a git checkout the commit."""
import os
import re
import shutil
import subprocess

import pytest
from driving import ROOT, headrace

SCRIPT = ROOT / "cmake/write_code_version.cmake"
AUTHOR = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c",
          "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=60, env=os.environ | AUTHOR)
    return done.stdout.strip()


def written(source, file, git_program=shutil.which("git")):
    """The version that a build of `source` gets."""
    subprocess.run(["cmake", f"-DHR_GIT={git_program or ''}", f"-DHR_SOURCE={source}", "-DHR_VERSION=1.2.3", f"-DHR_FILE={file}", "-P", SCRIPT],
                   check=True, timeout=60, env=os.environ | AUTHOR)
    return re.search(r'return "(.*)";', file.read_text())[1]


def test_the_program_says_its_version():
    said = headrace("--version").stdout.strip()
    version = re.search(r"project\(headrace VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert re.fullmatch(re.escape(version) + r"(\+g[0-9a-f]{10,40}(\.dirty)?)?", said)


@pytest.mark.skipif(not (shutil.which("git") and shutil.which("cmake")), reason="not run: no git, or no cmake")
def test_commits_and_changes_are_told_apart(tmp_path):
    source, file = tmp_path / "source", tmp_path / "code_version.cpp"
    source.mkdir()
    (source / "a.txt").write_text("a")
    assert written(source, file) == "1.2.3"  # no checkout
    git(source, "init", "--quiet")
    assert written(source, file) == "1.2.3"  # no commit
    git(source, "add", "a.txt")
    git(source, "commit", "--quiet", "-m", "first")
    git(source, "tag", "v9")
    first = "1.2.3+g" + git(source, "rev-parse", "--short=10", "HEAD")
    assert written(source, file) == first
    (source / "new.txt").write_text("not tracked")
    before = file.stat().st_mtime_ns
    assert written(source, file) == first and file.stat().st_mtime_ns == before  # left as it was: nothing is compiled again
    (source / "a.txt").write_text("b")
    assert written(source, file) == first + ".dirty"
    git(source, "commit", "--quiet", "-am", "second")
    assert written(source, file) == "1.2.3+g" + git(source, "rev-parse", "--short=10", "HEAD") != first
    assert written(source, file, git_program=None) == "1.2.3"
    # An archive that lies unpacked in another project's checkout.
    (source / "archive").mkdir()
    assert written(source / "archive", file) == "1.2.3"
