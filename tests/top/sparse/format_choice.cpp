// The format of a matrix is chosen at the first call with it; results are those of compressed rows.
#include <tilewright/expr/formats/csf_tensor.hpp>
#include <tilewright/search/argument_forms.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Sparse>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sparse_frames.hpp"

using namespace tw;
using axes::i, axes::j, axes::k;
using namespace sparse_frames;

namespace {

constexpr auto updated = kernel<"updated">(
    [](in<"A", float, "M", compressed<"K">> A, in<"B", float, "K", "N"> B,
       inout<"C", float, "M", "N"> C) { return C(i, j) = sum<k>(A(i, k) * B(k, j)) + C(i, j); });
constexpr auto by_rows = kernel<"by_rows">(
    [](in<"w", double, "M"> w, in<"A", double, "M", compressed<"K", std::int64_t>> A,
       in<"x", double, "K"> x,
       out<"y", double, "M"> y) { return y(i) = sum<k>(A(i, k) * w(i) * x(k)); });

constexpr auto by_row_sums =
    kernel<"by_row_sums">([](in<"A", float, "M", compressed<"K">> A, in<"x", float, "K"> x,
                             out<"y", float, "M"> y) { return y(i) = sum<k>(A(i, k) * x(k)); });

tuned_options choosing(double calls = 1e9) {
  tuned_options o;
  o.seconds = 0.4;
  o.trials = 4;
  o.database = ":memory:";
  o.threads = 1;
  o.calls = calls;
  return o;
}

/// The same where matrices do not change: of small ones looking for changes costs more than a format gains.
tuned_options choosing_once() {
  tuned_options o = choosing();
  o.matrices_change = false;
  return o;
}

constexpr auto fibre_sums = kernel<"fibre_sums">(
    [](in<"A", float, "I", compressed<"J">, compressed<"K">> A, in<"x", float, "K"> x,
       out<"y", float, "I"> y) { return y(i) = sum<j, k>(A(i, j, k) * x(k)); });

/// Whole blocks of 8 x 8 where `stored(row, column)` of the block says so.
template <class Stored>
sparse_rows blocks_where(int rows, int columns, const Stored& stored) {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      if (stored(r / 8, c / 8)) entries.emplace_back(r, c, static_cast<float>(1 + (r * 3 + c) % 7));
  sparse_rows out(rows, columns);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

sparse_rows some_blocks(int shift = 0) {
  return blocks_where(96, 80, [=](int r, int c) { return (r * 5 + c * 3 + shift) % 4 == 0; });
}

/// As many elements in each of 600 rows, all over the columns; of 8 or less four or less in each half of them.
sparse_rows short_rows(int elements) {
  std::vector<Eigen::Triplet<float>> entries;
  for (int r = 0; r < 600; ++r)
    for (int e = 0; e < elements; ++e)
      entries.emplace_back(r, (r * 31 + e * 10) % 80, static_cast<float>(1 + (r + e) % 7));
  sparse_rows out(600, 80);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

template <class Op>
void check_product(const Op& op, const sparse_rows& a) {
  const dense_rows b = dense_rows::Random(a.cols(), 24);
  dense_rows c = dense_rows::Random(a.rows(), 24);
  const dense_rows expected = a * b + c;
  op(a, b, c);
  CHECK(c.isApprox(expected, 1e-5f));
}

std::string report_of(const auto& op, const sparse_rows& a) {
  const dense_rows b = dense_rows::Random(a.cols(), 24);
  dense_rows c = dense_rows::Random(a.rows(), 24);
  const dense_rows before = c;
  const std::string out = op.report(a, b, c);
  CHECK(c == before);
  return out;
}

}  // namespace

TEST_CASE("the report says of each format what it takes, and which one was chosen") {
  const tuned op(updated, choosing_once());
  const sparse_rows a = some_blocks();
  const std::string text = report_of(op, a);
  for (const char* part :
       {"  format    compressed rows: ", "  format    bsr<8>: ", "  format    bsr<4>: ",
        "  format    sell<8, 4096>: not measured: 3.", "  format    sell<16, 256>: not measured: ",
        "times as long as in bsr<8> is expected", "  format    hyb<1, 4>: not measured: ",
        "  format    bsr_and_rows<8>: blocks would have all elements", "  format    chosen: "})
    CHECK_MESSAGE(text.find(part) != std::string::npos, std::string(part));
  CHECK(text.find("candidates in 3 formats measured") != std::string::npos);
  check_product(op, a);
}

TEST_CASE("new values, a pattern that changes in place, and other matrices get their own results") {
  for (const double calls : {1e9, 1e-9}) {
    const tuned op(updated, choosing(calls));
    sparse_rows a = some_blocks();
    check_product(op, a);
    for (int turn = 0; turn < 3; ++turn) {
      a.coeffs() *= -2.0f;
      check_product(op, a);
    }
    a.coeffs()[7] = 100;
    check_product(op, a);
    const sparse_rows other = some_blocks(1);
    check_product(op, other);
    REQUIRE(a.nonZeros() > 0);
    // the same place and size, another pattern
    auto* index = a.innerIndexPtr();
    for (int at = 0; at < a.outerIndexPtr()[1]; ++at) index[at] = at;
    check_product(op, a);
    check_product(op, other);
    for (int turn = 0; turn < 12; ++turn) check_product(op, some_blocks(turn));
  }
}

TEST_CASE("blocks beside single elements are a format, where most elements are in blocks") {
  sparse_rows a = some_blocks();
  for (int r = 0; r < 96; r += 3) a.coeffRef(r, (r * 7) % 80) = 2.0f;
  a.makeCompressed();
  const tuned op(updated, choosing_once());
  const std::string text = report_of(op, a);
  CHECK(text.find("  format    bsr_and_rows<8>: ") != std::string::npos);
  CHECK(text.find("bsr_and_rows<16>: parted_matrix: the parts before the last take") !=
        std::string::npos);
  check_product(op, a);
  const tuned looking(updated, choosing());
  check_product(looking, a);
  a.coeffs() *= -2.0f;
  check_product(looking, a);
}

TEST_CASE("the format is the first decision of the traces that a session measures") {
  tuned_options o = choosing_once();
  o.seconds = 60;
  o.trials = 16;
  std::map<std::string, int> measured;
  bool drawn = false;
  o.callbacks.after_run = [&](const search::candidate& c, const search::built&,
                              const search::measurement& m) {
    const trace& t = c.scheduled.trace();
    if (m.ok()) ++measured[search::algorithm_of(t)];
    drawn = drawn || t.print().rfind("v0 = sch.sample_categorical(candidates=[8, 4], ", 0) == 0;
    return search::verdict::go_on;
  };
  const tuned op(updated, o);
  check_product(op, some_blocks());
  for (const char* name : {"updated_in_bsr_8", "updated_in_bsr_4"})
    CHECK_MESSAGE(measured[name] > 0, std::string(name));
  CHECK(measured.count("updated_in_bsr_16") == 0);  // which does not fit
  CHECK(drawn);

  // rows side by side for a vector, with the rows that are sorted at a time
  measured.clear();
  const sparse_rows a = short_rows(5);
  const Eigen::VectorXf x = Eigen::VectorXf::Random(a.cols());
  Eigen::VectorXf y(a.rows());
  tuned(by_row_sums, o)(a, x, y);
  CHECK(y.isApprox(a * x, 1e-4f));
  for (const char* name : {"by_row_sums_in_sell_8_4096", "by_row_sums_in_sell_16_4096",
                           "by_row_sums_in_sell_8_256", "by_row_sums_in_sell_16_256"})
    CHECK_MESSAGE(measured[name] > 0, std::string(name));

  // rows of one width, in all columns and in each half of them
  measured.clear();
  check_product(tuned(updated, o), short_rows(4));
  CHECK(measured["updated_in_hyb_1_4"] > 0);
  measured.clear();
  check_product(tuned(updated, o), short_rows(8));
  CHECK(measured["updated_in_hyb_2_4"] > 0);
}

TEST_CASE("a database keeps the format with the schedule, for the pattern and those like it") {
  tuned_options o = choosing();
  o.seconds = 60;  // the trials are the budget
  o.trials = 8;
  o.matrices_change = false;
  o.own_database = std::make_shared<search::database>(":memory:");
  const sparse_rows a = some_blocks();
  const std::string first = report_of(tuned(updated, o), a);
  CHECK(first.find(" by search, for 1e+09 calls") != std::string::npos);
  const auto chosen = [](const std::string& text) {
    const std::size_t at = text.find("  format    chosen: ");
    return text.substr(at, text.find('>', at) - at);
  };
  const auto no_trial = [](search::candidate const&, const search::built&,
                           const search::measurement&) -> search::verdict {
    FAIL("a candidate was measured");
    return search::verdict::go_on;
  };
  o.callbacks.after_run = no_trial;
  const tuned again(updated, o);
  const std::string second = report_of(again, a);
  CHECK(second.find(" as it is stored for this pattern, for") != std::string::npos);
  CHECK(chosen(first) == chosen(second));
  CHECK(second.find("code      stored schedule, stored code") != std::string::npos);
  check_product(again, a);
  const sparse_rows like =
      blocks_where(104, 80, [](int r, int c) { return (r * 5 + c * 3) % 4 == 0; });
  const tuned near(updated, o);
  const std::string third = report_of(near, like);
  CHECK(third.find(" as for a pattern that is stored, 0.") != std::string::npos);
  CHECK(chosen(first) == chosen(third));
  check_product(near, like);
  // what is another kind of pattern, or another number of calls, is chosen for anew
  o.callbacks.after_run = nullptr;
  sparse_rows lines(96, 80);
  for (int r = 0; r < 96; ++r) lines.insert(r, (r * 31) % 80) = 1.0f;
  lines.makeCompressed();
  CHECK(report_of(tuned(updated, o), lines).find(" by search, for") != std::string::npos);
  o.calls = 1e-9;
  CHECK(report_of(tuned(updated, o), a).find("chosen: compressed rows by search") !=
        std::string::npos);
}

TEST_CASE("without measuring the pattern decides") {
  tuned_options o = choosing();
  o.effort = effort::estimate;
  o.matrices_change = false;
  o.callbacks.after_run = [](const search::candidate&, const search::built&,
                             const search::measurement&) -> search::verdict {
    FAIL("a candidate was measured");
    return search::verdict::go_on;
  };
  const tuned op(updated, o);
  const sparse_rows a = some_blocks();
  CHECK(report_of(op, a).find("chosen: bsr<8> by the pattern alone") != std::string::npos);
  check_product(op, a);
  sparse_rows lines(96, 80);
  for (int r = 0; r < 96; ++r)
    for (int c = 0; c < 5; ++c) lines.coeffRef(r, (r * 31 + c * 7) % 80) = 1.0f;
  lines.makeCompressed();
  CHECK(report_of(op, lines).find("chosen: compressed rows by the pattern alone") !=
        std::string::npos);
  check_product(op, lines);
}

TEST_CASE("rows that are all as long end where that is expected, and stay as they are") {
  tuned_options o = choosing_once();
  o.effort = effort::estimate;
  const auto chosen = [&](bool even) {
    sparse_rows a(4096, 65536);
    for (int r = 0; r < 4096; ++r)
      for (int c = 0; c < (even ? 16 : 1 + r * 7 % 16); ++c)
        a.insert(r, r * 31 % 4096 + c * 4096) = 1.0f;
    a.makeCompressed();
    const Eigen::VectorXf x = Eigen::VectorXf::Random(a.cols());
    Eigen::VectorXf y(a.rows());
    const tuned op(by_row_sums, o);
    op(a, x, y);
    CHECK(y.isApprox(a * x, 1e-4f));
    const std::string text = op.report(a, x, y);
    const std::size_t at = text.find("chosen: ");
    return text.substr(at, text.find(" by the pattern alone", at) - at);
  };
  CHECK(chosen(true) == "chosen: compressed rows");
  CHECK(chosen(false) == "chosen: sell<8, 4096>");
}

TEST_CASE("formats that would be padding for the most part are left out before they are made") {
  sparse_rows a(4096, 512);
  for (int r = 0; r < 4096; ++r) {
    a.insert(r, r % 500) = 1.0f;
    if (r % 4096 == 77)
      for (int c = 0; c < 512; ++c) a.coeffRef(r, c) = 2.0f;
  }
  a.makeCompressed();
  const tuned op(updated, choosing());
  const std::string text = report_of(op, a);
  CHECK(text.find("  format    bsr<8>: ") != std::string::npos);
  CHECK(text.find(" % of the places would be padding, 75 % may be") != std::string::npos);
  check_product(op, a);
}

TEST_CASE("a program says how much memory formats may take") {
  const sparse_rows a = some_blocks();
  tuned_options o = choosing_once();
  o.effort = effort::estimate;
  CHECK(report_of(tuned(updated, o), a).find("chosen: bsr<8>") != std::string::npos);
  o.most_format_bytes = 100;
  const tuned op(updated, o);
  const std::string text = report_of(op, a);
  CAPTURE(text);
  CHECK(text.find("chosen: compressed rows by the pattern alone") != std::string::npos);
  CHECK(text.find("and most_format_bytes allows 0.0001 MB") != std::string::npos);
  check_product(op, a);
}

TEST_CASE("what is found within a limit of memory is for those that have it") {
  const sparse_rows a = some_blocks();
  tuned_options free = choosing_once();
  free.seconds = 60;  // the trials are the budget
  free.own_database = std::make_shared<search::database>(":memory:");
  tuned_options limited = free;
  limited.most_format_bytes = 100;
  CHECK(report_of(tuned(updated, free), a).find("chosen: compressed rows") == std::string::npos);
  CHECK(report_of(tuned(updated, limited), a).find("chosen: compressed rows by search") !=
        std::string::npos);
  const std::string again = report_of(tuned(updated, free), a);
  CHECK(again.find("chosen: compressed rows") == std::string::npos);
  CHECK(again.find("as it is stored for this pattern") != std::string::npos);
  CHECK(report_of(tuned(updated, limited), a)
            .find("chosen: compressed rows as it is stored for this pattern") != std::string::npos);
}

TEST_CASE("long rows may be summed in another order in another format") {
  sparse_rows a(64, 8192);
  for (int r = 0; r < 64; ++r)
    for (int c = 0; c < 8192; c += r == 5 ? 1 : 1024) a.insert(r, c) = 1.0f;
  a.makeCompressed();
  const tuned op(by_row_sums, choosing());
  const Eigen::VectorXf x = Eigen::VectorXf::Random(a.cols());
  Eigen::VectorXf y(a.rows());
  const std::string text = op.report(a, x, y);
  CHECK(text.find("a candidate was dropped") == std::string::npos);
  op(a, x, y);
  CHECK(y.isApprox(a * x, 1e-4f));
}

TEST_CASE("a format that never pays is not chosen") {
  const tuned op(updated, choosing(1e-9));
  CHECK(report_of(op, some_blocks()).find("chosen: compressed rows") != std::string::npos);
}

TEST_CASE("what a program promises not to change is converted once") {
  tuned_options o = choosing();
  o.matrices_change = false;
  const tuned op(updated, o);
  const sparse_rows a = some_blocks();
  for (int turn = 0; turn < 3; ++turn) check_product(op, a);
  CHECK(report_of(op, a).find("looks for changes") == std::string::npos);
}

TEST_CASE("wrong patterns are refused before anything is converted, and empty matrices are none") {
  const tuned op(updated, choosing());
  sparse_rows a = some_blocks();
  a.innerIndexPtr()[3] = 1000;
  const dense_rows b = dense_rows::Random(a.cols(), 24);
  dense_rows c = dense_rows::Constant(a.rows(), 24, 7);
  CHECK_THROWS_WITH_AS(op(a, b, c), doctest::Contains("\"A_indices\"[3] is 1000"), argument_error);
  CHECK(c == dense_rows::Constant(a.rows(), 24, 7));
  a.innerIndexPtr()[3] = 3 + a.innerIndexPtr()[0];
  check_product(op, a);
  sparse_rows none(9, 40);
  none.makeCompressed();
  check_product(op, none);
}

TEST_CASE("a format that a kernel cannot take is left out by its reason") {
  const tuned op(by_rows, choosing_once());
  const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> a = short_rows(5).cast<double>();
  const Eigen::VectorXd w = Eigen::VectorXd::Random(a.rows()),
                        x = Eigen::VectorXd::Random(a.cols());
  Eigen::VectorXd y(a.rows());
  op(w, a, x, y);
  CHECK(y.isApprox(w.asDiagonal() * (a * x)));
  CHECK(op.report(w, a, x, y)
            .find("sell<8, 4096>: with_storage: block \"y\" reads \"A\", which is not "
                  "stored in compressed rows, and needs the number of the row") !=
        std::string::npos);
}

TEST_CASE("threads that call while the choice is made run on compressed rows") {
  const tuned op(updated, choosing());
  const sparse_rows a = some_blocks();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      const dense_rows b = dense_rows::Ones(a.cols(), 24);
      const dense_rows expected = a * b;
      for (int turn = 0; turn < 4; ++turn) {
        dense_rows c = dense_rows::Zero(a.rows(), 24);
        op(a, b, c);
        if (!c.isApprox(expected, 1e-5f)) throw std::logic_error("a thread got another result");
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST_CASE("a tensor in fibres is no matrix whose format can be chosen") {
  const std::array<std::vector<int>, 3> at{std::vector<int>{0, 1, 1}, std::vector<int>{2, 0, 0},
                                           std::vector<int>{1, 0, 3}};
  const csf_tensor<float, 3> a({2, 3, 4}, at, std::vector<float>{2, 3, 5});
  const std::vector<float> x{1, 10, 100, 1000};
  std::vector<float> y(2);
  const tuned op(fibre_sums, choosing());
  op(a, x, y);
  CHECK(y == std::vector<float>{20, 5003});
}

namespace {

constexpr const char* database_variable = "TILEWRIGHT_FORMATS_DATABASE";

/// "  format    chosen: bsr<8"
std::string chosen_in(const std::string& report) {
  const std::size_t at = report.find("  format    chosen: ");
  REQUIRE(at != std::string::npos);
  return report.substr(at, report.find('>', at) - at);
}

tuned_options of_one_database(const std::string& path) {
  tuned_options o = choosing();
  o.seconds = 60;  // the trials are the budget
  o.trials = 8;
  o.matrices_change = false;
  o.database = path;
  return o;
}

/// This program as another process that chooses a format.
pid_t start_other_process(const std::string& database) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setenv(database_variable, database.c_str(), 1);
  ::execl("/proc/self/exe", "test_top", "--no-skip",
          "--test-case=two processes*: the other one chooses", static_cast<char*>(nullptr));
  ::_exit(127);
}

bool ended_well(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("two processes of one database: the other one chooses" * doctest::skip()) {
  const char* database = std::getenv(database_variable);
  if (!database) return;  // somebody runs all tests
  const tuned op(updated, of_one_database(database));
  check_product(op, some_blocks());
  CHECK(report_of(op, some_blocks()).find("  format    chosen: ") != std::string::npos);
}

TEST_CASE("two processes of one database: what one has found the other one uses") {
  for (const int processes : {1, 2}) {  // one after the other, and at the same time
    const std::string path = "/tmp/tilewright_formats." + std::to_string(::getpid()) + "." +
                             std::to_string(processes) + ".db";
    std::vector<pid_t> children;
    for (int n = 0; n < processes; ++n) children.push_back(start_other_process(path));
    for (const pid_t child : children) {
      REQUIRE(child > 0);
      CHECK(ended_well(child));
    }
    tuned_options o = of_one_database(path);
    o.callbacks.after_run = [](const search::candidate&, const search::built&,
                               const search::measurement&) -> search::verdict {
      FAIL("a candidate was measured");
      return search::verdict::go_on;
    };
    const tuned op(updated, o);
    const std::string same = report_of(op, some_blocks());
    CHECK(same.find(" as it is stored for this pattern, for") != std::string::npos);
    CHECK(same.find("code      stored schedule, ") != std::string::npos);
    check_product(op, some_blocks());
    const sparse_rows like =
        blocks_where(104, 80, [](int r, int c) { return (r * 5 + c * 3) % 4 == 0; });
    const tuned near(updated, o);
    const std::string nearest = report_of(near, like);
    CHECK(nearest.find(" as for a pattern that is stored, 0.") != std::string::npos);
    CHECK(chosen_in(nearest) == chosen_in(same));
    check_product(near, like);
    for (const char* end : {"", "-wal", "-shm"}) std::remove((path + end).c_str());
  }
}
