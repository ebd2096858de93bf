// The format of the mask of an attention is chosen at the first call with it.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <string>
#include <vector>

#include <expr/sampled_kernels.hpp>

#include "sparse_frames.hpp"

using namespace tw;
using namespace sparse_frames;

namespace {

/// 96 x 80 in whole blocks of 8 x 8.
sparse_rows mask_of_blocks() {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < 96; ++r)
    for (int c = 0; c < 80; ++c)
      if ((r / 8 * 5 + c / 8 * 3) % 4 == 0) entries.emplace_back(r, c, 1.0f);
  sparse_rows out(96, 80);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

TEST_CASE(
    "attention over a mask of blocks is computed in blocks, and in rows where these are not full") {
  constexpr auto attention = sampled_kernels::attention<compressed<"N">>;
  sparse_rows mask = mask_of_blocks(), holes = mask;
  mask.coeffs().setConstant(0.1f);
  holes.coeffs().setConstant(0.1f);
  holes.prune([](Eigen::Index row, Eigen::Index column, float) { return (row + column) % 3 != 0; });
  const dense_rows x = dense_rows::Random(96, 16), y = dense_rows::Random(80, 16),
                   v = dense_rows::Random(80, 32);
  for (const effort how : {effort::measure, effort::estimate})
    for (const sparse_rows& a : {mask, holes}) {
      tuned_options o = short_tuning(mode::now);
      o.calls = 1e9;
      o.matrices_change = false;
      o.effort = how;
      const tuned op(attention, o);
      const tuned in_rows(attention, short_tuning());
      dense_rows out(96, 32), expected(96, 32);
      const std::string text = op.report(a, x, y, v, out);
      CAPTURE(text);
      op(a, x, y, v, out);
      in_rows(a, x, y, v, expected);
      CHECK(out.isApprox(expected, 1e-4f));
      const bool whole = a.nonZeros() == mask.nonZeros();
      CHECK((text.find("chosen: bsr<8> by") != std::string::npos) <= whole);
      if (how == effort::estimate)
        CHECK((text.find("chosen: bsr<8> by") != std::string::npos) == whole);
    }
}
