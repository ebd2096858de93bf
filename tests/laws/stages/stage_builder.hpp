// What stages of random programs are built with: buffers, loops around blocks, and the list of what
// is ready to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <laws/random_programs.hpp>

namespace laws::stages {

using shape = std::vector<std::int64_t>;
using indices = std::vector<ir::expr>;

/// A block in its loops.
struct nest {
  std::vector<ir::var> loops;
  ir::block_node block;
  indices v;
  /// Where it is no plain nest: the bounds of the loops, what the variables are bound to, the
  /// block's guard, and a condition around it.
  std::vector<ir::range> bounds = {};
  indices values = {};
  ir::expr guard = {}, condition = {};
};

/// A program while stages are added to it. A stage is a function that is given the program and whether it is the
/// last one, and draws what it adds.
struct stage_builder {
  stage_builder(support::random& drawn, bool may_be_symbolic);

  /// @name Extents and numbers
  /// Extents are plain numbers while a program is built. In a symbolic program two of them stand for
  /// the variables n and m, and no stage computes with extents.
  /// @{
  static constexpr std::int64_t n_stands_for = 7, m_stands_for = 5;
  std::int64_t extent(std::int64_t rank);
  shape shape_of(const ir::buffer& b) const;
  ir::expr num(std::int64_t v) const { return ir::integer(index, v); }
  ir::expr dim(std::int64_t v) const;
  ir::expr value(double v) const { return ir::literal(type, v); }
  ir::expr clamp(const ir::expr& e) const { return ir::max(ir::min(e, value(20)), value(-20)); }
  /// @}

  /// @name Buffers
  /// @{
  ir::buffer make(const std::string& name, const shape& s, std::optional<dtype> of = {}) const;
  /// The parameters that every program has.
  void add_inputs();
  void input(const ir::buffer& b);
  /// An input of a stage's own.
  ir::buffer own_input(const shape& s, std::optional<dtype> of = {});
  /// A buffer for a result: a temporary, or a parameter when it is the last or by chance.
  ir::buffer result(const shape& s, bool last);
  const ir::buffer& source();
  const ir::buffer* source_of_rank(std::size_t rank);
  /// Results that a stage may overwrite.
  std::vector<ir::buffer> overwritable() const;
  static bool is_input(const ir::buffer& b) { return b->name[0] == 'A' || b->name[0] == 'V'; }
  void now_ready(const ir::buffer& b);
  /// @}

  /// @name Stages
  /// @{
  nest loops_over(const shape& extents, std::size_t reduced);
  /// Loops around the block; some programs have split one already, with a guard where needed.
  ir::stmt wrap(const nest& n, ir::block_node b);
  static ir::stmt wrap_as_told(const nest& n, ir::block_node b);
  std::string fresh_name(const std::string& like);
  /// What the body of the block reads, without what a reduction updates.
  static void declare_reads(ir::block_node& b);
  /// Finishes the stage: to[at] = e, or a reduction of e.
  void finish(nest n, const ir::buffer& to, const indices& at, const ir::expr& e, bool reduces,
              bool peak = false);
  /// Puts the last two stages below one loop, where their outermost loops are alike.
  void share_loop();
  static ir::stmt joined(const ir::stmt& first, const ir::stmt& second);
  /// The same one loop further inside, where they share the first one.
  void share_inner_loop();
  program finished() const;
  /// @}

  support::random& draw;
  dtype type, index;
  bool exact = true, symbolic = false;
  ir::var extent_n, extent_m;  // of a symbolic program
  int made = 0;                // buffers, whose names it tells apart
  std::vector<ir::param> params;
  std::vector<ir::buffer> temps, ready;
  std::vector<ir::stmt> stages;
  std::vector<std::string> block_names;
  bool threads;  // loops that run at once are bound to threads
};

}  // namespace laws::stages
