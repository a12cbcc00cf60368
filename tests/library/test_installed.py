"""The installed library, as a project of its own uses it: find_package, the examples built and run, their results those of the program.

HEADRACE_BUILD names the build folder that is installed (default: build). Needs cmake, ninja and a compiler.
"""
import os
import re
import subprocess

import numpy as np
import pytest
from driving import ROOT, headrace, json_of

BUILD = os.environ.get("HEADRACE_BUILD", ROOT / "build")


def run(*command, cwd=None, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, timeout=900, env=os.environ | environment)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    where = tmp_path_factory.mktemp("installed") / "usr"
    run("cmake", "--install", BUILD, "--prefix", where)
    return where


@pytest.fixture(scope="module")
def examples(prefix, tmp_path_factory):
    """The folder examples/ alone, copied away from the repository, built on what was installed."""
    folder = tmp_path_factory.mktemp("examples")
    run("cp", "-r", ROOT / "examples", folder / "source")
    run("cmake", "-G", "Ninja", "-S", folder / "source", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", folder / "build", "--parallel", "2")
    return folder / "build"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    headrace("ingest", "slides", ROOT / "samples/nuclei/images", "--table", ROOT / "samples/nuclei/cases.csv", "--classes", "background,nucleus",
             "--out", folder / "nuclei.zarr")
    return folder / "nuclei.zarr"


def test_batches_are_those_of_the_program(examples, store):
    config = ROOT / "samples/configs/nuclei.yaml"
    lines = run(examples / "iterate_batches", store, config).splitlines()
    made = json_of("batches", "--config", config, "--count", 3, cwd=store.parent)["batches"]
    assert [line.split()[-2:] for line in lines] == [[batch["images_sha256"], batch["labels_sha256"]] for batch in made]
    assert lines[0].split()[:7] == ["0", "0", "8", "1", "3", "128", "128"]


def test_a_config_made_in_code_is_that_of_a_file(examples, store, tmp_path):
    written = tmp_path / "run.yaml"
    written.write_text(f"""task: segmentation
data: {{store: {store}}}
patch: {{size: [64, 64], mpp: 0.5}}
sampling: {{seed: 7, batch: 4, batches_per_epoch: 3}}
transforms:
  - affine: {{rotate_deg: [-180, 180], scale: [0.8, 1.25], flip: true}}
  - hed_jitter: {{sigma: 0.05}}
  - gaussian_noise: {{sigma: [0, 0.02], probability: 0.5}}
""")
    assert run(examples / "iterate_batches", store) == run(examples / "iterate_batches", store, written)


def test_a_region_is_that_of_the_program(examples, store, tmp_path):
    image = json_of("info", store)["images"][0]["id"]
    run(examples / "read_region", store, image, 0, -3, 10, 40, 70, tmp_path / "a.ppm")
    head, pixels = (tmp_path / "a.ppm").read_bytes().split(b"255\n", 1)
    assert head == b"P6\n70 40\n"
    headrace("read", store, image, "--level", 0, "--origin=-3,10", "--size", "40,70", "--out", tmp_path / "a.npy")
    expected = np.load(tmp_path / "a.npy")
    assert expected.shape == (40, 70, 3) and pixels == expected.tobytes()
    assert expected[:3].min() == 255  # outside is white


def test_own_transforms_repeat(examples):
    first = run(examples / "own_transforms", 7, 3)
    assert first == run(examples / "own_transforms", 7, 3)
    assert first != run(examples / "own_transforms", 8, 3)
    assert len(re.findall(r'^\d mean -?\d\.\d{6} \[\{"affine"', first, re.MULTILINE)) == 3


def test_pkg_config_links(prefix, store, tmp_path):
    """For builds without CMake."""
    flags = run("pkg-config", "--cflags", "--libs", "--static", "headrace", PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split()
    run("c++", "-std=c++20", "-O1", ROOT / "examples/read_region.cpp", "-o", tmp_path / "read_region", *flags)
    image = json_of("info", store)["images"][0]["id"]
    run(tmp_path / "read_region", store, image, 0, 0, 0, 8, 8, tmp_path / "b.ppm")
    assert (tmp_path / "b.ppm").stat().st_size == len(b"P6\n8 8\n255\n") + 192


def test_training_links_and_the_package_is_found_twice(prefix, tmp_path):
    """Headrace::train, from one of two folders of a project that look for the package each."""
    (tmp_path / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
add_subdirectory(reads)
add_subdirectory(judges)
""")
    for folder, target in [("reads", "headrace"), ("judges", "train")]:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "CMakeLists.txt").write_text(f"""find_package(Headrace 0.1 REQUIRED)
if(NOT TARGET Headrace::{target})
  message(FATAL_ERROR "no Headrace::{target}")
endif()
add_executable({folder} main.cpp)
target_link_libraries({folder} PRIVATE Headrace::{target})
""")
    (tmp_path / "reads/main.cpp").write_text("""#include <headrace/headrace.hpp>
int main() { return headrace::sha256_hex("").size() == 64 ? 0 : 1; }
""")
    (tmp_path / "judges/main.cpp").write_text("""#include <headrace/core/error.hpp>
#include <learn/train/evaluate_run.hpp>

#include <cstdio>
int main(int, char** arguments) {
  try {
    const auto figures = headrace::train::evaluate_run({arguments[1], "", "", "final"});
    std::printf("%f\\n", figures.overall.mean_dice.value());
  } catch (const headrace::Error& error) {
    std::puts(error.what());
  }
}
""")
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build", "--parallel", "2")
    run(tmp_path / "build/reads/reads")
    assert "no-run" in run(tmp_path / "build/judges/judges", tmp_path / "no-run")


def test_another_project_adds_it(tmp_path):
    """add_subdirectory: the library alone, no program, tests, install rules or build type of ours. Configured only."""
    (tmp_path / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
add_subdirectory({ROOT} headrace)
get_directory_property(flags COMPILE_OPTIONS)
get_directory_property(folders INCLUDE_DIRECTORIES)
if(flags OR folders OR CMAKE_BUILD_TYPE OR TARGET headrace OR TARGET test_core)
  message(FATAL_ERROR "leaked: '${{flags}}' '${{folders}}' '${{CMAKE_BUILD_TYPE}}'")
endif()
file(WRITE ${{CMAKE_BINARY_DIR}}/main.cpp "int main() {{}}")
add_executable(consumer ${{CMAKE_BINARY_DIR}}/main.cpp)
target_link_libraries(consumer PRIVATE Headrace::headrace)
""")
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", "-DHR_WITH_CUDA=OFF", "-DHR_WITH_TORCH=OFF")
