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

# Products of warp groups: without time all are left; without code each is an error of its case, and the table is whole.
run hopper --seconds 0 || fail "hopper without time: exit status $?"
left=$(sed -n 's/^0 cases run, 0 wrong in all, \([0-9]*\) left for another run$/\1/p' "$work/out")
[ "${left:-0}" -ge 20 ] || fail "hopper without time leaves ${left:-nothing}"
run hopper && fail "hopper with an empty pack is fine"
[ "$(wc -l <"$work/hopper.jsonl")" = "$left" ] || fail "hopper has not a line for each of $left cases"
grep -q '^{"case": "conformance_group_f16_128_mk_kn", "error": "' "$work/hopper.jsonl" || fail "hopper does not ask for the prelude's functions"
grep -q '^{"case": "F16_4096", "skipped": "the pack has no code of it"' "$work/hopper.jsonl" || fail "hopper does not end with products of 4096"

# Code that is damaged is an error of its case, and the stage goes on.
echo nonsense >"$work/pack/GMM.0.sm_90a.kernel"
sed -i '/"GMM"/d' "$work/f32.jsonl"
run f32 && fail "damaged code is fine"
grep -q '^{"case": "GMM", "error": "' "$work/f32.jsonl" || fail "damaged code is no error of its case"
grep -Eq '^GMM +error' "$work/out" || fail "the table does not show the error"
grep -q '^1 cases run, 1 wrong in all, 0 left' "$work/out" || fail "the stage did not end as it should"

# Sessions: the program is its own worker. The kernel of the fake computes what the workload says; a session ends when
# all of its space is measured, and what it finds lies in the pack.
export FAKE_CUDA_COMPUTE=chain
tune() { run tune --small --tune-seconds 3 "$@"; }
tune --only CHAIN --seconds 1 || fail "tune without time: exit status $?"
grep -q '^1 cases run, 0 wrong in all, 1 left for another run' "$work/out" || fail "tune without time does not leave its session"
tune --only CHAIN
status=$?
if grep -q '^{"case": "CHAIN", "error": ".*NVRTC' "$work/tune.jsonl"; then
  echo "tune: skipped, no NVRTC"
else
  [ $status = 0 ] || fail "tune: exit status $status"
  line=$(grep '^{"case": "CHAIN", "seconds": ' "$work/tune.jsonl") || fail "tune has no line of CHAIN: $(cat "$work/out")"
  for field in default_seconds candidates candidates_per_s end profile within_5_percent_after_s gflops gbytes_per_s; do
    case $line in *"\"$field\": "*) ;; *) fail "the line of a session has no $field: $line" ;; esac
  done
  [ -s "$work/pack/CHAIN.999.sm_90a.kernel" ] || fail "a session leaves no candidate in the pack"
  grep -q '^# CHAIN$' "$work/traces.txt" && grep -q 'threadIdx.x' "$work/traces.txt" || fail "a session leaves no trace"
  tune --only CHAIN || fail "tune again: exit status $?"
  grep -q '^0 cases run, 0 wrong in all, 0 left' "$work/out" || fail "tune ran a session twice"
  # Results that are wrong end the session, and nothing is packed.
  rm "$work/pack/CHAIN.999.sm_90a.kernel"
  sed -i '/"CHAIN"/d' "$work/tune.jsonl"
  FAKE_CUDA_COMPUTE=none tune --only CHAIN && fail "a session with wrong results is fine"
  grep -q '^{"case": "CHAIN", "error": ".*the default schedule of CHAIN disagrees' "$work/tune.jsonl" || fail "wrong results of a session are no error: $(tail -n 1 "$work/tune.jsonl")"
  [ -e "$work/pack/CHAIN.999.sm_90a.kernel" ] && fail "wrong code lies in the pack"
fi

exit $((failures > 0))
