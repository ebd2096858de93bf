#include "ingredients.hpp"

#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/parse.hpp>

namespace laws {
namespace {

std::int64_t divisor(std::int64_t extent, support::random& draw) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d <= extent; ++d)
    if (extent % d == 0) all.push_back(d);
  return all.empty() ? 1 : any(draw, all);
}

}  // namespace

std::string random_map(const std::vector<std::int64_t>& extents, support::random& draw) {
  std::vector<std::pair<std::string, std::int64_t>> parts;  // text, extent
  std::string inputs;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const std::string i = "i" + std::to_string(d);
    inputs += (d ? ", " : "") + i;
    if (!chance(draw, 40)) {
      parts.emplace_back(i, extents[d]);
      continue;
    }
    const std::int64_t by = chance(draw, 70) ? divisor(extents[d], draw) : 1 + pick(draw, 4);
    parts.emplace_back(i + " // " + std::to_string(by), (extents[d] + by - 1) / by);
    parts.emplace_back(i + " % " + std::to_string(by), by);
  }
  if (chance(draw, 40)) shuffle(parts, draw);
  if (parts.size() > 1 && chance(draw, 25)) {
    parts[0] = {
        "(" + parts[0].first + ") * " + std::to_string(parts[1].second) + " + " + parts[1].first,
        parts[0].second * parts[1].second};
    parts.erase(parts.begin() + 1);
  }
  if (!parts.empty() && chance(draw, 4)) parts.pop_back();
  std::string results;
  for (const auto& [text, extent] : parts) results += (results.empty() ? "" : ", ") + text;
  return "lambda " + inputs + ": (" + results + (parts.size() == 1 ? ",)" : ")");
}

void add_intrinsics() {
  for (const std::string type : {"int32", "float32"}) {
    const auto text = [&](const std::string& body) {
      const std::string view = ", \"" + type + "\", offset_factor=1";
      return ir::parse("@T.prim_func\ndef f(C: T.Buffer(()" + view + "), A: T.Buffer((4,)" + view +
                       "), B: T.Buffer((4,)" + view +
                       ")):\n"
                       "    with T.block(\"root\"):\n"
                       "        T.reads(C[()], A[0:4], B[0:4])\n"
                       "        T.writes(C[()])\n" +
                       body);
    };
    intrin::add({"laws_dot_" + type,
                 text("        for i in range(0, 4):\n"
                      "            with T.block(\"update\"):\n"
                      "                vi = T.axis.remap(\"R\", [i])\n"
                      "                C[()] = C[()] + A[vi] * B[vi]\n"),
                 text("        for i in range(2):\n"
                      "            with T.block(\"half\"):\n"
                      "                vi = T.axis.spatial(2, i)\n"
                      "                C[()] = C[()] + (A[vi * 2] * B[vi * 2] + A[vi * 2 + 1] * "
                      "B[vi * 2 + 1])\n"),
                 nullptr});
  }
}

}  // namespace laws
