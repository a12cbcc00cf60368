"""Features of whole slides: every patch of tissue through a network, as one stream over all slides."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ._checks import choice, positive_number, positive_whole, share, three_numbers
from ._core import UnsupportedError, UsageError, nearest_name
from ._feature_files import LAYOUTS, FeatureFolder, Layout
from ._patch_list import Patches, PatchList, read_patch_list
from ._plain import path_text
from ._slide_sources import SlideSource, Source, find_slides
from ._threads import thread_count
from ._tile_grid import TileSettings
from ._work import Progress, _shown

if TYPE_CHECKING:
    import torch

    from ._feature_network import Encoder
    from ._patch_reader import Transform

_TISSUE = 0.1
_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def features(
    source: Source,
    encoder: Encoder,
    out: str | os.PathLike[str],
    *,
    patch: int = 256,
    mpp: float = 0.5,
    step: int | None = None,
    tissue: float | None = _TISSUE,
    patches: Patches | None = None,
    batch: int = 64,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    transform: Transform | None = None,
    device: str | torch.device | None = None,
    autocast: str | torch.dtype | None = None,
    layout: Layout = "h5",
    name: str | None = None,
    slide_mpp: float | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    threads: int = 0,
    progress: Progress = False,
) -> dict[str, Any]:
    """Features of all patches of tissue of many slides, or of those of a list, one file a slide, as CLAM and TRIDENT read them.

    :param source: slide files, folders of them, a store or "STORE::IMAGE", a headrace.Cohort or Image, or a list of these.
    :param encoder: a torch.nn.Module, or a function, from (n, 3, y, x) float32 to (n, d). It is used in eval mode and without
        gradients, and left as it was. It gets batches of one size, the last one of the call filled up with zeros.
    :param out: a folder; `<slide>.h5` there has `features` (n, d) float32 and `coords` (n, 2) int64, x and y of each patch's
        first pixel on level 0. A slide without tissue has n = 0.
    :param patch: edge in pixels of what the encoder gets.
    :param mpp: micrometres a pixel of that. Pixels of a level that differ by at most 1 % are taken as they are; else those of the
        next finer level are averaged by area, or, where the slide has none, level 0 is enlarged linearly, at most 2 times.
    :param step: from one patch to the next, in such pixels; `patch`.
    :param tissue: the least share of a patch that must be tissue, by the mask that ingest makes; None: all patches of the slide.
    :param patches: a list of patches to take instead of those of tissue, by x and y of their first pixel on level 0: a CSV or Parquet
        file or a table of pandas or pyarrow with columns image, x and y; a list of headrace.PatchSpec or tuples (image, x, y); a
        mapping of image to an (n, 2) array; a folder of `<slide>.h5` with `coords`, as CLAM, TRIDENT and this function write them.
        image is the name of the slide, as its file of features has it. Their order is kept, and what is listed twice is made twice.
        `patch` and `mpp` say their size; where the list states level, width and height, these must be the same field to within 1 %.
        Neither step nor tissue may be given then.
    :param batch: patches that the encoder gets at a time.
    :param mean, std: of red, green and blue of 0 to 1, by which values are normalised; ImageNet's.
    :param transform: instead of these: from (n, 3, y, x) uint8 to what the encoder gets. Called on a thread.
    :param device: cpu or cuda; where the encoder is.
    :param autocast: bfloat16 or float16: the encoder runs under torch.autocast. Features are stored as float32.
    :param layout: h5, or zarr: a Zarr v3 group a slide, of the same arrays.
    :param name: what the files say of the encoder; its class. Needed for functions, whose weights can't be seen.
    :param slide_mpp: micrometres a pixel of level 0, for slides that do not state it.
    :param on_error: stop (default): the first slide that can't be read ends the call; skip: it is left out, and listed.
    :param threads: that read and decode; 0: one for each core, and half as many beside an encoder on the CPU.
    :param progress: as in ``headrace.ingest_slides``: done and total are slides.
    :return: slides (finished by this call), kept (were there), patches, skipped (a list of {slide, reason}), without_patches (slides
        left out of which nothing is listed), files (by slide), seconds (total, and of these network, stalled: the network waited for
        patches, write; beside it plan, read, convert), stalled_share.
    :raises headrace.Error: UsageError (arguments; other settings than those of the folder; an encoder that gives no (n, d); a list of
        patches that is empty or has images that are no slides; of one slide: its features are not finite, a listed patch lies outside
        of it, or has another size), NotFoundError, UnsupportedError (PyTorch, h5py or what reads Parquet is not installed), StorageError,
        DeviceError, MalformedError, and those of reading slides.

    Finished files are kept: the same call goes on after any interruption, with slides added too. Each file is written aside
    and renamed. `out` remembers the settings and a SHA-256 of the encoder's parameters and buffers, and a call with others is
    refused. Each file remembers a SHA-256 of the patches that were listed of its slide: a list may grow by slides, and a slide whose
    patches have changed is refused. Features do not depend on threads; as far as the encoder treats each patch of a batch alike, nor
    on the other slides. Several processes may fill one folder, each with other slides. Ctrl-C ends it as soon as the batch at hand
    is through the encoder. It may be called from any thread, for one encoder from one at a time.
    """
    try:
        import torch  # noqa: F401
    except ImportError:
        raise UnsupportedError("features need PyTorch, which is not installed: pip install torch") from None
    from ._feature_network import FeatureNetwork, autocast_type, network_sha256
    from ._feature_work import FeatureReport, FeatureWork
    from ._patch_reader import PatchReader
    from ._tile_stream import TileStream

    begun = time.perf_counter()
    settings = _settings(patch, mpp, step, tissue, patches is not None)
    stated = None if slide_mpp is None else positive_number("slide_mpp", slide_mpp)
    batch, workers = positive_whole("batch", batch), thread_count(threads)
    skip = choice("on_error", on_error, ("stop", "skip")) == "skip"
    colours = _colours(mean, std, transform)
    dtype = autocast_type(autocast)
    network = FeatureNetwork(encoder, device, dtype)
    if workers == 0 and network.device.type == "cpu":  # more would spin and wait for the cores that the network has
        workers = max(1, len(os.sched_getaffinity(0)) // 2)
    stamp = {
        **settings._asdict(),
        "patches": None if patches is None else "listed",
        "slide_mpp": stated,
        **({"transform": _name_of(transform)} if transform is not None else {"mean": list(colours[0]), "std": list(colours[1])}),
        "autocast": None if dtype is None else str(dtype).removeprefix("torch."),
        "name": _encoder_name(encoder, name),
        "network_sha256": network_sha256(encoder),
    }
    listed = None if patches is None else read_patch_list(patches)
    found = find_slides(source)
    slides = found if listed is None else _with_patches(found, listed)
    folder = FeatureFolder(path_text(out), choice("layout", layout, LAYOUTS), stamp)
    reader = PatchReader(settings.patch, *colours, transform, network.device.type == "cuda", workers)
    with _shown(progress) as show:
        report = FeatureReport(skip, len(slides), show)
        work = FeatureWork(network, reader, folder, settings, listed, report)
        with network.ready(), TileStream(work.waiting(slides), settings, listed, stated, reader, batch, workers) as stream:
            work.run(stream)
        report.tell(last=True)
    seconds = {**work.seconds, **vars(stream.times), "total": time.perf_counter() - begun}
    return {
        "slides": report.finished,
        "kept": report.kept,
        "patches": report.patches,
        "skipped": report.skipped,
        "without_patches": len(found) - len(slides),
        "files": report.files,
        "seconds": {part: round(took, 3) for part, took in seconds.items()},
        "stalled_share": round(seconds["stalled"] / seconds["total"], 4),
    }


def _settings(patch: Any, mpp: Any, step: Any, tissue: Any, listed: bool) -> TileSettings:
    edge, size = positive_whole("patch", patch), positive_number("mpp", mpp)
    if not listed:
        least = None if tissue is None else share("tissue", tissue)
        return TileSettings(edge, size, positive_whole("step", patch if step is None else step), least)
    if step is not None or tissue != _TISSUE:
        other = f"step={step!r}" if step is not None else f"tissue={tissue!r}"
        raise UsageError(f"patches and {other} are given: expected one of them, since a list has its own places; leave one out")
    return TileSettings(edge, size, None, None)


def _with_patches(slides: list[SlideSource], patches: PatchList) -> list[SlideSource]:
    """Those that have some. Errors: UsageError (an image of the list is none of the slides)."""
    names = [slide.name for slide in slides]
    known = set(names)
    unknown = [name for name in patches.places if name not in known]
    if unknown:
        stem = Path(unknown[0]).stem  # of a file's name instead of the slide's
        near = stem if stem in known else nearest_name(unknown[0], names)
        hint = f"did you mean '{near}'?" if near else f"there are {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
        more = f", as are {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise UsageError(f"patches: the list's image '{unknown[0]}' is none of the slides{more}; {hint}")
    return [slide for slide in slides if slide.name in patches.places]


def _colours(mean: Any, std: Any, transform: Any) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    if transform is not None and (mean is not None or std is not None or not callable(transform)):
        raise UsageError("transform: expected a function, and neither mean nor std beside it: it makes all of the encoder's input")
    usual = _IMAGENET
    means = three_numbers("mean", usual[0] if mean is None else mean)
    if max(means) > 1:
        raise UsageError(f"mean is {mean!r}: expected that of values of 0 to 1; divide a mean and std of values of 0 to 255 by 255")
    return means, three_numbers("std", usual[1] if std is None else std, above_zero=True)


def _name_of(function: Any) -> str:
    """What tells a function from another one in the next process, too: no address."""
    if hasattr(function, "__qualname__"):
        return f"{function.__module__}.{function.__qualname__}"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(function))


def _encoder_name(encoder: Any, name: Any) -> str:
    """`name`; None: the class of a module. Errors: UsageError (no text; none for a function, which may hold any weights)."""
    import torch

    if name is not None and (not isinstance(name, str) or not name):
        raise UsageError(f"name is {name!r}: expected a text, by which the encoder's features are known again")
    if name is not None:
        return name
    if isinstance(encoder, torch.nn.Module):
        return type(encoder).__qualname__
    raise UsageError("encoder is a function, whose weights can't be seen: give name=, by which its features are known again")
