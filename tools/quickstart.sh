#!/usr/bin/env bash
# Installs what is missing, builds, and runs the main job: a matrix product described in C++,
# searched, compiled, verified, measured and stored; then the same call again from the database.
source "$(dirname "$0")/setup.sh"
need "${build_packages[@]}" "$(boost_package)" "${runtime_packages[@]}"
cmake --preset default -DTILEWRIGHT_TESTS=OFF -DTILEWRIGHT_BENCHMARKS=OFF >/dev/null
cmake --build build --target matmul_relu tilewright_tool
echo
build/bin/matmul_relu
