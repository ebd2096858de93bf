#include <tilewright/sparse/inspection.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>

#include <expr/sampled_kernels.hpp>

#include "patterns.hpp"
#include "random_schedule.hpp"

using namespace tilewright;

namespace {

constexpr auto sampled = sampled_kernels::sampled<compressed<"N">>;

/// The sampled product, with rows and elements in one loop unless told otherwise.
ir::function program(const patterns::csr_matrix<>& a, std::int64_t depth, bool fused = true,
                     bool searched = false) {
  ir::sparse_function f =
      sparse::with_storage(reify(sampled, {{"M", a.rows}, {"N", a.columns}, {"K", depth}}),
                           {{"A", a.nonzeros(), dtype::i32}, {"S", 0, dtype::i32, 1, 0, "A"}});
  for (auto& part : f.body)
    if (auto* it = std::get_if<ir::sparse_iteration>(&part); it && fused) {
      it->iters[0].fused = true;
      if (searched) it->annotations[ir::searched_rows_annotation] = 1;
    }
  return sparse::with_iterations(f);
}

}  // namespace

TEST_CASE(
    "rows of elements are listed once, and later values of the pattern need the executor alone") {
  for (patterns::csr_matrix<>& a : patterns::many())
    for (const bool searched : {false, true}) {
      INFO(a.name, searched ? ", searched" : "");
      constexpr std::int64_t depth = 6;
      const ir::function f = program(a, depth, true, searched);
      sparse::inspection parts = sparse::divide(f);
      REQUIRE(parts.lists.size() == 1);
      CHECK(parts.lists[0]->name == "A_columns_parent");
      ir::verify(parts.inspector);
      ir::verify(parts.executor);
      CAPTURE(ir::print(parts.inspector));
      REQUIRE(parts.inspector.params.size() == 2);
      CHECK(parts.inspector.params[0].buffer->name == "A_indptr");
      REQUIRE(parts.executor.params.size() == f.params.size() + 1);
      CHECK(parts.executor.attrs.count(ir::iterations_attribute) == 0);
      // rows follow from offsets alone
      const sparse::inspection of_offsets = sparse::divide(f, sparse::inspected::offsets);
      CHECK(ir::equal(of_offsets.executor, parts.executor));
      CHECK(ir::equal(of_offsets.inspector, parts.inspector));
      std::vector<std::int32_t> list(a.indices.size(), -1);
      random_schedule::run_interpreted(parts.inspector, {a.offsets.data(), list.data()});
      for (std::size_t row = 0; row + 1 < a.offsets.size(); ++row)
        for (auto at = static_cast<std::size_t>(a.offsets[row]);
             at < static_cast<std::size_t>(a.offsets[row + 1]); ++at)
          CHECK(list[at] == static_cast<std::int32_t>(row));
      std::vector<float> x(static_cast<std::size_t>(a.rows * depth)),
          y(static_cast<std::size_t>(a.columns * depth));
      for (std::size_t n = 0; n < x.size(); ++n) x[n] = static_cast<float>(n * 37 % 17) - 8;
      for (std::size_t n = 0; n < y.size(); ++n) y[n] = static_cast<float>(n * 29 % 13) - 6;
      for (int round = 0; round < 2; ++round) {
        for (std::size_t n = 0; n < a.values.size(); ++n)
          a.values[n] = static_cast<float>((n + static_cast<std::size_t>(round)) % 5) - 2;
        std::vector<float> whole(a.indices.size(), 99), apart(a.indices.size(), 98);
        std::vector<void*> data{a.offsets.data(), a.indices.data(), a.values.data(),
                                x.data(),         y.data(),         whole.data()};
        random_schedule::run_interpreted(f, data);
        data.back() = apart.data();
        data.push_back(list.data());
        random_schedule::run_interpreted(parts.executor, data);
        CHECK(apart == whole);
      }
    }
}

TEST_CASE("a function that computes nothing of patterns alone is its executor") {
  const patterns::csr_matrix<> a = patterns::random_matrix(7, 9, 0.3, 1);
  const ir::function f = program(a, 4, false);
  const sparse::inspection parts = sparse::divide(f);
  CHECK(parts.lists.empty());
  CHECK(parts.inspector.params.empty());
  CHECK(ir::equal(parts.executor, f));
  CHECK(parts.executor.attrs.count(ir::iterations_attribute) == 1);
}
