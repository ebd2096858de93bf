#!/usr/bin/env bash
# gpu_peers.sh TOOLS: the peers of the GPU program with a PyTorch that is a fake one, and without any.
set -u
tools=$1 here=$(cd "$(dirname "$0")" && pwd) failures=0
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
peers() { python3 -S "$tools/gpu_peers.py" "$@"; }  # -S: no packages of this machine
# ANSWERS: to the lines of the standard input
answers() { peers --serve 2>"$work/err"; }

# Nothing is installed: said, and what is asked then has no answer but that.
printf 'prepare f32 GMM pytorch\nround\n' | answers >"$work/none" || fail "without PyTorch: exit status $?"
grep -q '^peers none PyTorch: No module named' "$work/none" || fail "PyTorch is not said to be missing"
grep -q '^none pytorch is not installed' "$work/none" || fail "a case is ready without PyTorch"
grep -q '^none not understood: round' "$work/none" || fail "a round of nothing"

# A GPU that PyTorch does not see.
export PYTHONPATH=$here/fake_torch FAKE_TORCH_LOG=$work/log
FAKE_TORCH_GPU=0 answers </dev/null | grep -q '^peers none PyTorch: it finds no GPU' || fail "a PyTorch without GPU"

# Every case of both stages is readied, timed and dropped.
for case in C1D C2D C3D DEP DIL GMM GRP T2D CBR TBG NRM SFM GEMM1024 GEMM2048 GEMM4096 GEMM8192 SPLITK CHAIN SOFTMAX LAYERNORM ROWSUMS COLUMNSUMS; do
  printf 'prepare f32 %s pytorch\nround\ndrop\n' $case
done >"$work/asked"
for case in F16_1024 F16_4096 F16_8192 F16_M16 F16_BATCH F16_SPLITK BF16_4096 TF32_4096 DENSE_naive DENSE_tensor_cores; do
  printf 'prepare tensor %s pytorch\nround\ndrop\n' $case
done >>"$work/asked"
answers <"$work/asked" >"$work/answered" || fail "with PyTorch: exit status $?"
[ "$(head -n 1 "$work/answered")" = "peers pytorch=0.0-fake" ] || fail "who is there: $(head -n 1 "$work/answered")"
for answer in 'ready [0-9.e-]*' 'seconds [0-9.e-]*' dropped; do
  [ "$(grep -c "^$answer\$" "$work/answered")" = 32 ] || fail "not 32 times $answer"
done
grep -q 'results of float32' "$work/log" || fail "products of 16 bits leave results of 16"
printf 'prepare tensor F16_1024 pytorch\n' | FAKE_TORCH_OLD=1 answers | grep -q '^ready [0-9.e-]* its results have 16 bits$' ||
  fail "that an older PyTorch has results of 16 bits is not said"
for case in ATT64_1024 ATT128_4096 ATT64_CAUSAL ATT64_BF16 ATT64_F32; do
  printf 'prepare attention %s pytorch\nround\ndrop\n' $case
done | answers >"$work/attention"
[ "$(grep -c '^ready [0-9.e-]* CUDNN_ATTENTION [0-9.]* us; EFFICIENT_ATTENTION [0-9.]* us; its results have 16 bits$' "$work/attention")" = 4 ] ||
  fail "the backends of attention are not said"
grep -q '^ready [0-9.e-]* EFFICIENT_ATTENTION$' "$work/attention" || fail "attention in f32"
printf 'prepare f32 C3D pytorch careful\nprepare f32 C3D pytorch\n' |
  FAKE_TORCH_LOG=$work/tries answers >"$work/careful"
[ "$(grep -c '^ready' "$work/careful")" = 2 ] || fail "a case that is readied carefully"
[ "$(uniq "$work/tries" | tr '\n' ' ')" = "careful tried " ] || fail "cuDNN tries its algorithms though asked to be careful"
grep -q None "$work/log" && fail "TF32 was left as it came"
[ "$(grep -c False "$work/log")" -gt 50 ] && grep -q True "$work/log" || fail "TF32 is not off for f32, and on where it is asked for"

# What does not run, what is not known, what is no line of ours.
printf 'prepare tensor S8_4096 pytorch\nround\nprepare f32 NOTHING pytorch\nprepare f32 GMM triton\nhello\n' | answers >"$work/bad"
grep -q '^none not on this device' "$work/bad" || fail "what does not run has no reason"
grep -q '^none pytorch has no program for it' "$work/bad" || fail "a case that nobody knows"
grep -q '^none triton is not installed' "$work/bad" || fail "Triton is not said to be missing"
grep -q '^none not understood: hello' "$work/bad" || fail "a line that nobody knows"
# What a library prints is no answer.
printf 'drop\n' | FAKE_TORCH_PRINTS=1 answers >"$work/prints"
[ "$(wc -l <"$work/prints")" = 2 ] && grep -q 'a word of a library' "$work/err" || fail "what a library prints stands among the answers"

# The table of a stage, on the terminal and in a document.
mkdir "$work/results"
{ echo '{"case": "machine", "device": "fake", "driver": 13000, "date": "2026-11-25T00:00:00Z", "nvrtc": "13.0", "clocks": ""}'
  echo '{"case": "GMM", "correct": true, "seconds": 2e-06, "of_cublas": 0.5, "of_pytorch": 2, "of_triton": 3}'
  echo '{"case": "C1D", "correct": true, "seconds": 4e-06, "of_cudnn": 0.8, "of_pytorch": 0.5}'
  echo '{"case": "C2D", "correct": true, "seco'; } >"$work/results/f32.jsonl"  # cut off
echo '# Results' >"$work/RESULTS.md"
peers f32 tensor --results "$work/results" --write "$work/RESULTS.md" >"$work/table" || fail "the table: exit status $?"
grep -Eq '^ +GMM +2.0 +0.500 +2.000 +3.000$' "$work/table" || fail "the table has no row of GMM"
grep -q "2 of the paper's 12 workloads: geometric mean 1.000, least 0.500" "$work/table" || fail "no mean"
grep -q '^## On fake$' "$work/RESULTS.md" && grep -q '2026-11-25T00:00:00Z, driver 13000, NVRTC 13.0' "$work/RESULTS.md" || fail "the document does not say where and when"
grep -Fq '| C1D | 4.0 |  | 0.800 | 0.500 |  |' "$work/RESULTS.md" || fail "the document has no row of C1D"
peers 2>"$work/err" && fail "no stage is named, and nothing is said"
grep -q 'name a stage: f32, tensor' "$work/err" || fail "what is missing is not said"

exit $((failures > 0))
