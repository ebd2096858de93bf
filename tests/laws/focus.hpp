// The block that a random step is about, with the blocks and loops near it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <laws/random_programs.hpp>
#include <tilewright/schedule/schedule.hpp>

namespace laws {

/// Chooses blocks and loops of a schedule, mostly such that a kind of instruction has something to
/// do there, at times wrong or stale ones. Queries that find them are applied to the schedule.
class focus {
 public:
  focus(schedule& s, const instruction_kind& kind, support::random& draw);

 protected:
  /// @name Blocks
  /// @{
  /// The focus; at times a wrong or a stale variable.
  rv block();
  rv pick_block();
  std::optional<rv> find(const std::string& name);
  argument other_block() { return chance(draw_, 90) ? pick_block() : block(); }
  argument consumer_block();
  std::vector<block_rv> consumers_of_focus();
  const ir::block_node* focus_block();
  std::string name_of(rv block);
  /// A variable of that class that may have expired long ago.
  std::optional<rv> stale(rv_class type);
  /// @}

  /// @name Loops
  /// @{
  std::vector<loop_rv> loops_of(rv b);
  /// A loop of the focus; at times a wrong or a stale variable.
  rv loop();
  argument any_loop();
  argument loop_near_consumer();
  argument loop_near_producer();
  argument reduction_loop();
  /// Neighbours in one nest.
  argument loops_in_order();
  argument loops_in_disorder();
  /// Loops of two blocks, mostly of nests that are equal down to there.
  argument loops_of_two_nests();
  /// @}

  schedule& s_;
  const instruction_kind& kind_;
  support::random& draw_;
  std::vector<std::string> names_;  // of all blocks but the root
  rv focus_;

 private:
  std::optional<rv> suitable_block();
  argument loop_near(const std::vector<block_rv>& near);
  std::vector<const ir::loop_node*> nodes(const std::vector<loop_rv>& loops);
};

}  // namespace laws
