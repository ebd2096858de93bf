#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test.
source "$(dirname "$0")/setup.sh"
need "${build_packages[@]}" "$(boost_package)" "${runtime_packages[@]}" \
  doctest-dev libbenchmark-dev cimg-dev llvm-19-dev libsqlite3-dev clang-14 clang-format-14 clang-19 gdb strace python3 g++-aarch64-linux-gnu qemu-user
cmake --preset default -DTILEWRIGHT_TESTS=ON -DTILEWRIGHT_BENCHMARKS=ON "$@"
cmake --build build
ctest --preset default -j "$(nproc)"
