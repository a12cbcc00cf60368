"""A PACS for tests."""
import pytest
from orthanc import servers


@pytest.fixture
def orthanc(tmp_path_factory):
    """Starts servers, each in a folder of its own; all are stopped after the test."""
    yield from servers(tmp_path_factory)


@pytest.fixture(scope="module")
def module_orthanc(tmp_path_factory):
    """The same, stopped after the tests of a file."""
    yield from servers(tmp_path_factory)
