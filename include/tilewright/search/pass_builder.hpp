// Building candidates with passes of one's own.
#pragma once

#include <tilewright/pass/pipeline.hpp>
#include <tilewright/search/measurement/builder.hpp>

namespace tilewright::search {

/// A builder that lowers with these passes, compiles and loads, for `measuring_options::build`:
///
///     tuned op{kernel, {.database = ":memory:", .measuring = {.build = search::pass_builder(mine)}}};
///
/// Passes for GPUs (`pass::pipeline::standard_gpu()`) build for a GPU, others for a CPU; for the other
/// machine every build fails and says so. Stored code does not say by which passes it was made: who shares
/// a database shares these, too.
/// @param deadline  s after which NVRTC gives up a program; 0: never
builder pass_builder(pass::pipeline passes, double deadline = 0);

}  // namespace tilewright::search
