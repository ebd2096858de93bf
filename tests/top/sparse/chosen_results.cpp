// The format of a matrix is chosen for kernels that read and write values stored like it, which stay in the order of its
// elements for the caller.
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <expr/sampled_kernels.hpp>

#include "sparse_frames.hpp"

using namespace tw;
using namespace sparse_frames;
using axes::i, axes::j, axes::d;
using sampled_kernels::on_a;

namespace {

constexpr auto sampled = sampled_kernels::sampled<compressed<"N">>;
/// Values by the kinds of elements, and values that are updated, before and behind the matrix.
constexpr auto mixed = kernel<"mixed">(
    [](in<"kind", std::int32_t, "M", on_a> kind, in<"w", float, "R"> w,
       in<"A", float, "M", compressed<"N">> A, inout<"S", float, "M", on_a> S,
       in<"x", float, "M"> x) { return S(i, j) = S(i, j) + w(kind(i, j)) * x(i) * A(i, j); });
constexpr auto weighed =
    kernel<"weighed">([](in<"A", float, "M", compressed<"N">> A, in<"S", float, "M", on_a> S,
                         in<"B", float, "N", "D"> B, out<"C", float, "M", "D"> C) {
      return C(i, d) = sum<j>(A(i, j) * S(i, j) * B(j, d));
    });

tuned_options choosing(effort how) {
  tuned_options o = short_tuning(mode::now);
  o.trials = 6;
  o.calls = 1e9;
  o.effort = how;
  return o;
}

/// Whole blocks of 8 x 8, or some single elements beside them.
sparse_rows pattern(bool whole) {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < 96; ++r)
    for (int c = 0; c < 80; ++c)
      if ((r / 8 * 5 + c / 8 * 3) % 4 == 0 || (!whole && (r * 7 + c) % 31 == 0))
        entries.emplace_back(r, c, static_cast<float>(1 + (r * 3 + c) % 7));
  sparse_rows out(96, 80);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

TEST_CASE(
    "a sampled product in the format that was chosen is in the order of elements, for any caller") {
  for (const effort how : {effort::estimate, effort::measure})
    for (const bool whole : {true, false}) {
      sparse_rows a = pattern(whole);
      const dense_rows x = dense_rows::Random(96, 160), y = dense_rows::Random(80, 160);
      const tuned op(sampled, choosing(how));
      std::vector<float> out(static_cast<std::size_t>(a.nonZeros()), 99);
      const std::string text = op.report(a, x, y, out);
      CAPTURE(text);
      CHECK(out == std::vector<float>(out.size(), 99));  // nothing has run
      CHECK(text.find("sell<") == std::string::npos);
      if (how == effort::measure)
        CHECK(text.find(" by search, for 1e+09 calls") != std::string::npos);
      op(a, x, y, out);
      check_equal(out, sampled_products(a, x, y));
      a.coeffs() *= -2.0f;  // new values in place
      op(a, x, y, out);
      check_equal(out, sampled_products(a, x, y));

      sparse_rows as_matrix = a;
      op(a, x, y, as_matrix);
      check_equal({as_matrix.valuePtr(), as_matrix.valuePtr() + as_matrix.nonZeros()}, out);
      std::vector<float> apart(2 * out.size(), 7);
      op(a, x, y, view(apart.data(), {static_cast<std::int64_t>(out.size())}, {2}));
      for (std::size_t n = 0; n < out.size(); ++n) {
        CHECK(apart[2 * n] == doctest::Approx(out[n]).epsilon(1e-3));
        CHECK(apart[2 * n + 1] == 7);
      }
      std::vector<std::vector<float>> of_thread(3, out);
      std::vector<std::thread> threads;
      for (std::vector<float>& own : of_thread)
        threads.emplace_back([&op, &a, &x, &y, &own] {
          for (int turn = 0; turn < 5; ++turn) op(a, x, y, own);
        });
      for (std::thread& t : threads) t.join();
      for (const std::vector<float>& own : of_thread) check_equal(own, out);
    }
}

TEST_CASE("without measuring a sampled product is in blocks where its dot products are long") {
  tuned_options o = choosing(effort::estimate);
  o.matrices_change = false;  // of small ones looking for changes costs more than a format gains
  for (const int depth : {8, 160})
    for (const bool whole : {true, false}) {
      const sparse_rows a = pattern(whole);
      const dense_rows x = dense_rows::Random(96, depth), y = dense_rows::Random(80, depth);
      const tuned op(sampled, o);
      std::vector<float> out(static_cast<std::size_t>(a.nonZeros()), 99);
      const std::string text = op.report(a, x, y, out);
      CAPTURE(text);
      CHECK((text.find("chosen: bsr<8> by the pattern alone") != std::string::npos) ==
            (whole && depth == 160));
      op(a, x, y, out);
      check_equal(out, sampled_products(a, x, y));
    }
}

TEST_CASE("values that are read and updated are moved to their places and back") {
  for (const effort how : {effort::estimate, effort::measure})
    for (const bool whole : {true, false}) {
      const sparse_rows a = pattern(whole);
      const auto count = static_cast<std::size_t>(a.nonZeros());
      std::vector<std::int32_t> kinds;
      std::vector<float> s, before, w{0.5f, 2.0f, -1.0f}, x(96);
      for (std::size_t n = 0; n < count; ++n) {
        kinds.push_back(static_cast<std::int32_t>(n % 3));
        s.push_back(static_cast<float>(n % 11));
      }
      for (std::size_t r = 0; r < x.size(); ++r) x[r] = static_cast<float>(r % 5) - 2;
      before = s;
      tuned_options o = choosing(how);
      o.matrices_change = false;
      const tuned update(mixed, o);
      CHECK(update.report(kinds, w, a, s, x).find("  format    chosen: ") != std::string::npos);
      CHECK(s == before);
      for (int call = 0; call < 2; ++call) {
        update(kinds, w, a, s, x);
        std::size_t at = 0;
        for (int r = 0; r < a.rows(); ++r)
          for (sparse_rows::InnerIterator e(a, r); e; ++e, ++at)
            before[at] += w[at % 3] * x[static_cast<std::size_t>(r)] * e.value();
        check_equal(s, before);
      }

      const dense_rows b = dense_rows::Random(80, 24);
      dense_rows c(96, 24), expected = dense_rows::Zero(96, 24);
      const tuned product(weighed, o);
      product(a, s, b, c);
      std::size_t at = 0;
      for (int r = 0; r < a.rows(); ++r)
        for (sparse_rows::InnerIterator e(a, r); e; ++e, ++at)
          expected.row(r) += e.value() * s[at] * b.row(e.col());
      CHECK(c.isApprox(expected, 1e-4f));
    }
}

TEST_CASE("a result with another number of values is refused, in blocks as in rows") {
  const sparse_rows a = pattern(true);
  const dense_rows x = dense_rows::Random(96, 160), y = dense_rows::Random(80, 160);
  tuned_options o = choosing(effort::estimate);
  o.matrices_change = false;
  const tuned op(sampled, o);
  std::vector<float> out(static_cast<std::size_t>(a.nonZeros())), few(3, 7);
  op(a, x, y, out);
  CHECK(refusal([&] { op(a, x, y, few); }).find("\"A_nnz\"") != std::string::npos);
  CHECK(few == std::vector<float>(3, 7));
  check_equal(out, sampled_products(a, x, y));
}

TEST_CASE("a format that was chosen for results on a pattern is found again") {
  tuned_options o = choosing(effort::measure);
  o.seconds = 60;  // the trials are the budget
  o.own_database = std::make_shared<search::database>(":memory:");
  o.matrices_change = false;
  const sparse_rows a = pattern(true);
  const dense_rows x = dense_rows::Random(96, 160), y = dense_rows::Random(80, 160);
  std::vector<float> out(static_cast<std::size_t>(a.nonZeros()));
  const auto chosen = [](const std::string& text) {
    return text.substr(text.find("chosen: "), 12);  // rows, or blocks
  };
  const std::string first = tuned(sampled, o).report(a, x, y, out);
  CAPTURE(first);
  CHECK(first.find(" by search, for") != std::string::npos);
  o.callbacks.after_run = [](const search::candidate&, const search::built&,
                             const search::measurement&) -> search::verdict {
    FAIL("a candidate was measured");
    return search::verdict::go_on;
  };
  const tuned again(sampled, o);
  const std::string second = again.report(a, x, y, out);
  CAPTURE(second);
  CHECK(second.find(" as it is stored for this pattern, for") != std::string::npos);
  CHECK(chosen(first) == chosen(second));
  again(a, x, y, out);
  check_equal(out, sampled_products(a, x, y));
}

TEST_CASE("values that calls bring to their places count as memory of a format") {
  const sparse_rows a = pattern(true);
  const dense_rows x = dense_rows::Random(96, 160), y = dense_rows::Random(80, 160);
  std::vector<float> out(static_cast<std::size_t>(a.nonZeros()));
  // an element of blocks of 8 has a value, its number and a value of the result; a block has one more number
  const std::int64_t arrays = 8 * a.nonZeros() + 4 * (a.nonZeros() / 64 + 96 / 8 + 1),
                     all = arrays + 4 * a.nonZeros();
  const auto report = [&](std::int64_t most) {
    tuned_options o = choosing(effort::estimate);
    o.matrices_change = false;
    o.most_format_bytes = most;
    const tuned op(sampled, o);
    op(a, x, y, out);
    check_equal(out, sampled_products(a, x, y));
    return op.report(a, x, y, out);
  };
  const std::string enough = report(all), few = report(all - 1), fewer = report(arrays - 1);
  CAPTURE(enough);
  CAPTURE(few);
  CAPTURE(fewer);
  CHECK(enough.find("chosen: bsr<8> by the pattern alone") != std::string::npos);
  CHECK(few.find("bsr<8>: " + std::to_string(a.nonZeros()) +
                 " elements, with the values that a call brings to their places, would take " +
                 std::to_string(all) + " bytes, and most_format_bytes allows " +
                 std::to_string(all - 1)) != std::string::npos);
  CHECK(few.find("chosen: compressed rows by the pattern alone") != std::string::npos);
  CHECK(fewer.find("bsr<8>: it would take 0.0163 MB, and most_format_bytes allows 0.0155 MB") !=
        std::string::npos);
}

TEST_CASE("compressed rows get half of the trials, and two formats a quarter each") {
  tuned_options o = choosing(effort::measure);
  o.seconds = 60;  // the trials are the budget
  o.trials = 40;   // of which a tenth is for the turns
  o.matrices_change = false;
  const sparse_rows a = pattern(true);
  const dense_rows x = dense_rows::Random(96, 160), y = dense_rows::Random(80, 160);
  std::vector<float> out(static_cast<std::size_t>(a.nonZeros()));
  const tuned op(sampled, o);
  const std::string text = op.report(a, x, y, out);
  CAPTURE(text);
  CHECK(text.find("  format    compressed rows: 18 candidates in ") != std::string::npos);
  CHECK(text.find("  format    bsr<8>: 9 candidates in ") != std::string::npos);
}
