#include "workloads.hpp"

#include <algorithm>
#include <utility>

#include <tilewright/ir/text/parse.hpp>

namespace gpu_workloads {
namespace {

using namespace tilewright;
using extents = std::vector<int>;

/// A loop; its block variable is the name after a "v".
struct axis {
  std::string name;
  int extent;
  bool reduce = false;
};
using axes = std::vector<axis>;

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

/// A program in script form in the making.
class script {
 public:
  explicit script(std::string name) : name_(std::move(name)) {}

  void parameter(const std::string& name, const extents& shape) {
    parameters_.push_back(name + ": T.Buffer(" + tuple(shape) + ", \"float32\")");
    double size = 4;
    for (const int e : shape) size *= e;
    bytes_ += size;
  }
  void temporary(const std::string& name, const extents& shape) {
    body_ += "    " + name + " = T.alloc_buffer(" + tuple(shape) + ", \"float32\")\n";
  }
  /// A block named after what it writes: `target` = `value`, or, with an `init`, the reduction that
  /// begins there.
  void block(const axes& loops, const std::string& target, const std::string& value,
             const std::string& init = {}) {
    std::vector<std::string> names, sizes, variables;
    std::string kinds;
    int terms = 1;
    for (const axis& a : loops) {
      names.push_back(a.name);
      sizes.push_back(std::to_string(a.extent));
      variables.push_back("v" + a.name);
      kinds += a.reduce ? 'R' : 'S';
      if (a.reduce) terms *= a.extent;
    }
    terms_ = std::max(terms_, terms);
    body_ += "    for " + joined(names) + " in T.grid(" + joined(sizes) +
             "):\n        with T.block(\"" + target.substr(0, target.find('[')) +
             "\"):\n            " + joined(variables) +
             (variables.size() == 1
                  ? " = T.axis." + std::string(loops[0].reduce ? "reduce" : "spatial") + "(" +
                        sizes[0] + ", " + names[0] + ")\n"
                  : " = T.axis.remap(\"" + kinds + "\", [" + joined(names) + "])\n");
    if (!init.empty())
      body_ += "            with T.init():\n                " + target + " = " + init + "\n";
    body_ += "            " + target + " = " + value + "\n";
  }
  void sum(const axes& loops, const std::string& target, const std::string& term) {
    block(loops, target, target + " + " + term, "T.float32(0)");
  }
  workload finish(double operations) const {
    workload out;
    out.name = name_;
    out.function =
        ir::parse("@T.prim_func\ndef " + name_ + "(" + joined(parameters_) + "):\n" + body_);
    out.operations = operations;
    out.bytes = bytes_;
    out.terms = terms_;
    return out;
  }

 private:
  static std::string tuple(const extents& shape) {
    std::vector<std::string> parts;
    for (const int e : shape) parts.push_back(std::to_string(e));
    return "(" + joined(parts) + (shape.size() == 1 ? ",)" : ")");
  }

  std::string name_, body_;
  std::vector<std::string> parameters_;
  double bytes_ = 0;
  int terms_ = 1;
};

/// A convolution with as many windows as `input` has extents; channels stand last.
struct window {
  extents input;
  int channels, filters, taps, stride, padding, dilation = 1, groups = 1;

  int padded(std::size_t d) const { return input[d] + 2 * padding; }
  int output(std::size_t d) const { return (padded(d) - dilation * (taps - 1) - 1) / stride + 1; }
};

constexpr const char* places[] = {"d", "h", "w"};
constexpr const char* steps[] = {"rd", "rh", "rw"};

std::size_t first_place(const window& v) { return 3 - v.input.size(); }

std::string read_at(const std::string& buffer, const std::vector<std::string>& index) {
  return buffer + "[" + joined(index) + "]";
}

/// P: the input X with a border of zeros.
void pad(script& s, const window& v) {
  axes loops{{"n", 1}};
  extents shape{1};
  std::vector<std::string> inside, at{"vn"}, from{"vn"};
  for (std::size_t d = 0; d < v.input.size(); ++d) {
    const std::string name = places[d + first_place(v)], var = "v" + name,
                      border = std::to_string(v.padding);
    loops.push_back({name, v.padded(d)});
    shape.push_back(v.padded(d));
    inside.push_back(border + " <= " + var + " and " + var + " < " +
                     std::to_string(v.input[d] + v.padding));
    at.push_back(var);
    from.push_back(var + " - " + border);
  }
  loops.push_back({"c", v.channels});
  shape.push_back(v.channels);
  at.emplace_back("vc");
  from.emplace_back("vc");
  std::string condition;
  for (const std::string& i : inside) condition += (condition.empty() ? "" : " and ") + i;
  s.temporary("P", shape);
  s.block(loops, read_at("P", at),
          "T.if_then_else(" + condition + ", " + read_at("X", from) + ", T.float32(0))");
}

enum class kind { plain, depthwise };

/// Y: sums of products of P and F. @returns operations
double convolve(script& s, const window& v, kind what) {
  axes loops{{"n", 1}};
  std::vector<std::string> to{"vn"}, from{"vn"}, filter;
  double work = 2.0 * v.filters;
  for (std::size_t d = 0; d < v.input.size(); ++d) {
    const std::string place = places[d + first_place(v)], step = steps[d + first_place(v)];
    loops.push_back({place, v.output(d)});
    to.push_back("v" + place);
    from.push_back("v" + place + " * " + std::to_string(v.stride) + " + v" + step + " * " +
                   std::to_string(v.dilation));
    filter.push_back("v" + step);
    work *= 1.0 * v.output(d) * v.taps;
  }
  loops.push_back({"k", v.filters});
  to.emplace_back("vk");
  for (std::size_t d = 0; d < v.input.size(); ++d)
    loops.push_back({steps[d + first_place(v)], v.taps, true});
  if (what == kind::depthwise) {
    from.emplace_back("vk");
    filter.emplace_back("vk");
  } else {
    const int own = v.channels / v.groups;
    loops.push_back({"c", own, true});
    from.push_back(v.groups == 1 ? "vc"
                                 : "vk // " + std::to_string(v.filters / v.groups) + " * " +
                                       std::to_string(own) + " + vc");
    filter.emplace_back("vc");
    filter.emplace_back("vk");
    work *= own;
  }
  s.sum(loops, read_at("Y", to), read_at("P", from) + " * " + read_at("F", filter));
  return work;
}

extents with_ends(int first, extents middle, int last) {
  middle.insert(middle.begin(), first);
  middle.push_back(last);
  return middle;
}

extents outputs(const window& v) {
  extents out;
  for (std::size_t d = 0; d < v.input.size(); ++d) out.push_back(v.output(d));
  return out;
}

void convolution_inputs(script& s, const window& v, kind what) {
  s.parameter("X", with_ends(1, v.input, v.channels));
  extents filter(v.input.size(), v.taps);
  if (what == kind::plain) filter.push_back(v.channels / v.groups);
  filter.push_back(v.filters);
  s.parameter("F", filter);
}

gpu_cudnn::shape peer_of(const window& v, kind what) {
  const int groups = what == kind::depthwise ? v.channels : v.groups;
  return {v.input, v.channels, v.filters, v.taps, v.stride, v.padding, v.dilation, groups};
}

workload convolution(const std::string& name, const window& v, kind what = kind::plain) {
  script s(name);
  convolution_inputs(s, v, what);
  s.parameter("Y", with_ends(1, outputs(v), v.filters));
  pad(s, v);
  workload out = s.finish(convolve(s, v, what));
  out.convolution = peer_of(v, what);
  return out;
}

/// Convolution, bias, batch norm as a product and a sum, max(., 0).
workload convolution_norm_relu(const std::string& name, const window& v) {
  script s(name);
  convolution_inputs(s, v, kind::plain);
  for (const char* per_filter : {"B", "G", "O"}) s.parameter(per_filter, {v.filters});
  const extents shape = with_ends(1, outputs(v), v.filters);
  s.parameter("Z", shape);
  pad(s, v);
  s.temporary("Y", shape);
  const double work = convolve(s, v, kind::plain);
  const axes loops{{"n", 1}, {"h", shape[1]}, {"w", shape[2]}, {"k", v.filters}};
  const std::string at = "[vn, vh, vw, vk]";
  std::string before = "Y";
  for (const auto& [to, value] : {std::pair<const char*, const char*>{"YB", " + B[vk]"},
                                  std::pair<const char*, const char*>{"YG", " * G[vk]"},
                                  std::pair<const char*, const char*>{"YO", " + O[vk]"}}) {
    s.temporary(to, shape);
    s.block(loops, to + at, before + at + value);
    before = to;
  }
  s.block(loops, "Z" + at, "T.max(" + before + at + ", T.float32(0))");
  workload out = s.finish(work);
  out.convolution = peer_of(v, kind::plain);
  out.convolution.normalized = true;
  return out;
}

/// A transposed convolution of windows of four and strides of two.
workload transposed(const std::string& name, int h, int w, int channels, int filters) {
  script s(name);
  const int taps = 4, stride = 2;
  const window border{{h, w}, channels, filters, taps, stride, 1};
  s.parameter("X", {1, h, w, channels});
  s.parameter("F", {taps, taps, channels, filters});
  s.parameter("Y", {1, stride * h, stride * w, filters});
  pad(s, border);
  const axes loops{{"n", 1},           {"h", stride * h},  {"w", stride * w},    {"k", filters},
                   {"rh", taps, true}, {"rw", taps, true}, {"c", channels, true}};
  s.sum(loops, "Y[vn, vh, vw, vk]",
        "T.if_then_else((vh + vrh) % 2 == 0 and (vw + vrw) % 2 == 0, "
        "P[vn, (vh + vrh) // 2, (vw + vrw) // 2, vc], T.float32(0)) * F[3 - vrh, 3 - vrw, vc, vk]");
  workload out = s.finish(2.0 * stride * h * stride * w * filters * taps * taps * channels);
  out.convolution = {{h, w}, channels, filters, taps, stride, 1};
  out.convolution.transposed = true;
  return out;
}

workload product(const std::string& name, int batch, int m, int n, int k) {
  script s(name);
  s.parameter("A", {batch, m, k});
  s.parameter("B", {batch, k, n});
  s.parameter("C", {batch, m, n});
  s.sum({{"b", batch}, {"i", m}, {"j", n}, {"k", k, true}}, "C[vb, vi, vj]",
        "A[vb, vi, vk] * B[vb, vk, vj]");
  workload out = s.finish(2.0 * batch * m * n * k);
  out.peer = {gpu_cublas::element::f32, batch, m, n, k};
  return out;
}

/// The scores of attention: both operands are transposed first.
workload transposed_batch_product(const std::string& name, int sequence, int heads, int depth) {
  script s(name);
  s.parameter("Q", {1, sequence, heads, depth});
  s.parameter("K", {1, sequence, heads, depth});
  s.parameter("C", {1, heads, sequence, sequence});
  s.temporary("QT", {1, heads, sequence, depth});
  s.temporary("KT", {1, heads, depth, sequence});
  s.block({{"n", 1}, {"h", heads}, {"i", sequence}, {"k", depth}}, "QT[vn, vh, vi, vk]",
          "Q[vn, vi, vh, vk]");
  s.block({{"n", 1}, {"h", heads}, {"k", depth}, {"j", sequence}}, "KT[vn, vh, vk, vj]",
          "K[vn, vj, vh, vk]");
  s.sum({{"n", 1}, {"h", heads}, {"i", sequence}, {"j", sequence}, {"k", depth, true}},
        "C[vn, vh, vi, vj]", "QT[vn, vh, vi, vk] * KT[vn, vh, vk, vj]");
  return s.finish(2.0 * heads * sequence * sequence * depth);
}

/// The Euclidean norm of each matrix.
workload norm(const std::string& name, int batch, int m, int n) {
  script s(name);
  s.parameter("A", {batch, m, n});
  s.parameter("D", {batch});
  s.temporary("C", {batch});
  s.sum({{"b", batch}, {"i", m, true}, {"j", n, true}}, "C[vb]", "A[vb, vi, vj] * A[vb, vi, vj]");
  s.block({{"b", batch}}, "D[vb]", "T.sqrt(C[vb])");
  return s.finish(2.0 * batch * m * n);
}

workload softmax(const std::string& name, int rows, int columns) {
  script s(name);
  s.parameter("X", {rows, columns});
  s.parameter("Y", {rows, columns});
  s.temporary("M", {rows});
  s.temporary("E", {rows, columns});
  s.temporary("S", {rows});
  const axes over{{"i", rows}, {"j", columns, true}}, all{{"i", rows}, {"j", columns}};
  s.block(over, "M[vi]", "T.max(M[vi], X[vi, vj])", "T.min_value(\"float32\")");
  s.block(all, "E[vi, vj]", "T.exp(X[vi, vj] - M[vi])");
  s.sum(over, "S[vi]", "E[vi, vj]");
  s.block(all, "Y[vi, vj]", "E[vi, vj] / S[vi]");
  return s.finish(5.0 * rows * columns);
}

workload layer_norm(const std::string& name, int rows, int columns) {
  script s(name);
  s.parameter("X", {rows, columns});
  s.parameter("G", {columns});
  s.parameter("B", {columns});
  s.parameter("Y", {rows, columns});
  for (const char* per_row : {"S", "Q"}) s.temporary(per_row, {rows});
  const axes over{{"i", rows}, {"j", columns, true}}, all{{"i", rows}, {"j", columns}};
  const std::string count = "T.float32(" + std::to_string(columns) + ")", mean = "S[vi] / " + count;
  s.sum(over, "S[vi]", "X[vi, vj]");
  s.sum(over, "Q[vi]", "X[vi, vj] * X[vi, vj]");
  s.block(all, "Y[vi, vj]",
          "(X[vi, vj] - " + mean + ") / T.sqrt(Q[vi] / " + count + " - " + mean + " * (" + mean +
              ") + T.float32(0.00001)) * G[vj] + B[vj]");
  return s.finish(8.0 * rows * columns);
}

/// exp, a product, a sum and max(., 0) in blocks of their own.
workload chain(const std::string& name, int rows, int columns) {
  script s(name);
  s.parameter("X", {rows, columns});
  s.parameter("Y", {rows, columns});
  const axes all{{"i", rows}, {"j", columns}};
  for (const char* between : {"E", "D"}) s.temporary(between, {rows, columns});
  s.block(all, "E[vi, vj]", "T.exp(X[vi, vj] * T.float32(0.5))");
  s.block(all, "D[vi, vj]", "E[vi, vj] - X[vi, vj]");
  s.block(all, "Y[vi, vj]", "T.max(D[vi, vj], T.float32(0))");
  return s.finish(4.0 * rows * columns);
}

workload sums(const std::string& name, int rows, int columns, bool of_rows) {
  script s(name);
  s.parameter("X", {rows, columns});
  s.parameter("S", {of_rows ? rows : columns});
  s.sum({{"i", rows, !of_rows}, {"j", columns, of_rows}}, of_rows ? "S[vi]" : "S[vj]", "X[vi, vj]");
  return s.finish(1.0 * rows * columns);
}

}  // namespace

std::vector<workload> full() {
  return {convolution("C1D", {{256}, 64, 128, 3, 2, 1}),
          convolution("C2D", {{224, 224}, 3, 64, 7, 2, 3}),
          convolution("C3D", {{16, 224, 224}, 3, 64, 7, 2, 3}),
          convolution("DEP", {{112, 112}, 32, 32, 3, 1, 1}, kind::depthwise),
          convolution("DIL", {{224, 224}, 3, 64, 7, 2, 3, 2}),
          product("GMM", 1, 128, 128, 128),
          convolution("GRP", {{56, 56}, 64, 128, 3, 2, 1, 1, 4}),
          transposed("T2D", 4, 4, 512, 256),
          convolution_norm_relu("CBR", {{224, 224}, 3, 64, 7, 2, 3}),
          transposed_batch_product("TBG", 128, 12, 64),
          norm("NRM", 1, 256, 256),
          softmax("SFM", 256, 256),
          product("GEMM1024", 1, 1024, 1024, 1024),
          product("GEMM2048", 1, 2048, 2048, 2048),
          product("GEMM4096", 1, 4096, 4096, 4096),
          product("GEMM8192", 1, 8192, 8192, 8192),
          product("SPLITK", 1, 64, 64, 16384),
          chain("CHAIN", 8192, 4096),
          softmax("SOFTMAX", 16384, 2048),
          layer_norm("LAYERNORM", 16384, 2048),
          sums("ROWSUMS", 16384, 4096, true),
          sums("COLUMNSUMS", 16384, 4096, false)};
}

std::vector<workload> small() {
  return {convolution("C1D", {{18}, 6, 10, 3, 2, 1}),
          convolution("C2D", {{14, 10}, 3, 12, 5, 2, 2}),
          convolution("C3D", {{4, 6, 6}, 3, 8, 3, 2, 1}),
          convolution("DEP", {{7, 9}, 12, 12, 3, 1, 1}, kind::depthwise),
          convolution("DIL", {{14, 10}, 3, 6, 3, 2, 2, 2}),
          product("GMM", 1, 24, 20, 36),
          convolution("GRP", {{8, 6}, 8, 12, 3, 2, 1, 1, 4}),
          transposed("T2D", 3, 4, 6, 10),
          convolution_norm_relu("CBR", {{8, 10}, 3, 12, 5, 2, 2}),
          transposed_batch_product("TBG", 10, 3, 6),
          norm("NRM", 2, 9, 14),
          softmax("SFM", 6, 35),
          product("GEMM1024", 2, 21, 13, 17),
          product("GEMM4096", 1, 48, 32, 40),
          product("SPLITK", 1, 16, 24, 512),
          chain("CHAIN", 9, 20),
          softmax("SOFTMAX", 5, 96),
          layer_norm("LAYERNORM", 5, 66),
          sums("ROWSUMS", 7, 50, true),
          sums("COLUMNSUMS", 50, 70, false)};
}

}  // namespace gpu_workloads
