// What a session ranks its first candidates by.
#include <tilewright/impl/search/session/search_start.hpp>

#include <tilewright/ir/key.hpp>
#include <tilewright/space/gpu.hpp>
#include <tilewright/target/gpu.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "search/workloads.hpp"

using namespace tilewright;
using namespace tilewright::search;

TEST_CASE("candidates for a GPU are ranked by an estimate until others were measured") {
  const target::gpu gpu = target::named_gpu("sm_90a");
  workload w = workloads::product(256);
  w.machine = &gpu;
  w.space = space::default_gpu();
  const database db(":memory:");
  std::vector<std::string> remarks;
  const auto never = [] { return false; };
  const auto model = search::detail::ranking_model(w, db, 1, never, remarks);
  const std::vector<schedule> all = w.space.sketches(w.function, {&gpu, 1}, 1);
  REQUIRE(all.size() >= 2);
  std::vector<cost::sample> samples;
  for (const schedule& s : all)
    samples.push_back({&s.function(), ir::workload_key(s.function()), {}});
  const std::vector<double> scores = model->predict(samples);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double a = cost::detail::gpu_seconds(all[i].function(), gpu),
                   b = cost::detail::gpu_seconds(all[j].function(), gpu);
      if (a < 0.99 * b) CHECK(scores[i] > scores[j]);
      if (b < 0.99 * a) CHECK(scores[j] > scores[i]);
    }
  // what is measured counts: the fastest by the estimate were the slowest
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].seconds = 1e-3 * std::exp(scores[i]);
  if (samples.size() >= 4) {
    model->update(samples);
    const std::vector<double> learned = model->predict(samples);
    std::size_t first = 0;
    for (std::size_t i = 1; i < scores.size(); ++i)
      if (scores[i] > scores[first]) first = i;
    std::size_t as_good = 0;
    for (const double score : learned) as_good += score >= learned[first];
    CHECK(as_good >= 2);
  }
  w.machine = &target::host();
  CHECK(search::detail::ranking_model(w, db, 1, never, remarks)->save().find("residual") != 0);
  CHECK(model->save().find("residual") == 0);
}
