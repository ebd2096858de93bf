#!/usr/bin/env bash
# with_nvrtc.sh FOLDER PROGRAM ARGUMENT...: runs the program where it finds an NVRTC. Where the machine has none, the
# Python package is fetched into FOLDER, once; where that cannot be had, what needs it says that it is skipped.
# TILEWRIGHT_FETCH_NVRTC: "never" fetches nothing, "always" takes no other. PIP: another pip.
set -u
folder=$1
shift
fetch=${TILEWRIGHT_FETCH_NVRTC:-missing}
known() {
  [ "$fetch" = always ] && return 1
  [ -n "${TILEWRIGHT_NVRTC:-}" ] || ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so\.1[123]' || [ -e /usr/local/cuda/lib64/libnvrtc.so ]
}
library() { ls "$folder"/nvidia/cu13/lib/libnvrtc.so.13 2>/dev/null; }
if ! known; then
  mkdir -p "$folder"
  exec 9>"$folder/lock"
  flock 9  # tests that begin at a time
  if [ -z "$(library)" ] && [ "$fetch" != never ]; then
    timeout 400 ${PIP:-python3 -m pip} download --quiet --no-deps --dest "$folder/wheel" nvidia-cuda-nvrtc==13.0.88 >&2 &&
      python3 -m zipfile -e "$folder"/wheel/nvidia_cuda_nvrtc-*.whl "$folder" >&2
    rm -rf "$folder/wheel"
  fi
  exec 9>&-
  if [ -n "$(library)" ]; then
    TILEWRIGHT_NVRTC=$(library)
    export TILEWRIGHT_NVRTC
  else
    echo "no NVRTC here, and the Python package nvidia-cuda-nvrtc cannot be had: tests that need it are skipped" >&2
  fi
fi
exec "$@"
