// Strategy: a program outside proposes, a script or a language model, and is told what came of it.
//
// It reads lines of JSON from its input and writes lines to its output. First comes the task,
//
//   {"version": 1, "program": SCRIPT, "sketches": [TRACE, ...], "seed": 42}
//
// then requests, each of which wants one line back, and results, which want none:
//
//   {"propose": 8}                                          answered by {"traces": [TRACE, ...]}
//   {"measured": [{"trace": TRACE, "seconds": 1.2e-05}, ...]}       null for one that failed
//   {"refused": [{"trace": TRACE, "reason": TEXT}, ...]}
//
// TRACE and SCRIPT are texts as `tilewright apply` reads them. A decision that a trace leaves out is
// drawn: a sketch as it came is a proposal. What is proposed is trusted as little as anything else: it
// is parsed, replayed on the program with every check of every primitive, and its results are
// compared with the default schedule's before it counts.
#pragma once

#include <memory>
#include <string>

#include <tilewright/search/strategy.hpp>

namespace tilewright::search {

struct outside_options {
  double patience = 60;  // s for an answer; a language model thinks longer than a script
  std::size_t most_line = std::size_t{1} << 26;  // bytes of an answer
};

/// Proposals of `command`, which the shell runs while the search lasts. Where it ends, is silent for
/// longer than its patience or answers what is no list of traces, draws of the space take its place,
/// and `remark` says so. An empty list says that it has no more, and ends the search.
std::unique_ptr<strategy> outside(std::string command, const outside_options& options = {});

}  // namespace tilewright::search
