#pragma once

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/ops/normalization.hpp>

// Softmax, and normalization to mean and variance.
namespace tilewright::network {
namespace detail {

/// The elements of an input in rows: indices before the columns name the row, and column j runs over
/// the dimensions from `first` to `last` as one.
struct row_view {
  reader x;
  std::size_t first, last;  // [first, last)

  std::int64_t columns() const {
    std::int64_t out = 1;
    for (std::size_t d = first; d < last; ++d) out *= x.type.extents[d];
    return out;
  }
  shape rows() const {
    shape out(x.type.extents.begin(), x.type.extents.begin() + static_cast<std::ptrdiff_t>(first));
    out.insert(out.end(), x.type.extents.begin() + static_cast<std::ptrdiff_t>(last),
               x.type.extents.end());
    return out;
  }
  dsl::index_list row_of(const dsl::index_list& at) const {
    dsl::index_list out(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(first));
    out.insert(out.end(), at.begin() + static_cast<std::ptrdiff_t>(last), at.end());
    return out;
  }
  /// Column of an element.
  runtime_expression column_of(const dsl::index_list& at) const {
    runtime_expression out = at[first];
    for (std::size_t d = first + 1; d < last; ++d) out = out * x.type.extents[d] + at[d];
    return out;
  }
  runtime_expression operator()(const dsl::index_list& row, const runtime_expression& j) const {
    dsl::index_list at(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(first));
    if (last == first + 1) {
      at.push_back(j);
    } else {
      std::int64_t below = columns();
      for (std::size_t d = first; d < last; ++d) {
        below /= x.type.extents[d];
        const runtime_expression digit = below == 1 ? j : j / below;
        at.push_back(d == first ? digit : digit % x.type.extents[d]);
      }
    }
    at.insert(at.end(), row.begin() + static_cast<std::ptrdiff_t>(first), row.end());
    return x.at(at);
  }
};

/// Dimensions that softmax works along: one, or before version 13 all from `axis` on.
inline std::pair<std::size_t, std::size_t> softmax_dims(const node_view& n) {
  const bool flat = n.what().version < 13;
  const std::size_t a = n.dimension(n.what().integer("axis", flat ? 1 : -1), n.rank(0));
  return {a, flat ? n.rank(0) : a + 1};
}

/// The rows of input 0, which is brought into memory where it is not there: stages read it by the
/// axis that they reduce.
inline row_view rows_of(emission& e, std::size_t first, std::size_t last) {
  e.tensor(0, "X");
  return {e.in(0, "X"), first, last};
}

inline void infer_softmax(inference& n) {
  need_float(n);
  if (n.rank(0) == 0) n.fail("its input is a scalar");
  softmax_dims(n);
  infer_same(n);
}

/// A row's stage reads by the axis j, which takes its extent from the kernel's own tensor.
inline runtime_expression columns_axis(emission& e, const row_view& x) {
  return e.axis("j", x.columns());
}

template <bool Logarithm>
void emit_softmax(emission& e) {
  const auto [first, last] = softmax_dims(e);
  const row_view x = rows_of(e, first, last);
  const dtype t = x.x.type.type;
  const shape rows = x.rows();
  shape all = rows;
  all.push_back(x.columns());
  const dsl::runtime_tensor peak = e.temp("peak", t, rows), total = e.temp("total", t, rows);
  const dsl::index_list i = e.axes("i", rows);
  if (Logarithm) {
    const dsl::runtime_tensor row = e.temp("row", t, all);
    e.define(row(i, columns_axis(e, x)) = x(i, columns_axis(e, x)));
    e.define(ops::detail::log_softmax_stages(row, peak, total, i));
    e.out(0, [=](const dsl::index_list& at) {
      const dsl::index_list r = x.row_of(at);
      return x.x.at(at) - peak(r) - total(r);
    });
  } else {
    const dsl::runtime_tensor exponential = e.temp("e", t, all);
    if (last == first + 1)
      e.define(ops::detail::softmax_stages(x, peak, exponential, total, i));
    else {
      const dsl::runtime_tensor row = e.temp("row", t, all);
      e.define(row(i, columns_axis(e, x)) = x(i, columns_axis(e, x)));
      e.define(ops::detail::softmax_stages(row, peak, exponential, total, i));
    }
    e.out(0, [=](const dsl::index_list& at) {
      const dsl::index_list r = x.row_of(at);
      return exponential(r, x.column_of(at)) / total(r);
    });
  }
}

inline void infer_layer_norm(inference& n) {
  need_float(n);
  const std::size_t a = n.dimension(n.what().integer("axis", -1), n.rank(0));
  infer_same(n);
  shape rows = n.in(0).extents;
  for (std::size_t d = a; d < rows.size(); ++d) rows[d] = 1;
  for (std::size_t k = 1; k < 3; ++k) n.out(k, {dtype::f32, rows});
}

/// The normalized extents as one row; mean and variance in f32, as `stash_type` says.
inline void emit_layer_norm(emission& e) {
  const std::size_t first = e.dimension(e.what().integer("axis", -1), e.rank(0));
  const row_view x = rows_of(e, first, e.rank(0));
  const dtype t = x.x.type.type, wide = sum_type(t);
  const cast_to_type to{wide};
  const shape rows = x.rows();
  shape all = rows;
  all.push_back(x.columns());
  const dsl::runtime_tensor mean = e.temp("mean", wide, rows);
  const dsl::runtime_tensor variance = e.temp("variance", wide, rows);
  const dsl::index_list i = e.axes("i", rows);
  const double count = static_cast<double>(x.columns());
  if (x.last == x.first + 1 && wide == t) {
    e.define(ops::detail::moment_stages(x, mean, variance, i, count));
  } else {
    const dsl::runtime_tensor row = e.temp("row", wide, all);
    e.define(row(i, columns_axis(e, x)) = to(x(i, columns_axis(e, x))));
    e.define(ops::detail::moment_stages(row, mean, variance, i, count));
  }
  const reader gamma = e.broadcast(1, "gamma");
  std::optional<reader> beta;
  if (e.what().has_input(2)) beta = e.broadcast(2, "beta");
  const double epsilon = e.what().real("epsilon", 1e-5);
  e.out(1, [=](const dsl::index_list& at) { return cast(mean(x.row_of(at)), dtype::f32); });
  e.out(2, [=](const dsl::index_list& at) {
    return cast(rsqrt(variance(x.row_of(at)) + epsilon), dtype::f32);
  });
  e.out(0, [=](const dsl::index_list& at) {
    const dsl::index_list r = x.row_of(at);
    const runtime_expression scaled =
        ops::detail::normalized(to(x.x.at(at)), mean(r), variance(r), epsilon, to(gamma.at(at)),
                                beta ? to(beta->at(at)) : dsl::runtime_literal(wide, 0));
    return cast(scaled, t);
  });
}

inline void emit_rms_norm(emission& e) {
  const std::size_t first = e.dimension(e.what().integer("axis", -1), e.rank(0));
  const row_view x = rows_of(e, first, e.rank(0));
  const dtype t = x.x.type.type, wide = sum_type(t);
  const cast_to_type to{wide};
  const dsl::runtime_tensor square = e.temp("square", wide, x.rows());
  const dsl::index_list i = e.axes("i", x.rows());
  const auto j = columns_axis(e, x);
  const runtime_expression element = to(x(i, j));
  e.define(square(i) = reduce(dsl::reduction::sum, {j}, element * element) /
                       static_cast<double>(x.columns()));
  const reader gamma = e.broadcast(1, "gamma");
  const double epsilon = e.what().real("epsilon", 1e-5);
  e.out(0, [=](const dsl::index_list& at) {
    return cast(to(x.x.at(at)) * rsqrt(square(x.row_of(at)) + epsilon), t) * gamma.at(at);
  });
}

inline void infer_batch_norm(inference& n) {
  need_float(n);
  if (n.what().integer("training_mode", 0) != 0 || n.what().has_output(1))
    n.fail("training is not supported; export the model for inference");
  if (n.rank(0) < 2) n.fail("its input needs a channel dimension");
  const std::size_t c = channel_dim(n.what(), n.rank(0));
  for (std::size_t k = 1; k < 5; ++k)
    if (n.in(k).extents != shape{n.in(0).extents[c]})
      n.fail("input " + std::to_string(k) + " has the shape " + text_of(n.in(k).extents) +
             ", and the image " + std::to_string(n.in(0).extents[c]) + " channels");
  infer_same(n);
}

inline void emit_batch_norm(emission& e) {
  const reader x = e.in(0, "X"), gamma = e.in(1, "gamma"), beta = e.in(2, "beta");
  const reader mean = e.in(3, "mean"), variance = e.in(4, "variance");
  const double epsilon = e.what().real("epsilon", 1e-5);
  const dtype t = x.type.type;
  const cast_to_type to{sum_type(t)};
  const std::size_t c = channel_dim(e.what(), x.type.extents.size());
  e.out(0, [=](const dsl::index_list& at) {
    const auto& k = at[c];
    return cast(ops::detail::normalized(to(x.at(at)), to(mean(k)), to(variance(k)), epsilon,
                                        to(gamma(k)), to(beta(k))),
                t);
  });
}

inline void infer_channel_norm(inference& n) {
  need_float(n);
  if (n.rank(0) < 3) n.fail("its input has to be an image: N, C, space...");
  infer_same(n);
}

/// Each group of channels of an image to mean 0 and variance 1; gamma and beta have one element per
/// channel, or before version 21 of GroupNormalization one per group.
inline void emit_groups(emission& e, std::int64_t groups) {
  const reader x = e.in(0, "X");
  const shape& s = x.type.extents;
  const dtype t = x.type.type, wide = sum_type(t);
  const cast_to_type to{wide};
  const std::size_t c = channel_dim(e.what(), s.size());
  if (groups < 1 || s[c] % groups != 0)
    e.fail(std::to_string(s[c]) + " channels do not make " + std::to_string(groups) + " groups");
  const std::int64_t width = s[c] / groups;
  const shape rows{s[0], groups};
  const dsl::runtime_tensor in = e.tensor(0, "X");
  const dsl::runtime_tensor mean = e.temp("mean", wide, rows);
  const dsl::runtime_tensor variance = e.temp("variance", wide, rows);
  const auto n = e.axis("n", s[0]), g = e.axis("g", groups);
  dsl::index_list over, place;
  std::int64_t count = 1;
  for (std::size_t d = 0; d < s.size(); ++d) {
    if (d == 0) {
      place.push_back(n);
      continue;
    }
    const std::int64_t extent = d == c ? width : s[d];
    over.push_back(e.axis("r" + std::to_string(d), extent));
    count *= extent;
    place.push_back(d == c ? g * width + over.back() : over.back());
  }
  const runtime_expression element = to(in(place)), centred = element - mean(n, g);
  e.define(mean(n, g) = reduce(dsl::reduction::sum, over, element) / static_cast<double>(count));
  e.define(variance(n, g) =
               reduce(dsl::reduction::sum, over, centred * centred) / static_cast<double>(count));
  const reader gamma = e.in(1, "gamma"), beta = e.in(2, "beta");
  const bool per_group = gamma.type.extents == shape{groups} && groups != s[c];
  const double epsilon = e.what().real("epsilon", 1e-5);
  e.out(0, [=](const dsl::index_list& at) {
    const runtime_expression group = at[c] / width, k = per_group ? group : at[c];
    return cast(ops::detail::normalized(to(in(at)), mean(at[0], group), variance(at[0], group),
                                        epsilon, to(gamma(k)), to(beta(k))),
                t);
  });
}

inline void emit_instance_norm(emission& e) {
  emit_groups(e, e.in(0, "X").type.extents[channel_dim(e.what(), e.rank(0))]);
}
inline void emit_group_norm(emission& e) { emit_groups(e, e.what().integer("num_groups", 0)); }

inline void emit_lp_norm(emission& e) {
  const std::size_t a = e.dimension(e.what().integer("axis", -1), e.rank(0));
  const std::int64_t p = e.what().integer("p", 2);
  if (p != 1 && p != 2) e.fail("attribute p has to be 1 or 2");
  const row_view x = rows_of(e, a, a + 1);
  const dsl::runtime_tensor size = e.temp("size", x.x.type.type, x.rows());
  const dsl::index_list i = e.axes("i", x.rows());
  const auto j = columns_axis(e, x);
  const runtime_expression element = x(i, j);
  const runtime_expression total =
      reduce(dsl::reduction::sum, {j}, p == 1 ? abs(element) : element * element);
  e.define(size(i) = p == 1 ? total : sqrt(total));
  e.out(0, [=](const dsl::index_list& at) {
    const runtime_expression length = size(x.row_of(at));
    return select(length == 0, 0.0 * length,
                  x.x.at(at) / select(length == 0, 1.0 + length, length));
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_normalizations(std::vector<operator_definition>& to) {
  const auto add = [&](std::string_view name, void (*infer)(inference&), void (*emit)(emission&),
                       op_kind kind = op_kind::anchor) {
    to.push_back({name, kind, infer, emit});
  };
  add("Softmax", detail::infer_softmax, detail::emit_softmax<false>);
  add("LogSoftmax", detail::infer_softmax, detail::emit_softmax<true>);
  add("LayerNormalization", detail::infer_layer_norm, detail::emit_layer_norm);
  add("RMSNormalization", infer_same, detail::emit_rms_norm);
  add("BatchNormalization", detail::infer_batch_norm, detail::emit_batch_norm,
      op_kind::elementwise);
  add("InstanceNormalization", detail::infer_channel_norm, detail::emit_instance_norm);
  add("GroupNormalization", detail::infer_channel_norm, detail::emit_group_norm);
  add("LpNormalization", detail::infer_float, detail::emit_lp_norm);
}

}  // namespace tilewright::network
