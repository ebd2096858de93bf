#!/usr/bin/env bash
# Checks beside the tests, each by its name:
#
#   tidy         clang-tidy on the lines of the library that changed since $TILEWRIGHT_BASE (HEAD~1 unless set)
#   lower        the tests of the lower rooms under the address and undefined-behaviour sanitizers, with a
#                library of these rooms alone
#   sanitize     the fast test programs under the same sanitizers, with a library of their rooms alone
#   threads      the tests of search and of calls under the thread sanitizer
#   clang_syntax all sources of test programs, read by clang 19 with its warnings as errors
#   clang        all tests, built by clang 19 without optimization, and run
#
# Continuous integration runs tidy, lower and clang_syntax, `cmake --build build --target checks_long` the others.
source "$(dirname "$0")/setup.sh"

tidy() {
  need clang-tidy-14
  local base=${TILEWRIGHT_BASE:-HEAD~1} files
  if ! git rev-parse -q --verify "$base^{commit}" >/dev/null; then
    echo "clang-tidy: there is no commit $base to compare with" >&2
    return 0
  fi
  # lists of definitions have nothing of their own, and reading one is reading the library
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'include/*.hpp' 'include/*.ipp' \
    ':!include/tilewright/impl/src.hpp' ':!include/tilewright/impl/models.hpp' ':!include/tilewright/impl/learning.hpp')
  echo "clang-tidy: ${#files[@]} files changed since $base"
  [ ${#files[@]} -eq 0 ] && return 0
  export TIDY_BASE=$base TIDY_SCRATCH
  TIDY_SCRATCH=$(mktemp -d)
  local failed=0
  printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -I{} bash -c 'tidy_file "$1"' _ {} || failed=1
  rm -rf "$TIDY_SCRATCH"
  return "$failed"
}

# Findings on the changed lines of one file, which is looked at through a source that includes it.
tidy_file() {
  local source lines
  lines=$(git diff -U0 "$TIDY_BASE" -- "$1" |
    sed -nE 's/^@@ [^+]*\+([0-9]+)(,([0-9]+))? @@.*/\1 \3/p' |
    awk 'NF == 1 || $2 > 0 { n = NF == 1 ? 1 : $2; printf "%s[%d,%d]", sep, $1, $1 + n - 1; sep = "," }')
  [ -z "$lines" ] && return 0
  source=$TIDY_SCRATCH/${1//\//_}.cpp
  echo "#include <${1#include/}>" >"$source"
  clang-tidy-14 --quiet --config-file=.clang-tidy \
    --line-filter="[{\"name\":\"$1\",\"lines\":[$lines]}]" "$source" -- \
    -std=c++20 -DTILEWRIGHT_DECLARE_ONLY -Iinclude -isystem /usr/include/eigen3 2>/dev/null
}
export -f tidy_file

# Configures a preset, builds the test programs of the rooms, and runs them. The library has the rooms in
# $library, or all.
run_rooms() {
  local preset=$1 programs=() names
  shift
  for room in "$@"; do programs+=("test_$room"); done
  names=$(IFS='|'; echo "$*")
  cmake --preset "$preset" -DTILEWRIGHT_TESTS=ON -DTILEWRIGHT_EXAMPLES=OFF "-DTILEWRIGHT_ROOMS=${library:-}"
  cmake --build "build-$preset" --target "${programs[@]}"
  ctest --preset "$preset" -j "$(nproc)" -R "^($names)\$"
}

lower() {
  need clang-14 libclang-rt-14-dev doctest-dev libeigen3-dev
  local library="support;ir;arith;target"
  run_rooms sanitize support meta ir arith target
}

sanitize() {
  need clang-14 libclang-rt-14-dev doctest-dev libeigen3-dev
  local library="support;ir;arith;target;dependence;sparse;intrin;schedule;pass"
  run_rooms sanitize support meta ir arith target intrin pass schedule
}

threads() {
  need clang-14 libclang-rt-14-dev llvm-14 doctest-dev libeigen3-dev
  run_rooms tsan search top
}

configure_clang() {
  need clang-19 doctest-dev libeigen3-dev
  cmake --preset clang -DTILEWRIGHT_TESTS=ON -DTILEWRIGHT_EXAMPLES=OFF -DTILEWRIGHT_WERROR=ON
}

# What builds the test programs, less the machine code. The library as a whole is read by the test
# single_include.builds.clang++-19.
clang_syntax() {
  configure_clang
  cmake --build build-clang --target tilewright_test_headers
  (
    cd build-clang
    ninja -t commands test_programs |
      sed -nE '/\/(tests|benchmarks)\/[^ ]*\.cpp$/{ s/ -MD -MT [^ ]+ -MF [^ ]+//; s/ -o [^ ]+ -c / -fsyntax-only /p; }' |
      xargs -d '\n' -P "$(nproc)" -I{} bash -c 'eval "$1"' _ {}
  )
}

clang() {
  configure_clang
  cmake --build build-clang
  ctest --preset clang -j "$(nproc)"
}

for check in "$@"; do
  case $check in
    tidy | lower | sanitize | threads | clang_syntax | clang) "$check" ;;
    *) echo "tools/check.sh: \"$check\" is none of tidy, lower, sanitize, threads, clang_syntax, clang" >&2; exit 2 ;;
  esac
done
