"""What tests/matrices.py runs of a matrix by default and in a full run, and that it says what it leaves out."""
import os
import subprocess
import sys
from pathlib import Path

import pytest
from matrices import chosen

TESTS = Path(__file__).resolve().parents[1]
FILE = """
import pytest
from matrices import some, times

@pytest.mark.matrix(telling=["6"])
@pytest.mark.parametrize("n", range(10), ids=str)
def test_ten(n):
    assert n in (0, 6, 9) or {whole}

@pytest.mark.matrix(kind=lambda name: name[0])
@pytest.mark.parametrize("n", ["a1", "a2", "a3", "a4", "b1", "b2"])
def test_kinds(n):
    pass

@pytest.mark.matrix
@pytest.mark.parametrize("n", range(3))
def test_three(n):
    pass

@pytest.mark.parametrize("n", range(5))
def test_plain(n):
    pass

def test_loops():
    assert len(some(range(20), "calls")) == (20 if {whole} else 3)
    assert times(10, 4, "kills") == (10 if {whole} else 4)
"""


@pytest.mark.parametrize("count, telling, expected", [
    (1, (), [0]), (3, (), [0, 1, 2]), (4, (), [0, 2, 3]), (11, (), [0, 5, 10]), (11, (7,), [0, 7, 10]), (11, (3, 7), [0, 3, 7, 10])])
def test_the_choice(count, telling, expected):
    assert chosen(count, telling) == expected


def run(folder, whole, *options, text=FILE):
    (folder / "test_it.py").write_text(text.format(whole=whole))
    (folder / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(TESTS)!r})\nfrom matrices import Matrices\n"
                                        "def pytest_configure(config):\n    config.pluginmanager.register(Matrices(config))\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "HEADRACE"))}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "--rootdir", folder, folder], capture_output=True,
                          text=True, timeout=300, env=environment | ({"HEADRACE_TEST_ALL": "1"} if whole else {}))
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", [[], ["-n", "2"]], ids=["alone", "workers"])
def test_by_default_some_run_and_the_others_are_counted(tmp_path, workers):
    code, said = run(tmp_path, False, *workers)
    # 3 of 10, 3 of 4 and both of 2, 3, 5, and one; of the loops 17 and 6 are left out.
    assert code == 0 and "17 passed" in said, said
    assert f"{7 + 1 + 17 + 6} cases of 4 matrices left out; make test-all runs them" in said, said


def test_a_full_run_leaves_nothing_out(tmp_path):
    code, said = run(tmp_path, True)
    assert code == 0 and "25 passed" in said and "left out" not in said, said


def test_a_case_that_is_named_runs(tmp_path):
    (tmp_path / "in").mkdir()
    code, said = run(tmp_path, True, "-k", "test_ten and 4")
    assert code == 0 and "1 passed" in said, said


def test_a_telling_case_that_is_not_there_is_an_error(tmp_path):
    code, said = run(tmp_path, False, text=FILE.replace('["6"]', '["60"]'))
    assert code != 0 and "test_ten[60]" in said, said
