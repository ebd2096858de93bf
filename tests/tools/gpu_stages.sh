#!/usr/bin/env bash
# gpu_stages.sh GPU_BENCH FAKE_DRIVER: how stages of the GPU program go, with a driver that computes nothing.
set -u
bench=$1 failures=0
export TILEWRIGHT_CUDA_DRIVER=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
mkdir "$work/pack"
run() { "$bench" "$1" --pack "$work/pack" --out "$work/$1.jsonl" "${@:2}" >"$work/out" 2>&1; }

# No device: said, and nothing is wrong.
FAKE_CUDA_DEVICES=0 run f32 || fail "without a device: exit status $?"
grep -q '^skipped: no GPU' "$work/out" || fail "no word that there is no GPU"
[ -e "$work/f32.jsonl" ] && fail "a stage without a device left results"

for stage in f32 tensor glance; do
  # No time: every case is left.
  run $stage --seconds 0 || fail "$stage without time: exit status $?"
  left=$(sed -n 's/^0 cases run, 0 wrong in all, \([0-9]*\) left for another run$/\1/p' "$work/out")
  [ "${left:-0}" -ge 14 ] || fail "$stage without time leaves ${left:-nothing}"
  # A pack without its code: each case has a line that says so, at once on disk, and stands in the table.
  run $stage || fail "$stage with an empty pack: exit status $?"
  [ "$(wc -l <"$work/$stage.jsonl")" = "$left" ] || fail "$stage has not a line for each of $left cases"
  [ "$(grep -c '"skipped": "the pack has no code of it"' "$work/$stage.jsonl")" = $((left - 1)) ] || fail "$stage: cases without code are not skipped"
  grep -q '^{"case": "machine", "device": "fake", "architecture": "sm_90a", ' "$work/$stage.jsonl" || fail "$stage does not describe the machine"
  # Again: what stands there is not run.
  run $stage || fail "$stage again: exit status $?"
  grep -q '^0 cases run, 0 wrong in all, 0 left' "$work/out" || fail "$stage ran a case twice"
done
grep -Eq '^GMM +skipped' "$work/out" || fail "the table of glance lacks cases of f32"
grep -Eq '^F16_4096 +skipped' "$work/out" || fail "the table of glance lacks cases of tensor"

# Code that is damaged is an error of its case, and the stage goes on.
echo nonsense >"$work/pack/GMM.0.sm_90a.kernel"
sed -i '/"GMM"/d' "$work/f32.jsonl"
run f32 && fail "damaged code is fine"
grep -q '^{"case": "GMM", "error": "' "$work/f32.jsonl" || fail "damaged code is no error of its case"
grep -Eq '^GMM +error' "$work/out" || fail "the table does not show the error"
grep -q '^1 cases run, 1 wrong in all, 0 left' "$work/out" || fail "the stage did not end as it should"

exit $((failures > 0))
