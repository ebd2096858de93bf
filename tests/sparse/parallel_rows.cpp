// Rows on several threads, shared out by their elements.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/expr/formats/dcsr_matrix.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/text/sparse_script.hpp>
#include <tilewright/pass/lower.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/cpu.hpp>
#include <utility>
#include <vector>

#include "patterns.hpp"

using namespace tilewright;
using axes::i, axes::j, axes::k;

namespace {

template <dim Columns>
constexpr auto product = kernel<"product">([](in<"A", float, "M", Columns> A,
                                              in<"B", float, "K", "N"> B,
                                              out<"C", float, "M", "N"> C) {
  return C(i, j) = sum<k>(A(i, k) * B(k, j));
});

/// Runs chunks one after the other, and lets a test look at the result between them.
struct counting_executor {
  std::int64_t chunks = 0;
  std::vector<std::int64_t> ends;  // of each chunk: rows that are written
  std::function<std::int64_t()> written;

  backend::executor interface() {
    return {[](void* self, std::int64_t count, backend::chunk_body body, void* context) {
              auto& own = *static_cast<counting_executor*>(self);
              own.chunks = count;
              for (std::int64_t c = 0; c < count; ++c) {
                body(context, c, 0);
                own.ends.push_back(own.written());
              }
            },
            this, 2};
  }
};

void run(const ir::function& f, const std::vector<void*>& data, const backend::executor& exec) {
  target::cpu cpu = target::host();
  cpu.cores = 2;
  const auto code = backend::load(backend::compile(pass::lower(f, cpu), cpu));
  std::vector<std::byte> workspace(static_cast<std::size_t>(code->workspace_bytes()) + 64);
  auto* start = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(workspace.data()) + 63) / 64 * 64);
  const backend::call c{data.data(), nullptr, start, &exec, nullptr, nullptr};
  CHECK(code->entry()(&c) == backend::call_done);
}

/// Rows of 1 element each, but for a few long ones at the beginning and empty ones at the end.
patterns::csr_matrix<> uneven(std::int64_t rows, std::int64_t columns) {
  std::mt19937 random(3);
  patterns::csr_matrix<> out;
  out.columns = columns;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<std::int64_t> at;
    const std::int64_t count = r < 4 ? columns : r < rows - 5 ? 1 : 0;
    for (std::int64_t c = 0; c < count; ++c) at.push_back(count == 1 ? r % columns : c);
    out.add_row(at, random);
  }
  return out;
}

/// The product in f32, row after row.
std::vector<float> expected_product(const patterns::csr_matrix<>& a, const std::vector<float>& b) {
  std::vector<float> out;
  for (std::size_t r = 0; r < static_cast<std::size_t>(a.rows); ++r) {
    double sum = 0;
    for (auto at = static_cast<std::size_t>(a.offsets[r]);
         at < static_cast<std::size_t>(a.offsets[r + 1]); ++at)
      sum += static_cast<double>(a.values[at]) *
             static_cast<double>(b[static_cast<std::size_t>(a.indices[at])]);
    out.push_back(static_cast<float>(sum));
  }
  return out;
}

}  // namespace

TEST_CASE("chunks of rows end where their elements and rows are their share, and cover all rows") {
  if (!backend::compiler_available()) return;
  patterns::csr_matrix<> a = uneven(60, 50);
  const ir::function f = sparse::lower(sparse::with_storage(
      reify(product<compressed<"K">>, {{"M", 60}, {"K", 50}, {"N", 1}}), {{"A", a.nonzeros()}}));
  schedule s(f);
  const loop_rv rows = s.get_loops(s.get_block("C_o")).front();
  s.parallel(rows);
  s.annotate(rows, ir::balance_annotation, std::string("A_indptr"));
  std::vector<float> b(50);
  for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<float>(n % 7) - 3;
  std::vector<float> c(60, 99);
  counting_executor exec;
  exec.written = [&] {
    return static_cast<std::int64_t>(std::find(c.begin(), c.end(), 99.0f) - c.begin());
  };
  run(s.function(), {a.offsets.data(), a.indices.data(), a.values.data(), b.data(), c.data()},
      exec.interface());
  const std::vector<float> expected = expected_product(a, b);
  for (std::size_t r = 0; r < expected.size(); ++r)
    CHECK(c[r] == doctest::Approx(expected[r]).epsilon(1e-5));
  // 4 rows of 50 elements, 51 of one, 5 of none: 251 elements and 60 rows, shared out among 8 chunks
  REQUIRE(exec.chunks == 8);
  CHECK(exec.ends.back() == 60);
  std::int64_t before = 0;
  for (std::size_t n = 0; n < exec.ends.size(); ++n) {
    const std::int64_t end = exec.ends[n];
    std::int64_t share = 0;
    for (std::int64_t r = before; r < end; ++r)
      share +=
          1 + a.offsets[static_cast<std::size_t>(r) + 1] - a.offsets[static_cast<std::size_t>(r)];
    CHECK(share <= (251 + 60) / 8 + 51);  // no more than a share and a row
    before = end;
  }
}

TEST_CASE("a note of other offsets, or of none, leaves chunks of as many rows") {
  if (!backend::compiler_available()) return;
  patterns::csr_matrix<> a = uneven(64, 50);
  const ir::function f = sparse::lower(sparse::with_storage(
      reify(product<compressed<"K">>, {{"M", 64}, {"K", 50}, {"N", 1}}), {{"A", a.nonzeros()}}));
  for (const std::string note : {"A_indices", "nothing"}) {
    schedule s(f);
    const loop_rv rows = s.get_loops(s.get_block("C_o")).front();
    s.parallel(rows);
    s.annotate(rows, ir::balance_annotation, note);
    std::vector<float> b(50, 1), c(64, 99);
    counting_executor exec;
    exec.written = [&] {
      return static_cast<std::int64_t>(std::find(c.begin(), c.end(), 99.0f) - c.begin());
    };
    run(s.function(), {a.offsets.data(), a.indices.data(), a.values.data(), b.data(), c.data()},
        exec.interface());
    CHECK(exec.ends == std::vector<std::int64_t>{8, 16, 24, 32, 40, 48, 56, 64});
  }
}

namespace {

/// Runs chunks one after the other, the last one first.
backend::executor backwards() {
  return {[](void*, std::int64_t count, backend::chunk_body body, void* context) {
            for (std::int64_t c = count; c-- > 0;) body(context, c, 0);
          },
          nullptr, 2};
}

patterns::csr_matrix<> with_lengths(const std::vector<std::int64_t>& lengths,
                                    std::int64_t columns) {
  std::mt19937 random(7);
  patterns::csr_matrix<> out;
  out.columns = columns;
  for (const std::int64_t count : lengths) {
    std::vector<std::int64_t> at;
    for (std::int64_t c = 0; c < count; ++c)
      at.push_back(count == 1 ? static_cast<std::int64_t>(random() % 64) % columns : c);
    out.add_row(at, random);
  }
  return out;
}

/// Empty rows, one dense row, an arrow, rows of which the last is empty, n x 1, 1 x n, and nothing at all.
std::vector<patterns::csr_matrix<>> pathological() {
  const std::vector<std::int64_t> ones(90, 1);
  std::vector<std::int64_t> dense(90, 0), arrow(90, 2), last(90, 3);
  dense[40] = 70;
  arrow[0] = 70;
  last.back() = 0;
  std::vector<patterns::csr_matrix<>> out;
  for (const std::vector<std::int64_t>& lengths :
       {dense, arrow, last, std::vector<std::int64_t>(90, 0), std::vector<std::int64_t>{70}})
    out.push_back(with_lengths(lengths, 70));
  out.push_back(with_lengths(ones, 1));
  out.push_back(uneven(60, 50));
  return out;
}

}  // namespace

TEST_CASE(
    "rows that are divided among tasks have the sums of whole ones, whichever task ends first") {
  if (!backend::compiler_available()) return;
  for (patterns::csr_matrix<>& a : pathological())
    for (const std::int64_t columns : {1, 20})
      for (const int tasks : {2, 8, 40}) {
        CAPTURE(a.rows);
        CAPTURE(a.nonzeros());
        CAPTURE(columns);
        CAPTURE(tasks);
        const ir::function f = sparse::lower(sparse::with_storage(
            reify(product<compressed<"K">>, {{"M", a.rows}, {"K", a.columns}, {"N", columns}}),
            {{"A", a.nonzeros()}}));
        schedule s(f);
        const loop_rv rows = s.get_loops(s.get_block("C_o")).front();
        s.parallel(rows);
        s.annotate(rows, ir::balance_annotation, std::string("A_indptr"));
        s.annotate(rows, ir::tasks_annotation, tasks);
        std::vector<float> b(static_cast<std::size_t>(a.columns * columns));
        for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<float>(n % 7) - 3;
        std::vector<float> expected(static_cast<std::size_t>(a.rows * columns), 99), c = expected;
        ir::interpret(f, {{a.offsets.data(), {}},
                          {a.indices.data(), {}},
                          {a.values.data(), {}},
                          {b.data(), {}},
                          {expected.data(), {}}});
        counting_executor forwards;
        forwards.written = [] { return 0; };
        std::vector<float> before;
        for (const backend::executor& exec : {forwards.interface(), backwards()}) {
          std::fill(c.begin(), c.end(), 99.0f);
          run(s.function(),
              {a.offsets.data(), a.indices.data(), a.values.data(), b.data(), c.data()}, exec);
          for (std::size_t n = 0; n < c.size(); ++n)
            CHECK(c[n] == doctest::Approx(expected[n]).epsilon(1e-5));
          CHECK((before.empty() || c == before));
          before = c;
        }
        CHECK(forwards.chunks == std::min(tasks, 8));
      }
}

namespace {

/// The program of a matrix whose rows are numbered, with the loop over these rows in parallel.
schedule parallel_numbered_rows(const ir::sparse_function& f) {
  schedule s(sparse::lower(f));
  const std::vector<loop_rv> loops = s.get_loops(s.get_block("C_o"));
  s.parallel(loops.back());
  return s;
}

ir::sparse_function numbered_program(const dcsr_matrix<float>& m) {
  sparse::stored_parameter format{"A", m.nonzeros()};
  format.numbered_rows = static_cast<std::int64_t>(m.row_numbers().size());
  return sparse::with_storage(
      reify(product<dcsr<"K">>, {{"M", m.rows()}, {"K", m.columns()}, {"N", 3}}), {format});
}

}  // namespace

TEST_CASE(
    "rows that are numbered run in parallel: their numbers rise, and each writes its own row") {
  patterns::csr_matrix<> a = patterns::random_matrix(60, 30, 0.3, 5);
  const dcsr_matrix<float> m(csr(a.offsets, a.indices, a.values, a.columns));
  const schedule s = parallel_numbered_rows(numbered_program(m));
  const std::string text = s.show();
  CAPTURE(text);
  CHECK(text.find("T.writes(C[A_row_numbers[") != std::string::npos);
  CHECK(text.find("\"tilewright.rising\": [\"A_row_numbers\"]") != std::string::npos);
  std::vector<float> b(90);
  for (std::size_t n = 0; n < b.size(); ++n) b[n] = static_cast<float>(n % 7) - 3;
  std::vector<float> expected(180, 99), got(180, 99);
  const std::vector<void*> inputs{const_cast<std::int32_t*>(m.row_numbers().data()),
                                  const_cast<std::int32_t*>(m.offsets().data()),
                                  const_cast<std::int32_t*>(m.indices().data()),
                                  const_cast<float*>(m.values().data()), b.data()};
  std::vector<ir::tensor_view> views;
  for (void* one : inputs) views.push_back({one, {}});
  views.push_back({expected.data(), {}});
  ir::interpret(sparse::lower(numbered_program(m)), views);
  views.back().data = got.data();
  ir::interpret_options options;
  options.check_races = true;
  ir::interpret(s.function(), views, options);
  CHECK(got == expected);
  if (!backend::compiler_available()) return;
  std::fill(got.begin(), got.end(), 99.0f);
  std::vector<void*> data = inputs;
  data.push_back(got.data());
  counting_executor exec;
  exec.written = [] { return 0; };
  run(s.function(), data, exec.interface());
  CHECK(exec.chunks > 1);
  for (std::size_t n = 0; n < got.size(); ++n)
    CHECK(got[n] == doctest::Approx(expected[n]).epsilon(1e-5));
}

TEST_CASE("rows whose numbers need not rise do not run in parallel") {
  patterns::csr_matrix<> a = patterns::random_matrix(60, 30, 0.3, 5);
  const dcsr_matrix<float> m(csr(a.offsets, a.indices, a.values, a.columns));
  std::string text = ir::print(numbered_program(m));
  const std::string line = ", A_row_numbers)";
  const std::size_t at = text.find(line);
  REQUIRE(at != std::string::npos);
  text.insert(at + line.size() - 1, ", sorted=False");
  CHECK_THROWS_AS(parallel_numbered_rows(ir::parse_sparse(text)), schedule_error);
}
