// Results of equal extents that a device computes in one kernel, because they read the same or are parts of one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/chains/definition_parts.hpp>
#include <tilewright/impl/space/modules/nest.hpp>
#include <tilewright/space/chooser.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space::detail {

/// Merges the nests of results that follow each other, as a structural choice, the first one: what they read is read once, and
/// parts that lie beside each other are stored while their lines are in a cache.
/// ```
/// for n: R[n, 0] = ..          for n:
/// for n: R[n, 1] = ..    ->      R[n, 0] = ..
///                                R[n, 1] = ..
/// ```
struct joint_passes {
  bool offered = false;

  void operator()(schedule& s, const std::string& /*root*/, const context& /*where*/,
                  chooser& choices) const {
    if (!offered) return;
    for (const definition_parts& run : runs(s)) {
      if (run.size() < 2 || choices.pick(2) == 1) continue;
      schedule attempt = s;
      try {
        std::vector<loop_rv> loops;
        for (const std::string& name : run)
          loops.push_back(attempt.get_loops(attempt.get_block(name)).back());
        attempt.merge(loops);
        s = std::move(attempt);
      } catch (const schedule_error&) {  // one reads what another one writes
      }
    }
  }

 private:
  static bool share(const ir::block_node& a, const ir::block_node& b) {
    if (a.writes[0].buffer == b.writes[0].buffer) return true;
    return support::any(a.reads, [&](const ir::buffer_region& r) {
      return !r.buffer->shape.empty() && support::any(b.reads, [&](const ir::buffer_region& o) {
        return o.buffer == r.buffer;
      });
    });
  }

  static std::vector<definition_parts> runs(schedule s) {
    using extents = std::vector<std::int64_t>;
    const auto undecided = [&](const std::string& name) {
      extents own = extents_of_values(s, name);
      if (!is_output(s, name) ||
          support::any(nest_of(s, name), [](const nest_loop& l) { return l.branches(); }))
        own.clear();
      return own;
    };
    return runs_of_values(
        s, undecided,
        [&](const std::string& one, const extents& x, const std::string& other, const extents& y) {
          return x == y && share(*named_block(s, one).block, *named_block(s, other).block);
        });
  }
};

}  // namespace tilewright::space::detail
