// Names, temporaries and loop nests: what reify needs to write blocks down.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/expr/check/bounds.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dsl::detail {

/// Iteration variables of the block under construction, one per axis in scope.
struct frame {
  axis_scope scope;
  std::vector<ir::var> vars;

  const ir::var& var_of(std::string_view axis) const {
    return vars[static_cast<std::size_t>(scope.find(axis))];
  }
};

/// Collects the blocks of a function and the buffers that it allocates.
class block_builder {
 protected:
  std::string fresh_name(const std::string& base) {
    std::string out = base;
    for (int n = 1; support::contains(names_, out); ++n) out = base + "_" + std::to_string(n);
    names_.push_back(out);
    return out;
  }

  ir::expr index_literal(std::int64_t value) const { return ir::integer(index_, value); }

  ir::buffer make_temp(const std::string& base, dtype type, std::vector<ir::expr> shape) {
    temps_.push_back(ir::make_buffer(fresh_name(base), type, std::move(shape)));
    return temps_.back();
  }

  frame make_frame(const axis_scope& scope) const {
    frame out{scope, {}};
    for (int k = 0; k < scope.count; ++k)
      out.vars.push_back(ir::make_var("v" + std::string(scope.axes[k].name), index_));
    return out;
  }

  /// Emits one block over the axes of `f`; the first `spatial` of them are not reduced.
  void emit_block(const std::string& name, const frame& f, int spatial, const ir::stmt& init,
                  const ir::stmt& body, std::vector<ir::buffer_region> reads,
                  std::vector<ir::buffer_region> writes, ir::annotations notes = {}) {
    ir::block_node b;
    b.name = fresh_block_name(name);
    std::vector<ir::expr> values;
    std::vector<ir::var> loops;
    for (int k = 0; k < f.scope.count; ++k) {
      const axis_range& axis = f.scope.axes[k];
      b.iters.push_back({f.vars[static_cast<std::size_t>(k)],
                         {index_literal(0), index_literal(axis.extent)},
                         k < spatial ? ir::iter_kind::spatial : ir::iter_kind::reduce});
      loops.push_back(ir::make_var(std::string(axis.name), index_));
      values.push_back(loops.back());
    }
    b.reads = std::move(reads);
    b.writes = std::move(writes);
    b.init = init;
    b.body = body;
    b.annotations = std::move(notes);
    ir::stmt out = ir::make_realize(values, ir::boolean(true), ir::make_block(std::move(b)));
    for (int k = f.scope.count - 1; k >= 0; --k)
      out = ir::make_loop(loops[static_cast<std::size_t>(k)], index_literal(0),
                          index_literal(f.scope.axes[k].extent), out);
    blocks_.push_back(std::move(out));
  }

  std::string fresh_block_name(const std::string& base) {
    const int uses = block_uses_[base]++;
    return uses == 0 ? base : base + "_" + std::to_string(uses);
  }

  dtype index_ = dtype::i32;
  std::vector<ir::buffer> temps_;
  std::vector<ir::stmt> blocks_;
  std::vector<std::string> names_;  // of buffers
  std::map<std::string, int> block_uses_;
};

}  // namespace tilewright::dsl::detail
