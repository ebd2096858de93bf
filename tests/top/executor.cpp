#include <tilewright/tilewright.hpp>

#include <doctest/doctest.h>
#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/pool.hpp>

#include <string>
#include <vector>

#include <support/two_threads.hpp>
#include <top/product.hpp>

using namespace tw;

namespace {

constexpr auto rows = kernel<"rows">([](in<"X", float, "M", "N"> X, out<"Y", float, "M", "N"> Y) {
  using axes::i, axes::j;
  return Y(i, j) = X(i, j) * 2.0f;
});

void in_parallel(schedule& s) { s.parallel(s.get_loops(s.get_block("Y")).front()); }

std::string refusal(const tuned_options& o) {
  try {
    const tuned op{rows, o};
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("an executor of the user's own runs the parallel loops of calls") {
  two_threads threads;
  const backend::executor own = threads.view();
  tuned_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.space = in_parallel;
  o.executor = &own;
  const tuned op{rows, o};
  std::vector<float> x(64 * 32, 3.0f), y(x.size());
  const auto call = [&] { op(view(x.data(), {64, 32}), view(y.data(), {64, 32})); };
  call();
  const int once = threads.loops;
  if (backend::compiler_available()) CHECK(once > 0);
  call();
  CHECK(threads.loops == 2 * once);
  CHECK(y == std::vector<float>(x.size(), 6.0f));
  CHECK(op.report(view(x.data(), {64, 32}), view(y.data(), {64, 32})).find(", 2 threads") !=
        std::string::npos);
}

TEST_CASE("an executor that speaks of more threads than there is use for lends some of them") {
  two_threads threads;
  const backend::executor own{&two_threads::run, &threads, 100000};
  std::vector<std::string> remarks;
  tuned_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.space = in_parallel;
  o.executor = &own;
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::remark) remarks.push_back(e.text);
  };
  const tuned op{rows, o};
  std::vector<float> x(640 * 32, 3.0f), y(x.size());
  op(view(x.data(), {640, 32}), view(y.data(), {640, 32}));
  CHECK(y == std::vector<float>(x.size(), 6.0f));
  const std::string most = std::to_string(backend::most_threads());
  CHECK(op.report(view(x.data(), {640, 32}), view(y.data(), {640, 32}))
            .find(", " + most + " threads") != std::string::npos);
  CHECK(op.report(view(x.data(), {640, 32}), view(y.data(), {640, 32})).find("the machine gave") ==
        std::string::npos);
  bool said = false;
  for (const std::string& r : remarks)
    said = said || r.find("100000 threads are asked for, and " + most) != std::string::npos;
  CHECK(said);
}

TEST_CASE("an executor that makes no sense is refused") {
  two_threads threads;
  backend::executor own = threads.view();
  CHECK(refusal({.threads = 3, .executor = &own}) ==
        "rows: threads is 3, and the executor has 2; leave threads out");
  CHECK(refusal({.threads = 2, .executor = &own}).empty());
  own.threads = 0;
  CHECK(refusal({.executor = &own}) ==
        "rows: an executor needs a function `run` and 1 thread or more");
}
