#pragma once

#include <algorithm>
#include <map>
#include <utility>

#include <tilewright/ir/visit.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::sparse {
namespace detail {

using namespace tilewright::ir;

class storage_giver {
 public:
  storage_giver(const function& f, const std::vector<compressed_rows>& formats)
      : from_(f), formats_(formats) {}

  sparse_function run() {
    out_.name = from_.name;
    out_.attrs = from_.attrs;
    for (const param& p : from_.params) add_param(p);
    const block& root = root_block(from_);
    out_.alloc_buffers = root->alloc_buffers;
    const seq_node* parts = as_seq(root->body);
    if (!parts) {
      add_part(root->body);
    } else {
      for (const stmt& s : parts->stmts) add_part(s);
    }
    return std::move(out_);
  }

 private:
  void add_param(const param& p) {
    const auto format = std::find_if(
        formats_.begin(), formats_.end(),
        [&](const compressed_rows& c) { return p.buffer && p.buffer->name == c.parameter; });
    if (format == formats_.end()) {
      out_.params.push_back(p);
      return;
    }
    const std::string& name = p.buffer->name;
    const expr rows = p.buffer->shape.at(0), columns = p.buffer->shape.at(1);
    const expr nonzeros = integer(rows.type(), format->nonzeros);
    const buffer indptr =
        make_buffer(indptr_name(name), format->index, {rows + integer(rows.type(), 1)});
    const buffer indices = make_buffer(indices_name(name), format->index, {nonzeros});
    const buffer storage = make_buffer(name, p.buffer->type, {nonzeros});
    const sparse_axis row = dense_fixed(name + "_rows", rows);
    const sparse_axis column =
        sparse_variable(name + "_columns", row, columns, nonzeros, indptr, indices);
    out_.axes.insert(out_.axes.end(), {row, column});
    out_.buffers.push_back({p.buffer, {row, column}, storage});
    for (const buffer& b : {indptr, indices, storage}) out_.params.push_back({b, {}});
  }

  void add_part(const stmt& s) {
    const sparse_buffer* read = nullptr;
    std::vector<expr> at;
    for_each_expr(s, [&](const expr& e) {
      if (e->op != op::load || read) return;
      read = out_.find(e->buffer);
      if (read) at = e->args;
    });
    if (read)
      out_.body.emplace_back(iteration(s, *read, at));
    else
      out_.body.emplace_back(s);
  }

  /// @param at the indices of its first read
  sparse_iteration iteration(const stmt& nest, const sparse_buffer& read,
                             const std::vector<expr>& at) {
    stmt inner = nest;
    while (const loop_node* loop = as_loop(inner)) inner = loop->body;
    const block_realize_node* realize = as_realize(inner);
    if (!realize)
      throw argument_error("with_storage: \"" + read.coordinates->name +
                           "\" is read outside of a nest of loops around one block");
    const block_node& b = *realize->block;
    sparse_iteration out;
    out.name = b.name;
    out.annotations = b.annotations;
    out.init = b.init;
    out.body = b.body;
    for (std::size_t d = 0; d < at.size(); ++d)
      for (const iter_var& v : b.iters)
        if (v.var.same(at[d])) out.iters.push_back({v.var, read.axes[d], v.kind});
    for (const iter_var& v : b.iters) {
      const auto same = [&](const sparse_iter& i) { return i.var.same(v.var); };
      if (std::any_of(out.iters.begin(), out.iters.end(), same)) continue;
      const sparse_axis axis = dense_fixed(b.name + "_" + v.var->name, v.dom.extent);
      out_.axes.push_back(axis);
      out.iters.push_back({v.var, axis, v.kind});
    }
    return out;
  }

  const function& from_;
  const std::vector<compressed_rows>& formats_;
  sparse_function out_;
};

}  // namespace detail

TILEWRIGHT_INLINE std::string indptr_name(const std::string& parameter) {
  return parameter + "_indptr";
}
TILEWRIGHT_INLINE std::string indices_name(const std::string& parameter) {
  return parameter + "_indices";
}

TILEWRIGHT_INLINE ir::sparse_function with_storage(const ir::function& f,
                                                   const std::vector<compressed_rows>& formats) {
  return detail::storage_giver(f, formats).run();
}

}  // namespace tilewright::sparse
