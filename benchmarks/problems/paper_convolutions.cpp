#include "paper_convolutions.hpp"

#include <tilewright/ops.hpp>
#include <tilewright/tilewright.hpp>

#include <array>
#include <cmath>
#include <memory>
#include <random>

namespace bench {
namespace {

using tw::ops::conv_options;
using tw::ops::layout;

/// The spatial dimensions of a convolution, as if there were three.
struct space3 {
  std::array<int, 3> input{1, 1, 1}, output{1, 1, 1}, window{1, 1, 1}, stride{1, 1, 1},
      dilation{1, 1, 1}, padding{0, 0, 0};
  explicit space3(const convolution& v) {
    const std::size_t missing = 3 - v.input.size();
    for (std::size_t d = 0; d < v.input.size(); ++d) {
      input[missing + d] = v.input[d];
      output[missing + d] = v.output[d];
      window[missing + d] = v.window[d];
      stride[missing + d] = v.stride[d];
      dilation[missing + d] = v.dilation[d];
      padding[missing + d] = v.padding[d];
    }
  }
  int count(const std::array<int, 3>& of) const { return of[0] * of[1] * of[2]; }

  /// The place in the input that output `o` reads through tap `r`; -1 where there is none.
  int place(std::size_t d, int o, int r, bool transposed) const {
    if (!transposed) {
      const int at = o * stride[d] + r * dilation[d] - padding[d];
      return at >= 0 && at < input[d] ? at : -1;
    }
    const int at = o + padding[d] - r * dilation[d];
    return at >= 0 && at % stride[d] == 0 && at / stride[d] < input[d] ? at / stride[d] : -1;
  }
};

convolution of(std::vector<int> input, int c, int k, int window, int stride, int padding,
               int dilation = 1, int groups = 1) {
  convolution v;
  v.c = c;
  v.k = k;
  v.groups = groups;
  v.input = std::move(input);
  for (const int in : v.input) {
    v.window.push_back(window);
    v.stride.push_back(stride);
    v.dilation.push_back(dilation);
    v.padding.push_back(padding);
    v.output.push_back((in + 2 * padding - dilation * (window - 1) - 1) / stride + 1);
  }
  return v;
}

template <layout L>
auto view1(float* p, int n, int c, int w) {
  if constexpr (L == layout::channels_last)
    return tw::view(p, {n, w, c});
  else
    return tw::view(p, {n, c, w});
}
template <layout L>
auto view2(float* p, int n, int c, int h, int w) {
  if constexpr (L == layout::channels_last)
    return tw::view(p, {n, h, w, c});
  else
    return tw::view(p, {n, c, h, w});
}
template <layout L>
auto view3(float* p, int n, int c, int d, int h, int w) {
  if constexpr (L == layout::channels_last)
    return tw::view(p, {n, d, h, w, c});
  else
    return tw::view(p, {n, c, d, h, w});
}

/// A filter as a tensor: k, c, space or space, c, k.
template <layout L>
auto filter1(float* p, int k, int c, int s) {
  if constexpr (L == layout::channels_last)
    return tw::view(p, {s, c, k});
  else
    return tw::view(p, {k, c, s});
}
template <layout L>
auto filter2(float* p, int k, int c, int r, int s) {
  if constexpr (L == layout::channels_last)
    return tw::view(p, {r, s, c, k});
  else
    return tw::view(p, {k, c, r, s});
}
template <layout L>
auto filter3(float* p, int k, int c, int t, int r, int s) {
  if constexpr (L == layout::channels_last)
    return tw::view(p, {t, r, s, c, k});
  else
    return tw::view(p, {k, c, t, r, s});
}

/// The arrays and how they are used.
struct use {
  float *x, *f, *y;
  int threads;
  double seconds;
  bool bound;
};

template <class Kernel, class X, class F, class Y>
prepared job(const Kernel& kernel, const use& u, X x, F f, Y y) {
  const tw::tuned op{kernel, {.seconds = u.seconds, .threads = u.threads}};
  if (u.bound) {
    const auto layer = op.template with<"F">(f);
    return {[=] { layer(x, y); }, {}};
  }
  return {[=] { op(x, f, y); }, {}};
}

template <layout L>
prepared in_layout(const std::string& name, const convolution& v, const use& u) {
  using namespace tw::ops;
  const auto image = [&](float* p, int channels, const std::vector<int>& s) {
    return view2<L>(p, v.n, channels, s[0], s[1]);
  };
  const auto two = [&](const auto& kernel) {
    return job(kernel, u, image(u.x, v.c, v.input),
               filter2<L>(u.f, v.k, v.c / v.groups, v.window[0], v.window[1]),
               image(u.y, v.k, v.output));
  };
  if (name == "C1D")
    return job(conv1d<float, float, conv_options{.stride = 2, .padding = 1, .order = L}>, u,
               view1<L>(u.x, v.n, v.c, v.input[0]), filter1<L>(u.f, v.k, v.c, v.window[0]),
               view1<L>(u.y, v.n, v.k, v.output[0]));
  if (name == "C2D")
    return two(conv2d<float, float, conv_options{.stride = 2, .padding = 3, .order = L}>);
  if (name == "DIL")
    return two(
        conv2d<float, float, conv_options{.stride = 2, .padding = 3, .dilation = 2, .order = L}>);
  if (name == "GRP")
    return two(
        conv2d<float, float, conv_options{.stride = 2, .padding = 1, .groups = 4, .order = L}>);
  if (name == "C3D")
    return job(conv3d<float, float, conv_options{.stride = 2, .padding = 3, .order = L}>, u,
               view3<L>(u.x, v.n, v.c, v.input[0], v.input[1], v.input[2]),
               filter3<L>(u.f, v.k, v.c, v.window[0], v.window[1], v.window[2]),
               view3<L>(u.y, v.n, v.k, v.output[0], v.output[1], v.output[2]));
  if (name == "DEP") {
    const int r = v.window[0], s = v.window[1];
    constexpr auto kernel = depthwise_conv2d<float, float, conv_options{.padding = 1, .order = L}>;
    const auto filter = [&] {
      if constexpr (L == layout::channels_last)
        return tw::view(u.f, {r, s, v.c});
      else
        return tw::view(u.f, {v.c, r, s});
    };
    return job(kernel, u, image(u.x, v.c, v.input), filter(), image(u.y, v.k, v.output));
  }
  constexpr auto order =
      L == layout::channels_last ? filter_order::of_layout : filter_order::input_first;
  constexpr auto kernel =
      conv2d_transposed<float, float, conv_options{.stride = 2, .padding = 1, .order = L}, order>;
  const auto filter = [&] {
    if constexpr (L == layout::channels_last)
      return filter2<L>(u.f, v.k, v.c, v.window[0], v.window[1]);
    else
      return tw::view(u.f, {v.c, v.k, v.window[0], v.window[1]});
  };
  return job(kernel, u, image(u.x, v.c, v.input), filter(), image(u.y, v.k, v.output));
}

std::size_t product(int channels, int rest, const std::vector<int>& space) {
  std::size_t out = static_cast<std::size_t>(channels) * static_cast<std::size_t>(rest);
  for (const int s : space) out *= static_cast<std::size_t>(s);
  return out;
}

}  // namespace

std::vector<paper_convolution> paper_convolutions() {
  convolution t2d = of({4, 4}, 512, 256, 4, 2, 1);
  t2d.transposed = true;
  t2d.output = {8, 8};
  const paper_convolution all[] = {{"C1D", of({256}, 64, 128, 3, 2, 1)},
                                   {"C2D", of({224, 224}, 3, 64, 7, 2, 3)},
                                   {"C3D", of({16, 224, 224}, 3, 64, 7, 2, 3)},
                                   {"DEP", of({112, 112}, 32, 32, 3, 1, 1, 1, 32)},
                                   {"DIL", of({224, 224}, 3, 64, 7, 2, 3, 2)},
                                   {"GRP", of({56, 56}, 64, 128, 3, 2, 1, 1, 4)},
                                   {"T2D", t2d}};
  std::vector<paper_convolution> out;
  for (const bool last : {true, false})
    for (paper_convolution p : all) {
      p.name += last ? "_nhwc" : "_nchw";
      p.v.channels_last = last;
      out.push_back(std::move(p));
    }
  return out;
}

std::size_t image_size(const convolution& v) { return product(v.n, v.c, v.input); }
std::size_t filter_size(const convolution& v) { return product(v.c / v.groups, v.k, v.window); }
std::size_t output_size(const convolution& v) { return product(v.n, v.k, v.output); }

double useful_flops(const convolution& v) {
  const space3 s(v);
  double out = 2.0 * v.n * v.k * v.c / v.groups;
  for (std::size_t d = 0; d < 3; ++d) {
    int taps = 0;
    for (int o = 0; o < s.output[d]; ++o)
      for (int r = 0; r < s.window[d]; ++r) taps += s.place(d, o, r, v.transposed) >= 0;
    out *= taps;
  }
  return out;
}

sampled_outputs reference_at(const convolution& v, const float* x, const float* f,
                             std::size_t samples) {
  const space3 s(v);
  const int in_space = s.count(s.input), out_space = s.count(s.output), taps = s.count(s.window),
            per_group = v.c / v.groups, made = v.k / v.groups;
  std::mt19937 generator(11);
  sampled_outputs out;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::size_t at = generator() % output_size(v);
    const auto rest = static_cast<int>(
        at % (static_cast<std::size_t>(v.k) * static_cast<std::size_t>(out_space)));
    const int n = static_cast<int>(
        at / (static_cast<std::size_t>(v.k) * static_cast<std::size_t>(out_space)));
    const int k = v.channels_last ? rest % v.k : rest / out_space;
    const int point = v.channels_last ? rest / v.k : rest % out_space;
    const std::array<int, 3> o{point / (s.output[1] * s.output[2]),
                               point / s.output[2] % s.output[1], point % s.output[2]};
    double sum = 0, scale = 1e-30;
    for (int tap = 0; tap < taps; ++tap) {
      const std::array<int, 3> r{tap / (s.window[1] * s.window[2]), tap / s.window[2] % s.window[1],
                                 tap % s.window[2]};
      int place = 0;
      for (std::size_t d = 0; d < 3 && place >= 0; ++d) {
        const int p = s.place(d, o[d], r[d], v.transposed);
        place = p < 0 ? -1 : place * s.input[d] + p;
      }
      if (place < 0) continue;
      for (int c = 0; c < per_group; ++c) {
        const int channel = k / made * per_group + c;
        const long xi = v.channels_last ? (static_cast<long>(n) * in_space + place) * v.c + channel
                                        : (static_cast<long>(n) * v.c + channel) * in_space + place;
        const long fi = v.channels_last ? (static_cast<long>(tap) * per_group + c) * v.k + k
                        : v.transposed  ? (static_cast<long>(c) * v.k + k) * taps + tap
                                        : (static_cast<long>(k) * per_group + c) * taps + tap;
        const double term = static_cast<double>(x[xi]) * static_cast<double>(f[fi]);
        sum += term;
        scale += std::abs(term);
      }
    }
    out.at.push_back(at);
    out.want.push_back(sum);
    out.scale.push_back(scale);
  }
  return out;
}

prepared tilewright_convolution(const paper_convolution& p, const float* x, const float* f,
                                float* y, int threads, double seconds, bool bound) {
  const use u{const_cast<float*>(x), const_cast<float*>(f), y, threads, seconds, bound};
  const std::string name = p.name.substr(0, 3);
  return p.v.channels_last ? in_layout<layout::channels_last>(name, p.v, u)
                           : in_layout<layout::channels_first>(name, p.v, u);
}

}  // namespace bench
