#pragma once

#include <tilewright/impl/ir/text/printer.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>

namespace tilewright::ir {
namespace detail {

inline bool is_plain_serial(const loop_node& n) {
  return n.loop == loop_kind::serial && n.annotations.empty() && is_int(n.min, 0);
}

/// Calls `f` on each variable in the buffer's shape, strides and offset.
template <class F>
void for_each_layout_var(const buffer& b, F f) {
  const auto on_expr = [&](const expr& e) {
    if (e->op == op::var) f(e);
  };
  for (const expr& e : b->shape) for_each_expr(e, on_expr);
  for (const expr& e : b->strides) for_each_expr(e, on_expr);
  if (b->elem_offset) for_each_expr(b->elem_offset, on_expr);
}

inline bool has_symbolic_layout(const buffer& b) {
  bool found = false;
  for_each_layout_var(b, [&](const expr&) { found = true; });
  return found;
}

inline bool contains_block(const stmt& s) {
  return any_stmt(s, [](const stmt& x) { return as_realize(x) != nullptr; });
}

TILEWRIGHT_INLINE bool root_is_implied(const stmt& body) {
  const block_realize_node* realize = as_realize(body);
  if (!realize || !is_true(realize->predicate)) return false;
  const block_node& b = *realize->block;
  if (b.name != "root" || !b.iters.empty() || !b.reads.empty() || !b.writes.empty() ||
      !b.match_buffers.empty() || !b.annotations.empty() || b.init)
    return false;
  if (!b.alloc_buffers.empty()) return true;
  if (const block_realize_node* inner = as_realize(b.body)) return !inner->block->iters.empty();
  return contains_block(b.body);
}

TILEWRIGHT_INLINE void printer::line() { out_.append(static_cast<std::size_t>(depth_) * 4, ' '); }

TILEWRIGHT_INLINE void printer::write(const function& f) {
  out_ += "# from tvm.script import tir as T\n\n@T.prim_func\ndef ";
  name_table own;
  out_ += own.define(&f, f.name.empty() ? "main" : f.name);
  param_list(f);
  ++depth_;
  if (!f.attrs.empty()) {
    line();
    out_ += "T.func_attr(" + print_attr(f.attrs) + ")\n";
  }
  match_params(f);
  const std::size_t start = out_.size();
  free_.clear();
  function_body(f.body);
  std::string declared = std::exchange(out_, {});
  for (const var& v : free_) {
    line();
    out_ += name_of(v) + " = T." + std::string(name(v.type())) + "()\n";
  }
  declared.insert(start, out_);
  out_ = std::move(declared);
  --depth_;
}

TILEWRIGHT_INLINE void printer::param_list(const function& f) {
  // Scalars first get their names: buffers may mention them in their shapes.
  for (const param& p : f.params) {
    if (p.buffer)
      names_.define(p.buffer.get(), p.buffer->name);
    else
      names_.define(p.scalar.get(), p.scalar->name);
  }
  out_ += '(';
  for (const param& p : f.params) {
    if (out_.back() != '(') out_ += ", ";
    if (!p.buffer) {
      out_ += name_of(p.scalar) + ": T.";
      out_ += name(p.scalar.type());
    } else if (has_symbolic_layout(p.buffer)) {
      out_ += names_.define(&p, "var_" + name_of(p.buffer)) + ": T.handle";
    } else {
      out_ += name_of(p.buffer) + ": T.Buffer(";
      write_layout(p.buffer);
      out_ += ')';
    }
  }
  out_ += "):\n";
}

TILEWRIGHT_INLINE void printer::match_params(const function& f) {
  for (const param& p : f.params) {
    if (!p.buffer || !has_symbolic_layout(p.buffer)) continue;
    declare_free_vars(p.buffer);
    line();
    out_ += name_of(p.buffer) + " = T.match_buffer(" + names_.use(&p, "handle") + ", ";
    write_layout(p.buffer);
    out_ += ")\n";
  }
}

TILEWRIGHT_INLINE void printer::declare_free_vars(const buffer& b) {
  for_each_layout_var(b, [&](const var& v) {
    if (names_.knows(v.get())) return;
    line();
    out_ += names_.define(v.get(), v->name) + " = T.";
    out_ += name(v.type());
    out_ += "()\n";
  });
}

TILEWRIGHT_INLINE void printer::function_body(const stmt& body) {
  if (!root_is_implied(body)) return statements(body);
  const block_node& root = *as_realize(body)->block;
  line();
  out_ += "# with T.block(\"root\"):\n";
  allocations(root.alloc_buffers);
  statements(root.body);
}

TILEWRIGHT_INLINE void printer::suite(const stmt& body) {
  const std::size_t scope = names_.mark();
  ++depth_;
  const std::size_t start = out_.size();
  if (body) statements(body);
  if (out_.size() == start) {
    line();
    out_ += "pass\n";
  }
  --depth_;
  names_.release(scope);
}

TILEWRIGHT_INLINE void printer::statements(const stmt& s) {
  const seq_node* seq = as_seq(s);
  if (!seq) return statement(s, true);
  for (std::size_t i = 0; i < seq->stmts.size(); ++i)
    statement(seq->stmts[i], i + 1 == seq->stmts.size());
  if (seq->stmts.empty() && depth_ <= 1) {
    line();
    out_ += "pass\n";
  }
}

TILEWRIGHT_INLINE void printer::write(const stmt& s) { statements(s); }

/// `last` tells that nothing follows in the same suite, so that a scope may extend to its end.
TILEWRIGHT_INLINE void printer::statement(const stmt& s, bool last) {
  switch (s->kind) {
    case stmt_kind::loop: return loop(*as_loop(s));
    case stmt_kind::block_realize: return realize(*as_realize(s));
    case stmt_kind::seq: return statements(s);
    case stmt_kind::store: {
      const store_node& n = *as_store(s);
      line();
      access(n.buffer, n.indices);
      out_ += " = ";
      write(n.value);
      out_ += '\n';
      return;
    }
    case stmt_kind::if_else: return branch(*as_if(s));
    case stmt_kind::let: return let(*as_let(s), last);
    case stmt_kind::evaluate:
      line();
      out_ += "T.evaluate(";
      write(as_evaluate(s)->value);
      out_ += ")\n";
      return;
    case stmt_kind::allocate: return allocate(*as_allocate(s), last);
    case stmt_kind::while_loop:
      line();
      out_ += "while ";
      write(as_while(s)->condition);
      out_ += ":\n";
      return suite(as_while(s)->body);
    case stmt_kind::attribute: return attribute(*as_attribute(s));
  }
}

TILEWRIGHT_INLINE void printer::loop(const loop_node& first) {
  std::vector<const loop_node*> nest{&first};
  var_set vars{first.var};
  if (is_plain_serial(first))
    for (const loop_node* n = as_loop(first.body); n; n = as_loop(n->body)) {
      if (!is_plain_serial(*n) || uses_any(n->extent, vars)) break;
      nest.push_back(n);
      vars.insert(n->var);
    }
  line();
  out_ += "for ";
  const std::size_t scope = names_.mark();
  // A nest is printed as one line only if its names can be: bounds are printed before they exist.
  std::string header;
  if (nest.size() > 1) {
    std::swap(header, out_);
    out_ += "T.grid(";
    for (const loop_node* n : nest) {
      if (n != nest.front()) out_ += ", ";
      write(n->extent);
    }
    out_ += ')';
  } else {
    std::swap(header, out_);
    loop_header(first);
  }
  std::swap(header, out_);
  for (const loop_node* n : nest) {
    if (n != nest.front()) out_ += ", ";
    out_ += names_.define(n->var.get(), n->var->name);
    loops_[n->var.get()] = n;
  }
  out_ += " in " + header + ":\n";
  suite(nest.back()->body);
  for (const loop_node* n : nest) loops_.erase(n->var.get());
  names_.release(scope);
}

TILEWRIGHT_INLINE void printer::loop_header(const loop_node& n) {
  static constexpr std::string_view kinds[] = {"T.serial", "T.parallel", "T.vectorized", "T.unroll",
                                               "T.thread_binding"};
  const bool plain = n.loop == loop_kind::serial && n.annotations.empty();
  out_ += plain ? std::string_view("range") : kinds[static_cast<std::size_t>(n.loop)];
  out_ += '(';
  if (!is_int(n.min, 0)) {
    write(n.min);
    out_ += ", ";
  }
  write(stop_of({n.min, n.extent}));
  if (n.loop == loop_kind::thread_binding) out_ += ", thread=" + quote(n.thread_tag);
  if (!n.annotations.empty()) out_ += ", annotations=" + print_attr(n.annotations);
  out_ += ')';
}

TILEWRIGHT_INLINE void printer::let(const let_node& n, bool last) {
  line();
  if (last) {
    std::string before = std::exchange(out_, {});
    write(n.value);
    const std::string value = std::exchange(out_, std::move(before));
    out_ += names_.define(n.var.get(), n.var->name) + ": T.";
    out_ += name(n.var.type());
    out_ += " = " + value + "\n";
    return statements(n.body);
  }
  out_ += "with T.LetStmt(";
  write(n.value);
  const std::size_t scope = names_.mark();
  out_ += ") as " + names_.define(n.var.get(), n.var->name) + ":\n";
  suite(n.body);
  names_.release(scope);
}

TILEWRIGHT_INLINE void printer::allocate(const allocate_node& n, bool last) {
  declare_free_vars(n.buffer);
  line();
  const std::size_t scope = names_.mark();
  const std::string& spelling = names_.define(n.buffer.get(), n.buffer->name);
  out_ += last ? spelling + " = T.decl_buffer(" : "with T.decl_buffer(";
  write_layout(n.buffer);
  out_ += last ? ")\n" : ") as " + spelling + ":\n";
  if (last) return statements(n.body);
  suite(n.body);
  names_.release(scope);
}

TILEWRIGHT_INLINE void printer::attribute(const attribute_node& n) {
  line();
  out_ += "with T.attr(";
  write(n.node);
  out_ += ", " + quote(n.key) + ", ";
  write(n.value);
  out_ += "):\n";
  suite(n.body);
}

TILEWRIGHT_INLINE void printer::branch(const if_node& n) {
  line();
  out_ += "if ";
  write(n.condition);
  out_ += ":\n";
  suite(n.then_body);
  if (!n.else_body) return;
  line();
  out_ += "else:\n";
  suite(n.else_body);
}

TILEWRIGHT_INLINE void printer::realize(const block_realize_node& n) {
  const block_node& b = *n.block;
  line();
  out_ += "with T.block(" + quote(b.name) + "):\n";
  const std::size_t scope = names_.mark();
  ++depth_;
  block_header(n);
  if (b.init) {
    line();
    out_ += "with T.init():\n";
    suite(b.init);
  }
  --depth_;
  suite(b.body);
  names_.release(scope);
}

TILEWRIGHT_INLINE void printer::block_header(const block_realize_node& n) {
  const block_node& b = *n.block;
  iterations(n);
  if (!is_true(n.predicate)) {
    line();
    out_ += "T.where(";
    write(n.predicate);
    out_ += ")\n";
  }
  regions("reads", b.reads);
  regions("writes", b.writes);
  if (!b.annotations.empty()) {
    line();
    out_ += "T.block_attr(" + print_attr(b.annotations) + ")\n";
  }
  allocations(b.alloc_buffers);
  matches(b.match_buffers);
}

TILEWRIGHT_INLINE bool printer::binds_loop(const iter_var& iter, const expr& value) const {
  if (iter.kind != iter_kind::spatial && iter.kind != iter_kind::reduce) return false;
  const auto found = loops_.find(value.get());
  if (found == loops_.end()) return false;
  const loop_node& loop = *found->second;
  return equal(loop.min, iter.dom.min) && equal(loop.extent, iter.dom.extent) &&
         loop.var.type() == iter.var.type();
}

TILEWRIGHT_INLINE void printer::iterations(const block_realize_node& n) {
  const std::vector<iter_var>& iters = n.block->iters;
  std::size_t i = 0;
  while (i < iters.size()) {
    std::size_t end = i;
    while (end < iters.size() && binds_loop(iters[end], n.values[end])) ++end;
    if (end < i + 2) {
      iteration(iters[i], n.values[i]);
      ++i;
      continue;
    }
    line();
    std::string letters, values;
    for (std::size_t first = i; i < end; ++i) {
      const char* comma = i == first ? "" : ", ";
      letters += iters[i].kind == iter_kind::spatial ? 'S' : 'R';
      values += comma + name_of(n.values[i]);
      out_ += comma + names_.define(iters[i].var.get(), iters[i].var->name);
    }
    out_ += " = T.axis.remap(\"" + letters + "\", [" + values + "])\n";
  }
}

TILEWRIGHT_INLINE void printer::iteration(const iter_var& iter, const expr& value) {
  static constexpr std::string_view kinds[] = {"spatial", "reduce", "scan", "opaque"};
  line();
  std::string before = std::exchange(out_, {});
  out_ += kinds[static_cast<std::size_t>(iter.kind)];
  out_ += '(';
  if (is_int(iter.dom.min, 0)) {
    write(iter.dom.extent);
  } else {
    tuple({iter.dom.min, stop_of(iter.dom)});
  }
  out_ += ", ";
  write(value);
  out_ += ")\n";
  const std::string domain = std::exchange(out_, std::move(before));
  out_ += names_.define(iter.var.get(), iter.var->name) + " = T.axis." + domain;
}

TILEWRIGHT_INLINE void printer::regions(std::string_view name,
                                        const std::vector<buffer_region>& list) {
  line();
  out_ += "T.";
  out_ += name;
  out_ += '(';
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i != 0) out_ += ", ";
    write(list[i]);
  }
  out_ += ")\n";
}

TILEWRIGHT_INLINE void printer::allocations(const std::vector<buffer>& list) {
  for (const buffer& b : list) {
    declare_free_vars(b);
    line();
    out_ += names_.define(b.get(), b->name) + " = T.alloc_buffer(";
    write_layout(b);
    out_ += ")\n";
  }
}

TILEWRIGHT_INLINE void printer::matches(const std::vector<match_buffer>& list) {
  for (const match_buffer& m : list) {
    declare_free_vars(m.buffer);
    line();
    out_ += names_.define(m.buffer.get(), m.buffer->name) + " = T.match_buffer(";
    write(m.source);
    out_ += ", ";
    write_layout(m.buffer);
    out_ += ")\n";
  }
}

}  // namespace detail

TILEWRIGHT_INLINE std::string print(const function& f) {
  detail::printer p;
  p.write(f);
  return p.take();
}

TILEWRIGHT_INLINE std::string print(const stmt& s) {
  detail::printer p;
  p.write(s);
  return p.take();
}

TILEWRIGHT_INLINE std::string print(const expr& e) {
  detail::printer p;
  p.write(e);
  return p.take();
}

TILEWRIGHT_INLINE std::string print(const buffer_region& r) {
  detail::printer p;
  p.write(r);
  return p.take();
}

}  // namespace tilewright::ir
