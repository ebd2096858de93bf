// A space: what turns a program into families of schedules (MetaSchedule, section 3.2).
//
// A space yields sketches. A sketch is a schedule whose trace, replayed without its decisions,
// draws another member of the same family; search draws sketches, replays them and mutates
// decisions.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace tilewright::target {
struct cpu;
}

namespace tilewright::space {

/// What a space may know about the place where its programs will run.
struct context {
  const target::cpu* cpu = nullptr;
  int threads = 1;
};

/// A space as a value: a function on a schedule, a function that returns several schedules, or
/// a composition of such.
class design_space {
 public:
  using function = std::function<std::vector<schedule>(schedule, const context&)>;

  design_space() = default;
  /// From a function that returns sketches.
  design_space(function f) : make_(std::move(f)) {}  // NOLINT
  /// From a function that transforms one schedule in place: `void(schedule&)`.
  template <class F>
  requires std::invocable<F&, schedule&> design_space(F f)  // NOLINT
      : make_([f = std::move(f)](schedule s, const context&) mutable {
          f(s);
          std::vector<schedule> out;
          out.push_back(std::move(s));
          return out;
        }) {}
  /// The same with knowledge of the machine: `void(schedule&, const context&)`.
  template <class F>
  requires(std::invocable<F&, schedule&, const context&> &&
           !std::convertible_to<std::invoke_result_t<F&, schedule&, const context&>,
                                std::vector<schedule>>) design_space(F f)  // NOLINT
      : make_([f = std::move(f)](schedule s, const context& where) mutable {
          f(s, where);
          std::vector<schedule> out;
          out.push_back(std::move(s));
          return out;
        }) {}

  /// From a space expression (space/expression.hpp).
  template <class Expression>
  requires requires { typename Expression::tilewright_space; }
  design_space(Expression e) : design_space(to_space(std::move(e))) {}  // NOLINT

  explicit operator bool() const noexcept { return static_cast<bool>(make_); }

  /// The sketches of a program; the first one is what runs when nothing may be measured.
  /// @throws whatever the space's functions throw; schedule_error for an illegal primitive
  std::vector<schedule> sketches(const ir::function& f, const context& where,
                                 std::uint64_t seed) const {
    return make_(schedule(f, seed), where);
  }

 private:
  function make_;
};

}  // namespace tilewright::space
