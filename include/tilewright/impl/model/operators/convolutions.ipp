#pragma once

#include <tilewright/model/operators.hpp>
#include <tilewright/model/window.hpp>
#include <tilewright/ops/convolution.hpp>

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
}

}  // namespace detail

TILEWRIGHT_INLINE void add_convolutions(std::vector<operator_definition>& to) {
  to.push_back({"Conv", op_kind::anchor, detail::infer_conv, detail::emit_conv});
}

}  // namespace tilewright::network
