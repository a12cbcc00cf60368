#!/usr/bin/env bash
# Installs what the build and the tests need, when it is missing: Debian packages (root or sudo) and a virtual environment.
#   tools/deps/install.sh [test] [bench]     adds the packages of requirements-test.txt, requirements-bench.txt
#   HEADRACE_VENV    where the environment goes (default: ~/.cache/headrace/venv, shared by every clone)
#   HEADRACE_NO_APT  set to 1 where the Debian packages are managed by somebody else
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=${HEADRACE_VENV:-$HOME/.cache/headrace/venv}

packages() { grep -v '^#' "$here/apt.txt"; }

missing_packages() {
  for p in $(packages); do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || echo "$p"
  done
}

install_packages() {
  local missing sudo=
  missing=$(missing_packages | tr "\n" " ")
  [ -z "$missing" ] && return
  if [ "${HEADRACE_NO_APT:-0}" = 1 ]; then
    echo "missing Debian packages: $missing. Install them, or unset HEADRACE_NO_APT." >&2
    exit 1
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "installing packages needs root or sudo: $missing" >&2; exit 1; }
    sudo=sudo
  fi
  echo "installing Debian packages: $missing" >&2
  # shellcheck disable=SC2086
  { $sudo apt-get update -qq &&
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null; } || {
    echo "apt could not install: $missing. This is written for Debian 12 with a reachable package mirror." >&2
    exit 1
  }
}

# One requirements file is installed when its contents differ from what was installed last.
install_requirements() {
  local file=$1 stamp
  stamp="$venv/.headrace-$(basename "$file")"
  cmp -s "$file" "$stamp" && return
  echo "installing Python packages of $(basename "$file") into $venv" >&2
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$file" -c "$here/requirements.txt" || {
    echo "pip could not install $file (is a package index reachable? PIP_INDEX_URL names another). Run again to go on." >&2
    exit 1
  }
  cp "$file" "$stamp"
}

install_packages
mkdir -p "$(dirname "$venv")"
(
  flock 9  # two clones may install at once
  "$venv/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$venv"  # new, or left half-made
  install_requirements "$here/requirements.txt"
  for extra in "$@"; do install_requirements "$here/requirements-$extra.txt"; done
) 9>"$venv.lock"
