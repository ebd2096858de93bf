#include <tilewright/ops.hpp>

#include <array>
#include <initializer_list>

#include "convolution_nest.hpp"
#include "dense_workload.hpp"

namespace bench::dense {
namespace {

using tw::ops::conv_options;
using tw::ops::layout;

/// A convolution of one image with the options of its kernel.
template <conv_options O>
convolution of(std::initializer_list<int> input, int c, int k, int window) {
  convolution v;
  v.channels_last = O.order == layout::channels_last;
  v.c = c;
  v.k = k;
  v.groups = O.groups;
  v.input = input;
  for (std::size_t d = 0; d < v.input.size(); ++d) {
    const int n = static_cast<int>(d), reach = O.dilation[n] * (window - 1) + 1;
    v.window.push_back(window);
    v.stride.push_back(O.stride[n]);
    v.dilation.push_back(O.dilation[n]);
    v.padding.push_back(O.padding[n]);
    v.output.push_back((v.input[d] + 2 * O.padding[n] - reach) / O.stride[n] + 1);
  }
  return v;
}

template <std::size_t Rank>
parameter<float, Rank> tensor(const char* name, const std::vector<int>& extents, bool written) {
  parameter<float, Rank> out{name, {}, -1, 1, written};
  for (std::size_t d = 0; d < Rank; ++d) out.extents[d] = extents[d];
  return out;
}

/// Channels and space in the order of the layout.
std::vector<int> image(const convolution& v, int channels, const std::vector<int>& space) {
  std::vector<int> out{v.n};
  if (!v.channels_last) out.push_back(channels);
  out.insert(out.end(), space.begin(), space.end());
  if (v.channels_last) out.push_back(channels);
  return out;
}
std::vector<int> filter(const convolution& v, bool depthwise) {
  const std::vector<int> channels = depthwise         ? std::vector<int>{v.k}
                                    : v.channels_last ? std::vector<int>{v.c / v.groups, v.k}
                                    : v.transposed    ? std::vector<int>{v.c, v.k}
                                                      : std::vector<int>{v.k, v.c / v.groups};
  std::vector<int> out;
  if (!v.channels_last) out = channels;
  out.insert(out.end(), v.window.begin(), v.window.end());
  if (v.channels_last) out.insert(out.end(), channels.begin(), channels.end());
  return out;
}

/// @param Rank number of spatial dimensions
/// @param FilterRank of the filter's dimensions
template <std::size_t Rank, std::size_t FilterRank = Rank + 2, class Kernel, class... Scales>
dense_workload make_convolution(const char* set, const char* name, const Kernel& kernel,
                                const convolution& v, Scales... scales) {
  const bool depthwise = FilterRank == Rank + 1, scaled = sizeof...(Scales) > 0;
  const std::string full = std::string(name) + (v.channels_last ? "_nhwc" : "_nchw");
  int terms = v.c / v.groups;
  for (const int w : v.window) terms *= w;
  dense_shape shape;
  shape.kind = scaled ? dense_kind::scaled_convolution : dense_kind::convolution;
  shape.conv = v;
  const weight_parameter<"F", float, FilterRank> f{
      tensor<FilterRank>("F", filter(v, depthwise), false)};
  return make(std::string(set) == "twelve" && !v.channels_last ? "nchw" : set, full, kernel,
              convolution_nest(v, depthwise, scaled), shape, useful_flops(v), terms,
              tensor<Rank + 2>("X", image(v, v.c, v.input), false), f, scales...,
              tensor<Rank + 2>("Y", image(v, v.k, v.output), true));
}

/// ResNet-50's convolutions with windows of 3x3 as they stand and with Winograd's algorithm allowed: peers compute
/// the convolution itself, so that the work is unequal.
template <layout L>
void add_within_errors(std::vector<dense_workload>& to) {
  using namespace tw::ops;
  constexpr conv_options same{.padding = 1, .order = L};
  constexpr auto set = "winograd";
  const auto add = [&](const char* direct, const char* within, int extent, int channels) {
    const convolution v = of<same>({extent, extent}, channels, channels, 3);
    const double error = winograd_error(6, channels);
    if (direct) to.push_back(make_convolution<2>(set, direct, conv2d<float, float, same>, v));
    to.push_back(make_convolution<2>(set, within, winograd(conv2d<float, float, same>, error), v));
    to.back().error = error;
  };
  add(nullptr, "W_3x3_56", 56, 64);  // beside R50_3x3_56
  add("R50_3x3_28", "W_3x3_28", 28, 128);
  add(nullptr, "W_3x3_14", 14, 256);
  add("R50_3x3_7", "W_3x3_7", 7, 512);
}

template <layout L>
void add_in_layout(std::vector<dense_workload>& to) {
  using namespace tw::ops;
  constexpr auto twelve = "twelve", beyond = "beyond";
  constexpr conv_options half{.stride = 2, .padding = 1, .order = L},
      first{.stride = 2, .padding = 3, .order = L},
      dilated{.stride = 2, .padding = 3, .dilation = 2, .order = L},
      grouped{.stride = 2, .padding = 1, .groups = 4, .order = L}, same{.padding = 1, .order = L},
      point{.order = L};
  to.push_back(
      make_convolution<1>(twelve, "C1D", conv1d<float, float, half>, of<half>({256}, 64, 128, 3)));
  to.push_back(make_convolution<2>(twelve, "C2D", conv2d<float, float, first>,
                                   of<first>({224, 224}, 3, 64, 7)));
  to.push_back(make_convolution<3>(twelve, "C3D", conv3d<float, float, first>,
                                   of<first>({16, 224, 224}, 3, 64, 7)));
  convolution dep = of<same>({112, 112}, 32, 32, 3);
  dep.groups = 32;
  to.push_back(make_convolution<2, 3>(twelve, "DEP", depthwise_conv2d<float, float, same>, dep));
  to.push_back(make_convolution<2>(twelve, "DIL", conv2d<float, float, dilated>,
                                   of<dilated>({224, 224}, 3, 64, 7)));
  to.push_back(make_convolution<2>(twelve, "GRP", conv2d<float, float, grouped>,
                                   of<grouped>({56, 56}, 64, 128, 3)));
  convolution t2d = of<half>({4, 4}, 512, 256, 4);
  t2d.transposed = true;
  t2d.output = {8, 8};
  constexpr auto order =
      L == layout::channels_last ? filter_order::of_layout : filter_order::input_first;
  to.push_back(
      make_convolution<2>(twelve, "T2D", conv2d_transposed<float, float, half, order>, t2d));
  to.push_back(
      make_convolution<2>(twelve, "CBR", conv2d_scale_shift<float, float, first, activation::relu>,
                          of<first>({224, 224}, 3, 64, 7), weight<"scale", float>("scale", 64),
                          weight<"shift", float>("shift", 64)));
  to.push_back(make_convolution<2>(beyond, "R50_1x1_56", conv2d<float, float, point>,
                                   of<point>({56, 56}, 64, 256, 1)));
  to.push_back(make_convolution<2>(beyond, "R50_3x3_56", conv2d<float, float, same>,
                                   of<same>({56, 56}, 64, 64, 3)));
  to.push_back(make_convolution<2>(beyond, "R50_1x1_14", conv2d<float, float, point>,
                                   of<point>({14, 14}, 256, 1024, 1)));
  to.push_back(make_convolution<2>(beyond, "R50_3x3_14", conv2d<float, float, same>,
                                   of<same>({14, 14}, 256, 256, 3)));
  add_within_errors<L>(to);
}

}  // namespace

void add_convolutions(std::vector<dense_workload>& to) {
  add_in_layout<layout::channels_last>(to);
  add_in_layout<layout::channels_first>(to);
}

}  // namespace bench::dense
