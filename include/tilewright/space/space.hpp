// A space: what turns a program into families of schedules (MetaSchedule, section 3.2).
//
// A space yields sketches. A sketch is a schedule whose trace, replayed without its decisions,
// draws another member of the same family; search draws sketches, replays them and mutates
// decisions.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/target/machine.hpp>

namespace tilewright::space {

/// What is asked of a space.
enum class yield : std::uint8_t {
  sketches,  // every structure that it has
  member     // one schedule, everything drawn: the structure too, and nothing preferred
};

/// What a space may know about the place where its programs will run: the machine, which may be
/// unknown, and how many threads of a CPU.
struct context : target::machine {
  int threads = 1;
  yield wanted = yield::sketches;
};

/// A rewrite or check of a candidate after its random choices.
using postproc = std::function<void(schedule&, const context&)>;

namespace detail {

/// What a function on a schedule makes of `start`, one schedule a structure; a run in which a
/// primitive refuses gives none. The first run has the stream of `start`.
/// @throws schedule_error when no run succeeds
std::vector<schedule> structures_of(schedule start, const context& where,
                                    const std::function<void(schedule&)>& build);

}  // namespace detail

/// A space as a value: a function on a schedule, a function that returns several schedules, or
/// a composition of such.
class design_space {
 public:
  using function = std::function<std::vector<schedule>(schedule, const context&)>;

  design_space() = default;
  /// From a function that returns sketches.
  /// @param text the C++ that writes it, where there is such
  design_space(function f, std::string text = {})  // NOLINT
      : make_(std::move(f)), text_(std::move(text)) {}
  /// From a function that transforms one schedule in place: `void(schedule&)`. What follows from
  /// its draws by control flow of C++ is structure: it runs until no new structure appears.
  template <class F>
  requires std::invocable<F&, schedule&> design_space(F f)  // NOLINT
      : make_([f = std::move(f)](schedule s, const context& where) {
          return detail::structures_of(std::move(s), where, f);
        }) {}
  /// The same with knowledge of the machine: `void(schedule&, const context&)`.
  template <class F>
  requires(std::invocable<F&, schedule&, const context&> &&
           !std::convertible_to<std::invoke_result_t<F&, schedule&, const context&>,
                                std::vector<schedule>>) design_space(F f)  // NOLINT
      : make_([f = std::move(f)](schedule s, const context& where) {
          const auto run = [f, &where](schedule& each) mutable { f(each, where); };
          return detail::structures_of(std::move(s), where, run);
        }) {}

  /// From a space expression (space/expression.hpp).
  template <class Expression>
  requires requires { typename Expression::tilewright_space; }
  design_space(Expression e) : design_space(to_space(std::move(e))) {}  // NOLINT

  explicit operator bool() const noexcept { return static_cast<bool>(make_); }

  /// The sketches of a program; the first one is what runs when nothing may be measured. Of a
  /// program with alternatives, those of each in turn, which begin with `work_on`; an alternative
  /// that the space does not fit adds none. Of a function that keeps the order of its terms, those that do.
  /// @throws what its functions throw; schedule_error for an illegal primitive, or without a sketch
  std::vector<schedule> sketches(const ir::function& f, const context& where,
                                 std::uint64_t seed) const;
  /// One member of the space, drawn as a whole; its decisions are in the trace. Post-processing is
  /// not done.
  /// @throws schedule_error where a primitive refuses what was drawn, or terms may come in another order
  schedule member(const ir::function& f, context where, std::uint64_t seed) const;
  /// The sketches that a schedule to which something was done becomes.
  std::vector<schedule> grow(schedule s, const context& where) const {
    return make_(std::move(s), where);
  }

  /// This space with post-processors: what is done to a candidate after its random choices, in this
  /// order. One that throws schedule_error rejects the candidate. (space/postproc)
  design_space with(std::vector<postproc> steps) const;
  /// Does it, after enter_postproc; nothing for a space without post-processors.
  void finish(schedule& s, const context& where) const;
  /// The C++ that writes it, for a space that is an expression; else empty.
  const std::string& text() const noexcept { return text_; }
  bool has_postprocs() const noexcept { return !postprocs_.empty(); }

  /// The union: the sketches of `a`, then those of `b`. One that does not fit a program adds none;
  /// a refusal is heard when neither does. The post-processors are those of `a`, else those of `b`.
  friend design_space operator|(const design_space& a, const design_space& b) {
    return unite(a, b);
  }

 private:
  static design_space unite(const design_space& a, const design_space& b);

  function make_;
  std::string text_;
  std::vector<postproc> postprocs_;
};

}  // namespace tilewright::space
