#include "workload.hpp"

#include <algorithm>
#include <charconv>

#include <tilewright/ir/specialize.hpp>
#include <tilewright/support/error.hpp>

#include "../command.hpp"

namespace tool {

using namespace tilewright;

std::map<std::string, std::int64_t> extents_of(const std::vector<std::string>& dims) {
  std::map<std::string, std::int64_t> out;
  for (const std::string& text : dims) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const char* first = text.data() + std::min(equals + 1, text.size());
    const char* last = text.data() + text.size();
    std::int64_t value = 0;
    const auto end = std::from_chars(first, last, value);
    if (end.ec != std::errc() || end.ptr != last)
      throw argument_error("--dim wants NAME=EXTENT, not " + text);
    out[text.substr(0, equals)] = value;
  }
  return out;
}

ir::function with_extents(const std::string& file, const ir::function& f,
                          const std::map<std::string, std::int64_t>& extents) {
  const ir::function out = ir::specialize(f, extents);
  const std::vector<ir::var> open = ir::symbolic_extents(out);
  if (!open.empty())
    throw input_error(
        file, "extent " + open[0]->name + " has no value; give --dim " + open[0]->name + "=...");
  return out;
}

}  // namespace tool
