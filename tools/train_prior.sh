#!/usr/bin/env bash
# Trains the prior that the library is shipped with (include/tilewright/impl/cost/prior_data.hpp) on
# this machine: measures COUNT random schedules of each recorded workload, then fits boosted trees.
#   tools/train_prior.sh [COUNT]        needs a build with benchmarks; takes some minutes
set -euo pipefail
cd "$(dirname "$0")/.."
program=build/bin/search_quality
[ -x "$program" ] || { echo "build search_quality first: cmake --build build --target search_quality"; exit 1; }
times=build/prior_times.tsv
"$program" record "$times" "${1:-600}"
"$program" prior "$times" include/tilewright/impl/cost/prior_data.hpp
ls -l include/tilewright/impl/cost/prior_data.hpp
