// The lines of a script that only sparse programs have.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/ir/text/sparse_script.hpp>

namespace tilewright::ir {
namespace detail {

/// The right sides of definitions that only sparse programs have.
TILEWRIGHT_INLINE bool parser::defines_sparse(std::string_view call) const {
  static constexpr std::array<std::string_view, 6> calls{
      "dense_fixed",     "dense_variable",      "sparse_fixed",
      "sparse_variable", "match_sparse_buffer", "alloc_sparse_buffer"};
  return sparse_ && std::find(calls.begin(), calls.end(), call) != calls.end();
}

TILEWRIGHT_INLINE sparse_axis parser::axis_name() {
  const token name = in_.expect_name("an axis");
  const auto found = axes_.find(name.text);
  if (found == axes_.end()) in_.fail(name, "an axis that is defined above");
  return found->second;
}

TILEWRIGHT_INLINE buffer parser::pattern_array() {
  const token name = in_.expect_name("a parameter of integers");
  const entity& meant = lookup(name);
  const bool fits = meant.is == entity::kind::tensor && meant.tensor->shape.size() == 1 &&
                    is_integer(meant.tensor->type);
  if (!fits) in_.fail(name, "a parameter of integers of one dimension");
  return meant.tensor;
}

/// `sorted=False`, or the type of the indices, as SparseTIR has it: `idtype="int32"`
TILEWRIGHT_INLINE void parser::axis_option(sparse_axis_node& axis) {
  if (axis.kind != axis_kind::dense_fixed && in_.accept("sorted")) {
    in_.expect("=");
    axis.sorted = in_.accept("True");
    if (!axis.sorted) in_.expect("False");
    return;
  }
  if (in_.accept("idtype")) in_.expect("=");
  const dtype indices = axis.indptr    ? axis.indptr->type
                        : axis.indices ? axis.indices->type
                                       : axis.length.type();
  same_type(indices);
}

/// A type that is known otherwise, too.
TILEWRIGHT_INLINE void parser::same_type(dtype known) {
  const token at = in_.peek();
  if (type_argument() != known)
    in_.fail(at, "\"" + std::string(name(known)) + "\", which is the type of the array");
}

/// `I = T.dense_fixed(n)`, `K = T.sparse_variable(I, (length, nnz), (indptr, indices))`, ...
TILEWRIGHT_INLINE void parser::sparse_axis_definition(const token& name, const token& call) {
  in_.expect("(");
  sparse_axis_node axis;
  axis.name = std::string(name.text);
  if (call.text == "dense_fixed") {
    axis.length = integer_expr("the length of the axis");
    if (in_.at(",") && axes_.count(in_.peek(1).text)) {
      in_.expect(",");
      axis.parent = axis_name();
    }
  } else {
    axis.kind = call.text == "dense_variable" ? axis_kind::dense_variable
                : call.text == "sparse_fixed" ? axis_kind::sparse_fixed
                                              : axis_kind::sparse_variable;
    axis.parent = axis_name();
    in_.expect(",");
    in_.expect("(");
    axis.length = integer_expr("the length of the axis");
    in_.expect(",");
    (axis.variable() ? axis.nnz : axis.width) = integer_expr("the number of elements");
    in_.expect(")");
    in_.expect(",");
    if (call.text == "sparse_variable") in_.expect("(");
    if (axis.variable()) axis.indptr = pattern_array();
    if (call.text == "sparse_variable") in_.expect(",");
    if (axis.sparse()) axis.indices = pattern_array();
    if (call.text == "sparse_variable") in_.expect(")");
  }
  while (in_.accept(",")) axis_option(axis);
  in_.expect(")");
  if (axes_.count(name.text)) in_.fail(name, "an axis of another name");
  sparse_->axes.push_back(sparse_axis(new sparse_axis_node(std::move(axis))));
  axes_.emplace(name.text, sparse_->axes.back());
}

/// `A_1 = T.match_sparse_buffer(A, (I, K))`, perhaps with the type of A behind the axes; `S = T.alloc_sparse_buffer((I, K), "float32")`
TILEWRIGHT_INLINE void parser::sparse_buffer_definition(const token& name, const token& call) {
  in_.expect("(");
  sparse_buffer out;
  if (call.text == "match_sparse_buffer") {
    const token of = in_.expect_name("the storage of the buffer");
    const entity& meant = lookup(of);
    if (meant.is != entity::kind::tensor) in_.fail(of, "a parameter");
    out.storage = meant.tensor;
    in_.expect(",");
  }
  in_.expect("(");
  std::vector<expr> shape;
  while (!in_.at(")")) {
    out.axes.push_back(axis_name());
    shape.push_back(out.axes.back()->length);
    if (!in_.accept(",") && !in_.at(")")) in_.fail("',' or ')'");
  }
  if (out.axes.empty()) in_.fail("an axis");
  in_.expect(")");
  const auto names_default = [&] {
    return in_.at(",") && in_.peek(1).text == "default_value" && in_.peek(2).text == "=";
  };
  if (out.storage && !names_default() && in_.accept(",")) same_type(out.storage->type);
  if (!out.storage) {
    in_.expect(",");
    out.storage = make_buffer(std::string(name.text), type_argument(), {storage_extent(out.axes)});
    around_->node.alloc_buffers.push_back(out.storage);
  }
  if (names_default()) {
    for (int n = 0; n < 3; ++n) in_.next();
    const token at = in_.peek();
    out.absent = settle(expression());
    if (out.absent.type() != out.storage->type ||
        (out.absent->op != op::real && out.absent->op != op::integer))
      in_.fail(at, "a literal of the type of the storage, as T." +
                       std::string(tilewright::name(out.storage->type)) + "(0)");
  }
  in_.expect(")");
  out.coordinates = make_buffer(out.storage->name, out.storage->type, std::move(shape));
  define_tensor(name, out.coordinates);
  sparse_->buffers.push_back(std::move(out));
}

TILEWRIGHT_INLINE void parser::sparse_definition(const token& name, const token& call) {
  if (call.text == "match_sparse_buffer" || call.text == "alloc_sparse_buffer")
    sparse_buffer_definition(name, call);
  else
    sparse_axis_definition(name, call);
}

/// `K`, `T.intersect(K)`, `T.unite(K)`, `T.fuse(I, K)` or `T.attach(K, J)`
TILEWRIGHT_INLINE void parser::iterated_axis(std::vector<sparse_iter>& to) {
  sparse_iter one;
  if (!in_.accept("T")) {
    one.axis = axis_name();
    to.push_back(std::move(one));
    return;
  }
  in_.expect(".");
  if (in_.accept("fuse")) {
    in_.expect("(");
    do {
      one.axis = axis_name();
      one.fused = true;
      to.push_back(one);
    } while (in_.accept(","));
    to.back().fused = false;
    in_.expect(")");
    return;
  }
  const bool attached = in_.accept("attach");
  one.walk = attached              ? axis_walk::every
             : in_.accept("unite") ? axis_walk::unite
                                   : axis_walk::intersect;
  if (one.walk == axis_walk::intersect) in_.expect("intersect");
  in_.expect("(");
  one.axis = axis_name();
  if (attached) {
    in_.expect(",");
    one.attached = axis_name();
  }
  in_.expect(")");
  to.push_back(std::move(one));
}

/// `T.sp_iter([I, K], "SR", "y") as [vi, vk]:` and what is below it. The statement is a block that
/// `run_sparse` finds again.
TILEWRIGHT_INLINE stmt parser::sparse_iteration_statement(const token& at) {
  if (!sparse_ || !here_ || !here_->top) in_.fail(at, "T.sp_iter at the top of a sparse function");
  in_.expect("(");
  in_.expect("[");
  iterated_axes axes;
  while (!in_.at("]")) {
    iterated_axis(axes);
    if (!in_.accept(",") && !in_.at("]")) in_.fail("',' or ']'");
  }
  in_.expect("]");
  in_.expect(",");
  const token spelled = in_.expect_string("the kinds of the axes");
  const std::string kinds = decode_string(spelled);
  const bool fits = kinds.size() == axes.size() && !axes.empty() &&
                    kinds.find_first_not_of("SR") == std::string::npos;
  if (!fits) in_.fail(spelled, "one S or R for each axis");
  in_.expect(",");
  block_frame frame;
  frame.node.name = decode_string(in_.expect_string("the name of the iteration"));
  in_.expect(")");
  in_.expect("as");
  in_.expect("[");
  const std::size_t scope = scope_.size();
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (k) in_.expect(",");
    const token name = in_.expect_name("a variable for each axis");
    const expr& length = axes[k].axis->length;
    const var v = make_var(std::string(name.text), length.type());
    define_variable(name, v);
    frame.node.iters.push_back({v,
                                {integer(length.type(), 0), length},
                                kinds[k] == 'R' ? iter_kind::reduce : iter_kind::spatial});
    frame.values.push_back(integer(length.type(), 0));
  }
  in_.expect("]");
  block_frame* const outer = std::exchange(here_, &frame);
  block_frame* const around = std::exchange(around_, &frame);
  frame.node.body = suite();
  here_ = outer;
  around_ = around;
  leave_scope(scope);
  const block b = make_block(std::move(frame.node));
  iterated_.emplace_back(b, std::move(axes));
  return make_realize(std::move(frame.values), boolean(true), b);
}

TILEWRIGHT_INLINE sparse_function parser::run_sparse() {
  sparse_function out;
  sparse_ = &out;
  function f = run({});
  out.name = std::move(f.name);
  out.params = std::move(f.params);
  out.attrs = std::move(f.attrs);
  stmt body = std::move(f.body);
  const block_realize_node* root = as_realize(body);
  if (root && root->block->iters.empty()) {
    out.alloc_buffers = root->block->alloc_buffers;
    body = root->block->body;
  }
  const auto add = [&](const stmt& s) {
    const block_realize_node* r = as_realize(s);
    for (const auto& [block, axes] : iterated_) {
      if (!r || !(r->block == block)) continue;
      sparse_iteration it;
      it.name = block->name;
      it.annotations = block->annotations;
      it.init = block->init;
      it.body = block->body;
      it.iters = axes;
      for (std::size_t k = 0; k < axes.size(); ++k) {
        it.iters[k].var = block->iters[k].var;
        it.iters[k].kind = block->iters[k].kind;
      }
      out.body.emplace_back(std::move(it));
      return;
    }
    out.body.emplace_back(s);
  };
  if (const seq_node* parts = as_seq(body))
    for (const stmt& s : parts->stmts) add(s);
  else
    add(body);
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE sparse_function parse_sparse(std::string_view text) {
  return detail::parser(text).run_sparse();
}

}  // namespace tilewright::ir
