// Values that a statement computes once and that read what it writes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/pass/walk.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::pass::detail {

/// Whether `e` loads from one of the buffers.
inline bool loads_any(const ir::expr& e, const buffer_set& buffers) {
  return ir::reads_memory(e) &&
         support::any(buffers, [&](const auto& b) { return ir::loads_from(e, b); });
}

/// Names what may no longer be computed again once a statement has begun to write.
class read_once {
 public:
  explicit read_once(buffer_set written) : written_(std::move(written)) {}

  /// `e`, or the variable of a let with its value.
  ir::expr operator()(const ir::expr& e, const std::string& name) {
    if (!loads_any(e, written_)) return e;
    lets_.emplace_back(ir::make_var(name, e.type()), e);
    return lets_.back().first;
  }

  bool empty() const noexcept { return lets_.empty(); }

  /// `s` inside of the lets.
  ir::stmt around(ir::stmt s) const {
    for (std::size_t k = lets_.size(); k-- > 0;)
      s = ir::make_let(lets_[k].first, lets_[k].second, std::move(s));
    return s;
  }

 private:
  buffer_set written_;
  std::vector<std::pair<ir::var, ir::expr>> lets_;
};

}  // namespace tilewright::pass::detail
