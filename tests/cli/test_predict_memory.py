"""A slide that is larger than the memory it is given is predicted, with the same bytes, and twice the slide takes hardly more memory.
HEADRACE_LARGE_BLOCKS: edge of the slide in blocks of 2048 pixels (30: 61,440 × 61,440 pixels), for a longer run than CI's."""
import os

import pytest
from driving import PROGRAM
from large_slide import BLOCK, write_large_slide
from peak_memory import peak_memory
from predictions import findings_of, tree

MB = 10**6
BLOCKS = int(os.environ.get("HEADRACE_LARGE_BLOCKS", 0))
HEIGHT, WIDTH = (BLOCKS, BLOCKS) if BLOCKS else (14, 14)
# LibTorch's own data take 650 MB of it before the first tile (by address space, not pages in memory).
LIMIT = 1000 * MB
BLOCK_BYTES = 3 * BLOCK**2
# Ingest holds an overview of the slide (1/256 of its pixels) while it looks for tissue: some 2 % of its bytes; the rest is of the allocator.
GROWTH = 0.03 * (HEIGHT - HEIGHT // 2) * WIDTH * BLOCK_BYTES + 32 * MB
LIMIT_S = 3600 if BLOCKS else 300


def measured(arguments, data_limit=-1):
    return peak_memory([PROGRAM, *arguments], data_limit, LIMIT_S)


@pytest.fixture(scope="module")
def slides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    for name, height in (("half", HEIGHT // 2), ("large", HEIGHT)):
        write_large_slide(folder / f"{name}.tif", (height, WIDTH), tissue=0.1)
    return folder


def test_a_slide_larger_than_memory(cohort, slides, tmp_path):
    assert HEIGHT * WIDTH * BLOCK_BYTES > 2 * LIMIT
    command = ["predict", "--run", cohort / "run", "--threads", 2]
    peaks = {name: measured([*command, slides / f"{name}.tif", "--out", tmp_path / name], LIMIT) for name in ("half", "large")}
    assert peaks["large"] < LIMIT and peaks["large"] < peaks["half"] + GROWTH, peaks
    measured([*command, slides / "large.tif", "--out", tmp_path / "unlimited"])
    assert tree(tmp_path / "large") == tree(tmp_path / "unlimited")
    areas = {name: findings_of(tmp_path / name / name)["slide"]["predicted"]["area_mm2"] for name in ("half", "large")}
    assert areas["large"] > 1.5 * areas["half"] > 1  # mm², so the tissue is really predicted


def test_the_limit_is_one(cohort, slides, tmp_path):
    """The limit above is enforced: with less than the program needs to start, it does not."""
    with pytest.raises(AssertionError):
        measured(["predict", "--run", cohort / "run", slides / "half.tif", "--out", tmp_path / "out"], 300 * MB)
