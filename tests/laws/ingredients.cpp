#include "ingredients.hpp"

#include <tilewright/intrin/intrinsic.hpp>
#include <tilewright/ir/text/parse.hpp>

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

namespace {

/// An intrinsic over these parameters, by name and shape: what it does, and how.
void add_intrinsic(const std::string& name, const std::string& type,
                   const std::vector<std::pair<std::string, std::string>>& params,
                   const std::string& touched, const std::string& description,
                   const std::string& implementation) {
  const auto text = [&](const std::string& body) {
    std::string list;
    for (const auto& [buffer, shape] : params)
      list += (list.empty() ? "" : ", ") + buffer + ": T.Buffer(" + shape + ", \"" + type +
              "\", offset_factor=1)";
    return ir::parse("@T.prim_func\ndef f(" + list + "):\n    with T.block(\"root\"):\n" + touched +
                     body);
  };
  intrin::add({name + "_" + type, text(description), text(implementation), nullptr});
}

void add_dot(const std::string& type) {
  add_intrinsic("laws_dot", type, {{"C", "()"}, {"A", "(4,)"}, {"B", "(4,)"}},
                "        T.reads(C[()], A[0:4], B[0:4])\n"
                "        T.writes(C[()])\n",
                "        for i in range(0, 4):\n"
                "            with T.block(\"update\"):\n"
                "                vi = T.axis.remap(\"R\", [i])\n"
                "                C[()] = C[()] + A[vi] * B[vi]\n",
                "        for i in range(2):\n"
                "            with T.block(\"half\"):\n"
                "                vi = T.axis.spatial(2, i)\n"
                "                C[()] = C[()] + (A[vi * 2] * B[vi * 2] + A[vi * 2 + 1] * "
                "B[vi * 2 + 1])\n");
}

/// Four elements into one; `joined(a, b)` is the text of what joins two.
template <class Joined>
void add_fold(const std::string& name, const std::string& type, const Joined& joined) {
  add_intrinsic(name, type, {{"C", "()"}, {"A", "(4,)"}},
                "        T.reads(C[()], A[0:4])\n"
                "        T.writes(C[()])\n",
                "        for i in range(0, 4):\n"
                "            with T.block(\"update\"):\n"
                "                vi = T.axis.remap(\"R\", [i])\n"
                "                C[()] = " +
                    joined("C[()]", "A[vi]") + "\n",
                "        C[()] = " +
                    joined("C[()]", joined(joined("A[0]", "A[1]"), joined("A[2]", "A[3]"))) + "\n");
}

void add_product(const std::string& type) {
  const std::string term = "C[i, j] + (A[i, 0] * B[0, j] + A[i, 1] * B[1, j])";
  add_intrinsic("laws_product", type, {{"C", "(2, 2)"}, {"A", "(2, 2)"}, {"B", "(2, 2)"}},
                "        T.reads(C[0:2, 0:2], A[0:2, 0:2], B[0:2, 0:2])\n"
                "        T.writes(C[0:2, 0:2])\n",
                "        for i, j, k in T.grid(2, 2, 2):\n"
                "            with T.block(\"update\"):\n"
                "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
                "                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]\n",
                "        for i, j in T.grid(2, 2):\n"
                "            C[i, j] = " +
                    term + "\n");
}

}  // namespace

void add_intrinsics() {
  for (const std::string type : {"int32", "float32"}) {
    add_dot(type);
    add_fold("laws_sum", type,
             [](const std::string& a, const std::string& b) { return "(" + a + " + " + b + ")"; });
    add_fold("laws_peak", type, [](const std::string& a, const std::string& b) {
      return "T.max(" + a + ", " + b + ")";
    });
    add_product(type);
  }
}

}  // namespace laws
