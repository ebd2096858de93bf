// A network in a file that declares: the file that implements has what it needs.
#include <tilewright/all.hpp>

#include <vector>

bool use_network() {
  namespace network = tilewright::network;
  network::graph g;
  const network::tensor_type four{tilewright::dtype::f32, {4}};
  const network::value_id x = g.add({"x", four, {}, {}}), y = g.add({"y", {}, {}, {}});
  network::node relu;
  relu.op = "Relu";
  relu.version = 14;
  relu.inputs = {x};
  relu.outputs = {y};
  g.nodes = {relu};
  g.inputs = {x};
  g.outputs = {y};
  const tilewright::model m(g, {.mode = tilewright::mode::off});
  const std::vector<float> in{-1, 2, -3, 4};
  std::vector<float> out(4);
  m(in, out);
  return out == std::vector<float>{0, 2, 0, 4};
}
