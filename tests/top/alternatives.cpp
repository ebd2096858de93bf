#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/search/strategy.hpp>

#include <unistd.h>

#include "space/draws.hpp"

using namespace tw;

namespace {

constexpr auto direct = kernel<"direct">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j));
    });

constexpr auto transposed = kernel<"transposed">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      temp<"T", float, "N", "K"> t;
      return blocks(t(j, k) = B(k, j), C(i, j) = sum<k>(A(i, k) * t(j, k)));
    });

constexpr auto wrong = kernel<"wrong">(
    [](in<"A", float, "M", "K"> A, in<"B", float, "K", "N"> B, out<"C", float, "M", "N"> C) {
      using axes::i, axes::j, axes::k;
      return C(i, j) = sum<k>(A(i, k) * B(k, j)) + 1.0f;
    });

tuned_options quick(std::string file, mode m = mode::now) {
  tuned_options o;
  o.seconds = 60;
  o.trials = 12;
  o.database = std::move(file);
  o.mode = m;
  return o;
}

struct product {
  std::vector<float> a = std::vector<float>(24 * 40, 0.5f), b = std::vector<float>(40 * 32, 2.0f),
                     c = std::vector<float>(24 * 32);
  template <class Op>
  void run(const Op& op) {
    op(view(a.data(), {24, 40}), view(b.data(), {40, 32}), view(c.data(), {24, 32}));
    for (const float v : c) CHECK(v == 40.0f);
  }
};

}  // namespace

TEST_CASE("the sketches of both algorithms take turns, and all of them compute the same") {
  const ir::function f = reify(alternatives(direct, transposed), {{"M", 24}, {"K", 40}, {"N", 32}});
  const std::vector<schedule> sketches = space::default_cpu().sketches(f, draws::haswell(), 1);
  REQUIRE(sketches.size() >= 4);
  CHECK(sketches[0].trace().print().rfind("sch.work_on(func_name=\"direct\")", 0) == 0);
  CHECK(sketches[1].trace().print().rfind("sch.work_on(func_name=\"transposed\")", 0) == 0);
  CHECK(draws::check(f, sketches, 60) > 30);
}

TEST_CASE("alternatives: search explores both algorithms") {
  if (!backend::compiler_available()) return;
  std::size_t of[2] = {0, 0};
  tuned_options o = quick(":memory:");
  o.trials = 24;
  o.model.score = [](const std::vector<search::candidate>& all) {
    return std::vector<double>(all.size(), 0.0);
  };
  o.model.learn = [&](const std::vector<search::candidate>& all,
                      const std::vector<search::measurement>&) {
    for (const search::candidate& c : all)
      ++of[c.scheduled.trace().print().find("transposed") == std::string::npos ? 0 : 1];
  };
  tuned op{alternatives(direct, transposed), o};
  product{}.run(op);
  CHECK(of[0] > 0);
  CHECK(of[1] > 0);
}

TEST_CASE("records are those of the first algorithm, and replay in an op made later") {
  if (!backend::compiler_available()) return;
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("alternatives." + std::to_string(::getpid()) + ".db");
  // a space that knows one of the algorithms only, so that its record must name it
  const space::design_space one = [](schedule& s) {
    s.vectorize(s.get_loops(s.get_block("T"))[0]);
  };
  {
    tuned_options o = quick(file.string());
    o.space = one;
    product{}.run(tuned{alternatives(direct, transposed), o});
  }
  {
    search::database db(file.string());
    bool named = false;
    for (const search::record& r : db.all()) {
      CHECK(r.key.workload ==
            ir::workload_key(reify(direct, {{"M", 24}, {"K", 40}, {"N", 32}})).hex());
      named = named || r.trace.rfind("sch.work_on(func_name=\"transposed\")", 0) == 0;
      const ir::function f =
          reify(alternatives(direct, transposed), {{"M", 24}, {"K", 40}, {"N", 32}});
      std::string why;
      CHECK(search::replay(trace::parse(r.trace), f, 1, &why));
      CHECK(why == "");
    }
    CHECK(named);
  }
  product{}.run(tuned{alternatives(direct, transposed), quick(file.string(), mode::miss_error)});
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
}

TEST_CASE("algorithms that disagree are refused before anything is measured") {
  if (!backend::compiler_available()) return;
  try {
    product{}.run(tuned{alternatives(direct, wrong), quick(":memory:")});
    FAIL("two different results were taken for one");
  } catch (const argument_error& e) {
    const std::string text = e.what();
    CHECK(text.find("kernel direct: algorithms direct and wrong disagree: C[0, 0] is") !=
          std::string::npos);
  }
}

TEST_CASE("weights and layouts are those of all algorithms") {
  if (!backend::compiler_available()) return;
  static constexpr auto plain = kernel<"plain">(
      [](in<"X", float, "M", "K"> X, weight<"W", float, "K", "N"> W, out<"Y", float, "M", "N"> Y) {
        using axes::i, axes::j, axes::k;
        return Y(i, j) = sum<k>(X(i, k) * W(k, j));
      });
  static constexpr auto copied = kernel<"copied">(
      [](in<"X", float, "M", "K"> X, weight<"W", float, "K", "N"> W, out<"Y", float, "M", "N"> Y) {
        using axes::i, axes::j, axes::k;
        temp<"T", float, "N", "K"> t;
        return blocks(t(j, k) = W(k, j), Y(i, j) = sum<k>(X(i, k) * t(j, k)));
      });
  std::vector<float> x(9 * 12, 1.0f), w(12 * 10, 0.5f), y(9 * 10 * 2);
  // column-major weight, every second column of the output
  const tuned op{alternatives(plain, copied), quick(":memory:")};
  op(view(x.data(), {9, 12}), view(w.data(), {12, 10}, {1, 12}), view(y.data(), {9, 10}, {20, 2}));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == (i % 2 ? 0.0f : 6.0f));
  const auto layer = op.with<"W">(view(w.data(), {12, 10}));
  std::vector<float> z(9 * 10);
  layer(view(x.data(), {9, 12}), view(z.data(), {9, 10}));
  for (const float v : z) CHECK(v == 6.0f);
}
