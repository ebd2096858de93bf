#pragma once

#include <tilewright/expr/alternatives.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/model/dispatch.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright {
namespace detail {

/// Dimensions of a sparse parameter that are no extents of the tensor: places of elements, and groups
/// of rows that stand side by side.
inline std::string places_name(const std::string& parameter) { return parameter + "_nnz"; }
inline std::string slices_name(const std::string& parameter) { return parameter + "_slices"; }

inline dtype index_type_of(const param_info& p) {
  return p.dims.back().index_bits == 64 ? dtype::i64 : dtype::i32;
}

/// The parameter whose pattern a tensor is stored on; "" for its own, and for a dense one.
inline std::string pattern_of(const param_info& p) {
  return p.dims.empty() ? std::string() : p.dims.back().pattern;
}

/// The arrays of a parameter, as a call hands them over.
inline void add_signature(const param_info& p, std::vector<search::parameter_signature>& to) {
  search::parameter_signature s;
  s.name = p.name;
  s.type = p.type;
  s.written = p.written();
  s.updated = p.role == dsl::role::inout;
  if (!p.sparse()) {
    for (const dim_description& d : p.dims) s.dims.push_back({d.name, d.extent});
    to.push_back(std::move(s));
    return;
  }
  if (const std::string pattern = pattern_of(p); !pattern.empty()) {
    s.dims.push_back({places_name(pattern), 0});
    to.push_back(std::move(s));
    return;
  }
  const dim_description &rows = p.dims.front(), &columns = p.dims.back();
  search::parameter_signature offsets = s, indices = s;
  offsets.name = sparse::indptr_name(p.name);
  indices.name = sparse::indices_name(p.name);
  offsets.type = indices.type = index_type_of(p);
  indices.dims.push_back({places_name(p.name), 0});
  const auto place = [&](int d) {
    return "dimension " + std::to_string(d) + " of \"" + p.name + "\"";
  };
  indices.beside.push_back({columns.name, columns.extent, 0, place(1)});
  s.dims = indices.dims;
  if (columns.storage == dim_storage::sell) {
    offsets.checked = true;
    search::parameter_signature lengths = offsets, order = offsets;
    offsets.dims.push_back({slices_name(p.name), 0, 1});
    lengths.name = sparse::lengths_name(p.name);
    lengths.dims = {{slices_name(p.name), 0}, {"", columns.lanes}};
    order.name = sparse::order_name(p.name);
    order.dims.push_back({rows.name, rows.extent, 0, place(0)});
    for (auto* one : {&offsets, &lengths, &order}) to.push_back(std::move(*one));
  } else {
    offsets.dims.push_back({rows.name, rows.extent, 1, place(0)});
    to.push_back(std::move(offsets));
  }
  for (auto* one : {&indices, &s}) to.push_back(std::move(*one));
}

/// Tensors that are stored where others are: parameters and temporaries.
inline void add_patterns(const any_kernel& kernel, std::vector<sparse::stored_parameter>& to) {
  const auto add = [&](const dsl::tensor_info& t) {
    const std::string own(t.name);
    if (!t.sparse() || t.pattern() == t.name ||
        support::any(to, [&](const auto& known) { return known.parameter == own; }))
      return;
    to.push_back({own});
    to.back().pattern = t.pattern();
  };
  for (const dsl::tensor_info* t : kernel.params()) add(*t);
  for (const dsl::node& n : kernel.nodes())
    if (n.tensor) add(*n.tensor);
}

/// The function of a kernel some of whose parameters are sparse.
inline ir::function reify_sparse(const std::vector<any_kernel>& algorithms, const kernel_info& info,
                                 const search::extent_map& dims) {
  search::extent_map dense = dims;
  std::vector<sparse::stored_parameter> formats;
  for (const param_info& p : info.params) {
    if (!p.sparse() || !pattern_of(p).empty()) continue;
    formats.push_back({p.name, dims.at(places_name(p.name)), index_type_of(p)});
    dense.erase(places_name(p.name));
    if (p.dims.back().storage != dim_storage::sell) continue;
    formats.back().lanes = p.dims.back().lanes;
    formats.back().slices = dims.at(slices_name(p.name));
    dense.erase(slices_name(p.name));
  }
  for (const any_kernel& kernel : algorithms) add_patterns(kernel, formats);
  return ir::map_alternatives(reify(algorithms, dense), [&](const ir::function& f) {
    return sparse::lower(sparse::with_storage(f, formats));
  });
}

}  // namespace detail

TILEWRIGHT_INLINE std::shared_ptr<search::dispatcher> make_dispatcher(
    const std::vector<any_kernel>& algorithms, tuned_options options) {
  search::kernel_signature signature;
  const kernel_info info = algorithms.at(0).info();
  signature.name = info.name;
  bool any_sparse = false;
  for (const param_info& p : info.params) {
    detail::add_signature(p, signature.params);
    any_sparse = any_sparse || p.sparse();
  }
  std::function<ir::function(const search::extent_map&)> make =
      [algorithms](const search::extent_map& dims) { return reify(algorithms, dims); };
  if (any_sparse)
    make = [algorithms, info](const search::extent_map& dims) {
      return detail::reify_sparse(algorithms, info, dims);
    };
  return std::make_shared<search::dispatcher>(std::move(signature), std::move(make),
                                              std::move(options));
}

}  // namespace tilewright
