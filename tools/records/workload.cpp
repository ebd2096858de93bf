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

std::vector<std::vector<std::string>> several_dims(const std::vector<std::string>& dims) {
  std::size_t count = 1;
  std::vector<std::vector<std::string>> values;  // [dims]
  for (const std::string& text : dims) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    values.emplace_back();
    for (std::size_t at = equals; at < text.size();) {
      const std::size_t comma = std::min(text.find(',', at + 1), text.size());
      values.back().push_back(name + "=" + text.substr(at + 1, comma - at - 1));
      at = comma;
    }
    const std::size_t here = std::max<std::size_t>(values.back().size(), 1);
    if (here > 1 && count > 1 && here != count)
      throw argument_error(
          "--dim " + text + " has " + std::to_string(here) + " extents, another one " +
          std::to_string(count) +
          "; give lists of one length, of which the first extents belong together");
    count = std::max(count, here);
  }
  std::vector<std::vector<std::string>> out;
  for (std::size_t k = 0; count > 1 && k < count; ++k) {
    out.emplace_back();
    for (const std::vector<std::string>& of_one : values)
      if (!of_one.empty()) out.back().push_back(of_one[of_one.size() == 1 ? 0 : k]);
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
