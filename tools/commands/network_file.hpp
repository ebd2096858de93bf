// A network in a file, and what commands are asked to do with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/bind_extents.hpp>
#include <tilewright/model/session.hpp>

namespace tool {

struct network_options {
  std::string file, database, expect, to, target = "host", engine;
  std::vector<std::string> extents, inputs, outputs, targets;
  std::optional<double> seconds, convolution_error;
  double tolerance = 5e-6;
  int threads = 0, runs = 20;
  std::uint64_t seed = 42;
  bool plain = false, keep_f16 = false, as_json = false, print = false, passes = false,
       verbose = false;
};

tilewright::network::extent_values graph_extents_of(const network_options& o);

/// A saved model, whatever its file is called.
bool is_saved(const std::string& file);

/// @throws argument_error for a saved model, of which the kernels are fixed
tilewright::network::graph read_network(const network_options& o);

tilewright::model load(const network_options& o);

}  // namespace tool
