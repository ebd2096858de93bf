// A network on the GPU of this machine; where there is none, its kernels are emulated.
#include <tilewright/backend/cuda/emulator.hpp>
#include <tilewright/cuda.hpp>
#include <tilewright/models.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>

using namespace tw;

namespace {

constexpr int rows = 4, inner = 12, hidden = 20, columns = 6;

network::constant weights(const network::shape& extents, float step) {
  auto [out, data] = network::constant::make({dtype::f32, extents});
  for (std::int64_t k = 0; k < out.type().elements(); ++k) {
    const float x = std::sin(step * static_cast<float>(k + 1));
    std::memcpy(data + 4 * k, &x, sizeof x);
  }
  return out;
}

/// y = max(x V, 0) W, as a file would say it.
network::graph layers() {
  network::graph g;
  g.name = "layers";
  const auto value = [&](const char* name, const network::shape& extents) {
    network::value v;
    v.name = name;
    v.type = network::tensor_type{dtype::f32, extents};
    return g.add(v);
  };
  const auto node = [&](const char* op, std::vector<network::value_id> inputs,
                        network::value_id output) {
    network::node n;
    n.name = n.op = op;
    n.version = 17;
    n.inputs = std::move(inputs);
    n.outputs = {output};
    g.nodes.push_back(n);
    return output;
  };
  const network::value_id x = value("x", {rows, inner}), v = value("V", {inner, hidden}),
                          w = value("W", {hidden, columns});
  g.at(v).data = weights({inner, hidden}, 0.3f);
  g.at(w).data = weights({hidden, columns}, 0.7f);
  g.inputs = {x};
  const network::value_id product = node("MatMul", {x, v}, value("product", {rows, hidden}));
  const network::value_id positive = node("Relu", {product}, value("positive", {rows, hidden}));
  g.outputs = {node("MatMul", {positive, w}, value("y", {rows, columns}))};
  return g;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    out = std::max(out, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return out;
}

/// Calls with arrays in the device's memory start the kernels and return.
std::vector<float> on_device_alone(const model& m, const std::vector<float>& x) {
  device_buffer<float, 2> dx({rows, inner}), dy({rows, columns});
  dx.copy_from(x.data());
  m(dx, dy);
  std::vector<float> y(rows * columns);
  dy.copy_to(y.data());
  return y;
}

}  // namespace

int main() {
  std::vector<float> x(rows * inner), y(rows * columns), expected(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) * 0.25f - 0.5f;
  const model here(layers(), {.database = ":memory:", .mode = mode::off});
  here(x, expected);
  if (!cuda::available() && !backend::cuda::why_no_emulator().empty()) {
    std::cout << "skipped: no GPU (" << cuda::available().reason
              << "), and nothing to emulate with\n";
    return EXIT_SUCCESS;
  }
  const model m(layers(), {.database = ":memory:", .mode = mode::off, .target = "cuda"});
  if (cuda::available())
    m(x, y);  // arrays of the host are copied there and back
  else
    m.emulate({{"x", x}}, {{"y", y}});  // what the kernels compute, without a GPU
  if (cuda::available() && distance(on_device_alone(m, x), y) > 0) return EXIT_FAILURE;
  std::cout << "differs from the CPU by " << distance(y, expected) << "\n";
  return distance(y, expected) < 1e-4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
