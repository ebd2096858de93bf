#!/usr/bin/env bash
# with_nvrtc.sh SCRIPT: how tests get an NVRTC, with a pip that brings one, or none.
set -u
script=$1 failures=0
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
unset TILEWRIGHT_NVRTC
show='echo "nvrtc=${TILEWRIGHT_NVRTC:-}"'

# pip: counts, and packs a file of that name into a wheel
mkdir -p "$work/tree/nvidia/cu13/lib"
echo library >"$work/tree/nvidia/cu13/lib/libnvrtc.so.13"
cat >"$work/pip" <<PIP
#!/bin/sh
echo "\$@" >>"$work/asked"
while [ \$# -gt 0 ]; do [ "\$1" = --dest ] && to=\$2; shift; done
mkdir -p "\$to"
cd "$work/tree" && python3 -m zipfile -c "\$to/nvidia_cuda_nvrtc-13.0.88-py3-none-any.whl" nvidia
PIP
printf '#!/bin/sh\necho offline >&2\nexit 1\n' >"$work/no_pip"
chmod +x "$work/pip" "$work/no_pip"

export TILEWRIGHT_FETCH_NVRTC=always
for turn in first second; do
  PIP=$work/pip "$script" "$work/here" sh -c "$show" >"$work/out" || fail "$turn: exit status $?"
  [ "$(cat "$work/out")" = "nvrtc=$work/here/nvidia/cu13/lib/libnvrtc.so.13" ] || fail "$turn: $(cat "$work/out")"
done
[ "$(grep -c 'nvidia-cuda-nvrtc==13.0.88' "$work/asked")" = 1 ] || fail "it was not fetched once"

PIP=$work/no_pip "$script" "$work/nowhere" sh -c "$show; exit 3" >"$work/out" 2>"$work/err"
[ $? = 3 ] || fail "the program's exit status is lost"
[ "$(cat "$work/out")" = "nvrtc=" ] || fail "offline: $(cat "$work/out")"
grep -q 'tests that need it are skipped' "$work/err" || fail "offline, and nothing is said"

export TILEWRIGHT_FETCH_NVRTC=missing
TILEWRIGHT_NVRTC=/mine PIP=$work/no_pip "$script" "$work/other" sh -c "$show" >"$work/out" || fail "a named one: exit status $?"
[ "$(cat "$work/out")" = "nvrtc=/mine" ] || fail "one that is named is not taken: $(cat "$work/out")"
[ -e "$work/other" ] && fail "a folder was made for nothing"
exit $((failures > 0))
