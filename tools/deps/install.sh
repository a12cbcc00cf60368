#!/usr/bin/env bash
# Installs what the build and the tests need, when it is missing: Debian packages (root or sudo) and a virtual environment.
#   tools/deps/install.sh [test] [bench] [nvcc] [aarch64]
#     test: adds the packages of apt-test.txt and requirements-test.txt and, unpacked into folders, the servers of apt-servers.txt, the MLflow server
#     of requirements-mlflow.txt, W&B's reader of requirements-wandb-reader.txt and the tests of tiffslide; bench: those of requirements-bench.txt; nvcc: a CUDA compiler
#     (in the environment's folder cuda/), where there is none of CUDA 13; aarch64: a cross compiler, an emulator and, in a sysroot, the libraries
#     of apt-aarch64.txt
#   HEADRACE_VENV     where the environment goes (default: ~/.cache/headrace/venv, shared by every clone)
#   HEADRACE_SYSROOT_AARCH64    where the sysroot goes (default: ~/.cache/headrace/sysroot-aarch64)
#   HEADRACE_PACS     where the servers go (default: ~/.cache/headrace/pacs); on amd64 alone
#   HEADRACE_NO_APT   set to 1 where the Debian packages are managed by somebody else
# Exit codes: 0 done; 3 Debian packages are missing and can't be had: no mirror is reached, HEADRACE_NO_APT is set, or there is neither root nor
# sudo; 1 all else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=${HEADRACE_VENV:-$HOME/.cache/headrace/venv}

# Of a list, what is not installed; lines with an architecture are not for this system.
missing_packages() {
  grep -v '[#:]' "$1" | while read -r p; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || echo "$p"
  done
}

install_packages() {
  local missing sudo="" reached=yes
  missing=$(missing_packages "$1" | tr "\n" " ")
  [ -z "$missing" ] && return
  if [ "${HEADRACE_NO_APT:-0}" = 1 ]; then
    echo "missing Debian packages: $missing. Install them, or unset HEADRACE_NO_APT." >&2
    exit 3
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "installing packages needs root or sudo: $missing" >&2; exit 3; }
    sudo=sudo
  fi
  echo "installing Debian packages: $missing" >&2
  $sudo apt-get update -qq --error-on=any || reached=no  # one of several mirrors may be enough
  # shellcheck disable=SC2086
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null && return
  if [ $reached = no ]; then
    echo "apt could not install: $missing. This is written for Debian 12 with a reachable package mirror." >&2
    exit 3
  fi
  echo "apt could not install: $missing. Its own lines above say why; this is written for Debian 12." >&2
  exit 1
}

# pip, for a file of requirements; all else are options of `pip install`.
pip_install() {
  local file=$1
  shift
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$file" "$@" || {
    echo "pip could not install $file (is a package index reachable? PIP_INDEX_URL names another). Run again to go on." >&2
    exit 1
  }
}

# One requirements file is installed when its contents differ from what was installed last.
install_requirements() {
  local file=$1 stamp
  stamp="$venv/.headrace-$(basename "$file")"
  cmp -s "$file" "$stamp" && return
  echo "installing Python packages of $(basename "$file") into $venv" >&2
  pip_install "$file" -c "$here/requirements.txt"
  cp "$file" "$stamp"
}

# Wheels unpacked into FOLDER.new, without what they need; FOLDER is removed.
unpack_wheels() {
  local file=$1 folder=$2
  echo "installing $3 into $folder" >&2
  rm -rf "$folder" "$folder.new"
  pip_install "$file" --no-deps --target "$folder.new"
}

# Wheels in a folder of their own, apart from the environment's packages: install_apart FILE FOLDER WHAT.
install_apart() {
  local file=$1 folder=$2
  cmp -s "$file" "$folder/requirements.txt" && return
  unpack_wheels "$file" "$folder" "$3"
  cp "$file" "$folder.new/requirements.txt"
  mv "$folder.new" "$folder"
}

# Wheels of nvcc and of what it needs, as a toolkit's folder. No part of the environment: nothing that runs needs them.
install_nvcc() {
  local file=$here/requirements-nvcc.txt toolkit=$venv/cuda
  if PATH=$PATH:/usr/local/cuda/bin nvcc --version 2>/dev/null | grep -q 'release 1[3-9]'; then return; fi
  cmp -s "$file" "$toolkit/requirements.txt" && return
  unpack_wheels "$file" "$toolkit" "a CUDA compiler"
  ln -s lib "$toolkit.new/nvidia/cu13/lib64"
  ln -s libcudart.so.13 "$toolkit.new/nvidia/cu13/lib/libcudart.so"
  chmod +x "$toolkit.new"/nvidia/cu13/bin/* "$toolkit.new"/nvidia/cu13/nvvm/bin/*
  mv "$toolkit.new/nvidia/cu13" "$toolkit"
  rm -rf "$toolkit.new"
  cp "$file" "$toolkit/requirements.txt"
}

# The source archive of a package on PyPI: download_archive PACKAGE==VERSION FOLDER, which then has it alone.
download_archive() {
  "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary "${1%%==*}" --dest "$2" "$1" || {
    echo "pip could not download $1 (is a package index reachable? PIP_INDEX_URL names another). Run again to go on." >&2
    exit 1
  }
}

# The tests of tiffslide, which its wheel lacks.
install_tiffslide_tests() {
  local folder=$venv/suites/tiffslide package archive
  package=$(grep '^tiffslide==' "$here/requirements-test.txt")
  [ "$(cat "$folder/package.txt" 2>/dev/null)" = "$package" ] && return
  echo "installing the tests of $package into $folder" >&2
  rm -rf "$folder" "$folder.new"
  mkdir -p "$folder.new"
  download_archive "$package" "$folder.new"
  archive=$(ls "$folder.new"/*.tar.gz)
  tar -xzf "$archive" -C "$folder.new" --strip-components=3 --wildcards '*/tiffslide/tests/*.py'
  rm "$archive"
  echo "$package" >"$folder.new/package.txt"
  mv "$folder.new" "$folder"
}

# OpenSeadragon, of the source archive of openslide-python on PyPI, which has it unchanged.
install_openseadragon() {
  local file=$here/openseadragon.txt folder=$venv/openseadragon archive package script_hash
  cmp -s "$file" "$folder/openseadragon.txt" && return
  echo "installing the viewer of slides into $folder" >&2
  read -r package script_hash < <(grep -v '^#' "$file")
  rm -rf "$folder" "$folder.new"
  mkdir "$folder.new"
  download_archive "$package" "$folder.new"
  archive=$(ls "$folder.new"/*.tar.gz)
  tar -xzf "$archive" -C "$folder.new" --strip-components=4 --wildcards '*/examples/deepzoom/static/openseadragon.js'
  tar -xzf "$archive" -C "$folder.new" --strip-components=4 --wildcards '*/examples/deepzoom/licenses/LICENSE.openseadragon'
  mv "$folder.new/LICENSE.openseadragon" "$folder.new/openseadragon.LICENSE"
  echo "$script_hash  $folder.new/openseadragon.js" | sha256sum --check --quiet || {
    echo "the OpenSeadragon in $package is another one than $file names." >&2
    exit 1
  }
  rm "$archive"
  cp "$file" "$folder.new/openseadragon.txt"
  mv "$folder.new" "$folder"
}

install_packages "$here/apt.txt"
mkdir -p "$(dirname "$venv")"
(
  flock 9  # two clones may install at once
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$venv"  # new, or left half-made
  install_requirements "$here/requirements.txt"
  install_apart "$here/requirements-view.txt" "$venv/viewer" "the viewer of volumes"  # only the built client in it is used
  install_openseadragon
  for extra in "$@"; do
    case $extra in
      nvcc) install_nvcc ;;
      aarch64)
        install_packages "$here/apt-aarch64.txt"
        "$here/sysroot.sh" "$here/apt-aarch64.txt" arm64 "${HEADRACE_SYSROOT_AARCH64:-$HOME/.cache/headrace/sysroot-aarch64}"
        ;;
      test)
        install_packages "$here/apt-test.txt"
        install_requirements "$here/requirements-test.txt"
        install_apart "$here/requirements-mlflow.txt" "$venv/mlflow" "an MLflow server"
        install_apart "$here/requirements-wandb-reader.txt" "$venv/wandb-reader" "W&B's reader of offline runs"
        install_tiffslide_tests
        [ "$(dpkg --print-architecture)" != amd64 ] || "$here/sysroot.sh" "$here/apt-servers.txt" amd64 "${HEADRACE_PACS:-$HOME/.cache/headrace/pacs}"
        ;;
      *) install_requirements "$here/requirements-$extra.txt" ;;
    esac
  done
) 9>"$venv.lock"
