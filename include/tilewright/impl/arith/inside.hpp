// What holds inside of a statement, for walks that know it.
#pragma once

#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::arith::detail {

/// While it lives, `known` is that of the inside of a loop, of a block or of a branch; behind, what it
/// was in front: there a loop may have had no iterations, and the condition need not hold.
class inside {
 public:
  inside(analyzer& known, const ir::loop_node& loop) : inside(known) {
    known.bind(loop.var, ir::range{loop.min, loop.extent});
  }
  inside(analyzer& known, const ir::block_node& block) : inside(known) {
    for (const ir::iter_var& v : block.iters) known.bind(v.var, v.dom);
  }
  inside(analyzer& known, const ir::expr& condition) : inside(known) { known.assume(condition); }
  ~inside() { known_ = std::move(outside_); }

  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  explicit inside(analyzer& known) : known_(known), outside_(known) {}

  analyzer& known_;
  analyzer outside_;
};

}  // namespace tilewright::arith::detail
