// What iterations of a loop need not agree on, followed down a path.
#pragma once

#include <set>

#include <tilewright/ir/any_expr.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive::detail {

/// Variables that differ between iterations of a loop, and memory that they write.
class differing_values {
 public:
  /// What is stored below the loop counts as written, but for what is stored in `own`.
  explicit differing_values(const ir::loop_node& loop, const ir::stmt& own = {}) {
    std::set<const ir::stmt_node*> inside;
    if (own) ir::for_each_stmt(own, [&](const ir::stmt& s) { inside.insert(s.get()); });
    ir::for_each_stmt(loop.body, [&](const ir::stmt& s) {
      const ir::store_node* store = ir::as_store(s);
      if (store && inside.count(s.get()) == 0) written_.insert(store->buffer.get());
    });
  }
  void add(const ir::var& v) { vars_.insert(v); }

  /// Whether they decide anything in the expression or statement, what it loads and stores too.
  template <class Part>
  bool decide(const Part& part) const {
    return ir::any_expr(part, [&](const ir::expr& x) { return is_one(x); });
  }
  /// Whether a variable that they decide is used in the statement.
  bool name(const ir::stmt& s) const {
    return ir::any_expr(s, [&](const ir::expr& x) { return vars_.count(x) != 0; });
  }
  /// The variables that the statement defines, a let or a block, are among them where they decide
  /// these.
  void follow(const ir::stmt& s) {
    if (const ir::let_node* let = ir::as_let(s); let && decide(let->value)) add(let->var);
    if (const ir::block_realize_node* r = ir::as_realize(s))
      for (std::size_t i = 0; i < r->values.size(); ++i)
        if (decide(r->values[i])) add(r->block->iters[i].var);
  }

 private:
  bool is_one(const ir::expr& e) const {
    return vars_.count(e) != 0 || (e->buffer && written_.count(e->buffer.get()) != 0);
  }

  ir::var_set vars_;
  std::set<const ir::buffer_node*> written_;
};

}  // namespace tilewright::primitive::detail
