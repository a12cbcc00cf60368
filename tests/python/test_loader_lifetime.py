"""Memory, threads and processes of headrace.Loader: nothing is lost, nothing is left, whatever ends it."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from batches import child_environment, fact, in_session, python_json, sha256, shared_memory, write_slides
from matrices import times

import headrace


@pytest.fixture(scope="module")
def slides(nuclei, tmp_path_factory):
    return write_slides(tmp_path_factory.mktemp("config") / "run.yaml", nuclei)


MANY = 200  # threads: more than Python's libraries have by themselves


def has_many_threads():
    """Whether a loader with as many threads has them; the system lists a thread for a moment after it was joined."""
    for _ in range(100):
        if len(os.listdir("/proc/self/task")) < MANY:
            return False
        time.sleep(0.02)
    return True


def address(batch):
    return batch["image"].__array_interface__["data"][0]


def test_kept_tensors_stay_as_they_are(slides):
    loader = headrace.Loader(slides, count=40, as_="numpy")
    kept = [(batch["image"], batch["label"], fact(batch)) for batch in loader]
    assert len({image.__array_interface__["data"][0] for image, _, _ in kept}) == 40  # all the ring's places are out, and it goes on
    loader.close()
    del loader
    assert [(sha256(image), sha256(label)) for image, label, _ in kept] == [(f["images_sha256"], f["labels_sha256"]) for _, _, f in kept]


def test_dropped_batches_go_back_to_the_ring(slides):
    loader = headrace.Loader(slides, count=60, as_="numpy", loader={"prefetch": 3})
    places = {address(batch) for batch in loader}
    assert len(places) <= 3 + 2  # what is made ahead, this batch and, until it is replaced, the one before
    with loader:
        for batch in loader:
            part = batch["label"][0, :2]  # a view keeps all of its batch
            break
        before = part.copy()
        list(loader)
        assert (part == before).all()


def test_memory_does_not_grow(slides):
    growth = python_json("""
        import json, os, sys, headrace
        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
        loader = headrace.Loader(sys.argv[1], as_="numpy", count=10300, threads=1, patch={"size": [32, 32]}, sampling={"batch": 2}, transforms=[])
        for n, batch in enumerate(loader):
            batch["meta"].places, batch["meta"].images
            if n == 300:
                before = resident()
        print(json.dumps([n, resident() - before]))
    """, slides)
    assert growth[0] == 10299
    assert growth[1] < 2 << 20, f"{growth[1]} bytes more after 10,000 batches"


def test_threads_end_with_the_loader(slides):
    loader = headrace.Loader(slides, as_="numpy", threads=MANY)
    assert has_many_threads()
    loader.close()
    loader.close()
    assert not has_many_threads()
    with pytest.raises(headrace.UsageError, match="the loader is closed"):
        next(iter(loader))
    with pytest.raises(RuntimeError, match="mine"), headrace.Loader(slides, as_="numpy", threads=MANY) as loader:
        for _ in loader:
            raise RuntimeError("mine")
    assert not has_many_threads()
    loader = headrace.Loader(slides, as_="numpy", threads=MANY)
    batch = next(iter(loader))
    assert has_many_threads()
    del loader
    assert not has_many_threads() and batch["image"].sum() != 0
    val = headrace.Loader(slides, as_="numpy", split="val", threads=MANY)
    list(val)
    assert not has_many_threads()  # after the last tile nothing waits for a `for` that may never come


SLOW = {"patch": {"size": [512, 512]}, "sampling": {"batch": 400}, "threads": 1,
        "transforms": [{"affine": {"rotate_deg": [-180, 180]}}, {"elastic": {"grid": 8, "magnitude_um": 4}}, {"gaussian_noise": {"sigma": [0, 0.1]}}]}


def test_other_python_threads_run_while_one_waits(slides):
    loader, counted, done = headrace.Loader(slides, as_="numpy", **(SLOW | {"sampling": {"batch": 40}})), [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    before = counted[0]
    next(iter(loader))
    after = counted[0]
    done.set()
    counter.join(60)
    assert after - before > 10000


def test_close_wakes_who_waits(slides):
    loader, caught = headrace.Loader(slides, as_="numpy", **SLOW), []

    def wait():
        try:
            next(iter(loader))
        except headrace.UsageError as error:
            caught.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.5)
    loader.close()
    waiting.join(60)
    assert caught == ["the loader is closed. Make another one"]


def started(program, *arguments):
    """A Python process in a session of its own that has printed "ready"."""
    process = subprocess.Popen([sys.executable, "-u", "-c", textwrap.dedent(program), *map(str, arguments)], env=child_environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    line = process.stdout.readline()
    assert line == "ready\n", line + process.communicate(timeout=60)[1]
    return process


def test_ctrl_c_ends_a_wait(slides):
    process = started("""
        import json, sys, headrace
        loader = headrace.Loader(sys.argv[1], as_="numpy", **json.loads(sys.argv[2]))
        print("ready")
        try:
            while True:  # nearly all of the time it waits
                for batch in loader:
                    pass
        except KeyboardInterrupt:
            print("stopped")
    """, slides, json.dumps(SLOW))
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "stopped\n", "")


def test_iteration_goes_on_after_ctrl_c(slides):
    """Wherever it hits, no batch is lost and none comes twice."""
    hits, numbers = python_json("""
        import json, signal, sys, headrace
        ended = False
        def interrupt(*_):
            if not ended:  # else it might hit after the loop, before the timer is off
                raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, interrupt)
        loader = headrace.Loader(sys.argv[1], as_="numpy", count=150)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.0137)
        numbers, passing, hits = [], iter(loader), 0
        while not ended:
            try:
                batch = next(passing, None)
                ended = batch is None
                if batch:
                    numbers.append(3 * batch["meta"].epoch + batch["meta"].index)
            except KeyboardInterrupt:
                hits += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps([hits, numbers]))
    """, slides)
    # A signal between the loader's return and the program's next line loses that batch, as of any iterator.
    assert hits > 3 and numbers == sorted(set(numbers)) and set(numbers) <= set(range(150)) and len(numbers) >= 150 - hits


def test_kills_leave_nothing(slides, nuclei):
    def files():
        return sorted(str(path) for path in nuclei.rglob("*"))

    before = files()
    for _ in range(times(20, 5, "kills of a loader")):
        process = started("""
            import sys, headrace
            loader = headrace.Loader(sys.argv[1], as_="numpy", count=100000)
            print("ready")
            for batch in loader:
                pass
        """, slides)
        time.sleep(random.uniform(0, 0.2))
        shared = shared_memory(process.pid)
        process.kill()
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert in_session(process.pid) == []
        assert not [path for path in shared if os.path.exists(path)]
    assert files() == before


def test_a_fork_is_told_to_make_its_own(slides):
    said = python_json("""
        import json, os, sys, headrace
        from batches import fact
        loader = headrace.Loader(sys.argv[1], as_="numpy", count=6)
        batches = iter(loader)
        first = next(batches)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            said = []
            for call in (lambda: next(batches), lambda: iter(loader), loader.stats):
                try:
                    call()
                except headrace.UsageError as error:
                    said.append(str(error))
            del first, batches, loader
            own = headrace.Loader(sys.argv[1], as_="numpy", count=6)
            os.write(write, json.dumps([said, [fact(batch) for batch in own]]).encode())
            os.close(write)
            sys.exit(0)  # with all that Python does at its end
        os.close(write)
        said, given = json.loads(open(read).read())
        assert os.waitpid(child, 0)[1] == 0
        print(json.dumps([said, given, [fact(first)] + [fact(batch) for batch in batches]]))
    """, slides)
    assert len(said[0]) == 3 and all("Make the loader after the fork" in text for text in said[0])
    assert said[1] == said[2] and len(said[1]) == 6


def test_forks_at_any_moment_make_their_own(slides):
    """Whatever the parent's threads, which the children lack, were doing: of a loader, or as below while another is being made."""
    said = python_json("""
        import json, os, random, signal, sys, threading, time, headrace
        from batches import fact
        def facts():
            return [fact(batch) for batch in headrace.Loader(sys.argv[1], as_="numpy", count=2)]
        given, over = [facts()], threading.Event()
        def again_and_again():
            while not over.is_set():
                facts()
        threads = [threading.Thread(target=again_and_again) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(12):
            time.sleep(random.uniform(0, 0.02))
            loader = headrace.Loader(sys.argv[1], as_="numpy", count=6)
            batches = iter(loader)
            next(batches)
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # ends a child that waits for ever
                del batches, loader
                os.write(write, json.dumps(facts()).encode())
                sys.exit(0)
            os.close(write)
            with open(read) as file:
                text = file.read()
            status = os.waitpid(child, 0)[1]
            if status:
                over.set()
                sys.exit(f"a child ended with status {status}")
            given.append(json.loads(text))
        over.set()
        for thread in threads:
            thread.join()
        print(json.dumps(given))
    """, slides)
    assert len(said) == 13 and len(said[0]) == 2 and all(facts == said[0] for facts in said[1:])


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "del loader, batches",
                                 "import threading; threading.Thread(target=list, args=(batches,), daemon=True).start()"])
@pytest.mark.parametrize("kind", ["numpy", "torch", "dlpack"])
def test_the_interpreter_ends_with_batches_alive(slides, kind, end):
    if kind == "torch":  # at the interpreter's end torch aborts where a daemon thread frees any tensor, a list of torch.empty too: free none
        end = end.replace("target=list", "target=kept.extend")
    done = subprocess.run([sys.executable, "-c", f"""
import sys, headrace
loader = headrace.Loader(sys.argv[1], as_="{kind}", count=100000)
batches = iter(loader)
kept = [next(batches) for _ in range(6)]
headrace.kept_too, sys.kept_too = kept[0], (kept[1], loader)
{end}
"""[1:], str(slides)], env=child_environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "")
    if "daemon" in end and done.stderr:  # the thread may hear that the loader is closed, and be ended while it says so
        assert done.stderr.startswith("Exception in thread") and not re.search("nanobind|terminate|Fatal", done.stderr)
    else:
        assert done.stderr == ""


def copied(nuclei, tmp_path):
    shutil.copytree(nuclei, tmp_path / "s.zarr")
    return write_slides(tmp_path / "run.yaml", tmp_path / "s.zarr"), tmp_path / "s.zarr"


def test_a_damaged_chunk_is_corrupt_and_a_mended_store_goes_on(nuclei, tmp_path):
    config, store = copied(nuclei, tmp_path)
    whole = [fact(batch) for batch in headrace.Loader(config, count=8, as_="numpy")]
    good = {path: path.read_bytes() for path in store.glob("images/*/0/c/**/*") if path.is_file()}
    assert len(good) == 6
    for path, bytes_ in good.items():
        path.write_bytes(bytes_[:-40] + bytes(b ^ 0x55 for b in bytes_[-40:-20]) + bytes_[-20:])
    loader = headrace.Loader(config, count=8, as_="numpy", threads=MANY)
    for _ in range(2):  # the same batch again
        with pytest.raises(headrace.CorruptError, match="epoch 0, batch 0"):
            next(iter(loader))
        assert not has_many_threads() and loader.stats()["batches"] == 0
    for path, bytes_ in good.items():
        path.write_bytes(bytes_)
    assert [fact(batch) for batch in loader] == whole


def test_a_store_that_is_deleted_meanwhile(nuclei, tmp_path):
    config, store = copied(nuclei, tmp_path)
    loader = headrace.Loader(config, count=100, as_="numpy", threads=1, sampling={"batch": 1}, loader={"prefetch": 1})
    batches = iter(loader)
    first = next(batches)  # of one image; others are not open yet
    before = fact(first)
    shutil.rmtree(store)
    with pytest.raises(headrace.NotFoundError, match=r"epoch \d+, batch \d.* the store was removed or its disk is away") as caught:
        list(batches)
    assert isinstance(caught.value, FileNotFoundError) and fact(first) == before
    with pytest.raises(headrace.NotFoundError):
        headrace.Loader(config)
    assert len(list(headrace.Loader(write_slides(tmp_path / "other.yaml", nuclei), as_="numpy"))) == 3
