// Random sparse programs, which primitives of iterations need.
#include <string>
#include <vector>

#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/sparse/iterations.hpp>

#include "random_programs.hpp"

namespace laws {
namespace {

/// Rows of any length, in numbers that are multiples of one.
struct pattern {
  std::vector<std::int64_t> offsets{0}, indices;
};

pattern random_pattern(support::random& draw, std::int64_t rows, std::int64_t columns) {
  pattern out;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t percent = chance(draw, 25) ? 0 : 20 + pick(draw, 80);
    for (std::int64_t column = 0; column < columns; ++column)
      if (chance(draw, percent)) out.indices.push_back(column);
    if (row + 1 == rows && out.indices.empty()) out.indices.push_back(0);
    out.offsets.push_back(static_cast<std::int64_t>(out.indices.size()));
  }
  return out;
}

std::string buffer_of(const std::string& name, const std::string& shape) {
  return name + ": T.Buffer((" + shape + "), \"int32\"), ";
}

}  // namespace

program sparse_program(support::random& draw) {
  const std::int64_t rows = 1 + pick(draw, 5), columns = 1 + pick(draw, 6),
                     wide = 1 + pick(draw, 5);
  const pattern p = random_pattern(draw, rows, columns);
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::string nnz = number(static_cast<std::int64_t>(p.indices.size()));
  std::string text = "@T.prim_func\ndef f(" + buffer_of("p", number(rows + 1) + ",") +
                     buffer_of("q", nnz + ",") + buffer_of("a", nnz + ",") +
                     buffer_of("x", number(rows) + ", " + number(wide)) +
                     buffer_of("y", number(columns) + ", " + number(wide)) +
                     buffer_of("s", nnz + ",") + buffer_of("c", number(rows) + ", " + number(wide));
  text.resize(text.size() - 2);
  text += "):\n    I = T.dense_fixed(" + number(rows) + ")\n    J = T.sparse_variable(I, (" +
          number(columns) + ", " + nnz + "), (p, q))\n    K = T.dense_fixed(" + number(wide) +
          ")\n    a_1 = T.match_sparse_buffer(a, (I, J))\n"
          "    s_1 = T.match_sparse_buffer(s, (I, J))\n";
  const bool sampled = chance(draw, 70), summed = !sampled || chance(draw, 60);
  if (sampled)
    text +=
        "    with T.sp_iter([I, J, K], \"SSR\", \"s\") as [i, j, k]:\n"
        "        with T.init():\n"
        "            s_1[i, j] = 0\n"
        "        s_1[i, j] = s_1[i, j] + x[i, k] * y[j, k]\n";
  if (summed)
    text += std::string("    with T.sp_iter([I, J, K], \"SRS\", \"c\") as [i, j, k]:\n") +
            "        with T.init():\n"
            "            c[i, k] = 0\n"
            "        c[i, k] = c[i, k] + " +
            (sampled && chance(draw, 50) ? "s_1" : "a_1") + "[i, j] * y[j, k]\n";
  program out;
  out.function = sparse::with_iterations(ir::parse_sparse(text));
  out.data["p"] = p.offsets;
  out.data["q"] = p.indices;
  return out;
}

}  // namespace laws
