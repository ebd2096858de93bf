// What code computes of a pattern alone is computed once for the pattern, whatever calls come.
#include <tilewright/pass/pipeline.hpp>
#include <tilewright/search/pass_builder.hpp>
#include <tilewright/space/modules/fuse_elements.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sparse_frames.hpp"

using namespace tw;
using axes::i, axes::j, axes::k;
using sparse_frames::short_tuning;

namespace {

constexpr auto sampled_rows = kernel<"sampled_rows">(
    [](in<"A", float, "M", compressed<"N">> A, in<"X", float, "M", "K"> X,
       in<"Y", float, "N", "K"> Y, out<"S", float, "M", stored_like<"N", "A">> S) {
      return S(i, j) = A(i, j) * sum<k>(X(i, k) * Y(j, k));
    });

struct rows_of_elements {
  std::int64_t columns = 0;
  std::vector<std::int32_t> offsets{0}, indices;
  std::vector<float> values;
};

/// So many elements in so many rows, of which some are empty.
rows_of_elements random_rows(int rows, int columns, int elements, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> length(static_cast<std::size_t>(rows), 0);
  for (int left = elements; left > 0;) {
    int& one = length[random() % length.size()];
    if (one == columns) continue;
    ++one;
    --left;
  }
  rows_of_elements out;
  out.columns = columns;
  for (const int count : length) {
    int skipped = columns - count;
    for (int column = 0, left = count; left > 0; ++column) {
      if (skipped > 0 && random() % 2 == 0) {
        --skipped;
        continue;
      }
      out.indices.push_back(column);
      out.values.push_back(static_cast<float>(random() % 9) - 4);
      --left;
    }
    out.offsets.push_back(static_cast<std::int32_t>(out.indices.size()));
  }
  return out;
}

/// All elements in one loop, of which each has its row in a list.
tuned_options fused(mode m = mode::now) {
  tuned_options o = short_tuning(m);
  o.trials = 2;
  o.space = space::design_space([](schedule& s, const space::context& where) {
    space::chooser choices;
    if (!space::fuse_elements(s, where, choices)) throw std::logic_error("nothing was fused");
  });
  return o;
}

constexpr std::int64_t depth = 8;

std::vector<float> small_numbers(std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = static_cast<float>(n * 37 % 11) - 5;
  return out;
}

std::vector<float> expected_of(const rows_of_elements& a) {
  const auto rows = static_cast<std::int64_t>(a.offsets.size()) - 1;
  const std::vector<float> x = small_numbers(rows * depth), y = small_numbers(a.columns * depth);
  std::vector<float> out;
  for (std::size_t row = 0; row + 1 < a.offsets.size(); ++row)
    for (auto at = static_cast<std::size_t>(a.offsets[row]);
         at < static_cast<std::size_t>(a.offsets[row + 1]); ++at) {
      float sum = 0;
      for (std::size_t q = 0; q < depth; ++q)
        sum += x[row * depth + q] * y[static_cast<std::size_t>(a.indices[at]) * depth + q];
      out.push_back(a.values[at] * sum);
    }
  return out;
}

std::vector<float> result_of(const auto& op, const rows_of_elements& a) {
  const auto rows = static_cast<std::int64_t>(a.offsets.size()) - 1;
  const std::vector<float> x = small_numbers(rows * depth), y = small_numbers(a.columns * depth);
  std::vector<float> out(a.indices.size(), 99);
  op(csr(a.offsets, a.indices, a.values, a.columns), view(x.data(), {rows, depth}),
     view(y.data(), {a.columns, depth}), out);
  return out;
}

std::string report_of(const auto& op, const rows_of_elements& a) {
  const auto rows = static_cast<std::int64_t>(a.offsets.size()) - 1;
  const std::vector<float> x = small_numbers(rows * depth), y = small_numbers(a.columns * depth);
  std::vector<float> out(a.indices.size(), 99);
  return op.report(csr(a.offsets, a.indices, a.values, a.columns), view(x.data(), {rows, depth}),
                   view(y.data(), {a.columns, depth}), out);
}

}  // namespace

TEST_CASE(
    "rows of elements are listed once for each pattern, and anew for one that changed in place") {
  const tuned op(sampled_rows, fused());
  rows_of_elements a = random_rows(23, 17, 60, 1);
  CHECK(result_of(op, a) == expected_of(a));
  const std::string text = report_of(op, a);
  CAPTURE(text);
  CHECK(text.find("  lists     of a pattern's rows, made once for each pattern, 240 bytes") !=
        std::string::npos);
  for (float& v : a.values) v *= -2;
  CHECK(result_of(op, a) == expected_of(a));
  for (std::uint32_t seed = 2; seed < 30; ++seed) {  // as many elements, at the same place
    const rows_of_elements next = random_rows(23, 17, 60, seed);
    std::copy(next.offsets.begin(), next.offsets.end(), a.offsets.begin());
    std::copy(next.indices.begin(), next.indices.end(), a.indices.begin());
    CHECK(result_of(op, a) == expected_of(a));
  }
}

TEST_CASE("patterns in turns, of one size and of others, with empty rows and without elements") {
  const tuned op(sampled_rows, fused());
  std::vector<rows_of_elements> all;
  for (std::uint32_t seed = 0; seed < 12; ++seed) all.push_back(random_rows(40, 9, 50, seed));
  all.push_back(random_rows(1, 30, 7, 3));
  all.push_back(random_rows(30, 1, 7, 4));
  all.push_back(random_rows(5, 6, 0, 5));
  for (int round = 0; round < 3; ++round)
    for (const rows_of_elements& a : all) CHECK(result_of(op, a) == expected_of(a));
}

TEST_CASE("matrices that do not change are known by where they lie") {
  tuned_options o = fused();
  o.matrices_change = false;
  const tuned op(sampled_rows, o);
  const rows_of_elements a = random_rows(31, 20, 90, 1), b = random_rows(31, 20, 90, 2);
  for (int round = 0; round < 3; ++round) {
    CHECK(result_of(op, a) == expected_of(a));
    CHECK(result_of(op, b) == expected_of(b));
  }
}

TEST_CASE("threads call with patterns of their own") {
  const tuned op(sampled_rows, fused());
  const rows_of_elements first = random_rows(60, 30, 200, 0);
  CHECK(result_of(op, first) == expected_of(first));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&op, &wrong, t] {
      for (std::uint32_t seed = 0; seed < 40; ++seed) {
        const rows_of_elements a =
            random_rows(60, 30, 200, seed % 11 + static_cast<std::uint32_t>(t));
        wrong[t] += result_of(op, a) != expected_of(a);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("a list whose numbers are wider than the results beside it in the workspace of a call") {
  const rows_of_elements a = random_rows(65536, 65536, 3000, 1);  // columns times rows need 64 bits
  tuned_options o = fused();
  o.trials = 1;
  for (const bool apart : {true, false}) {
    if (!apart) o.measuring.build = search::pass_builder(pass::pipeline::standard());
    CHECK(result_of(tuned(sampled_rows, o), a) == expected_of(a));
  }
}

TEST_CASE("stored code brings its inspector, and so does a stored schedule") {
  tuned_options o = fused();
  o.own_database = std::make_shared<search::database>(":memory:");
  const rows_of_elements a = random_rows(23, 17, 60, 1);
  CHECK(result_of(tuned(sampled_rows, o), a) == expected_of(a));
  o.mode = mode::off;
  for (int process = 0; process < 2; ++process) {
    const tuned later(sampled_rows, o);
    CHECK(result_of(later, a) == expected_of(a));
    const std::string text = report_of(later, a);
    CAPTURE(text);
    CHECK(text.find("stored ") != std::string::npos);
    CHECK(text.find("  lists     ") != std::string::npos);
  }
}
