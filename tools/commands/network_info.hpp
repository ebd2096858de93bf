// What a network in a file holds.
#pragma once

#include "network_file.hpp"

namespace tool {

/// Of --target of what runs on one machine.
inline constexpr const char* machine_names =
    "what runs it: host, this CPU; cuda, this machine's GPU; or the architecture of a GPU, as "
    "sm_90a";

/// Says operators, what is not supported, kernels and memory; of a saved model what its plans hold; of a model
/// for a GPU what its kernels need there.
/// @returns the exit status
int network_info(const network_options& o);

}  // namespace tool
