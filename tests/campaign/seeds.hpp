// What the programs of a campaign are made of: operators of the library, programs that are compared with
// another compiler, programs of the laws, and kernels of real networks.
#pragma once

#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace campaign {

using namespace tilewright;

struct seed {
  std::string family;  // "operator", "comparison", "law", "model"
  std::string name;
  ir::function function;  // literal extents, few stores
};

/// @param root of the repository's tests
/// @throws error for a file that is none
std::vector<seed> read_seeds(const std::string& root);

/// The kernels of networks, each of them a subgraph that was made one, at small extents: what
/// seeds/networks.py holds of tests/model/data, MobileNetV2, Inception v1 and ResNet-50.
/// @throws argument_error where this program was built without protozero
std::string seeds_of_networks(const std::vector<std::string>& files);

}  // namespace campaign
