#pragma once

#include <tilewright/expr/alternatives.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/model/dispatch.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright {
namespace detail {

/// Dimensions of a sparse parameter that are no extents of the tensor: places of elements, groups of rows
/// that stand side by side or in blocks, blocks, rows that have numbers, and of a part of such rows 2 where no other
/// part has elements in them, else 1: a kernel that is made smaller promises less.
inline std::string places_name(const std::string& parameter) { return parameter + "_nnz"; }
inline std::string slices_name(const std::string& parameter) { return parameter + "_slices"; }
inline std::string blocks_name(const std::string& parameter) { return parameter + "_blocks"; }
inline std::string numbered_name(const std::string& parameter) { return parameter + "_numbered"; }
inline std::string alone_name(const std::string& parameter) { return parameter + "_alone"; }
/// Of blocks that others are stored like: 2 where some places hold no element, else 1, so that a kernel that is made
/// smaller reads none of them.
inline std::string padded_name(const std::string& parameter) { return parameter + "_padded"; }
inline std::string diagonal_count_name(const std::string& parameter) {
  return parameter + "_diagonal_count";
}

inline dtype index_type_of(const param_info& p) {
  return p.stored().index_bits == 64 ? dtype::i64 : dtype::i32;
}

/// The parameter whose pattern a tensor is stored on; "" for its own, and for a dense one.
inline std::string pattern_of(const param_info& p) {
  return p.dims.empty() ? std::string() : p.stored().pattern;
}

/// The matrices that a sparse parameter is the sum of, under the names of their arrays; one with its own
/// name where it is not in parts.
inline std::vector<param_info> matrices_of(const param_info& p) {
  std::vector<param_info> out;
  const part_list& parts = p.dims.back().parts;
  for (int k = 0; k < parts.count; ++k) {
    out.push_back(p);
    out.back().name = sparse::part_name(p.name, k);
    out.back().dims.back().storage = parts.at[k].storage;
    out.back().dims.back().group = parts.at[k].group;
  }
  if (out.empty()) out.push_back(p);
  return out;
}

/// Whether it is a tensor of more than two dimensions in compressed fibres.
inline bool is_fibres(const param_info& p) {
  return p.rank() > 2 && p.stored().storage == dim_storage::compressed;
}
/// Names of its levels, which are those of its second dimension and of those behind.
inline std::vector<std::string> levels_of(const param_info& p) {
  std::vector<std::string> out;
  for (int level = 1; level < p.rank(); ++level) out.push_back(sparse::level_name(p.name, level));
  return out;
}

/// The arrays of compressed fibres.
inline void add_fibres(const param_info& p, std::vector<dispatch::parameter_signature>& to) {
  const std::vector<std::string> levels = levels_of(p);
  for (std::size_t level = 0; level < levels.size(); ++level) {
    dispatch::parameter_signature offsets, indices;
    offsets.name = sparse::indptr_name(levels[level]);
    indices.name = sparse::indices_name(levels[level]);
    offsets.type = indices.type = index_type_of(p);
    offsets.checked = indices.checked = true;
    const dim_description &above = p.dims.front(), &own = p.dims[level + 1];
    if (level == 0)
      offsets.dims.push_back({above.name, above.extent, 1, "dimension 0 of \"" + p.name + "\""});
    else
      offsets.dims.push_back({places_name(levels[level - 1]), 0, 1});
    indices.dims.push_back({places_name(levels[level]), 0});
    indices.beside.push_back({own.name, own.extent, 0,
                              "dimension " + std::to_string(level + 1) + " of \"" + p.name + "\""});
    to.push_back(std::move(offsets));
    to.push_back(std::move(indices));
  }
  dispatch::parameter_signature values;
  values.name = p.name;
  values.type = p.type;
  values.dims.push_back({places_name(levels.back()), 0});
  to.push_back(std::move(values));
}

/// The values of a tensor of which dense dimensions stand behind the stored ones.
/// @param pattern the parameter that says what is stored
inline void add_values(const param_info& p, const std::string& pattern,
                       std::vector<dispatch::parameter_signature>& to) {
  dispatch::parameter_signature s;
  s.name = p.name;
  s.type = p.type;
  s.written = p.written();
  s.updated = p.role == dsl::role::inout;
  s.dims.push_back({places_name(pattern), 0});
  for (std::size_t d = 2; d < p.dims.size(); ++d)
    s.dims.push_back({p.dims[d].name, p.dims[d].extent});
  to.push_back(std::move(s));
}

/// The same of a matrix on the pattern of one in another format: an array for each part.
inline void add_values_of_parts(const param_info& p, const param_info& pattern,
                                std::vector<dispatch::parameter_signature>& to) {
  int part = 0;
  for (const param_info& matrix : matrices_of(pattern)) {
    add_values(p, matrix.name, to);
    if (matrix.name != pattern.name) to.back().name = sparse::part_name(p.name, part++);
  }
}

/// Whether a tensor of the kernel is stored like the parameter.
inline bool is_pattern(const any_kernel& kernel, const std::string& parameter) {
  const auto like = [&](const dsl::tensor_info* t) {
    return t && t->sparse() && t->name != parameter && t->pattern() == parameter;
  };
  return support::any(kernel.params(), like) ||
         support::any(kernel.nodes(), [&](const dsl::node& n) { return like(n.tensor); });
}

/// The arrays of rows that are counted.
inline void add_ragged(const param_info& p, std::vector<dispatch::parameter_signature>& to) {
  dispatch::parameter_signature offsets;
  offsets.name = sparse::indptr_name(p.name);
  offsets.type = index_type_of(p);
  offsets.checked = true;
  const auto place = [&](int d) {
    return "dimension " + std::to_string(d) + " of \"" + p.name + "\"";
  };
  offsets.dims.push_back({p.dims[0].name, p.dims[0].extent, 1, place(0)});
  offsets.beside.push_back({p.dims[1].name, p.dims[1].extent, 0, place(1)});
  to.push_back(std::move(offsets));
  add_values(p, p.name, to);
}

/// The arrays of a matrix.
/// @param of the parameter that it is, or is a part of
/// @param followed something is stored like it
inline void add_matrix(const param_info& p, const param_info& of, bool followed,
                       std::vector<dispatch::parameter_signature>& to) {
  dispatch::parameter_signature s;
  s.name = p.name;
  s.type = p.type;
  const dim_description &rows = p.dims.front(), &columns = p.dims.back();
  dispatch::parameter_signature offsets = s, indices = s;
  offsets.name = sparse::indptr_name(p.name);
  indices.name = sparse::indices_name(p.name);
  offsets.type = indices.type = index_type_of(p);
  indices.dims.push_back({places_name(p.name), 0});
  const auto place = [&](int d) {
    return "dimension " + std::to_string(d) + " of \"" + of.name + "\"";
  };
  indices.beside.push_back({columns.name, columns.extent, 0, place(1)});
  s.dims = indices.dims;
  const dim_storage given = of.dims.back().storage;
  offsets.checked = indices.checked = given != dim_storage::compressed && given != dim_storage::csc;
  offsets.by_columns = given == dim_storage::csc;
  dispatch::parameter_signature lengths = offsets, order = offsets;
  lengths.name = sparse::lengths_name(p.name);
  order.name = sparse::order_name(p.name);
  const dispatch::parameter_signature::dimension of_rows{rows.name, rows.extent, 0, place(0)};
  std::vector<dispatch::parameter_signature> before{offsets};
  if (columns.storage == dim_storage::csc) {
    before[0].dims.push_back({columns.name, columns.extent, 1, place(1)});
    indices.beside = {of_rows};
  } else if (columns.storage == dim_storage::dia) {
    dispatch::parameter_signature diagonals = offsets;
    diagonals.name = sparse::diagonals_name(p.name);
    diagonals.dims.push_back({diagonal_count_name(p.name), 0});
    diagonals.beside = {of_rows, {columns.name, columns.extent, 0, place(1)}};
    to.push_back(std::move(diagonals));
    to.push_back(std::move(s));
    return;
  } else if (columns.storage == dim_storage::sell) {
    before[0].dims.push_back({slices_name(p.name), 0, 1});
    lengths.dims = {{slices_name(p.name), 0}, {"", columns.group}};
    order.dims.push_back(of_rows);
    before.insert(before.end(), {lengths, order});
  } else if (columns.storage == dim_storage::bsr) {
    before[0].dims.push_back({slices_name(p.name), 0, 1});
    indices.dims = {{blocks_name(p.name), 0}};
    indices.beside.push_back(of_rows);
    if (followed) indices.beside.push_back({padded_name(p.name), 0});
  } else if (columns.storage == dim_storage::dcsr) {
    dispatch::parameter_signature numbers = offsets;
    numbers.name = sparse::row_numbers_name(p.name);
    numbers.dims.push_back({numbered_name(p.name), 0});
    before[0].dims.push_back({numbered_name(p.name), 0, 1});
    before.insert(before.begin(), numbers);
    indices.beside.push_back(of_rows);
    if (p.name != of.name) indices.beside.push_back({alone_name(p.name), 0});
  } else if (columns.storage == dim_storage::ell) {
    lengths.dims.push_back(of_rows);
    before = {lengths};
  } else {
    before[0].dims.push_back(of_rows);
    before[0].dims.back().more = 1;
  }
  before.insert(before.end(), {indices, s});
  for (dispatch::parameter_signature& one : before) to.push_back(std::move(one));
}

/// A parameter of compressed rows that calls hand over in the format of a rule, of whatever extents.
struct ruled_parameter {
  std::string name;
  sparse::format_maker make;
  sparse::format_rule like;  // at the extents of some call: others have axes of the same kinds
};

/// Dimensions of the arrays of a rule: positions that an axis stands below, and elements along it.
inline std::string above_name(const std::string& parameter, const sparse::format_axis& axis) {
  return parameter + "_" + axis.name + "_above";
}
inline std::string level_places_name(const std::string& parameter,
                                     const sparse::format_axis& axis) {
  return parameter + "_" + axis.name + "_nnz";
}

/// The arrays of a matrix in the format of a rule, as `sparse::with_storage` has them.
inline void add_ruled(const param_info& p, const sparse::format_rule& rule,
                      std::vector<dispatch::parameter_signature>& to) {
  for (const sparse::format_axis& axis : rule.axes) {
    if (axis.kind == ir::axis_kind::dense_fixed) continue;
    dispatch::parameter_signature offsets, indices;
    const std::string arrays = sparse::rule_arrays_name(p.name, rule, axis);
    offsets.name = sparse::indptr_name(arrays);
    indices.name = sparse::indices_name(arrays);
    offsets.type = indices.type = index_type_of(p);
    offsets.checked = indices.checked = true;
    offsets.dims.push_back({above_name(p.name, axis), 0, 1});
    indices.dims.push_back({level_places_name(p.name, axis), 0});
    if (axis.kind == ir::axis_kind::sparse_variable) to.push_back(std::move(offsets));
    to.push_back(std::move(indices));
  }
  dispatch::parameter_signature values;
  values.name = p.name;
  values.type = p.type;
  values.dims.push_back({places_name(p.name), 0});
  for (std::size_t d = 0; d < 2; ++d)
    values.beside.push_back({p.dims[d].name, p.dims[d].extent, 0,
                             "dimension " + std::to_string(d) + " of \"" + p.name + "\""});
  to.push_back(std::move(values));
}

/// How that matrix is stored at these extents, of which those of its arrays are taken out of `dense`.
/// @throws argument_error where the rule has other axes there
inline sparse::stored_parameter ruled_format_of(const param_info& p, const ruled_parameter& ruled,
                                                const search::extent_map& dims,
                                                search::extent_map& dense) {
  const auto extent = [&](const dim_description& d) {
    return d.name.empty() ? d.extent : dims.at(d.name);
  };
  sparse::format_rule rule = ruled.make(extent(p.dims[0]), extent(p.dims[1]));
  bool same = rule.axes.size() == ruled.like.axes.size();
  for (std::size_t k = 0; same && k < rule.axes.size(); ++k)
    same = rule.axes[k].name == ruled.like.axes[k].name &&
           rule.axes[k].kind == ruled.like.axes[k].kind;
  if (!same)
    throw argument_error("format \"" + rule.name +
                         "\" has other axes for a matrix of another size");
  sparse::stored_parameter out{p.name, 1, index_type_of(p)};
  dense.erase(places_name(p.name));
  for (const sparse::format_axis& axis : rule.axes) {
    const std::string level = level_places_name(p.name, axis);
    switch (axis.kind) {
      case ir::axis_kind::sparse_variable:
        out.places = dims.at(level);
        out.levels.push_back(out.places);
        break;
      case ir::axis_kind::sparse_fixed: out.places *= axis.width; break;
      default: out.places *= axis.length;
    }
    dense.erase(level);
    dense.erase(above_name(p.name, axis));
  }
  out.rule = std::make_shared<const sparse::format_rule>(std::move(rule));
  return out;
}

/// The arrays of a parameter, as a call hands them over.
inline void add_signature(const param_info& p, const kernel_info& info, bool followed,
                          std::vector<dispatch::parameter_signature>& to) {
  dispatch::parameter_signature s;
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
    for (const param_info& of : info.params)
      if (of.name == pattern && of.rank() == 2 && of.stored().storage != dim_storage::ragged)
        return add_values_of_parts(p, of, to);
    return add_values(p, pattern, to);
  }
  if (is_fibres(p)) return add_fibres(p, to);
  if (p.stored().storage == dim_storage::ragged) return add_ragged(p, to);
  for (const param_info& matrix : matrices_of(p)) add_matrix(matrix, p, followed, to);
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
    to.back().absent = t.absent();
  };
  for (const dsl::tensor_info* t : kernel.params()) add(*t);
  for (const dsl::node& n : kernel.nodes())
    if (n.tensor) add(*n.tensor);
}

/// How a sparse parameter is stored at these extents, which need not fit each other: a kernel is also made
/// smaller than it is, dimension by dimension.
inline sparse::stored_parameter format_of(const param_info& p, const search::extent_map& dims) {
  if (is_fibres(p)) {
    sparse::stored_parameter fibres{p.name, 0, index_type_of(p)};
    for (const std::string& level : levels_of(p))
      fibres.levels.push_back(dims.at(places_name(level)));
    fibres.places = fibres.levels.back();
    fibres.levels.pop_back();
    return fibres;
  }
  sparse::stored_parameter out{p.name, dims.at(places_name(p.name)), index_type_of(p)};
  const std::int64_t group = p.stored().group;
  switch (p.stored().storage) {
    case dim_storage::csc: out.by_columns = true; break;
    case dim_storage::ragged: out.counted = true; break;
    case dim_storage::dia: {
      const dim_description& rows = p.dims.front();
      out.diagonals = dims.at(diagonal_count_name(p.name));
      out.places = out.diagonals * (rows.name.empty() ? rows.extent : dims.at(rows.name));
      break;
    }
    case dim_storage::sell:
      out.lanes = group;
      out.slices = dims.at(slices_name(p.name));
      break;
    case dim_storage::bsr:
      out.block = group;
      if (const auto padded = dims.find(padded_name(p.name)); padded != dims.end())
        out.padded = padded->second > 1;
      out.places = dims.at(blocks_name(p.name)) * group * group;
      break;
    case dim_storage::dcsr: {
      const auto alone = dims.find(alone_name(p.name));
      out.numbered_rows = dims.at(numbered_name(p.name));
      out.exclusive_rows = alone != dims.end() && alone->second > 1;
      break;
    }
    case dim_storage::ell: {
      const dim_description& rows = p.dims.front();
      out.width = group;
      out.places = group * (rows.name.empty() ? rows.extent : dims.at(rows.name));
      break;
    }
    default: break;
  }
  return out;
}

/// The function of a kernel some of whose parameters are sparse.
/// @param ruled null: none is in the format of a rule
inline ir::function reify_sparse(const std::vector<any_kernel>& algorithms, const kernel_info& info,
                                 const search::extent_map& dims, const ruled_parameter* ruled) {
  search::extent_map dense = dims;
  std::vector<sparse::stored_parameter> formats;
  for (const param_info& p : info.params) {
    if (!p.sparse() || !pattern_of(p).empty()) continue;
    if (ruled && p.name == ruled->name) {
      formats.push_back(ruled_format_of(p, *ruled, dims, dense));
      formats.back().absent = p.stored().absent;
      continue;
    }
    for (const param_info& matrix : matrices_of(p)) {
      const std::string& name = matrix.name;
      formats.push_back(format_of(matrix, dims));
      formats.back().parameter = p.name;
      formats.back().absent = p.stored().absent;
      if (name != p.name) formats.back().part = name;
      for (const std::string& own :
           {places_name(name), slices_name(name), blocks_name(name), numbered_name(name),
            alone_name(name), padded_name(name), diagonal_count_name(name)})
        dense.erase(own);
      for (const std::string& level : levels_of(matrix)) dense.erase(places_name(level));
    }
  }
  for (const any_kernel& kernel : algorithms) add_patterns(kernel, formats);
  return ir::map_alternatives(reify(algorithms, dense), [&](const ir::function& f) {
    const ir::sparse_function stored = sparse::with_storage(f, formats);
    return sparse::iterations_of_elements(stored).empty() ? sparse::lower(stored)
                                                          : sparse::with_iterations(stored);
  });
}

/// @param ruled null: none of its parameters is in the format of a rule
inline std::shared_ptr<dispatch::dispatcher> make_dispatcher_of(
    const std::vector<any_kernel>& algorithms, tuned_options options,
    const dsl::algorithm_deriver& derive, std::shared_ptr<const ruled_parameter> ruled) {
  dispatch::kernel_signature signature;
  const kernel_info info = algorithms.at(0).info();
  signature.name = info.name;
  bool any_sparse = false;
  for (const param_info& p : info.params) {
    if (ruled && p.name == ruled->name)
      add_ruled(p, ruled->like, signature.params);
    else
      add_signature(
          p, info,
          support::any(algorithms,
                       [&](const any_kernel& k) { return detail::is_pattern(k, p.name); }),
          signature.params);
    any_sparse = any_sparse || p.sparse();
  }
  std::function<ir::function(const search::extent_map&)> make =
      [algorithms](const search::extent_map& dims) { return reify(algorithms, dims); };
  if (any_sparse)
    make = [algorithms, info, ruled](const search::extent_map& dims) {
      return reify_sparse(algorithms, info, dims, ruled.get());
    };
  if (derive)
    make = [make = std::move(make), derive](const search::extent_map& dims) {
      return derive(make(dims));
    };
  return std::make_shared<dispatch::dispatcher>(std::move(signature), std::move(make),
                                                std::move(options));
}

}  // namespace detail

TILEWRIGHT_INLINE std::shared_ptr<dispatch::dispatcher> make_dispatcher(
    const std::vector<any_kernel>& algorithms, tuned_options options,
    const dsl::algorithm_deriver& derive) {
  return detail::make_dispatcher_of(algorithms, std::move(options), derive, nullptr);
}

TILEWRIGHT_INLINE std::shared_ptr<dispatch::dispatcher> make_dispatcher(
    const std::vector<any_kernel>& algorithms, std::string parameter, sparse::format_rule like,
    tuned_options options) {
  auto ruled = std::make_shared<detail::ruled_parameter>();
  ruled->name = std::move(parameter);
  ruled->make = options.format;
  ruled->like = std::move(like);
  return detail::make_dispatcher_of(algorithms, std::move(options), {}, std::move(ruled));
}

TILEWRIGHT_INLINE std::shared_ptr<dispatch::dispatcher> make_dispatcher(const any_kernel& kernel,
                                                                        tuned_options options) {
  return make_dispatcher(std::vector<any_kernel>{kernel}, std::move(options));
}

}  // namespace tilewright
