"""The transforms of run configs, one class for each, with the same keys.

>>> from headrace import transforms as tf
>>> tf.Affine(rotate_deg=(-180, 180), flip=True).to_config()
{'affine': {'rotate_deg': [-180, 180], 'flip': True}}

Some are for slides, some for volumes, some for both, with keys that may differ; each class lists its own. A range is
(low, high), drawn uniformly, or one number. A list of them is what `headrace.Transforms` and `headrace.augment` take.
Unknown keys and values out of range are refused at once, in the words of the run config's reader (UsageError).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Union

from . import _core
from ._core import UsageError
from ._plain import plain
from ._transform_keys import KINDS, OPERATIONS, keys_text, signature_of

__all__ = [
    "Affine",
    "Blur",
    "Brightness",
    "ClipPercentiles",
    "ColorJitter",
    "Contrast",
    "Elastic",
    "Entry",
    "Gamma",
    "GaussianNoise",
    "HedJitter",
    "LowResolution",
    "Normalize",
    "Preset",
    "ScannerColor",
    "StainNormalize",
    "Transform",
    "WindowHu",
    "WindowSuv",
    "from_config",
]

class Transform:
    """One entry of a list of transforms: a name of the run config and its options. Immutable; can be pickled."""

    __slots__ = ("_options",)
    name: ClassVar[str] = ""
    """Its key in the run config."""
    draws: ClassVar[bool] = True
    """Whether it does something random."""
    _classes: ClassVar[dict[str, type[Transform]]] = {}
    _options: Mapping[str, Any]

    def __init__(self, **options: Any) -> None:
        object.__setattr__(self, "_options", json.loads(json.dumps(options, default=plain)))
        _check(self)

    def __init_subclass__(cls) -> None:
        if not any(cls.name in OPERATIONS[kind] for kind in KINDS):
            return
        Transform._classes[cls.name] = cls
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{keys_text(cls.name)}"
        setattr(cls, "__signature__", signature_of(cls.name))

    @property
    def options(self) -> dict[str, Any]:
        """The options that were given; the others have their defaults."""
        return dict(self._options)

    def to_config(self) -> dict[str, Any]:
        """The entry as a run config has it under ``transforms:``."""
        return {self.name: self.options}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} can't be changed; make another one")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Transform) and self.to_config() == other.to_config()

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_config(), sort_keys=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in self._options.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.options)


def _restored(kind: type[Transform], options: dict[str, Any]) -> Transform:
    return kind(**options)


Entry = Union[Transform, str, Mapping[str, Any]]
"""What a list of transforms may hold: objects of this module, or entries as in a run config."""


class Affine(Transform):
    """Turns, enlarges, slants, shifts and mirrors about the centre."""

    __slots__ = ()
    name = "affine"


class Elastic(Transform):
    """A smooth random deformation: a cubic B-spline over a grid of control cells."""

    __slots__ = ()
    name = "elastic"


class StainNormalize(Transform):
    """Brings the stains of an image to those of a reference (Macenko). Needs the image's colour."""

    __slots__ = ()
    name = "stain_normalize"
    draws = False


class ScannerColor(Transform):
    """Brings a scanner's mean and spread of optical density to the cohort's. Needs the colour of both."""

    __slots__ = ()
    name = "scanner_color"
    draws = False


class HedJitter(Transform):
    """Changes the amounts of haematoxylin, eosin and DAB (Ruifrok's stains)."""

    __slots__ = ()
    name = "hed_jitter"


class ColorJitter(Transform):
    """Changes brightness, contrast, saturation and hue."""

    __slots__ = ()
    name = "color_jitter"


class GaussianNoise(Transform):
    """Adds normally distributed noise to each value."""

    __slots__ = ()
    name = "gaussian_noise"


class Blur(Transform):
    """Blurs by a Gaussian."""

    __slots__ = ()
    name = "blur"


class Normalize(Transform):
    """(value - mean) / std."""

    __slots__ = ()
    name = "normalize"
    draws = False


class WindowHu(Transform):
    """Brings a range of Hounsfield units to 0..1 and clips what lies beyond."""

    __slots__ = ()
    name = "window_hu"
    draws = False


class WindowSuv(Transform):
    """Brings a range of SUV to 0..1 and clips what lies beyond."""

    __slots__ = ()
    name = "window_suv"
    draws = False


class ClipPercentiles(Transform):
    """Clips to percentiles 0.5 and 99.5 of the patient's body or of the foreground."""

    __slots__ = ()
    name = "clip_percentiles"
    draws = False


class Brightness(Transform):
    """Multiplies the values."""

    __slots__ = ()
    name = "brightness"


class Contrast(Transform):
    """Spreads the values about the patch's mean."""

    __slots__ = ()
    name = "contrast"


class Gamma(Transform):
    """Raises the values to a power, on the patch's range."""

    __slots__ = ()
    name = "gamma"


class LowResolution(Transform):
    """Makes the patch smaller and enlarges it again."""

    __slots__ = ()
    name = "low_resolution"


class Preset(Transform):
    """A list that has a name; "nnunet": nnU-Net's default augmentation of volumes, normalised first if nothing else does."""

    __slots__ = ()
    name = "preset"

    def __init__(self, preset: str) -> None:
        super().__init__(preset=preset)

    def to_config(self) -> dict[str, Any]:
        return {"preset": self._options["preset"]}


def from_config(entries: Iterable[Entry]) -> list[Transform]:
    """A list under ``transforms:`` of a run config, as a YAML reader gives it, as objects.

    Errors: UsageError (no such transform or key, a value out of range).
    """
    return [_object_of(entry) for entry in entries]


def _object_of(entry: Entry) -> Transform:
    if isinstance(entry, Transform):
        return entry
    if isinstance(entry, str):
        entry = {entry: {}}
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise UsageError(f"transforms: expected a transform, a name or {{name: options}}, found {entry!r}")
    ((name, options),) = entry.items()
    if name == "preset":
        return Preset(options)
    if name not in Transform._classes:
        nearest = _core.nearest_name(str(name), list(Transform._classes))
        hint = f"did you mean '{nearest}'?" if nearest else f"there are: {', '.join(Transform._classes)}, preset"
        raise UsageError(f"transforms: '{name}' is not a transform: {hint}")
    if options is not None and not isinstance(options, Mapping):
        raise UsageError(f"transforms: expected the options of {name} as a mapping, found {options!r}")
    return Transform._classes[name](**(options or {}))


def list_json(entries: Sequence[Mapping[str, Any]]) -> str:
    """A list in the form that the C++ part reads; entry i is on line i + 1."""
    return '{"transforms": [' + ",\n".join(json.dumps(entry) for entry in entries) + "]}"


def _check(transform: Transform) -> None:
    """Reads the entry as a run config does, for the kind of image that knows most of its keys."""

    def unknown(kind: str) -> int:
        known = {option["key"] for option in OPERATIONS[kind].get(transform.name, [])}
        return len(transform._options.keys() - known)

    kinds = [kind for kind in KINDS if transform.name in OPERATIONS[kind]] or ["volumes"]
    problem: Exception | None = None
    for kind in sorted(kinds, key=unknown):
        try:
            _core.transform_config(list_json([transform.to_config()]), kind == "volumes")
            return
        except UsageError as error:
            problem = problem or error
    if problem is not None:
        raise problem
