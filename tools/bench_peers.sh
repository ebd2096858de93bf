#!/usr/bin/env bash
# bench_peers.sh [--torch] [--halide] [BUILD]: installs the libraries that bench_workloads compares with: those of
# Debian, and those of PyPI into an environment in the build folder (build by default), which the next configuration
# finds. PyTorch takes 6 GB and Halide 0.3, so that both are asked for; benchmarks/peers/python_kernels.py times them.
source "$(dirname "$0")/setup.sh"
build=build
packages=(onednn-devel-cpu-gomp scipy-openblas32 mkl)
for argument in "$@"; do
  case $argument in
    --torch) packages+=(torch numpy) ;;
    --halide) packages+=(halide numpy) ;;
    -*) echo "usage: tools/bench_peers.sh [--torch] [--halide] [BUILD]" >&2; exit 2 ;;
    *) build=$argument ;;
  esac
done
need libdnnl-dev ocl-icd-opencl-dev libopenblas0-pthread libblis4-openmp libxsmm-dev libeigen3-dev clang python3-venv
[ -x "$build/peers/bin/python" ] || python3 -m venv "$build/peers"
"$build/peers/bin/pip" install --quiet "${packages[@]}"
if [ -f "$build/CMakeCache.txt" ]; then cmake "$build" >/dev/null; fi
echo "peers in $build/peers:"
"$build/peers/bin/pip" list --format=freeze | grep -E -i '^(onednn-cpu-gomp|scipy-openblas32|mkl|torch|halide)='
