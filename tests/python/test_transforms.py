"""headrace.transforms: one class for each transform of the program, with its keys, limits and words."""
import copy
import inspect
import json
import pickle
import re

import numpy as np
import pytest
import yaml
from driving import headrace as program

import headrace
from headrace import transforms as tf

SLIDES = """
- affine: {rotate_deg: [-180, 180], scale: [0.8, 1.25], flip: true}
- elastic: {grid: 8, magnitude_um: 4, probability: 0.5}
- stain_normalize
- hed_jitter: {sigma: 0.05}
- color_jitter: {brightness: 0.25, hue: 0.04}
- gaussian_noise: {sigma: 0.02}
- normalize: {mean: [0.7, 0.55, 0.7], std: [0.2, 0.22, 0.18]}
"""
SLIDE_OBJECTS = [
    tf.Affine(rotate_deg=(-180, 180), scale=np.array([0.8, 1.25]), flip=True),
    tf.Elastic(grid=np.int64(8), magnitude_um=4, probability=0.5),
    tf.StainNormalize(),
    tf.HedJitter(sigma=0.05),
    tf.ColorJitter(brightness=0.25, hue=0.04),
    tf.GaussianNoise(sigma=0.02),
    tf.Normalize(mean=(0.7, 0.55, 0.7), std=[0.2, 0.22, 0.18]),
]
VOLUMES = """
- window_hu: {low: -160, high: 240}
- preset: nnunet
"""
VOLUME_OBJECTS = [tf.WindowHu(low=-160, high=240), tf.Preset("nnunet")]


def keys_of_program():
    """{kind: {transform: set of keys}} as `headrace train --keys` lists them."""
    out, found = program("train", "--keys").stdout, {}
    for kind in ("slides", "volumes"):
        lines = out.split(f"Operations of transforms, for {kind}\n")[1].split("\n\n")[0].splitlines()
        found[kind] = {}
        for line in lines:
            name, _, key = line.split()[0].partition(".")
            found[kind].setdefault(name, set()).update({key} - {""})
    return found


def classes():
    return {kind.name: kind for kind in vars(tf).values() if inspect.isclass(kind) and issubclass(kind, tf.Transform) and kind.name}


def test_there_is_a_class_for_each_transform_with_its_keys():
    keys = keys_of_program()
    assert set(classes()) - {"preset"} == set(keys["slides"]) | set(keys["volumes"])
    assert all(kind.__name__ in tf.__all__ for kind in classes().values())
    for name in set(keys["slides"]) | set(keys["volumes"]):
        known = keys["slides"].get(name, set()) | keys["volumes"].get(name, set())
        assert set(inspect.signature(classes()[name]).parameters) == known
        for key in known:
            assert re.search(rf"^    {key}: .+; default .+\)$", classes()[name].__doc__, re.MULTILINE), (name, key)


@pytest.mark.parametrize("text, objects, where", [(SLIDES, SLIDE_OBJECTS, {"mpp": 0.5}), (VOLUMES, VOLUME_OBJECTS, {"spacing": 1})])
def test_objects_are_the_list_of_a_run_config(text, objects, where, tmp_path):
    entries = yaml.safe_load(text)
    assert tf.from_config(entries) == objects
    config = headrace.Transforms(objects, **where).to_config()
    assert config == headrace.Transforms(entries, **where).to_config()
    # As the program reads it from a file.
    patch = "{size: [64, 64], mpp: 0.5}" if "mpp" in where else "{size: [16, 16, 16], spacing_mm: [1, 1, 1]}"
    file = tmp_path / "run.yaml"
    file.write_text(f"task: segmentation\ndata: {{store: x.zarr}}\npatch: {patch}\ntransforms:{text.replace(chr(10), chr(10) + '  ')}\n")
    assert json.loads(headrace._core.load_run_config(str(file)))["transforms"] == config


def test_entries_can_be_kept_compared_and_sent():
    one = tf.Affine(rotate_deg=(-180, 180))
    assert one == tf.Affine(rotate_deg=[-180, 180]) and hash(one) == hash(tf.Affine(rotate_deg=[-180, 180]))
    assert one != tf.Affine(rotate_deg=[-180, 179]) and one != tf.Elastic()
    assert eval(repr(one), vars(tf)) == one and eval(repr(tf.Preset("nnunet")), vars(tf)) == tf.Preset("nnunet")
    for entry in (*SLIDE_OBJECTS, *VOLUME_OBJECTS):
        assert pickle.loads(pickle.dumps(entry)) == copy.deepcopy(entry) == entry
        assert tf.from_config([entry.to_config()]) == [entry]
    with pytest.raises(AttributeError):
        one.options = {}
    one.options["rotate_deg"] = 5
    assert one.options == {"rotate_deg": [-180, 180]}


@pytest.mark.parametrize("make, words", [
    (lambda: tf.Affine(rotate_degs=3), "Did you mean 'rotate_deg'?"),
    (lambda: tf.Affine(rotate_deg=400), "transforms[0].affine.rotate_deg: expected -360 to 360, found 400"),
    (lambda: tf.Affine(scale=(2, 1)), "the range [2, 1] is upside down"),
    (lambda: tf.Affine(scale_probability=2), "affine.scale_probability: expected 0 to 1, found 2"),
    (lambda: tf.Affine(in_plane="no"), "affine.in_plane: expected true or false"),
    (lambda: tf.Normalize(mean=(0, 0)), "normalize.mean"),
    (lambda: tf.HedJitter(sigma=float("nan")), "hed_jitter.sigma: expected a number"),
    (lambda: tf.Elastic(grid=object()), "<object object"),
    (lambda: tf.Preset("nnunett"), "Did you mean 'nnunet'?"),
    (lambda: tf.from_config([{"color_jiter": {}}]), "did you mean 'color_jitter'?"),
    (lambda: tf.from_config([{"blur": {}, "affine": {}}]), "expected a transform, a name or {name: options}"),
    (lambda: tf.from_config([{"blur": 3}]), "options of blur as a mapping"),
    (lambda: headrace.Transforms([tf.Normalize(), tf.Blur(sigma=1)]), "transforms[1]: blur stands behind normalize (transforms[0])"),
    (lambda: headrace.Transforms([tf.Affine(), tf.Affine()]), "a second affine"),
    (lambda: headrace.Transforms([tf.WindowHu()]), "window_hu is for volumes alone"),
    (lambda: headrace.Transforms([tf.HedJitter()], spacing=1), "hed_jitter is for slides alone"),
    (lambda: headrace.Transforms([tf.Affine(scale_probability=0.5)]), "unknown key 'scale_probability' in 'transforms[0].affine'"),
])
def test_errors_are_those_of_the_run_config(make, words):
    with pytest.raises(headrace.UsageError) as error:
        make()
    assert words in str(error.value), str(error.value)
    assert "\n" not in str(error.value)
