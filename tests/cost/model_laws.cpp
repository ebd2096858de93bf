// What holds of every kind of model, whatever it learns from.
#include <tilewright/cost/model_kind.hpp>

#include <tilewright/learning.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "cost/tiled_copies.hpp"

using namespace tilewright;
using namespace tilewright::cost;

namespace {

const tiled_copies::measured_set& copies() {
  static const tiled_copies::measured_set out = [] {
    tiled_copies::measured_set all = tiled_copies::copies(1, 4);
    all.samples.resize(40);
    return all;
  }();
  return out;
}

bool all_finite(const std::vector<double>& scores) {
  for (const double s : scores)
    if (!std::isfinite(s)) return false;
  return !scores.empty();
}

/// Calls f(kind, draws) for every kind; `draws` is true of scores that are random numbers.
template <class F>
void for_kinds(F f) {
  for (const model_kind& kind : model_kinds()) {
    INFO(kind.name);
    f(kind, kind.name == "random" || kind.name == "mine");
  }
}

}  // namespace

TEST_CASE("laws of models: scores are finite before there is anything to learn") {
  for_kinds([](const model_kind& kind, bool) {
    CHECK(all_finite(make_model(kind.name, 3)->predict(copies().samples)));
  });
}

TEST_CASE("laws of models: scores follow their programs when these change places") {
  for_kinds([](const model_kind& kind, bool draws) {
    if (draws) return;
    const auto m = make_model(kind.name, 3);
    m->update(copies().samples);
    const std::vector<double> scores = m->predict(copies().samples);
    const std::vector<sample> turned(copies().samples.rbegin(), copies().samples.rend());
    std::vector<double> back = m->predict(turned);
    std::reverse(back.begin(), back.end());
    for (std::size_t i = 0; i < scores.size(); ++i)
      CHECK(back[i] == doctest::Approx(scores[i]).epsilon(1e-6));
  });
}

TEST_CASE("laws of models: equal seeds and times give equal scores") {
  for_kinds([](const model_kind& kind, bool) {
    const auto a = make_model(kind.name, 9), b = make_model(kind.name, 9);
    a->update(copies().samples);
    b->update(copies().samples);
    CHECK(a->predict(copies().samples) == b->predict(copies().samples));
  });
}

TEST_CASE("laws of models: what is saved is what is loaded") {
  for_kinds([](const model_kind& kind, bool draws) {
    const auto a = make_model(kind.name, 4), b = make_model(kind.name, 5);
    b->load(a->save());
    CHECK(b->save() == a->save());
    if (draws) return;
    const auto x = a->predict(copies().samples), y = b->predict(copies().samples);
    // trees that know nothing draw, from the seed of each
    if (kind.name == "trees") return;
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx(x[i]).epsilon(1e-3));
  });
}

TEST_CASE("networks save what tuning starts from, whatever they were tuned to since") {
  for (const std::string_view name : {"graph_network", "mlp", "trace_network"}) {
    INFO(name);
    const auto tuned = make_model(name, 6), fresh = make_model(name, 6);
    const std::string before = tuned->save();
    tuned->update(copies().samples);
    if (name != "trace_network")  // these programs came without traces
      CHECK(tuned->predict(copies().samples) != fresh->predict(copies().samples));
    CHECK(tuned->save() == before);
    const auto loaded = make_model(name, 7);
    loaded->load(tuned->save());
    CHECK(loaded->save() == before);
    const auto x = fresh->predict(copies().samples), y = loaded->predict(copies().samples);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == doctest::Approx(x[i]).epsilon(1e-3));
  }
}
