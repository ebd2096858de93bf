#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include <tilewright/impl/ir/text/printer.hpp>
#include <tilewright/ir/text/literal.hpp>
#include <tilewright/ir/text/sparse_script.hpp>

namespace tilewright::ir {
namespace detail {

inline std::string_view kind_name(axis_kind kind) {
  switch (kind) {
    case axis_kind::dense_fixed: return "dense_fixed";
    case axis_kind::dense_variable: return "dense_variable";
    case axis_kind::sparse_fixed: return "sparse_fixed";
    case axis_kind::sparse_variable: return "sparse_variable";
  }
  return {};
}

/// `K = T.sparse_variable(I, (48, 500), (A_indptr, A_indices))`
TILEWRIGHT_INLINE void printer::write(const sparse_axis_node& axis) {
  line();
  out_ += names_.define(&axis, axis.name) + " = T.";
  out_ += kind_name(axis.kind);
  out_ += '(';
  if (axis.kind == axis_kind::dense_fixed) {
    write(axis.length);
    if (axis.parent) out_ += ", " + names_.use(axis.parent.get(), axis.parent->name);
  } else {
    out_ += names_.use(axis.parent.get(), axis.parent->name) + ", (";
    write(axis.length);
    out_ += ", ";
    write(axis.variable() ? axis.nnz : axis.width);
    out_ += "), ";
  }
  if (axis.kind == axis_kind::sparse_variable)
    out_ += "(" + name_of(axis.indptr) + ", " + name_of(axis.indices) + ")";
  else if (axis.kind != axis_kind::dense_fixed)
    out_ += name_of(axis.variable() ? axis.indptr : axis.indices);
  if (!axis.sorted) out_ += ", sorted=False";
  out_ += ")\n";
}

TILEWRIGHT_INLINE void printer::write(const sparse_iteration& it) {
  line();
  out_ += "with T.sp_iter([";
  std::string kinds;
  bool inside = false;  // of axes that are fused
  for (const sparse_iter& i : it.iters) {
    if (!kinds.empty()) out_ += ", ";
    const std::string axis = names_.use(i.axis.get(), i.axis->name);
    if (i.fused && !inside) out_ += "T.fuse(";
    if (i.walk != axis_walk::every)
      out_ += (i.walk == axis_walk::unite ? "T.unite(" : "T.intersect(") + axis + ")";
    else if (i.attached)
      out_ += "T.attach(" + axis + ", " + names_.use(i.attached.get(), i.attached->name) + ")";
    else
      out_ += axis;
    if (inside && !i.fused) out_ += ")";
    inside = i.fused;
    kinds += i.kind == iter_kind::reduce ? 'R' : 'S';
  }
  out_ += "], " + quote(kinds) + ", " + quote(it.name) + ") as [";
  const std::size_t scope = names_.mark();
  for (std::size_t k = 0; k < it.iters.size(); ++k)
    out_ += (k ? ", " : "") + names_.define(it.iters[k].var.get(), it.iters[k].var->name);
  out_ += "]:\n";
  ++depth_;
  if (!it.annotations.empty()) {
    line();
    out_ += "T.block_attr(" + print_attr(it.annotations) + ")\n";
  }
  if (it.init) {
    line();
    out_ += "with T.init():\n";
    suite(it.init);
  }
  --depth_;
  suite(it.body);
  names_.release(scope);
}

TILEWRIGHT_INLINE void printer::write(const sparse_function& f) {
  function like;  // for the lines that both kinds share
  like.params = f.params;
  out_ += "# from tvm.script import tir as T\n\n@T.prim_func\ndef ";
  name_table own;
  out_ += own.define(&f, f.name.empty() ? "main" : f.name);
  param_list(like);
  ++depth_;
  if (!f.attrs.empty()) {
    line();
    out_ += "T.func_attr(" + print_attr(f.attrs) + ")\n";
  }
  match_params(like);
  for (const sparse_axis& axis : f.axes) write(*axis);
  std::vector<buffer> temporaries = f.alloc_buffers;
  for (const sparse_buffer& b : f.buffers) {
    const auto storage = std::find(temporaries.begin(), temporaries.end(), b.storage);
    const bool allocated = storage != temporaries.end();
    if (allocated) temporaries.erase(storage);
    line();
    out_ += names_.define(b.coordinates.get(), b.coordinates->name) +
            (allocated ? " = T.alloc_sparse_buffer(("
                       : " = T.match_sparse_buffer(" + name_of(b.storage) + ", (");
    for (const sparse_axis& axis : b.axes) out_ += names_.use(axis.get(), axis->name) + ", ";
    if (b.axes.size() > 1) out_.resize(out_.size() - 2);
    out_ += ")";
    if (allocated) out_ += ", " + quote(name(b.storage->type));
    if (b.absent) {
      out_ += ", default_value=";
      write(b.absent);
    }
    out_ += ")\n";
  }
  allocations(temporaries);
  for (const auto& part : f.body) {
    if (const stmt* dense = std::get_if<stmt>(&part))
      statements(*dense);
    else
      write(std::get<sparse_iteration>(part));
  }
  --depth_;
}

}  // namespace detail

TILEWRIGHT_INLINE std::string print(const sparse_function& f) {
  detail::printer p;
  p.write(f);
  return p.take();
}

}  // namespace tilewright::ir
