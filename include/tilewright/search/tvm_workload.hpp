// Workloads of TVM's tuning databases as programs in script form.
//
// A line of database_workload.json holds a hash and, in base64, a module as a graph of TVM's
// objects. The graph is not documented and changes with TVM; this reads the one of TVM 0.27, and
// of it what unscheduled programs are made of: one function of buffers and scalars, loops, blocks,
// stores and expressions. Everything else is refused by the name of its object; then the program
// can be given in script form instead.
#pragma once

#include <string>

#include <tilewright/config.hpp>

namespace tilewright::search {

/// The program of one line of a workload table, in the dialect that ir::parse reads. Nothing
/// in the line is trusted.
/// @throws argument_error naming the object that is not understood, or what is damaged
std::string read_tvm_workload(const std::string& line);

}  // namespace tilewright::search
