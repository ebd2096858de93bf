// Mutator: the same schedule for a format of another size.
#pragma once

#include <optional>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search {

/// Has a trace begin with another algorithm of its family: one whose name differs in digits alone, as
/// "product_in_sell_8" and "product_in_sell_16" do. Other decisions stay; what does not fit is refused or
/// repaired in the replay. Nothing where `f` carries no such algorithm.
std::optional<trace> mutate_format(const trace& t, const ir::function& f, support::random& random);

}  // namespace tilewright::search
