// Compares candidates with the default schedule on a second set of data.
//
// What is measured computes with tame numbers: small integers that wrap nowhere, floats near 1. An
// implementation that saturates, narrows or leaves out a sign does the same on those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/search/check/expected_outputs.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/impl/search/measurement/test_bench.hpp>
#include <tilewright/search/check/spot_check.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// Values of parameters that steer, as the caller gave them; the others are made up.
inline given_values given_to_steer(const workload& w) {
  given_values out = w.given;
  const std::vector<operand> all = operands(w.function);
  for (std::size_t i = 0; i < out.size() && i < all.size(); ++i)
    if (!all[i].index && !all[i].steers) out[i].clear();
  return out;
}

/// Costs nothing before the first comparison, which runs the default schedule once more; every
/// comparison is a call.
class extreme_check {
 public:
  extreme_check(const workload& w, test_bench& bench, const value_needs& needs, std::uint64_t seed,
                std::vector<std::string>& remarks)
      : w_(w), bench_(bench), needs_(needs), seed_(seed), remarks_(remarks) {}

  /// @param form of the arguments that `candidate` takes; null: those of the workload
  /// @param call_seconds of the default schedule
  /// @param seconds of the session: no more than a tenth is for these calls
  /// @returns what `candidate` computes differently from `baseline`; empty: nothing, or there is no
  /// time or memory to know
  /// @throws internal_error when `baseline` itself computes other integers than f64 says
  std::string difference(const built& baseline, const built& candidate, const argument_form* form,
                         double call_seconds, double seconds) {
    if (!ready_) prepare(baseline, call_seconds, seconds);
    if (!plain_) return {};
    place& there = place_of(form);
    bool compared = false;
    measurement m = there.computing.run(candidate, test_bench::patience, &compared);
    if (m.failed == failure::worker)  // its process may have ended since the last comparison
      m = there.computing.run(candidate, test_bench::patience, &compared);
    if (m.failed == failure::cancelled) return {};
    if (!m.ok()) return "on extreme values: " + m.detail;
    const std::string wrong = expected_.difference(*there.data, compared);
    return wrong.empty() ? wrong : "on extreme values: " + wrong;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;
  static constexpr double seconds_per_element = 1e-8;  // of making values up and comparing them
  static constexpr double share = 0.1;

  /// Arguments, and what goes on computing with them: a process of their own starts once.
  struct place {
    std::unique_ptr<runner> data;
    bench_place computing;
  };
  std::unique_ptr<place> with(std::unique_ptr<runner> data) const {
    bench_place computing = bench_.place_for(*data);
    return std::make_unique<place>(place{std::move(data), std::move(computing)});
  }

  place& place_of(const argument_form* form) {
    if (!form) return *plain_;
    std::unique_ptr<place>& out = formed_[form->algorithm];
    if (!out) out = with(bench_.in_form(*form, *plain_->data));
    return *out;
  }

  void prepare(const built& baseline, double call_seconds, double seconds) {
    ready_ = true;
    double elements = 0, bytes = 0;
    for (const operand& o : bench_.operands()) {
      elements += static_cast<double>(o.elements());
      bytes += static_cast<double>(o.elements()) * static_cast<double>(tilewright::bytes(o.type));
    }
    const bool slow = 2 * call_seconds + seconds_per_element * elements > share * seconds;
    if (slow || bytes > static_cast<double>(most_bytes)) {
      remarks_.push_back(
          std::string("candidates were not compared on extreme values: ") +
          (slow ? "a call takes too much of the session" : "the arguments take more than 1 GiB"));
      return;
    }
    plain_ =
        with(std::make_unique<runner>(w_.function, w_.layouts, *w_.exec, seed_ + 1,
                                      given_to_steer(w_), bench_.sharing(), value_set::extreme));
    if (!plain_->computing.run(baseline, test_bench::patience).ok())
      return plain_.reset();  // cancelled
    runner& data = *plain_->data;
    std::vector<std::vector<std::byte>> outputs = data.outputs();
    spot_list spots = spot_values(w_.function, data, seed_ + 1);
    const std::string wrong = compare_spots(data.operands(), needs_, spots, outputs);
    if (!wrong.empty() && has_no_floats(data.operands()))
      throw internal_error("the default schedule of " + w_.function.name +
                           " computes something else on extreme values: " + wrong);
    if (!wrong.empty()) spots = {};  // the kernel's own rounding leads away from f64
    expected_ = expected_outputs(w_.function, data, needs_, std::move(outputs), std::move(spots),
                                 non_finite::alike);
    if (w_.machine.gpu) plain_->computing.expect(expected_, *w_.machine.gpu);
  }

  const workload& w_;
  test_bench& bench_;
  const value_needs& needs_;
  std::uint64_t seed_;
  std::vector<std::string>& remarks_;
  bool ready_ = false;
  std::unique_ptr<place> plain_;
  std::map<std::string, std::unique_ptr<place>> formed_;  // of `plain_`, by algorithm
  expected_outputs expected_;
};

}  // namespace tilewright::search::detail
