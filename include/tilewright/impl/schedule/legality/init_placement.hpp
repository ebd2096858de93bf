// Inits that run ahead of the nest of their reduction, no longer with the first instance of each
// result.
#pragma once

#include <algorithm>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/region.hpp>
#include <tilewright/impl/schedule/analysis/scope.hpp>
#include <tilewright/ir/analysis/buffer_uses.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::primitive::detail {

/// What an early init loads: itself, and where and how often it runs.
struct decomposed_init {
  ir::stmt body;
  std::vector<ir::expr> around;  // bounds of the loops that it keeps, its guard, its values

  bool loads(const ir::buffer& x) const {
    return ir::loads_from(body, x) ||
           support::any(around, [&](const ir::expr& e) { return ir::loads_from(e, x); });
  }
  /// Whether it loads something that the block writes.
  bool loads_from(const ir::block_node& writer) const {
    return support::any(writer.writes, [&](const ir::buffer_region& w) { return loads(w.buffer); });
  }
};

/// Looks for uses of the buffers that a block allocates, or matches.
class own_uses : ir::buffer_uses {
 public:
  own_uses(const ir::block_node& block, const ir::stmt& part) : block_(block) { visit(part); }
  ir::buffer found;  // null if there is none

 private:
  void use(const ir::buffer& x) override {
    const std::vector<ir::match_buffer>& views = block_.match_buffers;
    const std::vector<ir::buffer>& own = block_.alloc_buffers;
    if (support::contains(own, x) ||
        support::any(views, [&](const ir::match_buffer& m) { return m.buffer == x; }))
      found = x;
  }
  const ir::block_node& block_;
};

/// What the init uses of the block's own buffers, which another block would not know.
inline ir::buffer own_buffer_of_init(const ir::block_node& b) { return own_uses(b, b.init).found; }

/// What the updates of a reduction read: its results too, and all that it says to read of these.
inline std::vector<ir::buffer_region> reads_of_update(const ir::block_node& reduction,
                                                      const arith::analyzer& known) {
  std::vector<ir::buffer_region> out = reduction.writes;
  for (const ir::buffer_region& r : reduction.reads) {
    const auto end = out.begin() + static_cast<std::ptrdiff_t>(reduction.writes.size());
    const auto own =
        std::find_if(out.begin(), end, [&](const auto& w) { return w.buffer == r.buffer; });
    if (own == end)
      out.push_back(r);
    else if (!arith::covers(own->box, r.box, known))
      own->box = arith::unite(own->box, r.box, known);
  }
  return out;
}

}  // namespace tilewright::primitive::detail
