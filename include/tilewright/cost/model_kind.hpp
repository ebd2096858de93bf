// Cost models by name: what tools offer, and what a program of yours may add.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/cost/model.hpp>

namespace tilewright::cost {

/// A kind of model.
struct model_kind {
  std::string_view name;  // lives as long as the program
  std::string_view what;  // one line for people
  std::unique_ptr<model> (*make)(std::uint64_t seed) = nullptr;
};

/// The kinds there are: "random", "trees" (which know nothing at first), "prior" (the shipped
/// trees, adapted to what is measured), and those that were added, in this order.
std::vector<model_kind> model_kinds();
/// Adds a kind, or takes the place of the one of that name. Any thread may call it.
void add_model_kind(const model_kind& kind);

/// @throws argument_error for a name that no kind has; the text lists the names
std::unique_ptr<model> make_model(std::string_view name, std::uint64_t seed = 42);

}  // namespace tilewright::cost
