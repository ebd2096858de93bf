#pragma once

#include <set>

#include <tilewright/model/bind_extents.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE void bind_extents(graph& g, const extent_values& extents) {
  std::set<std::string> names, missing;
  for (const value_id v : g.inputs) {
    value& x = g.at(v);
    for (std::size_t d = 0; d < x.dim_names.size(); ++d) {
      const std::string& name = x.dim_names[d];
      if (name.empty()) continue;
      names.insert(name);
      const auto given = extents.find(name);
      if (given == extents.end())
        missing.insert(name);
      else
        x.type->extents.at(d) = given->second;
    }
  }
  const auto list = [](const std::set<std::string>& all) {
    std::string out;
    for (const std::string& n : all) out += (out.empty() ? "" : ", ") + n;
    return out;
  };
  if (!missing.empty())
    throw argument_error("the extents " + list(missing) + " of graph " + g.name +
                         " are open; give each a number: .extents = {{\"" + *missing.begin() +
                         "\", 1}}");
  for (const auto& [name, extent] : extents) {
    if (extent < 1)
      throw argument_error("extent " + name + " is " + std::to_string(extent) +
                           "; extents are positive");
    if (!names.count(name))
      throw argument_error("graph " + g.name + " has no open extent " + name +
                           (names.empty() ? "; all are fixed" : "; it has " + list(names)));
  }
}

}  // namespace tilewright::network
