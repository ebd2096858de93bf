#!/bin/sh
# Checks and times kernels on a GPU, on a machine that has nothing but its driver.
#
#   tools/gpu_bench.sh pack [FOLDER]                 builds, and packs program and code into FOLDER
#   tools/gpu_bench.sh STAGE... [--seconds 540]      runs stages; results go to results/STAGE.jsonl
#
# FOLDER is gpu_pack unless said otherwise, by its name or by GPU_PACK. Stages: first (loading,
# conformance of the prelude, correctness, launch cost, noise, ceilings), f32 (the twelve workloads of the
# MetaSchedule paper, matrix products, kernels bound by memory), tensor (products on tensor cores, and
# the paper's fused dense naive, + tiling, + inline, + unroll, + tensor cores). A stage goes on where it
# stopped, and says "skipped: no GPU" where there is none. Packing needs NVRTC and a C++ compiler; running
# needs neither.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
pack=${GPU_PACK:-gpu_pack}
seconds=540
stages=

build() {
  [ -d "$root/build" ] || (cd "$root" && cmake --preset default)
  cmake --build "$root/build" --target gpu_bench
}

if [ "${1:-}" = pack ]; then
  pack=${2:-$pack}
  build
  "$root/build/bin/gpu_bench" pack "$pack"
  cp "$0" "$pack/gpu_bench.sh"
  exit 0
fi

while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    first|f32|tensor) stages="$stages $1" ;;
    *) echo "gpu_bench.sh: there is no stage $1; stages: first, f32, tensor" >&2; exit 2 ;;
  esac
  shift
done
[ -n "$stages" ] || { sed -n '2,13p' "$0"; exit 2; }

# beside this script in a pack, else the folder of that name
[ -x "$(dirname "$0")/gpu_bench" ] && pack=$(dirname "$0")
starts=0
"$pack/gpu_bench" >/dev/null 2>&1 || starts=$?
if [ $starts -ne 2 ]; then  # it does not start here: 2 is its usage
  echo "the packed program does not start on this machine; it is built again" >&2
  build
  "$root/build/bin/gpu_bench" pack "$pack"
fi

status=0
end=$(($(date +%s) + seconds))
for stage in $stages; do
  left=$((end - $(date +%s)))
  [ $left -gt 0 ] || { echo "no time left for stage $stage"; break; }
  "$pack/gpu_bench" "$stage" --pack "$pack" --out "results/$stage.jsonl" --seconds $left || status=$?
  if [ "$stage" = first ] && command -v compute-sanitizer >/dev/null 2>&1; then
    for name in matmul_tails softmax; do
      if compute-sanitizer --error-exitcode 9 "$pack/gpu_bench" check $name --pack "$pack" >results/sanitizer_$name.txt 2>&1
      then echo "compute-sanitizer $name: fine"
      else echo "compute-sanitizer $name: see results/sanitizer_$name.txt"; fi
    done
  fi
done
exit $status
