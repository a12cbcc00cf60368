"""Options that take a word of a list: the help shows the list, and a word that is not in it is answered with the same."""
import re

import pytest
from driving import headrace, message_of

CHOICES = {
    ("ingest", "slides"): {"--pixels", "--coding", "--objects", "--codec", "--on-error", "--accept", "--device"},
    ("ingest", "volumes"): {"--missing-channels", "--irregular", "--codec", "--on-error", "--accept", "--structure-set", "--device"},
    ("ingest", "labels"): {"--coding", "--objects", "--accept", "--structure-set"},
    ("process",): {"OPERATION", "--mode", "--device", "--gpudirect", "--decode", "--codec", "--dtype", "--stains"},
    ("batches",): {"--device"},
    ("export",): {"--as", "--codec"},
    ("bench",): {"WHAT"},
}


@pytest.mark.parametrize("command", CHOICES, ids=" ".join)
def test_the_help_lists_what_is_taken(command):
    shown = dict(re.findall(r"^  (\S+) TEXT:\{(\S+?)\}", headrace(*command, "--help").stdout, re.MULTILINE))
    assert set(shown) == CHOICES[command]
    for option, words in shown.items():
        wrong = [option, "???"] if option.startswith("--") else ["???"]
        assert message_of(headrace(*command, *wrong, code=2)) == f"headrace: {option} ???: is none of {words.replace(',', ', ')}"
