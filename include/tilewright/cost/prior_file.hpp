// A model that was trained before, as a file: what `tilewright learn` writes.
//
// The first line is "tilewright-prior 1 KIND BYTES DIGEST"; the text of the model follows. KIND is a
// name of model_kind.hpp. Such a file only advises: whoever reads it goes on without it where it is
// damaged, or of a kind or version that is not known here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

/// The text of a file that holds `trained`, which make_model(kind) has made.
std::string prior_text(std::string_view kind, const model& trained);

/// The model that such a text holds.
/// @throws argument_error when the text is damaged, of another version, or of a kind that is not
///         known here, as one of learning.hpp in a program without it
std::unique_ptr<model> model_of_prior(std::string_view text, std::uint64_t seed = 42);

/// A model read from a file, or why there is none.
struct loaded_prior {
  std::unique_ptr<cost::model> model;  // null: `problem` says why
  std::string problem;
};
/// Never throws for what is in the file, or that there is none. Files above 64 MiB are no priors.
loaded_prior load_prior(const std::string& path, std::uint64_t seed = 42);

}  // namespace tilewright::cost
