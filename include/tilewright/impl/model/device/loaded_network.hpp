// A network on a device from a file that was saved for it: nothing is compiled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/impl/model/device/device_network.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/mapped_file.hpp>

namespace tilewright::network::detail {

/// Whatever a launch names has to be there.
/// @throws argument_error
inline void check_launches(const backend::artifact& code, const saved_kernel& k,
                           const std::string& isa) {
  using kind = backend::launch_argument::kind;
  const auto refuse = [&](const std::string& text) { throw argument_error(k.name + " " + text); };
  if (code.isa != isa) refuse("is code for \"" + code.isa + "\", and its plan for \"" + isa + "\"");
  if (code.launches.empty() || !code.preparation.empty() || !code.packed_bytes.empty())
    refuse("is no code for a GPU");
  const auto is_there = [&](kind from, std::int64_t index, const backend::launch& l) {
    const std::int64_t end =
        from == kind::buffer       ? static_cast<std::int64_t>(k.arguments.size())
        : from == kind::stride     ? static_cast<std::int64_t>(k.strides.size())
        : from == kind::workspace  ? std::max<std::int64_t>(code.workspace_bytes, 1)
        : from == kind::tensor_map ? static_cast<std::int64_t>(l.tensor_maps.size())
                                   : 0;  // arguments of networks lie on the device
    return index >= 0 && index < end;
  };
  for (const backend::launch& l : code.launches) {
    for (const backend::launch_argument& a : l.arguments)
      if (!is_there(a.from, a.index, l)) refuse("starts with an argument that is not there");
    for (const backend::tensor_map& m : l.tensor_maps)
      if (!is_there(m.from, m.index, l)) refuse("copies a tensor that is not there");
  }
}

/// Brings code and constants of a plan to the device.
/// @param plan for a GPU that is here
/// @throws argument_error for a plan that is none
/// @throws build_error when the driver refuses
inline std::unique_ptr<device_network> loaded_network(saved_plan plan,
                                                      const support::mapped_file& file) {
  if (!plan.copies.empty()) throw argument_error("the plan of the file copies outputs on the host");
  std::vector<backend::artifact> different;
  std::vector<std::size_t> which;             // [kernels] of these
  std::vector<std::vector<std::byte>> known;  // [different]
  auto first = static_cast<std::int64_t>(file.size()), last = std::int64_t{0};  // of constants
  for (saved_kernel& k : plan.kernels) {
    const auto at = std::find(known.begin(), known.end(), k.code);
    which.push_back(static_cast<std::size_t>(at - known.begin()));
    if (at == known.end()) {
      different.push_back(backend::deserialize(k.code.data(), k.code.size()));
      known.push_back(std::move(k.code));
    }
    k.code.clear();
    check_launches(different[which.back()], k, plan.isa);
    for (const saved_argument& a : k.arguments)
      if (a.where == saved_argument::constant) {
        first = std::min(first, a.at);
        last = std::max(last, a.at + a.bytes);
      }
  }
  for (saved_kernel& k : plan.kernels)
    for (saved_argument& a : k.arguments)
      if (a.where == saved_argument::constant) a.at -= first;
  const constant_pool::part constants{file.data() + first, std::max<std::int64_t>(last - first, 0),
                                      0};
  const auto load = [&](const backend::cuda::device& on) {
    std::vector<std::shared_ptr<const backend::cuda::device_code>> each;
    for (const backend::artifact& a : different)
      each.push_back(std::make_shared<const backend::cuda::device_code>(on, a));
    device_network::code_list out;
    for (const std::size_t i : which) out.push_back(each[i]);
    return out;
  };
  auto out = std::make_unique<device_network>(std::move(plan), std::vector{constants}, load, 0);
  out->prepare();
  return out;
}

}  // namespace tilewright::network::detail
