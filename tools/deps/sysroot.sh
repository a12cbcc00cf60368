#!/usr/bin/env bash
# Makes a sysroot: the packages of a list and all that they depend on, for another architecture, downloaded by apt and unpacked into a folder.
# The system's own packages and dpkg's architectures stay as they are, and no root is needed.
#   tools/deps/sysroot.sh LIST ARCHITECTURE FOLDER     LIST has lines NAME:ARCHITECTURE
set -euo pipefail
list=$1 architecture=$2 folder=$3

stamp=$folder/.packages
cmp -s "$list" "$stamp" && exit
packages=$(sed -n "s/:$architecture\$//p" "$list")
echo "downloading packages of $architecture into $folder" >&2
rm -rf "$folder.new"
private=$folder.new/.apt
mkdir -p "$private/lists/partial" "$private/archives/partial"
: >"$private/status"  # nothing is installed there, so every dependency is downloaded
cat >"$private/apt.conf" <<END
#clear APT::Architectures;
APT::Architecture "$architecture";
APT::Architectures:: "$architecture";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Dir::State "$private";
Dir::State::status "$private/status";
Dir::Cache "$private";
Debug::NoLocking "true";
END
export APT_CONFIG=$private/apt.conf
# shellcheck disable=SC2086
if ! { apt-get update -qq && apt-get install -qq --download-only -y $packages >/dev/null; }; then
  echo "apt could not download for $architecture:" $packages >&2
  exit 3
fi
for package in "$private"/archives/*.deb; do dpkg -x "$package" "$folder.new"; done
# Absolute links would lead out of the sysroot, to the system's own libraries.
find "$folder.new" -lname '/*' | while read -r link; do ln -sfr "$folder.new$(readlink "$link")" "$link"; done
rm -rf "$private" "$folder"
cp "$list" "$folder.new/.packages"
mv "$folder.new" "$folder"
