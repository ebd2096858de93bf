#include "cliff_problems.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "cliff_program.hpp"

namespace bench {
namespace {

/// Draws that do not depend on the standard library's distributions.
class dice {
 public:
  explicit dice(std::uint64_t seed) : generator_(seed) {}
  int below(int n) { return static_cast<int>(generator_() % static_cast<std::uint64_t>(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + below(static_cast<int>(list.size())));
  }

 private:
  std::mt19937_64 generator_;
};

std::string type_for(dice& d) {
  return d.one_of<std::string>({"float32", "float32", "float32", "float64", "int8"});
}

std::string short_name(const std::string& type) {
  return type == "float32" ? "f32" : type == "float64" ? "f64" : "i8";
}

constexpr double most_flops = 1e8;

/// In the order of an image of this layout: batch, channel, the rest.
std::vector<std::string> image_index(bool channels_last, const std::string& n, const std::string& c,
                                     const std::vector<std::string>& rest) {
  std::vector<std::string> out{n};
  if (!channels_last) out.push_back(c);
  out.insert(out.end(), rest.begin(), rest.end());
  if (channels_last) out.push_back(c);
  return out;
}
std::vector<int> image_shape(bool channels_last, int n, int c, const std::vector<int>& rest) {
  std::vector<int> out{n};
  if (!channels_last) out.push_back(c);
  out.insert(out.end(), rest.begin(), rest.end());
  if (channels_last) out.push_back(c);
  return out;
}

std::string element(const std::string& buffer, const std::vector<std::string>& indices) {
  return buffer + "[" + joined(indices) + "]";
}

const char* const space_names[] = {"o", "p", "q"};
const char* const window_names[] = {"t", "r", "s"};

/// Copies X into P with zeros around it. Extents of P's dimensions are those of X plus what is read
/// outside.
void pad(program& t, const convolution& v, const std::vector<int>& padded) {
  t.temporary("P", image_shape(v.channels_last, v.n, v.c, padded), true);
  axes all{{"n", v.n}};
  if (!v.channels_last) all.push_back({"c", v.c});
  std::vector<std::string> at, inside, conditions;
  for (std::size_t d = 0; d < padded.size(); ++d) {
    const std::string name = std::string("x") + space_names[d], low = std::to_string(v.padding[d]);
    all.push_back({name, padded[d]});
    at.push_back("v" + name);
    inside.push_back("v" + name + " - " + low);
    conditions.push_back(low + " <= v" + name);
    conditions.push_back("v" + name + " < " + std::to_string(v.padding[d] + v.input[d]));
  }
  if (v.channels_last) all.push_back({"c", v.c});
  t.block("P", all, element("P", image_index(v.channels_last, "vn", "vc", at)),
          "T.if_then_else(" + joined(conditions, " and ") + ", " +
              element("X", image_index(v.channels_last, "vn", "vc", inside)) + ", T." + t.type() +
              "(0))");
}

cliff_problem finished(program& t, std::string name, bool channels_last) {
  cliff_problem out;
  out.name = std::move(name) + (channels_last ? "_nhwc_" : "_nchw_") + short_name(t.type());
  out.script = t.script();
  out.nest = t.nest();
  out.arguments = t.arguments;
  return out;
}

/// Extents of windows, strides and images such that the work is small.
convolution draw_convolution(dice& d, std::size_t rank, bool grouped, bool depthwise) {
  convolution v;
  v.channels_last = d.below(2) == 0;
  v.type = type_for(d);
  v.c = d.one_of({3, 16, 30, 32, 64, 65, 128});
  v.k = d.one_of({8, 16, 24, 32, 63, 64, 128});
  if (grouped) {
    v.groups = d.one_of({2, 3, 4});
    v.c = v.groups * d.one_of({4, 8, 15, 16});
    v.k = v.groups * d.one_of({5, 8, 16, 32});
  }
  if (depthwise) v.c = v.k = v.groups = d.one_of({16, 31, 32, 64, 96});
  const int stride = d.one_of({1, 1, 2, 3}), dilation = d.one_of({1, 1, 1, 2});
  const int window = d.one_of({1, 3, 3, 5, 7});
  int extent = rank == 1 ? d.between(40, 600) : rank == 2 ? d.between(7, 90) : d.between(5, 24);
  for (;; extent = extent * 3 / 4) {
    v.input.clear(), v.output.clear(), v.window.clear();
    v.stride.clear(), v.dilation.clear(), v.padding.clear();
    double work = 2.0 * v.n * v.k * v.c / v.groups;
    for (std::size_t i = 0; i < rank; ++i) {
      const int own = extent + static_cast<int>(i), reach = dilation * (window - 1) + 1;
      v.input.push_back(std::max(own, reach));
      v.window.push_back(window);
      v.stride.push_back(stride);
      v.dilation.push_back(dilation);
      v.padding.push_back(window / 2 * dilation);
      v.output.push_back((v.input[i] + 2 * v.padding[i] - reach) / stride + 1);
      work *= static_cast<double>(v.output[i]) * window;
    }
    if (work <= most_flops || extent < 6) return v;
  }
}

cliff_problem convolve(dice& d, std::size_t rank, bool grouped, bool depthwise) {
  const convolution v = draw_convolution(d, rank, grouped, depthwise);
  program t(v.type);
  const int per_group = v.c / v.groups;
  t.input("X", image_shape(v.channels_last, v.n, v.c, v.input));
  std::vector<int> filter = v.window;
  std::vector<std::string> taps, at;
  if (!v.channels_last) filter.insert(filter.begin(), {v.k, per_group});
  if (v.channels_last) filter.insert(filter.end(), {per_group, v.k});
  t.input("F", filter);
  t.output("Y", image_shape(v.channels_last, v.n, v.k, v.output));
  t.bind(1);
  std::vector<int> padded;
  bool pads = false;
  for (std::size_t i = 0; i < rank; ++i) {
    padded.push_back(
        std::max(v.input[i] + v.padding[i],
                 (v.output[i] - 1) * v.stride[i] + v.dilation[i] * (v.window[i] - 1) + 1));
    pads = pads || v.padding[i] > 0;
  }
  if (pads) pad(t, v, padded);
  axes all{{"n", v.n}};
  std::vector<std::string> place;
  if (!v.channels_last) all.push_back({"k", v.k});
  double work = 2.0 * v.n * v.k * per_group;
  int terms = per_group;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::string name = space_names[i + 3 - rank], window = window_names[i + 3 - rank];
    all.push_back({name, v.output[i]});
    place.push_back("v" + name);
    taps.push_back("v" + window);
    at.push_back("v" + name + " * " + std::to_string(v.stride[i]) + " + v" + window + " * " +
                 std::to_string(v.dilation[i]));
    work *= static_cast<double>(v.output[i]) * v.window[i];
    terms *= v.window[i];
  }
  if (v.channels_last) all.push_back({"k", v.k});
  if (!v.channels_last && per_group > 1) all.push_back({"c", per_group, true});
  for (std::size_t i = 0; i < rank; ++i)
    all.push_back({window_names[i + 3 - rank], v.window[i], true});
  if (v.channels_last && per_group > 1) all.push_back({"c", per_group, true});
  const std::string own = per_group > 1 ? "vc" : "0";
  std::string channel = own;
  if (v.groups > 1)
    channel = depthwise ? "vk"
                        : "vk // " + std::to_string(v.k / v.groups) + " * " +
                              std::to_string(per_group) + " + " + own;
  std::vector<std::string> filter_at = taps;
  if (!v.channels_last) filter_at.insert(filter_at.begin(), {"vk", own});
  if (v.channels_last) filter_at.insert(filter_at.end(), {own, "vk"});
  const std::string image = pads ? "P" : "X";
  t.block("Y", all, element("Y", image_index(v.channels_last, "vn", "vk", place)),
          t.wide(element(image, image_index(v.channels_last, "vn", channel, at))) + " * " +
              t.wide(element("F", filter_at)),
          t.number("0"));
  const char* kinds[] = {"C1D", "C2D", "C3D"};
  cliff_problem out = finished(t,
                               depthwise ? "DEP"
                               : grouped ? "GRP"
                                         : kinds[rank - 1],
                               v.channels_last);
  out.flops = work;
  out.terms = terms;
  if (v.type != "float64") out.conv = v;
  return out;
}

cliff_problem convolve_transposed(dice& d) {
  convolution v = draw_convolution(d, 2, false, false);
  v.transposed = true;
  v.c = d.one_of({16, 32, 64});
  const int window = d.one_of({2, 3, 4}), stride = d.one_of({2, 2, 3});
  double work = 2.0 * v.c * v.k;
  for (std::size_t i = 0; i < 2; ++i) {
    v.input[i] = d.between(4, 12);
    v.window[i] = window;
    v.stride[i] = stride;
    v.dilation[i] = 1;
    v.padding[i] = window > 2 ? 1 : 0;
    v.output[i] = (v.input[i] - 1) * stride + window - 2 * v.padding[i];
    work *= static_cast<double>(v.input[i]) * window;
  }
  program t(v.type);
  t.input("X", image_shape(v.channels_last, v.n, v.c, v.input));
  t.input("F", v.channels_last ? std::vector<int>{window, window, v.c, v.k}
                               : std::vector<int>{v.c, v.k, window, window});
  t.output("Y", image_shape(v.channels_last, v.n, v.k, v.output));
  t.bind(1);
  // one element of border on each side is enough for windows of four and strides of two
  convolution border = v;
  border.padding = {window, window};
  pad(t, border, {v.input[0] + 2 * window, v.input[1] + 2 * window});
  axes all{{"n", v.n}};
  if (!v.channels_last) all.push_back({"k", v.k});
  all.push_back({"p", v.output[0]});
  all.push_back({"q", v.output[1]});
  if (v.channels_last) all.push_back({"k", v.k});
  if (!v.channels_last) all.push_back({"c", v.c, true});
  all.push_back({"r", window, true});
  all.push_back({"s", window, true});
  if (v.channels_last) all.push_back({"c", v.c, true});
  const std::string shift = std::to_string(window * stride + v.padding[0]);
  const std::string h = "(vp + " + shift + " - vr)", w = "(vq + " + shift + " - vs)";
  const std::string by = std::to_string(stride);
  t.block("Y", all, element("Y", image_index(v.channels_last, "vn", "vk", {"vp", "vq"})),
          "T.Select(" + h + " % " + by + " == 0 and " + w + " % " + by + " == 0, " +
              t.wide(element("P", image_index(v.channels_last, "vn", "vc",
                                              {h + " // " + by, w + " // " + by}))) +
              " * " + t.wide(v.channels_last ? "F[vr, vs, vc, vk]" : "F[vc, vk, vr, vs]") + ", " +
              t.number("0") + ")",
          t.number("0"));
  cliff_problem out = finished(t, "T2D", v.channels_last);
  out.flops = work;
  out.terms = v.c * window * window;
  if (v.type == "float32") out.conv = v;
  return out;
}

/// A product of two tensors whose axes stand in any order.
cliff_problem contract(dice& d) {
  program t(type_for(d));
  const int b = d.one_of({1, 1, 4, 12}), m = d.between(1, 300), n = d.between(1, 300),
            k = d.between(2, 300);
  const bool a_first = d.below(2) == 0, b_first = d.below(2) == 0, c_first = d.below(2) == 0;
  const auto two = [](bool as_is, int x, int y) {
    return as_is ? std::vector<int>{x, y} : std::vector<int>{y, x};
  };
  const auto with_batch = [&](std::vector<int> shape) {
    if (b > 1) shape.insert(shape.begin(), b);
    return shape;
  };
  const std::string batch = b > 1 ? "vb, " : "";
  t.input("A", with_batch(two(a_first, m, k)));
  t.input("B", with_batch(two(b_first, k, n)));
  t.output("C", with_batch(two(c_first, m, n)));
  axes all;
  if (b > 1) all.push_back({"b", b});
  all.push_back({"i", m});
  all.push_back({"j", n});
  all.push_back({"k", k, true});
  t.block("C", all, "C[" + batch + (c_first ? "vi, vj]" : "vj, vi]"),
          t.wide("A[" + batch + (a_first ? "vi, vk]" : "vk, vi]")) + " * " +
              t.wide("B[" + batch + (b_first ? "vk, vj]" : "vj, vk]")),
          t.number("0"));
  cliff_problem out = finished(t, "GMM", c_first);
  out.flops = 2.0 * b * m * n * k;
  out.terms = k;
  return out;
}

cliff_problem pool(dice& d) {
  const convolution v = draw_convolution(d, 2, false, false);
  program t(d.one_of<std::string>({"float32", "float64"}));
  const int window = d.one_of({2, 3, 3, 5}), stride = d.one_of({1, 2, 2, 3});
  const bool largest = d.below(2) == 0;
  std::vector<int> in{d.between(14, 112), d.between(14, 112)}, out_extents;
  for (const int e : in) out_extents.push_back((e - window) / stride + 1);
  t.input("X", image_shape(v.channels_last, v.n, v.c, in));
  t.output("Y", image_shape(v.channels_last, v.n, v.c, out_extents));
  axes all{{"n", v.n}};
  if (!v.channels_last) all.push_back({"c", v.c});
  all.push_back({"p", out_extents[0]});
  all.push_back({"q", out_extents[1]});
  if (v.channels_last) all.push_back({"c", v.c});
  all.push_back({"r", window, true});
  all.push_back({"s", window, true});
  const std::string by = std::to_string(stride);
  t.block("Y", all, element("Y", image_index(v.channels_last, "vn", "vc", {"vp", "vq"})),
          element("X", image_index(v.channels_last, "vn", "vc",
                                   {"vp * " + by + " + vr", "vq * " + by + " + vs"})),
          largest ? t.number("-1000") : t.number("0"), largest ? "T.max" : "+");
  cliff_problem out = finished(t, largest ? "MAX" : "AVG", v.channels_last);
  out.flops = 1.0 * v.n * v.c * out_extents[0] * out_extents[1] * window * window;
  out.terms = window * window;
  return out;
}

/// A softmax or an l2 norm over the rows or the columns of a matrix.
cliff_problem normalize(dice& d) {
  program t(d.one_of<std::string>({"float32", "float32", "float64"}));
  const int m = d.between(20, 400), n = d.between(20, 400);
  const bool rows = d.below(2) == 0, softmax = d.below(2) == 0;
  t.input("X", {m, n});
  t.output("Y", {m, n});
  const std::string kept = rows ? "vi" : "vj";
  const axes both{{"i", m}, {"j", n}},
      over{rows ? axis{"i", m} : axis{"j", n}, rows ? axis{"j", n, true} : axis{"i", m, true}};
  t.temporary("S", {rows ? m : n});
  if (softmax) {
    t.temporary("M", {rows ? m : n});
    t.temporary("E", {m, n});
    t.block("M", over, "M[" + kept + "]", "X[vi, vj]", t.number("-1000"), "T.max");
    t.block("E", both, "E[vi, vj]", "T.exp(X[vi, vj] - M[" + kept + "])");
    t.block("S", over, "S[" + kept + "]", "E[vi, vj]", t.number("0"));
    t.block("Y", both, "Y[vi, vj]", "E[vi, vj] / S[" + kept + "]");
  } else {
    t.block("S", over, "S[" + kept + "]", "X[vi, vj] * X[vi, vj]", t.number("0"));
    t.block("Y", both, "Y[vi, vj]", "X[vi, vj] / T.sqrt(S[" + kept + "] + " + t.number("1") + ")");
  }
  cliff_problem out = finished(t, softmax ? "SFM" : "NRM", rows);
  out.flops = (softmax ? 5.0 : 3.0) * m * n;
  out.terms = rows ? n : m;
  return out;
}

/// A cross of five points, a square of nine, or two passes of nine taps.
cliff_problem stencil(dice& d) {
  program t(d.one_of<std::string>({"float32", "float64"}));
  const int m = d.between(40, 700), n = d.between(40, 700), kind = d.below(3);
  cliff_problem out;
  if (kind < 2) {
    t.input("X", {m + 2, n + 2});
    t.output("Y", {m, n});
    std::vector<std::string> taps{"X[vi + 1, vj + 1]", "X[vi, vj + 1]", "X[vi + 2, vj + 1]",
                                  "X[vi + 1, vj]", "X[vi + 1, vj + 2]"};
    if (kind == 1)
      for (const char* corner :
           {"X[vi, vj]", "X[vi, vj + 2]", "X[vi + 2, vj]", "X[vi + 2, vj + 2]"})
        taps.push_back(corner);
    t.block("Y", {{"i", m}, {"j", n}}, "Y[vi, vj]",
            "(" + joined(taps, " + ") + ") * " + t.number("0.125"));
    out = finished(t, kind == 0 ? "ST5" : "ST9", true);
    out.flops = static_cast<double>(taps.size()) * m * n;
    return out;
  }
  t.input("X", {m + 8, n + 8});
  t.output("Y", {m, n});
  t.temporary("B", {m + 8, n});
  std::vector<std::string> along, across;
  for (int tap = 0; tap < 9; ++tap) {
    const std::string weight = " * " + t.number("0." + std::to_string(tap + 1));
    along.push_back("X[vi, vj + " + std::to_string(tap) + "]" + weight);
    across.push_back("B[vi + " + std::to_string(tap) + ", vj]" + weight);
  }
  t.block("B", {{"i", m + 8}, {"j", n}}, "B[vi, vj]", joined(along, " + "));
  t.block("Y", {{"i", m}, {"j", n}}, "Y[vi, vj]", joined(across, " + "));
  out = finished(t, "BLR", true);
  out.flops = 36.0 * m * n;
  out.terms = 9;
  return out;
}

}  // namespace

cliff_problem make_cliff_problem(std::uint64_t seed, int index) {
  dice d(seed * 1000003 + static_cast<std::uint64_t>(index));
  for (int i = 0; i < 4; ++i) d.below(2);
  cliff_problem out;
  switch (index % 10) {
    case 0: out = convolve(d, 2, false, false); break;
    case 1: out = contract(d); break;
    case 2: out = convolve(d, 1, false, false); break;
    case 3: out = convolve(d, 2, false, true); break;
    case 4: out = pool(d); break;
    case 5: out = convolve(d, 2, true, false); break;
    case 6: out = normalize(d); break;
    case 7: out = convolve(d, 3, false, false); break;
    case 8: out = stencil(d); break;
    default: out = convolve_transposed(d);
  }
  std::string number = std::to_string(index);
  number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
  out.name = number + "_" + out.name;
  return out;
}

}  // namespace bench
