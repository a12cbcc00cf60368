#!/usr/bin/env bash
# Makes a sysroot: the packages of a list and all that they depend on, downloaded by apt and unpacked into a folder; for another architecture, or
# for this one where a package must not be installed.
# The system's own packages and dpkg's architectures stay as they are, and no root is needed.
#   tools/deps/sysroot.sh LIST ARCHITECTURE FOLDER     LIST has lines NAME:ARCHITECTURE
# Exit codes: 0 done, 3 no mirror is reached, 1 all else.
set -euo pipefail
list=$1 architecture=$2 folder=$3

stamp=$folder/.packages
made_from=$(cat "$list" && sha256sum <"$0")  # another script may make another sysroot
[ "$made_from" = "$(cat "$stamp" 2>/dev/null)" ] && exit
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
reached=yes
apt-get update -qq --error-on=any || reached=no  # one of several mirrors may be enough
# shellcheck disable=SC2086
if ! apt-get install -qq --download-only -y $packages >/dev/null; then
  echo "apt could not download for $architecture:" $packages >&2
  [ $reached = yes ] || exit 3
  exit 1
fi
for package in "$private"/archives/*.deb; do dpkg -x "$package" "$folder.new"; done
# Absolute links would lead out of the sysroot, to the system's own libraries.
find "$folder.new" -lname '/*' | while read -r link; do ln -sfnrT "$folder.new$(readlink "$link")" "$link"; done
rm -rf "$private" "$folder"
echo "$made_from" >"$folder.new/.packages"
mv "$folder.new" "$folder"
