// A function from a file as something to tune or look up: extents given, key made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tilewright/search/session.hpp>

namespace tool {

/// The extents of arguments NAME=EXTENT.
/// @throws argument_error
std::map<std::string, std::int64_t> extents_of(const std::vector<std::string>& dims);

/// `f` with these extents; every extent is literal then. `file` is for the message.
/// @throws input_error when an extent stays open
tilewright::ir::function with_extents(const std::string& file, const tilewright::ir::function& f,
                                      const std::map<std::string, std::int64_t>& extents);

/// What a call with contiguous row-major arguments would tune, in the default space. `cpu` and
/// `exec` must outlive it.
tilewright::search::workload workload_of(const tilewright::ir::function& f,
                                         const tilewright::target::cpu& cpu,
                                         const tilewright::backend::executor& exec);

}  // namespace tool
