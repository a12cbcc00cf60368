"""What `evaluate_segmentation` refuses, and how: one sentence that says where; and that it can be stopped, and leaves memory as it was."""
import threading

import headrace
import numpy as np
import pytest
import torch
from test_work import run_python

TWO = ["background", "liver"]
TRUTH = np.zeros((3, 4, 5), np.uint8)
TRUTH[1, 2, 3] = 1
FLAT = TRUTH[1]
P = np.stack([TRUTH == 0, TRUTH == 1]).astype(np.float32)


def changed(array, place, value):
    out = array.copy()
    out[place] = value
    return out


@pytest.mark.parametrize(("given", "error", "said"), [
    ({"spacin": (1, 1, 1)}, headrace.UsageError, "unknown keyword 'spacin': did you mean 'spacing'?"),
    ({"spacing": (1, 1)}, headrace.UsageError, "spacing: expected three numbers above 0, (z, y, x) in mm"),
    ({"spacing": (1, -1, 1)}, headrace.UsageError, "spacing: expected three numbers above 0"),
    ({"spacing": None}, headrace.UsageError, "truth: expected (y, x), found (3, 4, 5) uint8; without spacing= arrays are slides"),
    ({"truth": FLAT}, headrace.UsageError, "truth: expected (z, y, x), found (4, 5) uint8"),
    ({"truth": TRUTH[:0]}, headrace.UsageError, "is empty"),
    ({"truth": TRUTH + 0.5}, headrace.UsageError, "truth: float64 with the value 0.5: expected classes 0 to 255"),
    ({"truth": TRUTH.astype(np.int32) - 1}, headrace.UsageError, "truth: expected values of 0 to 255, found -1 to 0"),
    ({"truth": changed(TRUTH, (2, 3, 4), 7)}, headrace.MalformedError, "image 0: label 7 at voxel z 2, y 3, x 4; expected 0 to 1, or 255"),
    ({"truth": changed(FLAT, (3, 4), 7), "prediction": FLAT, "spacing": None}, headrace.MalformedError, "image 0: label 7 at row 3, column 4"),
    ({"prediction": TRUTH[:2]}, headrace.UsageError,
     "prediction: expected classes (3, 4, 5) as truth has, or probabilities (2, 3, 4, 5), found (2, 4, 5)"),
    ({"prediction": [TRUTH, TRUTH]}, headrace.UsageError, "prediction: expected as many as truth, one array, found a list of 2"),
    ({"prediction": [TRUTH], "truth": []}, headrace.UsageError, "truth: expected at least one image"),
    ({"prediction": P > 0}, headrace.UsageError, "prediction: expected probabilities as float32, found (2, 3, 4, 5) bool"),
    ({"prediction": changed(TRUTH, (1, 0, 2), 2)}, headrace.MalformedError, "image 0: predicted class 2 at z 1, y 0, x 2; expected 0 to 1."),
    ({"prediction": changed(TRUTH, (0, 0, 0), 255)}, headrace.MalformedError,
     "predicted class 255 at z 0, y 0, x 0; expected 0 to 1; where nothing was predicted give 0, as eval does in volumes."),
    ({"prediction": 0 * P}, headrace.MalformedError, "sum up to 0, the lowest is 0; expected probabilities, none below 0 and 1 in all (a softmax "
     "over axis 0); where nothing was predicted give class 0 all of it"),
    ({"prediction": changed(FLAT, (1, 2), 2), "truth": FLAT, "spacing": None}, headrace.MalformedError, "image 0: predicted class 2 at y 1, x 2;"),
    ({"prediction": torch.from_numpy(P).bfloat16()}, headrace.UsageError, "prediction: NumPy has no torch.bfloat16; give .float()"),
    ({"truth": np.ma.masked_array(TRUTH, mask=TRUTH == 0)}, headrace.UsageError, "truth: found a masked array, whose mask is not read"),
    ({"truth": TRUTH[None]}, headrace.UsageError, "truth: expected (z, y, x), found (1, 3, 4, 5) uint8; for several volumes give a list"),
    ({"prediction": 3 * P}, headrace.MalformedError,
     "the values of the 2 classes at z 0, y 0, x 0 sum up to 3, the lowest is 0; expected probabilities"),
    ({"prediction": changed(P, (1, 2, 1, 0), np.nan)}, headrace.MalformedError, "at z 2, y 1, x 0 sum up to nan"),
    ({"prediction": "liver.nii.gz"}, headrace.UsageError, "prediction: expected a NumPy array or a tensor, found str"),
    ({"classes": "liver"}, headrace.UsageError, "classes: expected the names of the classes by label value, background first"),
    ({"classes": ["liver"]}, headrace.UsageError, "classes: expected the different names of two classes or more"),
    ({"classes": [str(i) for i in range(256)]}, headrace.UsageError, "classes: expected at most 255, found 256"),
    ({"classes": set(TWO)}, headrace.UsageError, "classes: expected the names of the classes by label value"),
    ({"classes": {"liver": 1, "background": 0}}, headrace.UsageError, "classes: expected the names of the classes by label value"),
    ({"class_sets": {"organ": ["liver"]}}, headrace.Error, "organ"),
    ({"class_sets": {"organ": "liver"}}, headrace.UsageError, "class_sets: expected a mapping from names to lists of classes"),
    ({"class_sets": ["organ"]}, headrace.UsageError, "class_sets: expected a mapping from names to lists of classes"),
    ({"task": "gleasn"}, headrace.UsageError, "Did you mean 'gleason'?"),
    ({"surface_tolerance_mm": -1}, headrace.UsageError, "eval.surface_tolerance_mm: expected 0 to 1000, found -1"),
    ({"grading": "biopsy"}, headrace.UsageError, "eval.grading: belongs to task: grading"),
    ({"lesion_classes": ["liverr"]}, headrace.UsageError, "eval.lesion_classes: 'liverr' is not a class above 0; there are liver."),
    ({"task": "segmentation", "lesion_overlap": 0.2}, headrace.UsageError, "belongs to task: lesions"),
    ({"lesion_scores": P[1, 1]}, headrace.UsageError, "lesion_scores: expected the lesions' probability at each voxel, (3, 4, 5) float32"),
    ({"lesion_scores": 2 * P[1]}, headrace.MalformedError, "image 0: lesion score 2 at z 1, y 2, x 3; expected 0 to 1"),
    ({"lesion_scores": P[1], "prediction": P}, headrace.UsageError, "lesion_scores: prediction has probabilities"),
    ({"lesion_scores": P[1], "task": "segmentation"}, headrace.UsageError, "lesion_scores: task 'segmentation' has no lesions"),
    ({"lesion_scores": [P[1], None], "prediction": [TRUTH] * 2, "truth": [TRUTH] * 2}, headrace.UsageError,
     "lesion_scores[1]: expected those of each image whose prediction has classes, found None"),
    ({"body": TRUTH[1]}, headrace.UsageError, "body: expected the image's (3, 4, 5)"),
    ({"names": ["a", "b"]}, headrace.UsageError, "names: expected one for each of 1 images, found 2"),
    ({"names": "a"}, headrace.UsageError, "names: expected a list"),
    ({"cohorts": [3]}, headrace.UsageError, "cohorts: expected texts, found 3"),
    ({"prediction": [TRUTH] * 2, "truth": [TRUTH] * 2, "names": ["a", "a"]}, headrace.UsageError, "names: 'a' is there twice"),
    ({"affines": [np.eye(3)]}, headrace.UsageError, "affines[0]: expected (4, 4) numbers"),
    ({"affines": [[1, [2]]]}, headrace.UsageError, "affines[0]: expected (4, 4) numbers"),
    ({"affines": [np.diag([1, 2, 5, 1])], "spacing": (1, 2, 5)}, headrace.UsageError,
     "spacing: [1.0, 2.0, 5.0] is (x, y, z) by affines[0]; expected (z, y, x): [5.0, 2.0, 1.0]"),
    ({"grades": [3]}, headrace.UsageError, "grades is for slides, and these are volumes"),
    ({"prediction": FLAT, "truth": FLAT, "spacing": None, "grades": [3]}, headrace.UsageError, "grades: give task='grading'"),
    ({"prediction": FLAT, "truth": FLAT, "spacing": None, "phases": ["native"]}, headrace.UsageError, "phases is for volumes, and these are slides"),
    ({"prediction": FLAT, "truth": FLAT, "spacing": None, "task": "gleason"}, headrace.UsageError, "no class is a Gleason pattern"),
    ({"prediction": FLAT, "truth": FLAT, "spacing": None, "classes": ["b", "p3"], "task": "gleason", "grades": [6]}, headrace.UsageError,
     "grades[0]: expected an ISUP grade group of 0 to 5"),
    ({"prediction": FLAT, "truth": FLAT, "spacing": None, "classes": ["b", "p3"], "task": "gleason", "grades": [float("nan")]}, headrace.UsageError,
     "grades[0]: expected an ISUP grade group of 0 to 5, two Gleason patterns of 3 to 5 ((0, 0): benign), or None, found nan"),
    ({"prediction": FLAT, "truth": FLAT, "spacing": None, "task": "colorectal"}, headrace.UsageError,
     "task 'colorectal' reads volumes: give spacing="),
    ({"prediction": FLAT, "truth": FLAT, "spacing": None, "lesion_classes": ["liver"]}, headrace.UsageError, "lesion_classes is for volumes"),
    ({"task": "gleason"}, headrace.UsageError, "task 'gleason' grades slides: leave spacing= out"),
    ({"threads": -1}, headrace.UsageError, "threads: expected 0 (one for each core) to 1024"),
], ids=lambda value: ",".join(value) if isinstance(value, dict) else "")
def test_bad_input_is_one_sentence(given, error, said):
    with pytest.raises(error) as caught:
        headrace.evaluate_segmentation(**{"prediction": TRUTH, "truth": TRUTH, "classes": TWO, "spacing": (1, 1, 1), **given})
    text = str(caught.value)
    assert said in text and "\n" not in text and text.count("image 0") <= 1


def test_the_name_of_the_image_is_in_the_sentence():
    with pytest.raises(headrace.MalformedError, match="image case-b: label 9"):
        headrace.evaluate_segmentation([TRUTH] * 2, [TRUTH, TRUTH + 9], classes=TWO, spacing=(1, 1, 1), names=["case-a", "case-b"])


MEMORY = """
import headrace, resource
import numpy as np
truth = np.zeros((400, 500, 500), np.uint8)
truth[100:120, 200:230, 200:240] = 1
prediction = np.roll(truth, 1, 2)
for one in (truth, prediction):
    one.flags.writeable = False
headrace.evaluate_segmentation(prediction[:2], truth[:2], classes=["background", "liver"], spacing=(1, 1, 1))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
image = headrace.evaluate_segmentation(prediction, truth, classes=["background", "liver"], spacing=(1, 1, 1))["images"][0]
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, image["voxels"], *image["matrix"][1])
"""


def test_arrays_are_read_where_they_are():
    more, voxels, missed, hit = map(int, run_python(MEMORY).stdout.split())
    assert (voxels, missed, hit) == (10**8, 20 * 30, 20 * 30 * 39)
    assert more < 60  # MiB; a copy of one array would be 95


STOPPED = """
import headrace, os, signal
import numpy as np
random = np.random.default_rng(1)
truth = [(random.random((40, 120, 120)) < 0.3).astype(np.uint8) for _ in range(40)]
states = []
def show(done, total, title, unit):
    states.append((done, total))
    if len(states) == 1:
        os.kill(os.getpid(), signal.SIGINT)
try:
    headrace.evaluate_segmentation(truth[::-1], truth, classes=["background", "liver"], spacing=(1, 1, 1), threads=1, progress=show)
    print("not stopped")
except KeyboardInterrupt:
    again = headrace.evaluate_segmentation(truth[0], truth[0], classes=["background", "liver"], spacing=(1, 1, 1))
    print(states[-1][0] < states[-1][1] == 40, again["overall"]["dice"]["liver"])
"""


def test_ctrl_c_ends_it_and_the_next_call_works():
    done = run_python(STOPPED)
    assert done.stdout.split() == ["True", "1.0"], done.stdout + done.stderr


def test_calls_of_several_threads_give_the_same():
    random = np.random.default_rng(2)
    truth, prediction = (random.random((2, 10, 30, 30)) < 0.3).astype(np.uint8)
    expected = headrace.evaluate_segmentation(prediction, truth, classes=TWO, spacing=(1, 2, 3))
    found = []

    def call_once():
        found.append(headrace.evaluate_segmentation(prediction, truth, classes=TWO, spacing=(1, 2, 3)))

    calls = [threading.Thread(target=call_once) for _ in range(6)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert found == [expected] * 6
