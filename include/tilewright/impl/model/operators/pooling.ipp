#pragma once

#include <cmath>
#include <limits>

#include <tilewright/model/operators.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/ops/pooling.hpp>

// Pooling over windows and over whole images, and normalization across channels.
namespace tilewright::network {
namespace detail {

inline void infer_pool(inference& n) {
  if (n.what().has_output(1)) n.fail("its second output, the positions, is not supported");
  const window_spec w = window_of(n, n.what().integers("kernel_shape"));
  shape out = n.in(0).extents;
  for (std::size_t d = 0; d < w.rank(); ++d) out[space_dim(n.what()) + d] = w.output[d];
  n.out(0, {n.in(0).type, out});
}

/// Axes over the window, and where output `at` reads in its image for them.
struct pooled_place {
  dsl::index_list window, image;
};

inline pooled_place place_of(emission& e, const window_spec& w, const dsl::index_list& at) {
  pooled_place out{{}, at};
  const std::size_t first = space_dim(e.what());
  for (std::size_t d = 0; d < w.rank(); ++d) {
    out.window.push_back(e.axis("r" + std::to_string(d), w.window[d]));
    out.image[first + d] =
        ops::window_at(at[first + d], out.window[d], w.stride[d], w.dilation[d], w.begin[d]);
  }
  return out;
}

inline dsl::runtime_expression lowest(dtype t) {
  if (is_float(t)) return dsl::runtime_literal(t, -std::numeric_limits<double>::infinity());
  const double low = is_unsigned(t) ? 0 : -std::pow(2.0, bits(t) - 1);
  return dsl::runtime_literal(t, low);
}

inline void emit_max_pool(emission& e) {
  const window_spec w = window_of(e, e.what().integers("kernel_shape"));
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const std::size_t first = space_dim(e.what());
  e.out(0, [e, w, x, first](const dsl::index_list& at) mutable {
    const pooled_place p = place_of(e, w, at);
    dsl::runtime_expression element = clamp_outside(x)(p.image);
    // An index that is clamped to the edge names an element of the same window, unless the window
    // has holes.
    for (std::size_t d = 0; d < w.rank(); ++d)
      if (w.dilation[d] > 1) {
        const dsl::runtime_expression& i = p.image[first + d];
        element = select((i >= 0) & (i < x.extent(static_cast<int>(first + d))), element,
                         lowest(element.type()));
      }
    return reduce(dsl::reduction::max, p.window, element);
  });
}

/// The number of elements in the window of an output, as an index.
inline dsl::runtime_expression window_count(const window_spec& w, const shape& image,
                                            std::size_t first, bool with_padding,
                                            const dsl::index_list& at) {
  dsl::runtime_expression out = dsl::runtime_expression(1).as(dtype::i64, true);
  for (std::size_t d = 0; d < w.rank(); ++d) {
    const std::int64_t extent = image[first + d];
    const auto& o = at[first + d];
    if (w.dilation[d] > 1) {  // rows r with 0 <= first row + r * dilation < extent
      const auto begin = o * w.stride[d] - w.begin[d];
      const std::int64_t low = with_padding ? -w.begin[d] : 0;
      const std::int64_t high = with_padding ? extent + w.end[d] : extent;
      const auto from = max((low - begin + w.dilation[d] - 1) / w.dilation[d], 0);
      const auto to = min((high - 1 - begin) / w.dilation[d], w.window[d] - 1);
      out = out * (to - from + 1);
    } else if (with_padding) {  // a window may hang over the padding, too
      out = out * min(w.window[d], extent + w.end[d] + w.begin[d] - o * w.stride[d]);
    } else {
      out = out * ops::detail::rows_inside(o, w.window[d], w.stride[d], w.begin[d], extent);
    }
  }
  return out;
}

inline void emit_average_pool(emission& e) {
  const window_spec w = window_of(e, e.what().integers("kernel_shape"));
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const shape image = e.in(0, "X").type.extents;
  const std::size_t first = space_dim(e.what());
  const bool all = e.what().integer("count_include_pad", 0) != 0;
  const bool whole = !w.is_padded() && e.what().integer("ceil_mode", 0) == 0;
  e.out(0, [=](const dsl::index_list& at) mutable {
    const pooled_place p = place_of(e, w, at);
    const dtype t = x.info().type, wide = sum_type(t);
    const dsl::runtime_expression total =
        reduce(dsl::reduction::sum, p.window, cast(zero_outside(x)(p.image), wide));
    if (whole) return cast(total / static_cast<double>(elements_of(w.window)), t);
    return cast(total / cast(window_count(w, image, first, all, at), wide), t);
  });
}

inline void infer_global_pool(inference& n) {
  shape out = n.in(0).extents;
  if (out.size() < 3) n.fail("its input has to be an image: N, C, space...");
  for (std::size_t d = 0; d + 2 < out.size(); ++d) out[space_dim(n.what()) + d] = 1;
  n.out(0, {n.in(0).type, out});
}

template <dsl::reduction Kind>
void emit_global_pool(emission& e) {
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const shape image = e.in(0, "X").type.extents;
  const std::size_t first = space_dim(e.what());
  e.out(0, [=](const dsl::index_list& at) mutable {
    dsl::index_list space, place = at;
    std::int64_t count = 1;
    for (std::size_t d = 0; d + 2 < image.size(); ++d) {
      space.push_back(e.axis("r" + std::to_string(d), image[first + d]));
      place[first + d] = space.back();
      count *= image[first + d];
    }
    if (Kind == dsl::reduction::max) return reduce(Kind, space, x(place));
    const dtype t = x.info().type, wide = sum_type(t);
    return cast(reduce(Kind, space, cast(x(place), wide)) / static_cast<double>(count), t);
  });
}

/// Y = X / (bias + alpha / size * sum of squares over `size` channels around)^beta.
inline void emit_lrn(emission& e) {
  const std::int64_t size = e.what().integer("size", 0);
  if (size < 1) e.fail("attribute size has to be positive");
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const double alpha = e.what().real("alpha", 1e-4), beta = e.what().real("beta", 0.75);
  const double bias = e.what().real("bias", 1);
  const std::size_t channel = channel_dim(e.what(), static_cast<std::size_t>(x.rank()));
  const dsl::runtime_tensor square = e.temp("square", x.info().type, e.in(0, "X").type.extents);
  const dsl::index_list at = e.axes("i", e.in(0, "X").type.extents);
  dsl::index_list place = at;
  const auto r = e.axis("r", size);
  place[channel] = at[channel] + r - (size - 1) / 2;
  const auto element = zero_outside(x)(place);
  e.define(square(at) = reduce(dsl::reduction::sum, {r}, element * element));
  e.out(0, [=](const dsl::index_list& i) {
    return x(i) / pow(bias + alpha / static_cast<double>(size) * square(i), beta);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_pooling(std::vector<operator_definition>& to) {
  const auto add = [&](std::string_view name, void (*infer)(inference&), void (*emit)(emission&)) {
    to.push_back({name, op_kind::anchor, infer, emit});
  };
  add("MaxPool", detail::infer_pool, detail::emit_max_pool);
  add("AveragePool", detail::infer_pool, detail::emit_average_pool);
  add("GlobalAveragePool", detail::infer_global_pool,
      detail::emit_global_pool<dsl::reduction::sum>);
  add("GlobalMaxPool", detail::infer_global_pool, detail::emit_global_pool<dsl::reduction::max>);
  add("LRN", infer_same, detail::emit_lrn);
}

}  // namespace tilewright::network
