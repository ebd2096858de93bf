#include <tilewright/cost/trace_network.hpp>

#include <tilewright/cost/ranking.hpp>
#include <tilewright/impl/cost/network/score_loss.hpp>
#include <tilewright/impl/cost/network/trace_layers.hpp>
#include <tilewright/learning.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

using namespace tilewright;
using namespace tilewright::cost;

namespace {

/// Traces of two tiles and some annotations. The time grows with the distance of the first tile from
/// 16 and of the second one from 4: two tokens of one kind, which their places tell apart.
struct tiled_traces {
  std::vector<sample> samples;
  std::vector<double> speed;

  tiled_traces(std::uint64_t workload, std::size_t notes) {
    for (int a = 0; a <= 8; ++a)
      for (int b = 0; b <= 8; ++b) {
        auto tokens = std::make_shared<std::vector<trace_token>>();
        tokens->push_back(tile(a, 0));
        for (std::size_t n = 0; n < notes; ++n) tokens->push_back({9, 7, {}});
        tokens->push_back(tile(b, 1));
        const double seconds = 1e-3 * std::exp2(0.5 * std::abs(a - 4) + 0.5 * std::abs(b - 2));
        samples.push_back({nullptr, {workload, speed.size()}, {workload, 0}, seconds, tokens});
        speed.push_back(1 / seconds);
      }
  }
  static trace_token tile(int exponent, int block) {
    trace_token out{3, 0, {}};
    out.numbers[0] = static_cast<float>(8 - exponent);
    out.numbers[1] = static_cast<float>(exponent);
    out.numbers[8] = 2;
    out.numbers[15] = static_cast<float>(block);
    return out;
  }
};

}  // namespace

TEST_CASE("the slope of the network over traces is that of finite differences") {
  support::random r(4);
  std::vector<cost::detail::prepared_trace> programs(6);
  std::vector<const cost::detail::prepared_trace*> pointers;
  std::vector<double> labels;
  for (std::size_t n = 0; n < programs.size(); ++n) {
    const std::size_t tokens = n == 5 ? 0 : 1 + 2 * n;  // one has no primitives
    for (std::size_t t = 0; t < tokens; ++t) {
      programs[n].kinds.push_back(static_cast<std::uint8_t>(r.below(token_kinds)));
      programs[n].words.push_back(static_cast<std::uint8_t>(r.below(3)));
    }
    programs[n].numbers.resize(static_cast<Eigen::Index>(tokens), cost::detail::token_columns);
    for (Eigen::Index i = 0; i < programs[n].numbers.size(); ++i)
      programs[n].numbers.data()[i] = 2 * r.unit() - 1;
    pointers.push_back(&programs[n]);
    labels.push_back(r.unit());
  }
  cost::detail::layer_vector w = cost::detail::random_trace_weights(1);
  for (Eigen::Index i = 0; i < w.size(); ++i) w[i] += 0.02 * (r.unit() - 0.5);
  const auto loss = [&] {
    const cost::detail::trace_pass pass(w, pointers);
    return cost::detail::score_loss(pass.scores(), labels, objective::pairwise).value;
  };
  const cost::detail::trace_pass pass(w, pointers);
  const cost::detail::score_loss l(pass.scores(), labels, objective::pairwise);
  const cost::detail::layer_vector slope = pass.backward(l.by_score, true);
  const auto& layout = cost::detail::trace_layout::shared();
  for (int part = 0; part < cost::detail::trace_layout::parts; ++part) {
    if (part == cost::detail::trace_layout::d) continue;  // no ranking depends on it
    INFO("layer ", part);
    int checked = 0;
    for (int n = 0; n < 60 && checked < 5; ++n) {
      const auto& at_part = layout.of[static_cast<std::size_t>(part)];
      const auto i = at_part.at + static_cast<Eigen::Index>(r.below(
                                      static_cast<std::size_t>(at_part.rows * at_part.columns)));
      if (std::abs(slope[i]) < 1e-5) continue;
      const double at = w[i], h = 1e-6;
      w[i] = at + h;
      const double above = loss();
      w[i] = at - h;
      const double below = loss();
      w[i] = at;
      CHECK(slope[i] == doctest::Approx((above - below) / (2 * h)).epsilon(1e-3));
      ++checked;
    }
    CHECK(checked > 0);
  }
  const cost::detail::layer_vector few = pass.backward(l.by_score, false);
  CHECK(few.head(layout.of[cost::detail::trace_layout::r1].at).isZero());
}

TEST_CASE("the network over traces ranks a workload after others that it has seen") {
  const tiled_traces train(1, 2), test(2, 4);
  network_options o;
  o.epochs = 60;
  o.rate = 3e-3;
  trace_model m(o);
  const std::vector<double> losses = m.pretrain(train.samples);
  CHECK(losses.back() < 0.5 * losses.front());
  CHECK(pairwise_accuracy(m.predict(test.samples), test.speed) > 0.8);
  SUBCASE("saved and loaded it ranks the same") {
    trace_model other;
    other.load(m.save());
    CHECK(other.save() == m.save());
    const std::vector<double> a = m.predict(test.samples), b = other.predict(test.samples);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == doctest::Approx(a[i]).epsilon(1e-3));
  }
  SUBCASE("a model file is not trusted") {
    const std::string text = m.save();
    for (const std::string& bad :
         {std::string(), std::string("mlp 1 2\n"), text.substr(0, text.size() / 2)}) {
      CHECK_THROWS_AS(m.load(bad), argument_error);
      CHECK(m.save() == text);
    }
  }
}

TEST_CASE("scores of the network over traces are finite, repeatable, and follow their programs") {
  const tiled_traces all(1, 2);
  trace_model a, b;
  CHECK(a.reads_traces());
  const std::vector<double> scores = a.predict(all.samples);
  CHECK(scores == b.predict(all.samples));
  std::vector<sample> turned(all.samples.rbegin(), all.samples.rend());
  std::vector<double> back = a.predict(turned);
  std::reverse(back.begin(), back.end());
  for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i] == doctest::Approx(scores[i]));
  CHECK(a.predict({}).empty());
  std::vector<sample> failed = all.samples;
  for (sample& s : failed) s.seconds = std::numeric_limits<double>::infinity();
  failed.front().trace = nullptr;
  a.update(failed);
  for (const double s : a.predict(failed)) CHECK(std::isfinite(s));
}
