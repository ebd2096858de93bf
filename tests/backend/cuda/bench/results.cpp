// What the program for machines with a GPU makes of results.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <doctest/doctest.h>
#include <unistd.h>

#include "gpu/checks/point_check.hpp"
#include "gpu/result_file.hpp"

using namespace tilewright;

TEST_CASE("results on a GPU: what is no number is infinitely far from every value") {
  ir::point_value right;
  right.value = 2;
  right.error = 0.25;
  CHECK(gpu_results::off_by(2.25, right) == 0);
  CHECK(gpu_results::off_by(2.55, right) == doctest::Approx(0.1));
  CHECK(std::isinf(gpu_results::off_by(std::numeric_limits<double>::quiet_NaN(), right)));
  CHECK(std::isinf(gpu_results::off_by(std::numeric_limits<double>::infinity(), right)));
}

TEST_CASE("results on a GPU: a file keeps each case, and its table counts what is wrong") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("tilewright_results_" + std::to_string(::getpid())) /
                                     "stage.jsonl";
  {
    gpu_results::result_file out(path);
    out.add("a", "\"correct\": true, " + gpu_results::number("seconds", 2e-6));
    out.add("b", "\"correct\": false, " + gpu_results::number("seconds", 1));
    out.add("c", "\"error\": " + gpu_results::json_text("said \"no\",\nand stopped"));
  }
  {
    std::ofstream(path, std::ios::app) << "{\"case\": \"d\", \"corr";  // a process that was killed
    const gpu_results::result_file again(path);
    CHECK(again.has("a"));
    CHECK(again.has("c"));
    CHECK(!again.has("d"));
    CHECK(again.print_table() == 2);
  }
  CHECK(gpu_results::field("{\"case\": \"a\", \"x\": 2, \"y\": 3}", "x") == "2");
  CHECK(gpu_results::field("{\"case\": \"a\", \"x\": 2, \"y\": 3}", "y") == "3");
  CHECK(gpu_results::field("{\"case\": \"a\"}", "z").empty());
  std::filesystem::remove_all(path.parent_path());
}
