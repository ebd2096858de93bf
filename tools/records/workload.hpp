// A function from a file as something to tune or look up: extents given, key made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tilewright/search/contiguous_workload.hpp>

namespace tool {

/// The extents of arguments NAME=EXTENT.
/// @throws argument_error
std::map<std::string, std::int64_t> extents_of(const std::vector<std::string>& dims);

/// What `--dim M=1,8,32` asks for: the extents of one function, as many lists of them as there are values. One value of an
/// extent stands for all. Empty where no extent has several.
/// @throws argument_error for lists that differ in length
std::vector<std::vector<std::string>> several_dims(const std::vector<std::string>& dims);

/// `f` with these extents; every extent is literal then. `file` is for the message.
/// @throws input_error when an extent stays open
tilewright::ir::function with_extents(const std::string& file, const tilewright::ir::function& f,
                                      const std::map<std::string, std::int64_t>& extents);

using tilewright::search::contiguous_workload;

}  // namespace tool
