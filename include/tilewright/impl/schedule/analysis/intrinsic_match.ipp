#pragma once

#include <utility>

#include <tilewright/arith/analyzer.hpp>
#include <tilewright/impl/schedule/analysis/intrinsic_match.hpp>
#include <tilewright/ir/analysis/joint_copy.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::primitive {
namespace detail::matching {

using arith::is_index;

/// Walks description and program side by side; `expected_` is the description's side.
class comparator {
 public:
  explicit comparator(std::unordered_map<ir::buffer, matched_buffer>& buffers)
      : buffers_(buffers) {}

  std::string run(const ir::block_node& found, const ir::block_node& expected) {
    if (regions(expected.reads, found.reads, "reads") &&
        regions(expected.writes, found.writes, "writes"))
      match(expected.body, found.body);
    return difference_;
  }

 private:
  bool fail(const std::string& what, const std::string& expected, const std::string& found) {
    if (difference_.empty()) difference_ = what + ", expected " + expected + ", found " + found;
    return false;
  }
  bool fail(const std::string& what, const ir::expr& expected, const ir::expr& found) {
    return fail(what, ir::print(expected), ir::print(found));
  }

  bool regions(const std::vector<ir::buffer_region>& expected,
               const std::vector<ir::buffer_region>& found, const std::string& which) {
    if (expected.size() != found.size())
      return fail("the number of regions that the block " + which, std::to_string(expected.size()),
                  std::to_string(found.size()));
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (!region(expected[i], found[i])) return false;
    return true;
  }

  bool region(const ir::buffer_region& expected, const ir::buffer_region& found) {
    const auto known = buffers_.find(expected.buffer);
    if (known != buffers_.end() && known->second.buffer != found.buffer)
      return fail("a region", "one of \"" + known->second.buffer->name + "\"", ir::print(found));
    if (expected.box.size() > found.box.size())
      return fail("the rank of a region", ir::print(expected), ir::print(found));
    if (expected.buffer->type != found.buffer->type)
      return fail("the type of \"" + found.buffer->name + "\"",
                  std::string(name(expected.buffer->type)), std::string(name(found.buffer->type)));
    if (expected.buffer->scope != found.buffer->scope)
      return fail("the scope of \"" + found.buffer->name + "\"", expected.buffer->scope,
                  found.buffer->scope);
    const std::size_t skip = found.box.size() - expected.box.size();
    matched_buffer m{found.buffer, {}};
    for (std::size_t d = 0; d < found.box.size(); ++d) {
      const ir::expr want = d < skip ? ir::expr(1) : expected.box[d - skip].extent;
      if (!same_index(want, found.box[d].extent))
        return fail("the extent of dimension " + std::to_string(d) + " of " + ir::print(found),
                    want, found.box[d].extent);
      m.base.push_back(found.box[d].min);
    }
    if (known == buffers_.end()) buffers_.emplace(expected.buffer, std::move(m));
    return true;
  }

  /// Equal as numbers, with the variables of the description replaced by those of the program.
  bool same_index(const ir::expr& expected, const ir::expr& found) {
    const ir::expr e = ir::substitute(expected, vars_);
    return known_.prove_equal(ir::cast(found.type(), e), found);
  }

  bool match(const ir::expr& e, const ir::expr& f) {
    if (e->op == ir::op::var) {
      const auto known = vars_.find(e);
      const bool same = known != vars_.end() ? known->second.same(f) : e.same(f);
      return same || (is_index(e.type()) && same_index(e, f)) || fail("a value", e, f);
    }
    if (e->op == ir::op::load && f->op == ir::op::load && e.type() == f.type())
      return access(e->buffer, e->args, f->buffer, f->args);
    if (e->op != f->op || e->args.size() != f->args.size() || e->name != f->name)
      return (is_index(e.type()) && is_index(f.type()) && e->op != ir::op::load &&
              same_index(e, f)) ||
             fail("an expression", e, f);
    if (e.type() != f.type() && !(is_index(e.type()) && is_index(f.type()) &&
                                  e->op != ir::op::load && e->op != ir::op::cast))
      return fail("the type of " + ir::print(f), std::string(name(e.type())),
                  std::string(name(f.type())));
    if (e->op == ir::op::integer) return e->integer == f->integer || fail("a number", e, f);
    if (e->op == ir::op::real) return e->real == f->real || fail("a number", e, f);
    if (e->op == ir::op::data) return same_buffer(e->buffer, f->buffer) || fail("a buffer", e, f);
    for (std::size_t i = 0; i < e->args.size(); ++i)
      if (!match(e->args[i], f->args[i])) return false;
    return true;
  }

  bool same_buffer(const ir::buffer& expected, const ir::buffer& found) const {
    const auto known = buffers_.find(expected);
    return known != buffers_.end() ? known->second.buffer == found : expected == found;
  }

  bool access(const ir::buffer& eb, const std::vector<ir::expr>& e, const ir::buffer& fb,
              const std::vector<ir::expr>& f) {
    if (!same_buffer(eb, fb)) {
      const auto known = buffers_.find(eb);
      return fail("a buffer",
                  "\"" + (known != buffers_.end() ? known->second.buffer : eb)->name + "\"",
                  "\"" + fb->name + "\"");
    }
    const auto known = buffers_.find(eb);
    const std::vector<ir::expr>* base = known != buffers_.end() ? &known->second.base : nullptr;
    const std::size_t skip = f.size() - e.size();
    for (std::size_t d = 0; d < f.size(); ++d) {
      const dtype type = f[d].type();
      ir::expr want = ir::integer(type, 0);
      if (d >= skip) want = ir::cast(type, ir::substitute(e[d - skip], vars_));
      if (base) want = ir::cast(type, (*base)[d]) + want;
      if (!known_.prove_equal(want, f[d]))
        return fail("index " + std::to_string(d) + " of \"" + fb->name + "\"", want, f[d]);
    }
    return true;
  }

  bool match(const ir::stmt& e, const ir::stmt& f) {
    if (e->kind != f->kind) return fail("a statement", "\n" + ir::print(e), "\n" + ir::print(f));
    switch (e->kind) {
      case ir::stmt_kind::loop: return match(*ir::as_loop(e), *ir::as_loop(f));
      case ir::stmt_kind::block_realize: return match(*ir::as_realize(e), *ir::as_realize(f));
      case ir::stmt_kind::store: {
        const ir::store_node &x = *ir::as_store(e), &y = *ir::as_store(f);
        return access(x.buffer, x.indices, y.buffer, y.indices) && match(x.value, y.value);
      }
      case ir::stmt_kind::seq: {
        const auto &x = ir::as_seq(e)->stmts, &y = ir::as_seq(f)->stmts;
        if (x.size() != y.size())
          return fail("the number of statements in a sequence", std::to_string(x.size()),
                      std::to_string(y.size()));
        for (std::size_t i = 0; i < x.size(); ++i)
          if (!match(x[i], y[i])) return false;
        return true;
      }
      case ir::stmt_kind::if_else: {
        const ir::if_node &x = *ir::as_if(e), &y = *ir::as_if(f);
        if (static_cast<bool>(x.else_body) != static_cast<bool>(y.else_body))
          return fail("an else branch", x.else_body ? "one" : "none", y.else_body ? "one" : "none");
        return match(x.condition, y.condition) && match(x.then_body, y.then_body) &&
               (!x.else_body || match(x.else_body, y.else_body));
      }
      case ir::stmt_kind::let: {
        const ir::let_node &x = *ir::as_let(e), &y = *ir::as_let(f);
        if (!match(x.value, y.value)) return false;
        vars_[x.var] = y.var;
        return match(x.body, y.body);
      }
      case ir::stmt_kind::evaluate:
        return match(ir::as_evaluate(e)->value, ir::as_evaluate(f)->value);
      default: return fail("a statement that can be compared", "one", "\n" + ir::print(f));
    }
  }

  bool match(const ir::loop_node& e, const ir::loop_node& f) {
    const std::string which = " of loop \"" + f.var->name + "\"";
    if (!same_index(e.min, f.min)) return fail("the start" + which, e.min, f.min);
    if (!same_index(e.extent, f.extent)) return fail("the extent" + which, e.extent, f.extent);
    if (e.loop != f.loop || e.thread_tag != f.thread_tag)
      return fail("the kind" + which, "that of \"" + e.var->name + "\"", "another");
    if (e.annotations != f.annotations)
      return fail("the annotations" + which, "those of \"" + e.var->name + "\"", "others");
    bind(e.var, f.var, {f.min, f.extent});
    return match(e.body, f.body);
  }

  void bind(const ir::var& expected, const ir::var& found, const ir::range& range) {
    vars_[expected] = found;
    known_.bind(found, range);
  }

  bool match(const ir::block_realize_node& e, const ir::block_realize_node& f) {
    const ir::block_node &x = *e.block, &y = *f.block;
    const std::string which = " of block \"" + y.name + "\"";
    if (x.iters.size() != y.iters.size())
      return fail("the number of iteration variables" + which, std::to_string(x.iters.size()),
                  std::to_string(y.iters.size()));
    for (std::size_t i = 0; i < x.iters.size(); ++i) {
      if (x.iters[i].kind != y.iters[i].kind)
        return fail("the kind of \"" + y.iters[i].var->name + "\"" + which,
                    "that of \"" + x.iters[i].var->name + "\"", "another");
      if (!same_index(x.iters[i].dom.extent, y.iters[i].dom.extent))
        return fail("the extent of \"" + y.iters[i].var->name + "\"" + which, x.iters[i].dom.extent,
                    y.iters[i].dom.extent);
      if (!same_index(e.values[i], f.values[i]))
        return fail("the binding of \"" + y.iters[i].var->name + "\"" + which, e.values[i],
                    f.values[i]);
    }
    if (!match(e.predicate, f.predicate)) return false;
    // other annotations of blocks change no meaning
    if (ir::is_auto_copy(x) != ir::is_auto_copy(y))
      return fail("the annotation " + std::string(ir::auto_copy) + which,
                  "that of \"" + x.name + "\"", "another");
    if (static_cast<bool>(x.init) != static_cast<bool>(y.init))
      return fail("the init" + which, x.init ? "one" : "none", y.init ? "one" : "none");
    if (!x.alloc_buffers.empty() || !y.alloc_buffers.empty() || !x.match_buffers.empty() ||
        !y.match_buffers.empty())
      return fail("buffers" + which, "none", "some");
    for (std::size_t i = 0; i < x.iters.size(); ++i)
      bind(x.iters[i].var, y.iters[i].var, y.iters[i].dom);
    return (!x.init || match(x.init, y.init)) && match(x.body, y.body);
  }

  std::unordered_map<ir::buffer, matched_buffer>& buffers_;
  ir::var_map vars_;
  arith::analyzer known_;
  std::string difference_;
};

}  // namespace detail::matching

TILEWRIGHT_INLINE std::string match_tensor(
    const ir::block_node& block, const ir::function& description,
    std::unordered_map<ir::buffer, matched_buffer>& buffers) {
  return detail::matching::comparator(buffers).run(block, *ir::root_block(description));
}

}  // namespace tilewright::primitive
