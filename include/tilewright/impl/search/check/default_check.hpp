// Whether the default schedule computes what the kernel says, before candidates are compared with
// what it computes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/search/check/output_spans.hpp>
#include <tilewright/impl/search/check/rounding_bounds.hpp>
#include <tilewright/impl/search/measurement/elements.hpp>
#include <tilewright/impl/search/measurement/test_bench.hpp>
#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/search/check/spot_check.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// The checks of one session. What could not be checked is added to `remarks`.
class default_check {
 public:
  using output_list = std::vector<std::vector<std::byte>>;

  default_check(const workload& w, test_bench& bench, const value_needs& needs, std::uint64_t seed,
                std::vector<std::string>& remarks)
      : w_(w), bench_(bench), needs_(needs), seed_(seed), remarks_(remarks) {}

  /// The default schedule at small extents against the interpreter.
  /// @throws build_error, internal_error
  void at_small_extents(const space::context& where) {
    const std::optional<ir::function> small = small_form();
    interpreted_ = small.has_value();
    if (!small) return;
    runner usual(*small, {}, *w_.exec, seed_, {}, bench_.sharing());
    runner extreme(*small, {}, *w_.exec, seed_, {}, bench_.sharing(), value_set::extreme);
    // their processes take hold of a GPU while code is made for it
    bench_place at_usual = bench_.place_for(usual), at_extreme = bench_.place_for(extreme);
    const schedule s = default_schedule(*small, w_.space, where, seed_);
    const built b = bench_.make(s.function());
    if (!b)
      throw build_error("the default schedule cannot be compiled at small extents: " + b.error);
    measurement last;
    const std::string wrong = verify_against_interpreter(
        *small, usual, [&] { return last = at_usual.run(b, test_bench::patience); });
    if (w_.machine.gpu && !last.ok())  // the device, not the schedule
      throw build_error("the default schedule does not run: " + last.detail);
    if (!wrong.empty())
      throw internal_error("the default schedule of " + w_.function.name +
                           " disagrees with the interpreter: " + wrong);
    const std::string far = verify_against_interpreter(
        *small, extreme, [&] { return at_extreme.run(b, test_bench::patience); },
        non_finite::alike);
    if (far.empty()) return;
    const std::string text = " disagrees with the interpreter on extreme values: " + far;
    if (has_no_floats(extreme.operands()))
      throw internal_error("the default schedule of " + w_.function.name + text);
    remarks_.push_back("the default schedule" + text);  // rounding may be all there is to it
  }

  /// The algorithms of the kernel against each other, by the interpreter.
  /// @throws argument_error
  void alternatives(const std::vector<argument_form>& forms) {
    if (!ir::has_alternatives(w_.function)) return;
    const std::optional<ir::function> small = small_form();
    if (!small) {
      remarks_.push_back("algorithms not compared with each other: no small form of the kernel");
      return;
    }
    const std::string wrong = forms.empty() ? compare_alternatives(*small, *w_.exec, seed_)
                                            : compare_forms(*small, forms);
    if (!wrong.empty()) throw argument_error("kernel " + w_.function.name + ": " + wrong);
  }

  /// `outputs`, which the default schedule has left, at some points against f64.
  /// @param seconds of the session, which decide how far a difference is looked into
  /// @returns what candidates can be compared with
  /// @throws internal_error
  spot_list at_points(const output_list& outputs, double seconds) {
    spot_list spots = spot_values(w_.function, bench_.data(), seed_);
    if (!spots.skipped.empty())
      remarks_.push_back((spots.spots.empty() ? "not compared with f64: "
                                              : "compared with f64 at fewer points: ") +
                         spots.skipped);
    if (spots.spots.empty() && !interpreted_)
      remarks_.push_back("not compared with the interpreter either: no small form of the kernel");
    const std::string wrong = compare_spots(bench_.data().operands(), needs_, spots, outputs);
    if (wrong.empty()) return spots;
    const std::string at_fault = compare_as_written(outputs, seconds);
    if (!at_fault.empty())
      throw internal_error("the default schedule of " + w_.function.name + " disagrees with f64: " +
                           wrong + ", and with the program as written: " + at_fault);
    remarks_.push_back("not compared with f64, from which the kernel's own rounding leads away: " +
                       wrong);
    return {};
  }

 private:
  std::optional<ir::function> small_form() const {
    std::optional<ir::function> small = w_.shrunk ? w_.shrunk() : std::nullopt;
    if (!small && work_of(w_.function) < 2e5) small = w_.function;
    return small;
  }

  /// Algorithms that take their arguments in other forms against `small`, by the interpreter.
  std::string compare_forms(const ir::function& small, const std::vector<argument_form>& forms) {
    const auto interpreted = [](const ir::function& f, runner& r) {
      std::vector<ir::tensor_view> views;
      for (std::size_t i = 0; i < r.data().size(); ++i)
        views.push_back({r.data()[i], r.layouts()[i].strides});
      ir::interpret(f, std::move(views));
      return r.outputs();
    };
    runner plain(small, {}, *w_.exec, seed_);
    const output_list expected = interpreted(ir::alternatives(small).front(), plain);
    for (const argument_form& form : forms) {
      try {
        const formed_arguments all = form.make(plain);
        runner r(all.function, all.layouts, *w_.exec, seed_, all.given);
        const std::string wrong = compare_outputs(plain.operands(), needs_of(small), expected,
                                                  interpreted(all.function, r));
        if (!wrong.empty())
          return "algorithm " + form.algorithm + " computes something else: " + wrong;
      } catch (const argument_error& e) {
        remarks_.push_back("algorithm " + form.algorithm +
                           " not compared at small extents: " + e.what());
      }
    }
    return {};
  }

  /// The default schedule against the program without a schedule, which rounds in the same places.
  /// A program that would take much of the session on one core gets the benefit of the doubt.
  std::string compare_as_written(const output_list& outputs, double seconds) {
    if (w_.machine.gpu) return {};  // one thread of a GPU is slow
    if (work_of(w_.function) > 2e8 * std::min(seconds, 10.0)) return {};
    const built plain = bench_.make(w_.function);
    if (!plain) return {};
    if (!bench_.run(plain).ok()) return {};
    rounding_bounds bounds(w_.function, bench_.data());
    const output_list expected = bench_.data().outputs();
    return compare_spans(bench_.data().operands(), needs_, spans_of(expected), spans_of(outputs),
                         non_finite::apart, &bounds);
  }

  const workload& w_;
  test_bench& bench_;
  const value_needs& needs_;
  std::uint64_t seed_;
  std::vector<std::string>& remarks_;
  bool interpreted_ = false;
};

}  // namespace tilewright::search::detail
