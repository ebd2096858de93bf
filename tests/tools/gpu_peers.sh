#!/usr/bin/env bash
# gpu_peers.sh TOOLS: the peers of the GPU program with a PyTorch that is a fake one, and without any.
set -u
tools=$1 here=$(cd "$(dirname "$0")" && pwd) failures=0
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
peers() { python3 -S "$tools/gpu_peers.py" "$@"; }  # -S: no packages of this machine

# Nothing is installed: said, and what there is of ours is a table.
mkdir "$work/results"
echo '{"case": "GMM", "correct": true, "seconds": 2e-06, "of_cublas": 0.5}' >"$work/results/f32.jsonl"
echo '{"case": "C1D", "correct": true, "seco' >>"$work/results/f32.jsonl"  # cut off
peers f32 --results "$work/results" >"$work/none.out" || fail "without PyTorch: exit status $?"
grep -q 'peer=pytorch skipped=not found: No module named' "$work/none.out" || fail "PyTorch is not said to be missing"
grep -Eq 'GMM +2.0 +0.500' "$work/none.out" || fail "our own times are not in the table"

# A GPU that PyTorch does not see.
export PYTHONPATH=$here/fake_torch FAKE_TORCH_LOG=$work/log
FAKE_TORCH_GPU=0 peers f32 --results "$work/results" | grep -q 'skipped=not found: it finds no GPU' || fail "a PyTorch without GPU"

# Both stages, each case once, ours beside theirs.
peers f32 tensor --results "$work/results" >"$work/first.out" || fail "with PyTorch: exit status $?"
for name in C1D C2D C3D DEP DIL GMM GRP T2D CBR TBG NRM SFM GEMM1024 GEMM4096 CHAIN SOFTMAX LAYERNORM ROWSUMS COLUMNSUMS \
  F16_1024 F16_M16 F16_BATCH BF16_4096 TF32_4096 DENSE_naive DENSE_tensor_cores; do
  [ "$(grep -c "^{\"case\": \"$name\", \"peer\": \"pytorch\", \"seconds\": " "$work/results/peers.jsonl")" = 1 ] || fail "$name has no time, or several"
done
grep -q '"case": "S8_4096", "peer": "pytorch", "error": "not on this device"' "$work/results/peers.jsonl" || fail "what does not run has no reason"
grep -q 'peer=triton skipped=not found: ' "$work/first.out" || fail "Triton is not said to be missing"
grep -q '1 of the paper' "$work/first.out" || fail "no mean"

# The table in a document.
echo '{"case": "machine", "device": "fake", "driver": 13000, "date": "2026-11-25T00:00:00Z", "nvrtc": "13.0", "clocks": ""}' >>"$work/results/f32.jsonl"
echo '# Results' >"$work/RESULTS.md"
peers f32 tensor --results "$work/results" --seconds 0 --write "$work/RESULTS.md" >/dev/null || fail "writing: exit status $?"
grep -q '^## On fake$' "$work/RESULTS.md" && grep -q '2026-11-25T00:00:00Z, driver 13000, NVRTC 13.0' "$work/RESULTS.md" || fail "the document does not say where and when"
grep -Eq '^\| GMM \| 2.0 \| 0.500 \| [0-9.]+ \| [0-9.]+ \|' "$work/RESULTS.md" || fail "the document has no row of GMM"

grep -q None "$work/log" && fail "TF32 was left as it came"
grep -q True "$work/log" || fail "TF32_4096 was not timed with TF32"

# Another run times nothing again, except what failed; one without time says so.
lines=$(grep -c '"seconds"' "$work/results/peers.jsonl")
peers f32 tensor --results "$work/results" >/dev/null || fail "again: exit status $?"
[ "$(grep -c '"seconds"' "$work/results/peers.jsonl")" = "$lines" ] || fail "a case was timed twice"
rm "$work/results/peers.jsonl"
peers f32 --results "$work/results" --seconds 0 | grep -q 'cases of peers are left for another run' || fail "no word of what is left"

exit $((failures > 0))
