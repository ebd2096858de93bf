#pragma once

#include <tilewright/model/operators.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/ops/convolution.hpp>
#include <tilewright/ops/winograd.hpp>

// Convolutions over one to three dimensions, with groups, and depthwise.
namespace tilewright::network {
namespace detail {

/// Extents of a filter: K, C, space... or, channels last, space..., C, K.
struct filter_extents {
  std::int64_t outputs, inputs;  // channels; inputs of one group
  std::vector<std::int64_t> window;
};

inline filter_extents filter_of(const node_view& n) {
  const shape& f = n.in(1).extents;
  if (f.size() != n.rank(0))
    n.fail("its filter has the shape " + text_of(f) + "; the image has " +
           std::to_string(n.rank(0)) + " dimensions");
  if (is_channels_last(n.what())) return {f.back(), f[f.size() - 2], {f.begin(), f.end() - 2}};
  return {f[0], f[1], {f.begin() + 2, f.end()}};
}

inline void infer_conv(inference& n) {
  const shape& x = n.in(0).extents;
  if (x.size() < 3 || x.size() > 5) n.fail("its input has to be an image of 1 to 3 dimensions");
  if (n.in(1).type != n.in(0).type) n.fail("image and filter need one element type");
  const filter_extents f = filter_of(n);
  const std::int64_t groups = n.what().integer("group", 1);
  const std::size_t channel = channel_dim(n.what(), x.size());
  if (groups < 1 || f.inputs * groups != x[channel] || f.outputs % groups != 0)
    n.fail("an image of " + std::to_string(x[channel]) + " channels and a filter " +
           text_of(n.in(1).extents) + " do not go together in " + std::to_string(groups) +
           " groups");
  if (n.what().has_input(2) && n.in(2).extents != shape{f.outputs})
    n.fail("its bias has the shape " + text_of(n.in(2).extents) + ", and needs " +
           text_of(shape{f.outputs}));
  const window_spec w = window_of(n, f.window);
  shape out = x;
  out[channel] = f.outputs;
  for (std::size_t d = 0; d < w.rank(); ++d) out[space_dim(n.what()) + d] = w.output[d];
  n.out(0, {n.in(0).type, out});
}

/// The sum of one output element.
template <ops::layout L>
dsl::runtime_expression conv_sum(const window_spec& w, cast_to_type to,
                                 const dsl::runtime_tensor& x, const dsl::runtime_tensor& f,
                                 std::int64_t groups, const filter_extents& about,
                                 const dsl::index_list& at) {
  using axes::c, axes::r, axes::s, axes::t;
  using dsl::runtime_expression;
  constexpr bool last = L == ops::layout::channels_last;
  const runtime_expression n = at[0], k = last ? at.back() : at[1];
  const auto place = [&](std::size_t d, const runtime_expression& in_window) {
    return ops::window_at(at[(last ? 1u : 2u) + d], in_window, w.stride[d], w.dilation[d],
                          w.begin[d]);
  };
  const auto padded = zero_outside(x);
  if (groups > 1 && about.inputs == 1 && about.outputs == groups && w.rank() == 2)
    return ops::detail::depthwise_sum<L>(to, padded, ops::filter_at<L>(f, 0, k, r, s), n, k,
                                         place(0, r), place(1, s));
  const runtime_expression channel =
      groups == 1 ? runtime_expression(c)
                  : ops::detail::channel_in_group(k, c, about.outputs / groups, about.inputs);
  if (w.rank() == 1) return ops::detail::conv1d_sum<L>(to, padded, f, n, k, channel, place(0, s));
  if (w.rank() == 2)
    return ops::detail::conv2d_sum<L>(to, padded, f, n, k, channel, place(0, r), place(1, s));
  return ops::detail::conv3d_sum<L>(to, padded, f, n, k, channel, place(0, t), place(1, r),
                                    place(2, s));
}

inline void emit_conv(emission& e) {
  const filter_extents about = filter_of(e);
  const window_spec w = window_of(e, about.window);
  const std::int64_t groups = e.what().integer("group", 1);
  const dsl::runtime_tensor x = e.tensor(0, "X"), f = e.tensor(1, "F");
  const dtype t = e.in(0, "X").type.type;
  std::optional<reader> bias;
  if (e.what().has_input(2)) bias = e.in(2, "bias");
  const bool last = is_channels_last(e.what());
  e.out(0, [=](const dsl::index_list& at) {
    const cast_to_type to{sum_type(t)};
    dsl::runtime_expression sum =
        last ? conv_sum<ops::layout::channels_last>(w, to, x, f, groups, about, at)
             : conv_sum<ops::layout::channels_first>(w, to, x, f, groups, about, at);
    if (bias) sum = sum + to((*bias)(last ? at.back() : at[1]));
    return cast(sum, t);
  });
  const std::vector<std::int64_t> tiles = e.what().integers(winograd_attribute);
  if (!tiles.empty())
    e.derive([tiles](const ir::function& sums) { return ops::with_winograd_tiles(sums, tiles); });
}

/// Window of a transposed convolution: an input element h and a window element r meet in output
/// element h * stride + r * dilation - begin.
inline window_spec transposed_window_of(const node_view& n) {
  const shape &x = n.in(0).extents, &f = n.in(1).extents;
  const std::size_t rank = x.size() - 2;
  window_spec w;
  w.window = {f.begin() + 2, f.end()};
  w.stride = positive_list(n, "strides", rank);
  w.dilation = positive_list(n, "dilations", rank);
  const auto list = [&](const char* name, std::size_t length) {
    const std::vector<std::int64_t> out =
        n.what().integers(name, std::vector<std::int64_t>(length, 0));
    if (out.size() != length)
      n.fail("attribute " + std::string(name) + " has " + std::to_string(out.size()) +
             " numbers, and needs " + std::to_string(length));
    for (const std::int64_t e : out)
      if (e < 0 || e > (1 << 20)) n.fail("attribute " + std::string(name) + " has to be 0 or more");
    return out;
  };
  const std::string how = n.what().text("auto_pad", "NOTSET");
  const bool same = how == "SAME_UPPER" || how == "SAME_LOWER";
  const std::vector<std::int64_t> more = list("output_padding", rank);
  const std::vector<std::int64_t> pads =
      how == "VALID" ? std::vector<std::int64_t>(2 * rank, 0) : list("pads", 2 * rank);
  std::vector<std::int64_t> wanted = n.what().integers("output_shape");
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != rank) n.fail("attribute output_shape has a wrong length");
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = x[d + 2];
    const std::int64_t whole =
        w.stride[d] * (extent - 1) + more[d] + (w.window[d] - 1) * w.dilation[d] + 1;
    std::int64_t before = pads[d], after = pads[rank + d];
    if (same || !wanted.empty()) {
      const std::int64_t out = wanted.empty() ? extent * w.stride[d] : wanted[d];
      const std::int64_t all = std::max<std::int64_t>(0, whole - out);
      before = how == "SAME_UPPER" ? all / 2 : all - all / 2;
      after = whole - out - before;  // below 0 where the output is larger
    }
    w.begin.push_back(before);
    w.end.push_back(after);
    w.output.push_back(whole - before - after);
    if (w.output.back() < 1) n.fail("its border is larger than what it makes");
  }
  return w;
}

inline void infer_conv_transpose(inference& n) {
  const shape &x = n.in(0).extents, &f = n.in(1).extents;
  if (x.size() < 3 || x.size() > 5) n.fail("its input has to be an image of 1 to 3 dimensions");
  const std::int64_t groups = n.what().integer("group", 1);
  if (n.in(1).type != n.in(0).type) n.fail("image and filter need one element type");
  if (f.size() != x.size() || groups < 1 || f[0] != x[1] || f[0] % groups != 0)
    n.fail("an image " + text_of(x) + " and a filter " + text_of(f) + " do not go together in " +
           std::to_string(groups) + " groups");
  const shape bias{f[1] * groups};
  if (n.what().has_input(2) && n.in(2).extents != bias)
    n.fail("its bias has the shape " + text_of(n.in(2).extents) + ", and needs " + text_of(bias));
  shape out{x[0], bias[0]};
  for (const std::int64_t extent : transposed_window_of(n).output) out.push_back(extent);
  n.out(0, {n.in(0).type, out});
}

inline void emit_conv_transpose(emission& e) {
  using dsl::runtime_expression;
  const window_spec w = transposed_window_of(e);
  const dsl::runtime_tensor x = e.tensor(0, "X"), f = e.tensor(1, "F");
  const std::int64_t groups = e.what().integer("group", 1);
  const std::int64_t inputs = f.extent(0) / groups, outputs = f.extent(1);
  const dtype t = e.in(0, "X").type.type;
  std::optional<reader> bias;
  if (e.what().has_input(2)) bias = e.in(2, "bias");
  const auto c = e.axis("c", inputs);
  dsl::index_list over{c}, window;
  for (std::size_t d = 0; d < w.rank(); ++d) {
    window.push_back(e.axis("r" + std::to_string(d), w.window[d]));
    over.push_back(window.back());
  }
  e.out(0, [=](const dsl::index_list& at) {
    const cast_to_type to{sum_type(t)};
    const runtime_expression channel = groups == 1 ? c : at[1] / outputs * inputs + c;
    dsl::index_list image{at[0], channel}, filter{channel, groups == 1 ? at[1] : at[1] % outputs};
    std::optional<runtime_expression> meets;
    for (std::size_t d = 0; d < w.rank(); ++d) {
      const runtime_expression place = at[2 + d] + w.begin[d] - window[d] * w.dilation[d];
      image.push_back(w.stride[d] == 1 ? place : place / w.stride[d]);
      filter.push_back(window[d]);
      if (w.stride[d] == 1) continue;
      const runtime_expression here = place % w.stride[d] == 0;
      meets = meets ? *meets & here : here;
    }
    const runtime_expression product = to(zero_outside(x)(image)) * to(f(filter));
    runtime_expression sum =
        reduce(dsl::reduction::sum, over, meets ? select(*meets, product, 0.0) : product);
    if (bias) sum = sum + to((*bias)(at[1]));
    return cast(sum, t);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_convolutions(std::vector<operator_definition>& to) {
  to.push_back({"Conv", op_kind::anchor, detail::infer_conv, detail::emit_conv});
  to.push_back({"ConvTranspose", op_kind::anchor, detail::infer_conv_transpose,
                detail::emit_conv_transpose});
}

}  // namespace tilewright::network
