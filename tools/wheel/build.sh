#!/bin/bash
# Builds the wheel of the Python package into wheel-out/: for the Python that runs it, with the libraries that it needs inside.
#   tools/wheel/build.sh [PYTHON]
# HEADRACE_WHEEL_BUILD: folder for objects, to build again faster (default: a new one each time).
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
python=${1:-python3}
out=$repo/wheel-out
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --requirement "$repo/tools/wheel/requirements.txt"
settings=()
if [ -n "${HEADRACE_WHEEL_BUILD:-}" ]; then settings=(--config-settings "build-dir=$HEADRACE_WHEEL_BUILD"); fi
"$scratch/venv/bin/pip" wheel "$repo" --no-deps --wheel-dir "$scratch/plain" "${settings[@]}"

"$scratch/venv/bin/python" "$repo/tools/wheel/stand_ins.py" "$scratch/stand-ins"
export PATH=$scratch/venv/bin:$PATH
AUDITWHEEL_LD_LIBRARY_PATH=$scratch/stand-ins LD_LIBRARY_PATH=$scratch/stand-ins \
  auditwheel repair --strip --wheel-dir "$scratch/repaired" "$scratch"/plain/headrace-*.whl
python "$repo/tools/wheel/licences.py" "$scratch"/repaired/headrace-*.whl
mkdir -p "$out"
mv "$scratch"/repaired/headrace-*.whl "$out/"
ls -l "$out"/headrace-*.whl
