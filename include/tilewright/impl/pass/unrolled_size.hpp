// How many statements there are once the loops that are meant to be written out are.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/walk.hpp>

namespace tilewright::pass::detail {

/// Stores and calls of `s`.
/// @param times  called with a loop: how many times its body is written
template <class Times>
std::int64_t unrolled_size(const ir::stmt& s, const Times& times) {
  using namespace ir;
  const auto of = [&](const stmt& x) { return unrolled_size(x, times); };
  switch (s->kind) {
    case stmt_kind::store:
    case stmt_kind::evaluate: return 1;
    case stmt_kind::seq: {
      std::int64_t sum = 0;
      for (const stmt& child : as_seq(s)->stmts) sum += of(child);
      return sum;
    }
    case stmt_kind::if_else:
      return of(as_if(s)->then_body) + (as_if(s)->else_body ? of(as_if(s)->else_body) : 0);
    case stmt_kind::let: return of(as_let(s)->body);
    case stmt_kind::allocate: return of(as_allocate(s)->body);
    case stmt_kind::block_realize: return of(as_realize(s)->block->body);
    case stmt_kind::while_loop: return of(as_while(s)->body);
    case stmt_kind::attribute: return of(as_attribute(s)->body);
    case stmt_kind::loop: break;
  }
  return of(as_loop(s)->body) * times(*as_loop(s));
}

/// How many times an unrolled loop's body is written; once for others.
inline std::int64_t unrolled_times(const ir::loop_node& loop) {
  return loop.loop == ir::loop_kind::unrolled ? std::max<std::int64_t>(constant_extent(loop), 1)
                                              : 1;
}

/// What `unroll_note` of the loop asks for; 0 where it is not there.
inline std::int64_t unroll_step_of(const ir::loop_node& loop) {
  const auto note = loop.annotations.find(ir::unroll_note);
  if (note == loop.annotations.end()) return 0;
  const std::int64_t* step = std::get_if<std::int64_t>(&note->second.value);
  return step ? *step : 0;
}

}  // namespace tilewright::pass::detail
