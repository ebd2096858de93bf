// A block that makes its box of results by a nest of loops around one store, as the copies of read_at
// and write_at do.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/arith/linear.hpp>
#include <tilewright/impl/dependence/nest.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::dependence {

/// Serial loops and conditions, outermost first, and the store below them; a store alone is a nest
/// without loops.
struct store_nest {
  std::vector<const ir::stmt*> around;
  const ir::store_node* store = nullptr;

  loop_nest loops() const {
    loop_nest out;
    for (const ir::stmt* s : around)
      if (const ir::loop_node* loop = ir::as_loop(*s)) out.push_back(loop);
    return out;
  }
  /// What holds at the store, for somebody who knows the variables of the block.
  void tell(arith::analyzer& known) const {
    for (const ir::stmt* s : around)
      if (const ir::loop_node* loop = ir::as_loop(*s))
        known.bind(loop->var, domain_of(*loop));
      else
        known.assume(ir::as_if(*s)->condition);
  }
  /// The nest with another store, which runs where `condition` holds.
  ir::stmt with(ir::stmt other, const ir::expr& condition) const {
    if (!ir::is_true(condition)) other = ir::make_if(condition, std::move(other));
    for (std::size_t i = around.size(); i-- > 0;)
      if (const ir::loop_node* loop = ir::as_loop(*around[i]))
        other = ir::with_body(*loop, std::move(other));
      else
        other = ir::make_if(ir::as_if(*around[i])->condition, std::move(other));
    return other;
  }
};

/// Whether each loop moves the store along a dimension of its own: then one instance of the block
/// stores no element twice.
inline bool stores_apart(const store_nest& nest) {
  const loop_nest loops = nest.loops();
  const ir::var_set moving = variables_of(loops);
  return support::all(loops, [&](const ir::loop_node* loop) {
    return support::any(nest.store->indices, [&](const ir::expr& index) {
      return ir::uses_var(index, loop->var) &&
             !ir::uses_any(arith::simplify(index - loop->var), moving);
    });
  });
}

/// The nest that the statement is; nothing where it is none, where its loops are of another kind or
/// follow what is in memory, or where one element may be stored twice.
inline std::optional<store_nest> find_store_nest(const ir::stmt& body) {
  store_nest out;
  for (const ir::stmt* s = &body; *s;) {
    if ((out.store = ir::as_store(*s))) break;
    out.around.push_back(s);
    if (const ir::loop_node* loop = ir::as_loop(*s)) {
      if (loop->loop != ir::loop_kind::serial || bounds_load(*loop)) return std::nullopt;
      s = &loop->body;
    } else if (const ir::if_node* branch = ir::as_if(*s); branch && !branch->else_body) {
      if (ir::reads_memory(branch->condition)) return std::nullopt;
      s = &branch->then_body;
    } else {
      return std::nullopt;
    }
  }
  if (!out.store || !stores_apart(out)) return std::nullopt;
  return out;
}

}  // namespace tilewright::dependence
