#!/usr/bin/env bash
# Trains the prior that the library is shipped with (include/tilewright/impl/cost/prior_data.hpp) on
# this machine: measures COUNT random schedules of each workload of benchmarks/search/search_tasks.cpp,
# then fits boosted trees to those of the training workloads. How many programs, the seed, the date and the
# processor stand at the head of the file. It may be ended at any moment, and goes on when called again.
#   tools/train_prior.sh [COUNT [SEED [TIMES]]]        needs a build with benchmarks; some minutes for
#                                                      60 schedules, an hour for 600
set -euo pipefail
cd "$(dirname "$0")/.."
program=${SEARCH_QUALITY:-build/bin/search_quality}
[ -x "$program" ] || { echo "build search_quality first: cmake --build build --target search_quality"; exit 1; }
times=${3:-build/prior_times.tsv}
"$program" record "$times" "${1:-60}"
"$program" prior "$times" include/tilewright/impl/cost/prior_data.hpp "${2:-43}"
ls -l include/tilewright/impl/cost/prior_data.hpp
