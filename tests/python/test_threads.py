"""Threads and processes around calls into the library: the interpreter's end, forks, sizes that no memory holds."""
import os
import subprocess
import sys
import threading

import headrace
import numpy as np
import pytest
from headrace import transforms as tf
from slides import PYRAMID as SLIDE

DAEMONS = """
import sys, threading, time
import numpy as np, headrace
from headrace import transforms as tf

slide, cohort = headrace.OpenSlide(sys.argv[1]), headrace.open(sys.argv[2])
chain, image = headrace.Transforms([tf.Affine(flip=True)]), np.zeros((2, 64, 64, 3), np.uint8)
calls = [lambda: slide.read((0, 0), 0, (256, 256)), lambda: slide.read_regions([((0, 0), 0, (64, 64))] * 8),
         lambda: cohort[0].level(0)[:128, :128], lambda: chain(image, index=0), lambda: headrace.open(sys.argv[2])]


def loop(call):
    while True:
        call()


for call in calls:
    threading.Thread(target=loop, args=(call,), daemon=True).start()
time.sleep(0.3)
print("end")
"""


def run(program, *arguments):
    return subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_daemon_threads_in_calls_do_not_abort_the_interpreters_end(nuclei):
    for _ in range(5):
        done = run(DAEMONS, SLIDE, nuclei)
        assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_a_fork_while_another_thread_transforms(nuclei):
    """The child's Transforms are its own: none of the parent's threads gives back there what it holds."""
    chain, images = headrace.Transforms([tf.Affine(flip=True)]), np.full((4, 96, 96, 3), 7, np.uint8)
    expected = chain(images, seed=3, threads=1)
    stop = threading.Event()

    def work():
        while not stop.is_set():
            chain(images, seed=3, threads=1)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0 if np.array_equal(chain(images, seed=3, threads=1), expected) else 1)
            deadline = threading.Timer(60, os.kill, (child, 9))
            deadline.start()
            status = os.waitpid(child, 0)[1]
            deadline.cancel()
            assert status == 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("width, height", [(2**32, 2**32), (2**31, 2**31), (2**40, 2**30)])
def test_sizes_that_no_memory_holds_are_an_error(width, height):
    with headrace.OpenSlide(SLIDE) as slide, pytest.raises(headrace.OutOfMemoryError, match="read it in parts"):
        slide.read((0, 0), 0, (width, height))


def test_numbers_beyond_64_bits_are_refused():
    with headrace.OpenSlide(SLIDE) as slide:
        with pytest.raises(Exception, match="between -2"):
            slide.read((2**64, 0), 0, (8, 8))
        for threads in (-1, 2**31 - 1):
            with pytest.raises(headrace.UsageError, match="0 .one for each core. to 1024"):
                slide.read_regions([((0, 0), 0, (8, 8))], threads=threads)
