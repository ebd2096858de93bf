// Schedules that fewer threads found for a workload, spread over its own.
//
//   for i0: for j0: for i1: tile      ->      for i0_j0 (parallel): for i1: tile
//
// A schedule for one thread has no parallel loops, so that it would do as it stands, on one. Tiles and vectors
// hold for several as well.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/space/outer_parallel.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/database/trace_names.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// At most `most` records of the workload for the next smaller power of two of threads for which there are
/// some: the chosen one, then the fastest.
inline std::vector<record> records_of_fewer_threads(const workload& w, const database& db,
                                                    std::size_t most) {
  std::vector<record> out;
  if (!w.machine.cpu) return out;
  const int fewer = std::max(w.key.threads - 1, 0);
  for (int threads = static_cast<int>(std::bit_floor(static_cast<unsigned>(fewer)));
       threads >= 1 && out.empty(); threads /= 2) {
    record_key key = w.key;
    key.threads = threads;
    if (const std::optional<record> chosen = db.chosen(key)) out.push_back(*chosen);
    if (out.size() == most) break;
    for (record& r : db.top(key, most))
      if (support::none(out, [&](const record& o) { return o.trace == r.trace; }))
        out.push_back(std::move(r));
  }
  if (out.size() > most) out.resize(most);
  return out;
}

/// Replays a trace and runs outermost loops of its nests in parallel. A nest is taken before its reduction is
/// decomposed, since `parallel` accepts whole reductions alone.
/// @throws error where the trace does not fit, or needs a loop that was fused
inline schedule spread(const trace& t, const ir::function& f, std::uint64_t seed,
                       std::int64_t wanted) {
  schedule s(f, seed);
  std::map<std::uint32_t, std::uint32_t> now;  // random variables of `t` as `s` has them
  std::size_t done = 0;
  t.apply_to(s, {}, [&](const trace::step&) {
    const std::vector<rv> made = s.trace().steps().back().what->outputs;
    for (std::size_t k = 0; k < made.size(); ++k)
      now[t[done].what->outputs[k].number] = made[k].number;
    if (++done == t.size() || t[done].what->kind->name != "decompose_reduction") return;
    if (const rv* block = std::get_if<rv>(&t[done].what->args[0]);
        block && now.count(block->number))
      space::detail::parallelize_nest(s, s.get(block_rv{now.at(block->number)}).block->name,
                                      wanted);
  });
  space::detail::parallelize_nests(s, wanted);
  return s;
}

/// What becomes of these records where the outermost loops of each nest run in parallel: few loops, which
/// share out eight iterations to a thread, and as many as can be one. A record that does not replay so is left
/// out.
inline std::vector<candidate> spread_over_threads(const workload& w, const database& db,
                                                  std::size_t most, std::uint64_t seed) {
  constexpr std::int64_t iterations_of_thread = 8;
  std::vector<candidate> out;
  for (const record& r : records_of_fewer_threads(w, db, most)) {
    if (r.trace.empty()) continue;  // the program as it stands
    for (const std::int64_t wanted :
         {iterations_of_thread * w.key.threads, space::detail::all_iterations}) {
      std::optional<candidate> c;
      try {
        const trace narrow = by_name(trace::parse(r.trace), w.function);
        c = replay(spread(narrow, w.function, seed, wanted).trace(), w.function, seed);
      } catch (const error&) {
      }
      if (c && support::none(out, [&](const candidate& o) { return o.identity == c->identity; }))
        out.push_back(std::move(*c));
    }
  }
  return out;
}

}  // namespace tilewright::search::detail
