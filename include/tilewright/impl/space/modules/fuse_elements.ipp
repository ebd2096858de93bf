#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/modules/ragged_reduction.ipp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space {
namespace detail {

/// Names of the iterations that `fuse_elements` fuses; none where it doesn't.
inline std::vector<std::string> iterations_of_elements(const schedule& s) {
  if (s.function().attrs.count(ir::iterations_attribute) == 0) return {};
  const std::optional<ir::sparse_function> program = sparse::iterations_of(s.function());
  return program ? sparse::iterations_of_elements(*program) : std::vector<std::string>{};
}

/// The loops of a fused block: tasks, elements of a task, and what is summed for each.
inline void schedule_elements(schedule& s, const std::string& name, const context& where,
                              chooser& choices) {
  std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  const bool sums = reduces(*named_block(s, name).block);
  std::size_t elements = 0;
  if (where.threads > 1) {
    const expr_rv count = choices.categorical(s, {256, 1024, 4096}, {1, 1.5, 1});
    const auto [tasks, inside] = s.split(loops[0], {infer, count});
    s.parallel(tasks);
    loops[0] = inside;
    loops.insert(loops.begin(), tasks);
    elements = 1;
  }
  if (sums) {
    sum_results(s, name, loops, elements, where, choices);
  } else if (elements + 1 == loops.size()) {
    const auto type = named_block(s, name).block->writes[0].buffer->type;
    const auto [outer, inner] = s.split(loops[elements], {infer, where.cpu->lanes(type)});
    (void)outer;
    s.vectorize(inner);
  }
}

}  // namespace detail

TILEWRIGHT_INLINE bool has_results_of_elements(const schedule& s) {
  return !detail::iterations_of_elements(s).empty();
}

TILEWRIGHT_INLINE bool fuse_elements(schedule& s, const context& where, chooser& choices) {
  const std::vector<std::string> names = detail::iterations_of_elements(s);
  if (names.empty()) return false;
  schedule attempt = s;
  try {
    for (const std::string& name : names) attempt.sparse_fuse(attempt.get_block(name), {0, 1});
    for (const std::string& name : names) detail::schedule_elements(attempt, name, where, choices);
  } catch (const schedule_error&) {
    return false;
  }
  s = std::move(attempt);
  return true;
}

}  // namespace tilewright::space
