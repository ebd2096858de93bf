#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <Eigen/Dense>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include <support/forks.hpp>

using namespace tw;

namespace {

constexpr auto matmul_relu = kernel<"matmul_relu">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = max(sum<k>(A(i, k) * B(k, j)), 0.0f);
    });

constexpr auto gather = kernel<"gather">(
    [](in<"X", float, "N", "C"> X, in<"I", std::int32_t, "M"> I, out<"Y", float, "M", "C"> Y) {
      using axes::i, axes::c;
      return Y(i, c) = X(I(i), c);
    });

using matrix = Eigen::MatrixXf;
using row_major = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

tuned_options quick(mode m = mode::now) {
  tuned_options o;
  o.seconds = 0.5;
  o.trials = 6;
  o.database = ":memory:";
  o.mode = m;
  return o;
}

template <class M>
M expected(const auto& a, const auto& b) {
  return (a * b).cwiseMax(0.0f);
}

struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/tilewright-tuned-XXXXXX";
    path = mkdtemp(name);
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file() const { return path + "/t.db"; }
};

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const argument_error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a call computes, in any layout") {
  const tuned op{matmul_relu, quick()};
  const matrix a = matrix::Random(33, 20), b = matrix::Random(20, 41);
  matrix c(33, 41);
  op(a, b, c);
  CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  const row_major ar = a, br = b;
  row_major cr(33, 41);
  op(ar, br, cr);
  CHECK((cr - expected<row_major>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  matrix big = matrix::Zero(80, 90);
  auto part = big.block(3, 5, 33, 41);
  op(a, br, part);
  CHECK((big.block(3, 5, 33, 41) - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  CHECK(big.topRows(3).cwiseAbs().maxCoeff() == 0.0f);
  CHECK(big.leftCols(5).cwiseAbs().maxCoeff() == 0.0f);
  c.setZero();
  op(a, b, c);
  CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
}

TEST_CASE("a kernel whose inputs are called otherwise finds what was tuned") {
  constexpr auto renamed = kernel<"matmul_relu">([](in<"left", float, "rows", "inner"> left,
                                                    in<"right", float, "inner", "columns"> right,
                                                    out<"C", float, "rows", "columns"> C) {
    using axes::i, axes::j, axes::k;
    return C(i, j) = max(sum<k>(left(i, k) * right(k, j)), 0.0f);
  });
  const folder f;
  tuned_options o = quick();
  o.database = f.file();
  o.trials = 24;
  o.seconds = 5;
  const row_major a = row_major::Random(64, 48), b = row_major::Random(48, 80);
  row_major c(64, 80), d(64, 80);
  tuned{matmul_relu, o}(a, b, c);
  o.mode = mode::miss_error;
  const tuned op{renamed, o};
  op(a, b, d);
  CHECK((d - expected<row_major>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  CHECK(c == d);
  // every schedule that was tried fits the renamed program
  const ir::function other = reify(renamed, {{"rows", 64}, {"inner", 48}, {"columns", 80}});
  const auto tried = search::database(f.file()).all();
  CHECK(tried.size() > 4);
  for (const search::record& r : tried) {
    schedule s(other, 1);
    CHECK_NOTHROW(trace::parse(r.trace).apply_to(s));
  }
  // and the nearest extents are found
  o.mode = mode::off;
  const row_major more = row_major::Random(48, 96);
  row_major wide(64, 96);
  const tuned near{renamed, o};
  near(a, more, wide);
  const bool scheduled = std::any_of(tried.begin(), tried.end(), [](const search::record& r) {
    return r.chosen && !r.trace.empty();
  });
  // it is taken, or its tiles do not divide these, which the report says
  const std::string said = near.report(a, more, wide);
  if (scheduled)
    CHECK((said.find("nearest") != std::string::npos ||
           said.find("a stored schedule could not be used") != std::string::npos));
}

TEST_CASE("calls on two threads run what one thread has found, until they are tuned themselves") {
  const folder f;
  tuned_options o = quick();
  o.database = f.file();
  o.trials = 24;
  o.seconds = 5;
  o.threads = 1;
  const row_major a = row_major::Random(64, 48), b = row_major::Random(48, 80);
  row_major c(64, 80), d(64, 80);
  tuned{matmul_relu, o}(a, b, c);
  o.mode = mode::off;
  o.threads = 2;
  const tuned two{matmul_relu, o};
  two(a, b, d);
  CHECK((c - d).cwiseAbs().maxCoeff() < 1e-4f);
  const std::string said = two.report(a, b, d);
  CHECK(said.find("nearest stored workload") != std::string::npos);
  CHECK(said.find("parallel(") != std::string::npos);
}

TEST_CASE("a kernel whose output, temporaries and axes are called otherwise finds what was tuned") {
  constexpr auto softmax =
      kernel<"softmax">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
        using axes::i, axes::j;
        temp<"peak", float, "M"> peak;
        temp<"e", float, "M", "N"> e;
        temp<"total", float, "M"> total;
        return blocks(peak(i) = max<j>(X(i, j)), e(i, j) = exp(X(i, j) - peak(i)),
                      total(i) = sum<j>(e(i, j)), Y(i, j) = e(i, j) / total(i));
      });
  constexpr auto renamed = kernel<"softmax">(
      [](in<"scores", float, "rows", "n"> scores, out<"e", float, "rows", "n"> e) {
        using axes::p, axes::q;
        temp<"Y", float, "rows"> Y;
        temp<"total", float, "rows", "n"> total;
        temp<"peak", float, "rows"> peak;
        return blocks(Y(p) = max<q>(scores(p, q)), total(p, q) = exp(scores(p, q) - Y(p)),
                      peak(p) = sum<q>(total(p, q)), e(p, q) = total(p, q) / peak(p));
      });
  const ir::function f = reify(softmax, {{"M", 64}, {"N", 96}}),
                     other = reify(renamed, {{"rows", 64}, {"n", 96}});
  CHECK(ir::workload_key(f) == ir::workload_key(other));
  CHECK(search::family_of(f) == search::family_of(other));
  const folder place;
  tuned_options o = quick();
  o.database = place.file();
  o.trials = 24;
  o.seconds = 5;
  const row_major x = row_major::Random(64, 96);
  row_major y(64, 96), z(64, 96);
  tuned{softmax, o}(x, y);
  o.mode = mode::miss_error;
  const tuned op{renamed, o};
  op(x, z);
  CHECK(y == z);
  CHECK(op.report(x, z).find("get_block(name=\"#") == std::string::npos);  // names are for people
  const auto tried = search::database(place.file()).all();
  CHECK(tried.size() > 4);
  for (const search::record& r : tried) {
    CAPTURE(r.trace);
    schedule a(f), b(other);
    trace::parse(r.trace).apply_to(a);
    REQUIRE_NOTHROW(trace::parse(r.trace).apply_to(b));
    CHECK(ir::equal(a.function(), b.function()));
  }
  // another session starts from them
  o.mode = mode::now;
  o.trials = 2;
  tuned_options again = o;
  tuned{renamed, again}(x, z);
  CHECK((y - z).cwiseAbs().maxCoeff() < 1e-6f);
}

TEST_CASE("an op may be a member of the kernel's own type, and go into containers") {
  struct layer {
    tuned<decltype(matmul_relu)> op{matmul_relu, quick(mode::off)};
  };
  std::vector<layer> layers(2);
  tuned<decltype(matmul_relu)> moved = std::move(layers[0].op);
  const matrix a = matrix::Random(5, 4), b = matrix::Random(4, 3);
  for (auto* op : {&moved, &layers[1].op}) {
    matrix c(5, 3);
    (*op)(a, b, c);
    CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  }
}

TEST_CASE("every mode computes") {
  const matrix a = matrix::Random(17, 9), b = matrix::Random(9, 25);
  for (const mode m : {mode::off, mode::background}) {
    const tuned op{matmul_relu, quick(m)};
    matrix c(17, 25);
    op(a, b, c);
    CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
    op.wait();
    c.setZero();
    op(a, b, c);
    CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
    CHECK(op.report(a, b, c).find(m == mode::off ? "default schedule" : "tuned by this process") !=
          std::string::npos);
  }
  const tuned strict{matmul_relu, quick(mode::miss_error)};
  matrix c(17, 25);
  CHECK_THROWS_AS(strict(a, b, c), argument_error);
}

TEST_CASE("bad arguments are refused by name") {
  const tuned op{matmul_relu, quick(mode::off)};
  matrix a(8, 4), b(5, 8), c(8, 8);
  CHECK(message_of([&] { op(a, b, c); }) ==
        "matmul_relu: extent \"K\" is 4 at dimension 1 of \"A\" and 5 at dimension 0 of \"B\"; "
        "they must agree");
  matrix b4(4, 8);
  CHECK(message_of([&] { op(c, c, c); }) ==
        "matmul_relu: output \"C\" overlaps \"A\"; give it memory of its own, or declare one "
        "parameter inout in the place of both");
  static constexpr auto scaled_sum =
      kernel<"scaled_sum">([](in<"X", float, "N"> X, inout<"Y", float, "N"> Y) {
        using axes::i;
        return Y(i) = Y(i) + 2.0f * X(i);
      });
  std::vector<float> x(8);
  CHECK(message_of([&] { tuned(scaled_sum, quick(mode::off))(x, x); }) ==
        "scaled_sum: inout \"Y\" overlaps \"X\"; give it memory of its own");
  float* none = nullptr;
  CHECK(message_of([&] {
          op(a, b4, view(none, {8, 8}));
        }).find("\"C\" are a null pointer") != std::string::npos);
  std::vector<float> memory(64);
  CHECK(message_of([&] {
          op(a, b4, view(memory.data(), {8, 8}, {0, 1}));
        }).find("several elements into one place") != std::string::npos);
  CHECK(message_of([&] {
          op(a, b4, view(memory.data(), {8, 8}, {4, 1}));
        }).find("at least 8") != std::string::npos);
  const std::int64_t far = std::int64_t{1} << 61;
  CHECK(message_of([&] {
          op(view(memory.data(), {8, 4}, {far, 1}), b4, c);
        }).find("memory can hold") != std::string::npos);
  CHECK(message_of([&] {
          op(view(memory.data(), {8, -4}, {4, 1}), b4, c);
        }).find("not negative") != std::string::npos);
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(memory.data()) + 1);
  CHECK(message_of([&] { op(view(odd, {8, 4}), b4, c); }).find("not aligned") != std::string::npos);
}

TEST_CASE("an output may lie between the elements of an input") {
  const tuned op{matmul_relu, quick(mode::off)};
  row_major m = row_major::Random(12, 40);
  const row_major a = m.block(0, 0, 12, 8), b = m.block(0, 10, 8, 14);
  op(m.block(0, 0, 12, 8), m.block(0, 10, 8, 14), m.block(0, 24, 12, 14));
  const row_major want = expected<row_major>(a, b);
  CHECK((m.block(0, 24, 12, 14) - want).cwiseAbs().maxCoeff() < 1e-4f);
  CHECK(m.block(0, 0, 12, 8) == a);
  CHECK(m.block(0, 10, 8, 14) == b);
  CHECK(message_of([&] {
          op(m.block(0, 0, 12, 8), m.block(0, 10, 8, 14), m.block(0, 23, 12, 14));
        }).find("output \"C\" overlaps \"B\"") != std::string::npos);
}

TEST_CASE("nothing to do is done, and sums over nothing are zero") {
  const tuned op{matmul_relu, quick(mode::off)};
  matrix a(0, 4), b(4, 8), c(0, 8);
  op(a, b, c);
  matrix a0(8, 0), b0(0, 8), c0 = matrix::Constant(8, 8, 7.0f);
  op(a0, b0, c0);
  CHECK(c0.cwiseAbs().maxCoeff() == 0.0f);
  CHECK(op.report(a0, b0, c0).find("identity") != std::string::npos);
}

TEST_CASE(
    "one index that points outside is found among many, wherever it is and however they lie") {
  const tuned op{gather, quick(mode::off)};
  const row_major x = row_major::Ones(10, 1);
  row_major y = row_major::Zero(100, 1);
  for (const std::size_t at : {std::size_t{0}, std::size_t{31}, std::size_t{64}, std::size_t{99}})
    for (const std::int32_t wrong : {-1, 10}) {
      std::vector<std::int32_t> index(100, 9), spread(300, 9);
      index[at] = spread[3 * at] = wrong;
      const std::string said = "gather: \"I\"[" + std::to_string(at) + "] is " +
                               std::to_string(wrong) + "; as an index it must be in [0, 9]";
      CHECK(message_of([&] { op(x, index, y); }) == said);
      CHECK(message_of([&] { op(x, view(spread.data(), {100}, {3}), y); }) == said);
    }
  const std::vector<std::int32_t> index(100, 9);
  op(x, index, y);
  CHECK(y == row_major::Ones(100, 1));
}

TEST_CASE("an index that points outside is refused before the call") {
  const tuned op{gather, quick()};
  const row_major x = row_major::Random(10, 3);
  row_major y(4, 3);
  std::vector<std::int32_t> index{0, 9, 3, 3};
  op(x, index, y);
  for (int r = 0; r < 4; ++r) CHECK(y.row(r) == x.row(index[static_cast<std::size_t>(r)]));
  index[2] = 10;
  CHECK(message_of([&] { op(x, index, y); }) ==
        "gather: \"I\"[2] is 10; as an index it must be in [0, 9]");
  index[2] = -1;
  CHECK(message_of([&] { op(x, index, y); }).find("\"I\"[2] is -1") != std::string::npos);
}

TEST_CASE("another process finds schedule and code in the database") {
  const folder f;
  const matrix a = matrix::Random(40, 24), b = matrix::Random(24, 32);
  tuned_options options = quick();
  options.database = f.file();
  {
    const tuned op{matmul_relu, options};
    matrix c(40, 32);
    op(a, b, c);
    const std::string report = op.report(a, b, c);
    CHECK(report.find("tuned by this process") != std::string::npos);
    CHECK(report.find(" % of the roofline (") != std::string::npos);
  }
  options.mode = mode::miss_error;  // nothing may be tuned
  const tuned op{matmul_relu, options};
  matrix c(40, 32);
  op(a, b, c);
  CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  const std::string report = op.report(a, b, c);
  CHECK(report.find("stored code") != std::string::npos);
  CHECK(report.find(" % of the roofline (arithmetic is the bound, ") != std::string::npos);
  CHECK(report.find(" times as fast as the default schedule (") != std::string::npos);
  CHECK(report.find("  family    ") != std::string::npos);
  CHECK(report.find(" in register tiles of ") != std::string::npos);
  const std::size_t loop = report.find("  loop      ");
  REQUIRE(loop != std::string::npos);  // a short reduction may be written out whole
  CHECK((report.find(" instructions are multiply-adds (", loop) != std::string::npos ||
         report.find("the code is straight", loop) != std::string::npos));
}

TEST_CASE("many threads call while one tunes") {
  const tuned op{matmul_relu, quick()};
  const matrix a = matrix::Random(32, 32), b = matrix::Random(32, 32);
  const matrix want = expected<matrix>(a, b);
  std::vector<std::thread> threads;
  std::vector<float> worst(4);
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      matrix c(32, 32);
      for (int r = 0; r < 20; ++r) {
        op(a, b, c);
        worst[t] = std::max(worst[t], (c - want).cwiseAbs().maxCoeff());
      }
    });
  for (std::thread& t : threads) t.join();
  for (const float w : worst) CHECK(w < 1e-4f);
}

TEST_CASE("a forked child goes on, with old and new extents" *
          doctest::skip(!forks::forks_usable)) {
  const tuned op{matmul_relu, quick()};
  const matrix a = matrix::Random(16, 16), b = matrix::Random(16, 16);
  matrix c(16, 16);
  op(a, b, c);
  const pid_t child = fork();
  if (child == 0) {
    matrix d(16, 16);
    op(a, b, d);
    bool good = d == c;
    const matrix a2 = matrix::Random(24, 16);
    matrix d2(24, 16);
    op(a2, b, d2);
    good &= (d2 - expected<matrix>(a2, b)).cwiseAbs().maxCoeff() < 1e-4f;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a wrong TILEWRIGHT_TUNE is refused") {
  setenv("TILEWRIGHT_TUNE", "never", 1);
  CHECK(message_of([] {
          tuned{matmul_relu, quick()};
        }).find("now, background, off or miss_error") != std::string::npos);
  unsetenv("TILEWRIGHT_TUNE");
}

TEST_CASE("killing a process keeps what it measured, and the next one goes on" *
          doctest::skip(!forks::forks_usable)) {
  const folder f;
  const matrix a = matrix::Random(40, 24), b = matrix::Random(24, 32);
  tuned_options o = quick();
  o.database = f.file();
  const pid_t child = fork();
  if (child == 0) {
    o.seconds = 60;
    o.trials = 1 << 20;
    matrix c(40, 32);
    tuned{matmul_relu, o}(a, b, c);
    _exit(0);
  }
  std::size_t measured = 0;
  for (int tries = 0; tries < 600 && measured < 3; ++tries) {
    usleep(100000);
    measured = search::database(f.file()).all().size();
  }
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(measured >= 3);
  CHECK(search::database(f.file()).all().size() >= measured);
  const tuned op{matmul_relu, o};
  matrix c(40, 32);
  op(a, b, c);
  CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  CHECK(op.report(a, b, c).find("tuned by this process") !=
        std::string::npos);  // the lease died with its owner
}

namespace {

/// Runs one test case of this program in a fresh process with a variable set.
int in_process(const std::string& variable, const std::string& test_case) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return std::system(
      (variable + " TILEWRIGHT_DB= '" + self + "' -ns -tc='" + test_case + "' > /dev/null")
          .c_str());
}

}  // namespace

TEST_CASE("child without code generator" * doctest::skip()) {
  tuned_options o = quick();
  const tuned op{matmul_relu, o};
  const matrix a = matrix::Random(9, 7), b = matrix::Random(7, 5);
  matrix c(9, 5);
  op(a, b, c);
  CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  const std::string report = op.report(a, b, c);
  CHECK(report.find("interpreter") != std::string::npos);
  CHECK(report.find("roofline") == std::string::npos);
  CHECK(report.find("/nowhere/libLLVM.so") != std::string::npos);
}

TEST_CASE("child without SQLite" * doctest::skip()) {
  const folder f;
  tuned_options o = quick();
  o.database = f.file();
  const tuned op{matmul_relu, o};
  const matrix a = matrix::Random(9, 7), b = matrix::Random(7, 5);
  matrix c(9, 5);
  op(a, b, c);
  CHECK((c - expected<matrix>(a, b)).cwiseAbs().maxCoeff() < 1e-4f);
  CHECK(op.report(a, b, c).find("/nowhere/libsqlite3.so") != std::string::npos);
  const tuned again{matmul_relu, o};  // the same handle in memory
  again(a, b, c);
  CHECK(again.report(a, b, c).find("stored code") != std::string::npos);
}

TEST_CASE("without LLVM the interpreter computes, without SQLite records stay in memory") {
  CHECK(in_process("TILEWRIGHT_LLVM=/nowhere/libLLVM.so", "child without code generator") == 0);
  CHECK(in_process("TILEWRIGHT_SQLITE=/nowhere/libsqlite3.so", "child without SQLite") == 0);
}
