#include <tilewright/search/progress.hpp>

#include <doctest/doctest.h>

using namespace tilewright::search;

TEST_CASE("a progress line says what matters") {
  progress p;
  p.trials = 320;
  p.best = 1e-3;
  p.baseline = 2e-3;
  p.left = 4;
  const std::string line = progress_line(p);
  CHECK(line.find("320 trials") != std::string::npos);
  CHECK(line.find("best 1 ms (2.00x") != std::string::npos);
  p.end = session_end::gain;
  CHECK(progress_line(p).find("4 s left, no gain is expected after 320 trials") !=
        std::string::npos);
}
