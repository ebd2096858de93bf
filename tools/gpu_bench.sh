#!/bin/sh
# Checks and times kernels on a GPU, on a machine that has nothing but its driver.
#
#   tools/gpu_bench.sh pack [FOLDER] [OPTION...]     builds, and packs program and code into FOLDER
#   tools/gpu_bench.sh STAGE... [--seconds 540] [--tune-seconds 12] [--only NAME,NAME]
#                                                    runs stages; results go to results/STAGE.jsonl
#
# FOLDER is gpu_pack unless said otherwise, by its name or by GPU_PACK; RESULTS is another folder for
# results, GPU_BUILD one for the build. Stages: first (loading, conformance of the prelude; correctness of
# atomic additions, fused launches, sparse products, drawn schedules, comparisons, the corpus and default
# schedules; faults, launch cost, noise, ceilings, cuBLAS), f32 (the twelve workloads of the MetaSchedule paper,
# matrix products, kernels bound by memory), tensor (products on tensor cores, and the paper's fused dense
# naive, + tiling, + inline, + unroll, + tensor cores), attention (heads of 64 and 128 beside PyTorch's
# FlashAttention-2), hopper (of sm_90a, products of warp groups, and copies by the copy engine), models (networks). A stage goes
# on where it stopped, ends with a
# table, and says "skipped: no GPU" where there is none. f32 and tensor time cuBLASLt, cuDNN and, through
# gpu_peers.py, PyTorch and Triton in turns with ours, where they are installed. Stage tune searches the
# schedules of both there, --tune-seconds for each workload; what it finds lies in the pack for f32 and
# tensor, and in results/tuned.tar.gz. With --only these three do some alone. Packing needs NVRTC and a
# C++ compiler, tune and three cases of first need NVRTC; the rest needs neither. Options of packing:
# --candidates 4, --pack-seconds 600, --architectures sm_90a,sm_80.
#
# On a GPU that is lent for a quarter of an hour: make the pack before, for its architecture alone; docs/cuda.md
# has the commands in the order of what is worth most. Copy the folder results; what is left over is the first
# thing that another run does.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
pack=${GPU_PACK:-gpu_pack}
results=${RESULTS:-results}
tree=${GPU_BUILD:-$root/build}
seconds=540
stages=
sessions=
network_seconds=0

build() {
  [ -d "$tree" ] || (cd "$root" && cmake --preset default -B "$tree")
  cmake --build "$tree" --target gpu_bench
  [ "${NETWORKS:-0}" != 1 ] || cmake --build "$tree" --target tilewright_tool
}

# Networks with their results, for stage models.
pack_networks() {
  for batch in 1 8; do
    python3 "$root/tools/models.py" --out "$tree/models" --batch $batch resnet50 >/dev/null || {
      echo "stage models will have no network: tools/models.py does not make one here" >&2
      return 0
    }
  done
  mkdir -p "$pack/models"
  cp -r "$tree/models/resnet50" "$tree/models/resnet50_batch8" "$pack/models"
  # both have the same weights
  cmp -s "$pack/models/resnet50/resnet50.data" "$pack/models/resnet50_batch8/resnet50.data" &&
    ln -f "$pack/models/resnet50/resnet50.data" "$pack/models/resnet50_batch8/resnet50.data"
  cp "$tree/bin/tilewright" "$root/benchmarks/networks/gpu_networks.py" "$pack"
}

if [ "${1:-}" = pack ]; then
  shift
  case ${1:-} in ''|--*) ;; *) pack=$1; shift ;; esac
  build
  "$tree/bin/gpu_bench" pack "$pack" "$@"
  cp "$0" "$pack/gpu_bench.sh"
  cp "$root/tools/gpu_peers.py" "$pack/gpu_peers.py"
  [ "${NETWORKS:-0}" != 1 ] || pack_networks
  exit 0
fi

while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    --tune-seconds|--only)
      [ "$1" = --only ] || network_seconds=$2
      sessions="$sessions $1 $2"; shift ;;
    first|f32|tensor|attention|hopper|tune|models) stages="$stages $1" ;;
    *) echo "gpu_bench.sh: there is no stage $1; stages: first, tune, f32, tensor, attention, hopper, models" >&2; exit 2 ;;
  esac
  shift
done
[ -n "$stages" ] || { sed -n '2,/^set/p' "$0" | grep '^#'; exit 2; }

# beside this script in a pack, else the folder of that name
[ -x "$(dirname "$0")/gpu_bench" ] && pack=$(dirname "$0")
starts=0
"$pack/gpu_bench" >/dev/null 2>&1 || starts=$?
if [ $starts -ne 2 ]; then  # it does not start here: 2 is its usage
  echo "the packed program does not start on this machine; it is built again" >&2
  build
  "$tree/bin/gpu_bench" pack "$pack"
fi

# Libraries that the linker does not find: the folder of a Python package has its own.
python_library() {
  python3 -c 'import site, sys
for p in site.getsitepackages() + [site.getusersitepackages()]: print(p)' 2>/dev/null |
    while read -r folder; do
      for f in "$folder"/nvidia/cu1?/lib/$1.so.* "$folder"/nvidia/*/lib/$1.so.*; do
        [ -e "$f" ] && echo "$f"
      done
    done | head -n 1
}
known() { ldconfig -p 2>/dev/null | grep -q "$1.so" || [ -e "/usr/local/cuda/lib64/$1.so" ]; }
[ -n "${TILEWRIGHT_CUBLASLT:-}" ] || known libcublasLt || {
  TILEWRIGHT_CUBLASLT=$(python_library libcublasLt)
  export TILEWRIGHT_CUBLASLT
}
[ -n "${TILEWRIGHT_CUDNN:-}" ] || known libcudnn || {
  TILEWRIGHT_CUDNN=$(python_library libcudnn)
  export TILEWRIGHT_CUDNN
}
[ -n "${TILEWRIGHT_NVRTC:-}" ] || known libnvrtc || {
  TILEWRIGHT_NVRTC=$(python_library libnvrtc)
  export TILEWRIGHT_NVRTC
}

scripts=$(cd "$(dirname "$0")" && pwd)
case $scripts in
  *[!A-Za-z0-9_./-]*) peers= ;;  # a name that is several words to a shell
  *) peers="--peers $scripts/gpu_peers.py" ;;
esac
command -v python3 >/dev/null 2>&1 || peers=

# One JSON object a line for each network: what the tool says of the run and of its kernels.
run_networks() {
  if "$pack/gpu_bench" first --pack "$pack" --out "$results/none.jsonl" --seconds 0 2>&1 | grep '^skipped: no GPU'; then return 0; fi
  rm -f "$results/none.jsonl"
  [ -x "$pack/tilewright" ] && [ -d "$pack/models" ] || {
    echo "skipped: the pack has no networks (NETWORKS=1 tools/gpu_bench.sh pack makes them)"
    return 0
  }
  "$pack/tilewright" --version >/dev/null 2>&1 || { echo "skipped: the packed tool does not start here"; return 0; }
  mkdir -p "$results"
  failed=0
  for folder in "$pack"/models/*; do
    name=$(basename "$folder")
    left=$((end - $(date +%s)))
    grep -q "\"network\": \"$name\"" "$results/models.jsonl" 2>/dev/null && continue
    [ $left -gt 20 ] || { echo "no time left for $name"; break; }
    set -- "$folder/resnet50.onnx" --target cuda --db "$results/records.db" --json
    code=0
    [ "$network_seconds" = 0 ] || timeout $left "$pack/tilewright" model tune "$@" --seconds "$network_seconds" >/dev/null || code=$?
    bench=$(timeout $left "$pack/tilewright" model bench "$@" --in "x=$folder/in/x.npy" --expect "$folder/out" --tolerance 1e-5) || code=$?
    report=$(timeout $left "$pack/tilewright" model report "$@") || code=$?
    [ $code -eq 0 ] || { failed=1; echo "$name: exit status $code" >&2; }
    peer=$(python3 "$pack/gpu_networks.py" "$folder" 2>/dev/null) || peer='{"skipped": "no PyTorch"}'
    echo "{\"network\": \"$name\", \"status\": $code, \"run\": ${bench:-null}, \"report\": ${report:-null}, \"pytorch\": $peer}" >>"$results/models.jsonl"
    tail -n 1 "$results/models.jsonl" | cut -c1-300
  done
  return $failed
}

status=0
end=$(($(date +%s) + seconds))
for stage in $stages; do
  if [ "$stage" = models ]; then
    run_networks || status=1
    continue
  fi
  left=$((end - $(date +%s)))
  [ $left -gt 0 ] || { echo "no time left for stage $stage"; break; }
  while :; do
    # what holds up for good ends soon after the deadline
    code=0
    timeout -k 5 $((left + 20)) "$pack/gpu_bench" "$stage" --pack "$pack" --out "$results/$stage.jsonl" \
      --seconds $left $sessions $peers || code=$?
    case $code in
      5) echo "the device was lost; stage $stage goes on in a new process" ;;
      124|137) echo "stage $stage was ended" ;;
      *) break ;;
    esac
    left=$((end - $(date +%s)))
    [ $left -gt 0 ] || left=0  # then its table is printed
  done
  [ $code -eq 0 ] || status=$code
  if [ "$stage" = tune ]; then
    ls "$pack"/*.999.*.kernel "$results/tune.jsonl" >/dev/null 2>&1 && (cd "$pack" && tar -cz ./*.999.*.kernel) >"$results/tuned.tar.gz"
  elif [ -n "$peers" ] && [ "$stage" != first ] && [ -e "$results/$stage.jsonl" ]; then
    python3 "$scripts/gpu_peers.py" "$stage" --results "$results" || echo "stage $stage has no table of its peers"
  fi
  if [ "$stage" = first ] && command -v compute-sanitizer >/dev/null 2>&1; then
    # threads apart, then threads that meet in shared memory
    checked=matmul_tails,softmax,default_C2D,default_DIL,default_T2D,default_TBG,default_GEMM4096,default_SPLITK,default_COLUMNSUMS,default_F16,default_F16_TAILS,default_S8,added_rows_float32,side_by_side,comparison_float32,sparse_elements,sparse_sampled,sparse_parts_in_one_launch
    for tool in memcheck racecheck; do
      left=$((end - $(date +%s)))
      [ -e "$results/first.jsonl" ] && [ $left -gt 10 ] || break  # no GPU, or no time
      if timeout $left compute-sanitizer --tool $tool --error-exitcode 9 "$pack/gpu_bench" check $checked --pack "$pack" >"$results/sanitizer_$tool.txt" 2>&1
      then echo "compute-sanitizer $tool: fine"
      else echo "compute-sanitizer $tool: see $results/sanitizer_$tool.txt"; fi
    done
  fi
done
exit $status
