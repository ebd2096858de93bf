#!/usr/bin/env bash
# Installs what is missing, builds, and runs the main job: a matrix product described in C++,
# searched, compiled, verified, measured and stored; then the same call again from the database.
source "$(dirname "$0")/setup.sh"
need "${build_packages[@]}" "$(boost_package)" "${runtime_packages[@]}"
cmake --preset default -DTILEWRIGHT_TESTS=OFF -DTILEWRIGHT_BENCHMARKS=OFF >/dev/null
cmake --build build --target matmul_relu tilewright_tool
echo
build/bin/matmul_relu
cat <<'TEXT'

In a program of yours, with what it costs a file to compile (README.md has the lines to copy):
  1 s         CMake: add_subdirectory or find_package, and link tilewright::tilewright
  1 s         elsewhere: -DTILEWRIGHT_DECLARE_ONLY for all files, and TILEWRIGHT_IMPLEMENT in one, which takes 2 to 3 min
  2 to 3 min  nothing but the include
TEXT
