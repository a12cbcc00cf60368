"""headrace.Loader gives the batches of `headrace batches`: from any place, for any number of processes, from files and keyword arguments."""
import copy
import json
import pickle
import threading

import numpy as np
import pytest
import torch
from batches import by_sample, fact, python_json, write_slides, write_volumes
from driving import json_of

import headrace


@pytest.fixture(scope="module")
def slides(nuclei, tmp_path_factory):
    return write_slides(tmp_path_factory.mktemp("config") / "run.yaml", nuclei)


@pytest.fixture(scope="module")
def volumes(ct, tmp_path_factory):
    return write_volumes(tmp_path_factory.mktemp("config") / "run.yaml", ct)


def expected(config, *arguments):
    return json_of("batches", "--config", config, *arguments)


@pytest.mark.parametrize("kind", ["slides", "volumes"])
def test_training_batches_are_those_of_the_program(kind, request):
    config = request.getfixturevalue(kind)
    program = expected(config, "--count", 6)
    with headrace.Loader(config) as loader:
        assert (loader.dataset_hash, loader.config_hash) == (program["dataset_hash"], program["config_hash"])
        assert list(loader.image_shape) == program["image_shape"]
        epochs = [[fact(batch) for batch in loader] for _ in range(2)]
        assert (len(loader), loader.epoch) == (3, 2)
    assert [len(epoch) for epoch in epochs] == [3, 3]
    assert sum(epochs, []) == program["batches"]


@pytest.mark.parametrize("kind, split", [("slides", "val"), ("volumes", "train")])
def test_tiles_are_those_of_the_program(kind, split, request):
    config = request.getfixturevalue(kind)
    program = expected(config, "--split", split, "--count", 1000)["batches"]
    with headrace.Loader(config, split=split, tiles=True, as_="numpy") as loader:
        assert len(loader) == len(program) > 1
        for _ in range(2):  # each `for` has all of them
            assert [fact(batch) for batch in loader] == program
        assert [fact(batch) for batch, _ in zip(loader, range(1))] + [fact(batch) for batch in loader] == program[:1] + program


def test_a_loader_begins_anywhere_and_ends_after_count(slides):
    program = expected(slides, "--epoch", 1, "--start", 2, "--count", 3)["batches"]
    with headrace.Loader(slides, epoch=1, start=2, count=3) as loader:
        assert loader.epoch == 1 and len(loader) == 3
        assert [fact(batch) for batch in loader] == program
        loader.seek(1, 2)
        assert [fact(batch) for batch in loader] == program


def test_a_for_goes_on_where_the_last_one_stopped(slides):
    program = expected(slides, "--count", 6)["batches"]
    with headrace.Loader(slides) as loader:
        given = [fact(next(iter(loader)))]
        given += [fact(batch) for batch in loader]
        assert len(given) == 3
        assert given + [fact(batch) for batch in loader] == program


def test_tensors_of_every_kind_are_the_same_memory_layout(slides):
    numpy, tensors, raw = (next(iter(headrace.Loader(slides, as_=kind))) for kind in ("numpy", "torch", "dlpack"))
    assert type(numpy["image"]) is np.ndarray and type(tensors["image"]) is torch.Tensor
    assert numpy["image"].shape == (6, 1, 3, 64, 64) and numpy["image"].dtype == np.float32
    assert numpy["label"].shape == (6, 64, 64) and numpy["label"].dtype == np.uint8
    assert raw["image"].__dlpack_device__() == (1, 0)
    for key in ("image", "label"):
        assert numpy[key].flags.writeable
        assert np.array_equal(numpy[key], tensors[key].numpy()) and torch.equal(torch.from_dlpack(raw[key]), tensors[key])
    tensors["image"].mul_(2)  # users normalise in place
    assert np.array_equal(tensors["image"].numpy(), 2 * numpy["image"])


@pytest.mark.parametrize("element", ["float16", "bfloat16"])
def test_other_elements_and_channels_last(slides, element):
    section = {"element": element, "layout": "channels_last"}
    plain = next(iter(headrace.Loader(slides, as_="torch")))["image"]
    other = next(iter(headrace.Loader(slides, as_="torch", loader=section)))["image"]
    assert other.dtype == getattr(torch, element) and other.shape == plain.shape
    assert other[:, 0].is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(other, plain.to(other.dtype))


def test_numpy_refuses_bfloat16(slides):
    with pytest.raises(headrace.UsageError, match="NumPy has no bfloat16: use as_='torch'"):
        headrace.Loader(slides, as_="numpy", loader={"element": "bfloat16"})


def test_keyword_arguments_alone_and_over_a_file(slides, nuclei):
    sections = {"task": "segmentation", "data": {"store": nuclei}, "patch": {"size": (64, 64), "mpp": np.float64(0.5)},
                "sampling": {"seed": 7, "batch": 6, "batches_per_epoch": 3},
                "transforms": [{"affine": {"rotate_deg": [-180, 180], "scale": [0.8, 1.25], "flip": True}}, {"hed_jitter": {"sigma": 0.05}},
                               {"gaussian_noise": {"sigma": [0, 0.02], "probability": 0.5}}]}
    program = expected(slides, "--count", 3)["batches"]
    assert [fact(batch) for batch in headrace.Loader(**sections)] == program
    assert [fact(batch) for batch in headrace.Loader(sections, threads=1)] == program
    wide = headrace.Loader(slides, sampling={"batch": 9})
    assert next(iter(wide))["image"].shape[0] == 9 and wide.config["sampling"]["seed"] == 7


def test_without_labels(slides):
    batch = next(iter(headrace.Loader(slides, labels=False)))
    assert set(batch) == {"image", "meta"}
    assert fact(batch)["images_sha256"] == expected(slides)["batches"][0]["images_sha256"]
    assert "label" not in next(iter(headrace.Loader(slides, data={"labels": None})))


@pytest.mark.parametrize("kind, axes", [("slides", 2), ("volumes", 3)])
def test_meta_tells_where_samples_lie(kind, axes, request):
    store = headrace.open(request.getfixturevalue({"slides": "nuclei", "volumes": "ct"}[kind]))
    loader = headrace.Loader(request.getfixturevalue(kind), start=1)
    meta = next(iter(loader))["meta"]
    size = loader.batch_size
    assert (meta.epoch, meta.index) == (0, 1) and meta.samples.tolist() == list(range(size, 2 * size))
    assert meta.places.shape == (size, axes) and meta.places.dtype == np.float64
    assert meta.aims.shape == (size,) and set(meta.aims) <= set(range(-1, len(loader.classes))) and meta.aims.max() > 0
    for image, place in zip(meta.images, meta.places):
        extent = store[image].levels[0].shape[-axes:] if axes == 3 else store[image].shape[:2]
        assert all(0 <= at <= end for at, end in zip(place, extent))
    again = pickle.loads(pickle.dumps(meta))
    assert again.images == meta.images and np.array_equal(again.places, meta.places) and again.state_after() == meta.state_after()


REST = """
import json, sys, headrace
from batches import by_sample
config, state, rank, ranks = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
loader = headrace.Loader(config, rank=rank, world_size=ranks, as_="numpy")
loader.load_state_dict(state)
parts = []
for _ in range(2):
    parts += [[[*key, value] for key, value in by_sample(batch).items()] for batch in loader]
print(json.dumps(parts))
"""


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_other_numbers_of_processes_go_on_with_the_same_samples(slides, ranks):
    with headrace.Loader(slides) as loader:
        passing = iter(loader)
        last = next(passing)
        state = json.loads(json.dumps(loader.state_dict()))  # as a checkpoint would keep it
        assert state == last["meta"].state_after()
        wanted = [by_sample(batch) for batch in passing] + [by_sample(batch) for batch in loader]
    parts = [python_json(REST, slides, json.dumps(state), rank, ranks) for rank in range(ranks)]
    assert [len(part) for part in parts] == [5] * ranks  # every process makes as many steps
    sizes = {len(batch) for part in parts for batch in part}
    assert sizes == {1: {6}, 2: {3}, 3: {2}, 4: {1, 2}}[ranks]
    together = [{(e, s): h for part in parts for e, s, h in part[n]} for n in range(5)]
    assert together == wanted


def test_a_state_of_tiles_goes_on_in_the_middle(slides):
    with headrace.Loader(slides, split="val") as loader:
        whole = [fact(batch) for batch in loader]
        passing = iter(loader)
        next(passing)
        state = loader.state_dict()
    with headrace.Loader(slides, split="val") as other:
        other.load_state_dict(state)
        assert [fact(batch) for batch in other] == whole[1:]
        assert [fact(batch) for batch in other] == whole


def test_a_state_goes_on_with_batches_of_another_size(slides):
    with headrace.Loader(slides) as loader:
        samples = {key: value for batch in loader for key, value in by_sample(batch).items()}
        loader.seek(0, 2)
        state = loader.state_dict()
    other = headrace.Loader(slides, sampling={"batch": 3, "batches_per_epoch": 6})
    other.load_state_dict(state)
    rest = {key: value for batch in other for key, value in by_sample(batch).items()}
    assert rest == {key: value for key, value in samples.items() if key[1] >= 12}
    with pytest.raises(headrace.UsageError, match="sample 12 of its epoch, where no batch of 5 begins"):
        headrace.Loader(slides, sampling={"batch": 5}).load_state_dict(state)


@pytest.mark.parametrize("key, value", [("seed", 8), ("dataset_hash", "0" * 64), ("split", "val")])
def test_a_state_of_something_else_is_refused(slides, key, value):
    loader = headrace.Loader(slides)
    with pytest.raises(headrace.UsageError, match=f"the state's {key} is '?{value}"):
        loader.load_state_dict(loader.state_dict() | {key: value})


def test_the_rank_is_found(slides, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    loader = headrace.Loader(slides)
    assert (loader.rank, loader.world_size) == (1, 3) and next(iter(loader))["meta"].samples.tolist() == [2, 3]
    assert headrace.Loader(slides, rank=0, world_size=1).world_size == 1
    monkeypatch.setenv("RANK", "one")
    with pytest.raises(headrace.UsageError, match="RANK is 'one' and WORLD_SIZE '3'"):
        headrace.Loader(slides)


@pytest.mark.parametrize("arguments, message", [
    ({"spilt": "val"}, "unknown keyword 'spilt': did you mean 'split'"),
    ({"smapling": {}}, "unknown keyword 'smapling': did you mean 'sampling'"),
    ({"sampling": {"bach": 3}}, "keyword arguments.*unknown key 'bach' in 'sampling'. Did you mean 'batch'"),
    ({"loader": {"threads": -1}}, "loader.threads"),
    ({"device": "gpu"}, "loader.device.*cuda"),
    ({"device": "cuda:5"}, "device is 'cuda:5': a process has one GPU"),
    ({"split": "vall"}, "vall"),
    ({"split": "val", "start": 1000}, "start is 1000: split 'val' has"),
    ({"split": "val", "tiles": False}, "training samples are drawn from data.train"),
    ({"as_": "jax"}, "as_ is 'jax': expected torch, numpy, dlpack"),
    ({"epoch": -1}, "epoch is -1"),
    ({"rank": 1}, "rank and world_size go together"),
    ({"rank": 3, "world_size": 3}, "rank 3 is not one of 3"),
    ({"rank": 0, "world_size": 7}, "a batch of 6 samples can't be shared by 7"),
    ({"turn": (2, 2)}, "turn is"),
    ({"data": {"expect_hash": "0" * 64}}, "expect"),
])
def test_wrong_arguments_are_named(slides, arguments, message):
    with pytest.raises(headrace.UsageError, match=message) as caught:
        headrace.Loader(slides, **arguments)
    assert isinstance(caught.value, ValueError)


def test_missing_files_are_not_found(slides, tmp_path):
    with pytest.raises(FileNotFoundError, match="none.yaml"):
        headrace.Loader(tmp_path / "none.yaml")
    with pytest.raises(headrace.NotFoundError, match="none.zarr"):
        headrace.Loader(slides, data={"store": tmp_path / "none.zarr"})
    with pytest.raises(headrace.UsageError, match="this is a folder; a store is given as data="):
        headrace.Loader(tmp_path)


@pytest.mark.parametrize("arguments, words", [
    ({"batch_size": 8}, "write sampling={'batch': N}"),
    ({"shuffle": True}, "leave it out: training samples are always drawn at random"),
    ({"num_workers": 4}, "write threads=N"),
    ({"seed": 7}, "write sampling={'seed': N}"),
    ({"collate_fn": list}, "leave it out"),
    ({"store": "cohort.zarr"}, "write Loader(data={'store': 'cohort.zarr'}, patch="),
    ({"threads": "4"}, "loader.threads: expected a whole number, found the text '4'; write it without quotes"),
    ({"sampling": {"batch": "8"}}, "sampling.batch: expected a whole number, found the text '8'"),
    ({"count": "3"}, "count is '3': expected a whole number"),
])
def test_first_guesses_are_answered_by_what_to_write(slides, arguments, words):
    with pytest.raises(headrace.UsageError) as caught:
        headrace.Loader(slides, **arguments)
    assert words in str(caught.value)
    assert isinstance(caught.value, TypeError) or not {"batch_size", "shuffle", "store"} & set(arguments)


def test_a_store_is_no_run_config(slides, nuclei):
    cohort = headrace.open(nuclei)
    for given in (nuclei, cohort, [1, 2]):
        with pytest.raises(TypeError) as caught:
            headrace.Loader(given)
        assert "data={'store': " + repr(cohort.path) in str(caught.value) or given == [1, 2]
    with pytest.raises(TypeError, match="write Loader"):
        headrace.Loader(store=cohort)
    with pytest.raises(headrace.UsageError, match="expected the store's path"):
        headrace.Loader(slides, data={"store": cohort})


def test_two_threads_share_an_epoch(slides):
    program = expected(slides, "--count", 12)["batches"]
    loader = headrace.Loader(slides, count=12)
    passing, given = iter(loader), [[], []]
    threads = [threading.Thread(target=lambda part=part: part.extend(fact(batch) for batch in passing)) for part in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(given[0] + given[1], key=lambda f: (f["epoch"], f["batch"])) == program


@pytest.mark.parametrize("options", [{}, {"split": "val"}])
def test_a_second_pass_ends_the_first(slides, options):
    """Else each would get half of the batches, without a word."""
    loader = headrace.Loader(slides, **options)
    first = iter(loader)
    next(first)
    assert next(iter(loader)) is not None
    with pytest.raises(headrace.UsageError, match="make a second Loader|Make a second Loader"):
        next(first)


def test_a_place_after_the_last_tile_is_refused(slides):
    loader = headrace.Loader(slides, split="val")
    with pytest.raises(headrace.UsageError, match="start is 1000"):
        loader.seek(0, 1000)
    loader.seek(0, loader.batches_per_epoch)
    assert list(loader) == []


def test_turns_together_are_all_batches(slides):
    program = expected(slides, "--count", 6)["batches"]
    parts = [headrace.Loader(slides, turn=(i, 2)) for i in range(2)]
    assert [len(part) for part in parts] == [2, 1]
    for epoch in range(2):
        given = [[fact(batch) for batch in part] for part in parts]
        assert given == [program[3 * epoch:3 * epoch + 3:2], program[3 * epoch + 1:3 * epoch + 3:2]]


def test_stats_count_batches(slides):
    with headrace.Loader(slides) as loader:
        list(loader)
        stats = loader.stats()
        assert stats["batches"] == 3 and stats["samples"] == 18 and stats["bytes_read"] > 0 and stats["decoded_by"] == "CPU"
    assert loader.stats()["batches"] == 3


def test_a_loader_cannot_be_copied(slides):
    with pytest.raises(headrace.UsageError, match="make it there"):
        copy.deepcopy(headrace.Loader(slides))
