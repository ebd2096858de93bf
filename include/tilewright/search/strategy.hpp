// Strategies: what proposes the candidates of a session. One per file in search/strategies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/search/candidate.hpp>
#include <tilewright/space/space.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::cost {
class model;
}

namespace tilewright::search {

/// What a strategy searches.
struct search_task {
  ir::function function;
  std::vector<trace> sketches;  // without decisions; at least one
  /// Runs the space again for one member, drawn as a whole (design_space::member); may be null.
  /// Throws schedule_error where a primitive refuses.
  std::function<schedule(std::uint64_t seed)> generate;
  finisher finish;  // the space's post-processing; null where it has none
  /// Draws decisions of a sketch that have a chance, before it is replayed (search/drawn_trace.hpp); null: the replay
  /// draws all.
  std::function<trace(const trace& sketch, support::random& random)> draw = {};

  /// The sketch as a replay that draws begins with it.
  trace drawn(const trace& sketch, support::random& random) const {
    return draw ? draw(sketch, random) : sketch;
  }
};

/// Proposes candidates and is told how fast they were. All its draws come from one seed, and what
/// it proposes depends on the task, the seed and the times alone, never on threads.
class strategy {
 public:
  virtual ~strategy() = default;

  /// Begins a search; called once, before everything else.
  virtual void start(const search_task& task, std::uint64_t seed) = 0;
  /// Up to `count` candidates that were neither proposed nor learned before; none when it finds no
  /// more. `over` is polled: where it is true, what is there is returned.
  virtual std::vector<candidate> propose(std::size_t count, const std::function<bool()>& over) = 0;
  /// Seconds of measured candidates, infinity where one failed; also those that an earlier session
  /// measured. They are not proposed again.
  virtual void learn(std::span<const candidate> measured, std::span<const double> seconds) = 0;
  /// Traces that did not replay since the start.
  virtual std::size_t refused() const = 0;
  /// Why the last of them did not, for people; empty where that is not known.
  virtual std::string last_refusal() const { return {}; }
  /// What the strategy has found out about the space, for people; empty: nothing.
  virtual std::string remark() const { return {}; }
};

/// A kind of strategy.
struct strategy_kind {
  std::string_view name;  // lives as long as the program
  std::string_view what;  // one line for people
  /// Name of the model that guides it where none is chosen; empty: it needs none, and a model is
  /// ignored.
  std::string_view model;
  std::unique_ptr<strategy> (*make)(std::shared_ptr<cost::model> model) = nullptr;
};

/// The kinds there are, of which `tilewright tune --help` has a list (learning.hpp adds some), and
/// those that were added, in this order.
std::vector<strategy_kind> strategy_kinds();
/// Adds a kind, or takes the place of the one of that name. Any thread may call it.
void add_strategy_kind(const strategy_kind& kind);

/// A strategy by name, guided by the model of that name (cost/model_kind.hpp); without one, by the
/// model that its kind names.
/// @throws argument_error for a name that no kind has; the text lists the names
std::unique_ptr<strategy> make_strategy(std::string_view name, std::uint64_t seed = 42,
                                        std::string_view model = {});

}  // namespace tilewright::search
