// Copies in tiles of all widths, with pretended times: what the tests of models learn from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/cost/model.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>

namespace tiled_copies {

using namespace tilewright;

/// A copy in tiles of `tile` columns; its pretended time grows with the distance from 16.
inline ir::function tiled_copy(int rows, int tile) {
  const std::string outer = std::to_string(512 / tile), inner = std::to_string(tile);
  return ir::parse(R"(
@T.prim_func
def main(A: T.Buffer(()" +
                   std::to_string(rows) + R"(, 512), "float32"), B: T.Buffer(()" +
                   std::to_string(rows) + R"(, 512), "float32")):
    for j in range()" +
                   outer + R"():
        for i in range()" +
                   std::to_string(rows) + R"():
            for v in T.vectorized()" +
                   inner + R"():
                B[i, j * )" +
                   inner + R"( + v] = A[i, j * )" + inner + R"( + v] + T.float32(1)
)");
}

struct measured_set {
  std::vector<ir::function> programs;
  std::vector<cost::sample> samples;
  std::vector<double> speed;
};

inline measured_set copies(std::uint64_t workload, int first_rows) {
  measured_set out;
  for (int rows = first_rows; rows < first_rows + 8; ++rows)
    for (int tile = 1; tile <= 512; tile *= 2) out.programs.push_back(tiled_copy(rows, tile));
  std::size_t i = 0;
  for (int rows = first_rows; rows < first_rows + 8; ++rows)
    for (int tile = 1; tile <= 512; tile *= 2, ++i) {
      const double seconds = 1e-3 * (tile > 16 ? tile / 16.0 : 16.0 / tile);
      out.samples.push_back(
          {&out.programs[i], ir::workload_key(out.programs[i]), {workload, 0}, seconds});
      out.speed.push_back(1 / seconds);
    }
  return out;
}

}  // namespace tiled_copies
