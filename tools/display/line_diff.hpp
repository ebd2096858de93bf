// What changed between two texts, by lines.
#pragma once

#include <string>
#include <string_view>

namespace tool {

/// The lines that only `before` has, marked "- ", and those that only `after` has, marked "+ ", in
/// their order; as few as possible. A line that only moved in or out of a nest, with another
/// indentation, counts as unchanged. Unchanged lines between two changes are left out, which a line
/// "  ..." tells. Empty when nothing else changed.
std::string line_diff(std::string_view before, std::string_view after);

}  // namespace tool
