// Stages of random programs in which what an earlier block has written decides whether a block runs,
// where, and how often.
#pragma once

#include <laws/stages/stage_builder.hpp>

namespace laws {

class guarded_stages : protected stage_builder {
 protected:
  using stage_builder::stage_builder;

  /// A block writes indices, and another one loads them around its body: in its guard, in a
  /// condition, in the value of an iteration variable, or in the bound of a loop. The indices may be
  /// written in the same loop, or change after they have been used.
  void guarded(bool last);
  /// A buffer of which all is written, for a stage that writes some of it.
  ir::buffer filled(const ir::buffer& from, const shape& s, bool last);

 private:
  enum class use : std::int64_t { guard, condition, value, bound, reduction };

  /// Numbers from 0 to below `limit`.
  ir::buffer write_marks(const shape& s, std::int64_t limit);
  void change_marks(const ir::buffer& marks, std::int64_t limit);
  void add_use(nest& n, use how, const ir::expr& mark);
};

}  // namespace laws
