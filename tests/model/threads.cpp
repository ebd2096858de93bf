// Eight threads call one network while it is tuned in the background, asked for its report, and saved;
// then eight call what was saved. The thread sanitizer watches this file:
//     g++ -std=c++20 -O1 -g1 -fsanitize=thread -Iinclude -Itests tests/model/threads.cpp main.cpp
//     TSAN_OPTIONS=suppressions=tests/tsan.supp ./a.out
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/saved_model.hpp>

#include "model/array_file.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

std::vector<float> numbers_of(const char* file) {
  const network::constant c = read_array(file);
  std::vector<float> out(static_cast<std::size_t>(c.type().elements()));
  std::memcpy(out.data(), c.data(), out.size() * sizeof(float));
  return out;
}

/// Calls of eight threads whose results are not what they should be.
template <class Model, class Meanwhile>
int wrong_calls(const Model& m, const Meanwhile& meanwhile) {
  const std::vector<float> x = numbers_of("tiny_cnn.x.npy"),
                           expected = numbers_of("tiny_cnn.y.npy");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      std::vector<float> y(expected.size());
      for (int k = 0; k < 40; ++k) {
        m(x, y);
        for (std::size_t i = 0; i < y.size(); ++i)
          wrong += !(std::abs(y[i] - expected[i]) <= 1e-5f * (1 + std::abs(expected[i])));
      }
    });
  meanwhile();
  for (std::thread& t : threads) t.join();
  return wrong;
}

}  // namespace

TEST_CASE(
    "threads: eight call one network, tuned, reported and saved meanwhile; then the saved one") {
  const std::filesystem::path folder =
      std::filesystem::current_path() / ("threads_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  ::chmod(folder.c_str(), 0700);
  const std::string file = (folder / "a.twm").string();
  model_options o;
  o.database = ":memory:";
  o.mode = mode::background;
  o.seconds = 2;
  o.threads = 1;
  {
    model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
    CHECK(wrong_calls(m, [&] {
            CHECK(m.report().find("kernels") != std::string::npos);
            m.save(file);
            m.tune(0.3);
          }) == 0);
    m.wait();
    CHECK(wrong_calls(m, [] {}) == 0);
    m.save(file);
  }
  const saved_model saved = load_model(file);
  CHECK(wrong_calls(saved, [] {}) == 0);
  std::filesystem::remove_all(folder);
}
