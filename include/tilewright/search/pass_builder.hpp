// Building candidates with passes of one's own.
#pragma once

#include <tilewright/pass/pipeline.hpp>
#include <tilewright/search/measurement/builder.hpp>

namespace tilewright::search {

/// A builder that lowers with these passes, compiles and loads, for `measuring_options::build`:
///
///     tuned op{kernel, {.database = ":memory:", .measuring = {.build = search::pass_builder(mine)}}};
///
/// Stored code does not say by which passes it was made: who shares a database shares these, too.
builder pass_builder(pass::pipeline passes);

}  // namespace tilewright::search
