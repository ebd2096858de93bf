# Sourced by the scripts beside it: installs what is missing on Debian and Ubuntu, and elsewhere says
# what to install. `need PACKAGE...` takes Debian package names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else
    echo "Missing packages, and neither root nor sudo to install them. Run: $*" >&2
    return 1
  fi
}

need() {
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "This system has no apt-get. Please install the equivalents of: $*" >&2
    return 0
  fi
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "Installing: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}

# boost: 1.81 where there is one (Debian 12), else the distribution's default
boost_package() {
  if apt-cache show libboost1.81-dev >/dev/null 2>&1; then echo libboost1.81-dev; else echo libboost-dev; fi
}

runtime_packages=(libllvm19 libsqlite3-0)
build_packages=(g++ cmake ninja-build ccache libeigen3-dev libcli11-dev libprotozero-dev libzip-dev)
