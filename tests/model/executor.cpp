// Networks whose loops run on threads of the program's own.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <tilewright/backend/compile.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/support/error.hpp>

#include "model/one_node.hpp"
#include "model/refusal.hpp"
#include "support/two_threads.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

const shape extents{256, 1024};
constexpr std::size_t elements = 256 * 1024;

network::graph rows() { return one_node("Softmax").input(floats(extents)).finished(); }

std::vector<float> numbers() {
  const constant c = floats(extents);
  std::vector<float> out(elements);
  std::memcpy(out.data(), c.data(), out.size() * sizeof(float));
  return out;
}

model_options untuned() {
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  return o;
}

std::vector<float> result_of(const model_options& o) {
  std::vector<float> y(elements);
  model(rows(), o)(numbers(), y);
  return y;
}

}  // namespace

TEST_CASE("executor: a network and its saved form run on the program's own threads") {
  two_threads threads;
  const backend::executor own = threads.view();
  model_options o = untuned();
  o.executor = &own;
  const model m(rows(), o);
  std::vector<float> y(elements);
  m(numbers(), y);
  const int once = threads.loops;
  if (backend::compiler_available()) CHECK(once > 0);
  m(numbers(), y);
  CHECK(threads.loops == 2 * once);
  model_options alone = untuned();
  alone.threads = 1;
  const std::vector<float> expected = result_of(alone);
  for (std::size_t k = 0; k < elements; ++k)
    CHECK(y[k] == doctest::Approx(expected[k]).epsilon(1e-5));

  const std::filesystem::path folder =
      std::filesystem::current_path() / ("executor_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  ::chmod(folder.c_str(), 0700);
  const std::string file = (folder / "a.twm").string();
  m.save(file);
  std::vector<float> saved(elements);
  threads.loops = 0;
  load_model(file, {.executor = &own})(numbers(), saved);
  CHECK(threads.loops == once);
  CHECK(saved == y);
  // one of more threads lends two, for which the kernels have memory
  const backend::executor wide{&two_threads::run, &threads, 100};
  const saved_model with_wide = load_model(file, {.executor = &wide});
  with_wide(numbers(), saved);
  CHECK(threads.loops == 2 * once);
  CHECK(saved == y);
  backend::executor none = own;
  none.threads = 0;
  CHECK(refusal([&] { load_model(file, {.executor = &none}); }) ==
        file + ": an executor needs a function `run` and 1 thread or more");
  std::filesystem::remove_all(folder);
}

TEST_CASE("executor: one that makes no sense is refused by name of the kernel") {
  two_threads threads;
  const backend::executor own = threads.view();
  model_options o = untuned();
  o.executor = &own;
  o.threads = 3;
  CHECK(refusal([&] {
          result_of(o);
        }).find("threads is 3, and the executor has 2; leave threads out") != std::string::npos);
}
