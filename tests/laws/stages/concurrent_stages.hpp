// Stages of random programs with loops whose iterations run at once: parallel, vectorized, or bound
// to threads of a GPU.
#pragma once

#include <string>
#include <vector>

#include <laws/stages/crowded_stages.hpp>

namespace laws {

class concurrent_stages : protected crowded_stages {
 protected:
  using crowded_stages::crowded_stages;

  /// A map of which one loop, or two, run at once.
  void concurrent(bool last);
  /// An element or a row that every iteration writes anew and reads in two blocks.
  void own_scratch(bool last);
  /// Tiles that every iteration computes with a halo, which its neighbours compute, too.
  void halo(bool last);
  /// A sum below a loop whose iterations run at once, with its start and its epilogue.
  void own_sum(bool last);
  /// A block that holds loops around others, below such a loop or around one.
  void enclosing(bool last);

 private:
  struct way {
    ir::loop_kind kind;
    std::string axis;
  };
  way any_way();
  static ir::stmt at_once(const ir::stmt& s, std::size_t depth, const way& how);
  ir::stmt at_once(const ir::stmt& s, std::size_t depth = 0) {
    return at_once(s, depth, any_way());
  }
  /// Both outer loops of a nest.
  ir::stmt both_at_once(const ir::stmt& s);
  /// Some of the loops that stand one behind the other in this body.
  ir::stmt parts_at_once(const ir::stmt& body);
  /// The loop, and some of those in its body.
  ir::stmt all_at_once(const ir::stmt& s);

  /// A buffer that each iteration has for itself; nobody has allocated it.
  ir::buffer own_buffer(const shape& s);
  /// Loops over these extents, none of them split.
  nest plain_loops(const shape& extents, std::size_t reduced);
  /// Loops over tiles, over `length` rows from the first of a tile on, and over columns; tiles begin
  /// `size` rows apart, and the block's variables are row and column.
  nest tile_loops(const shape& extents, std::int64_t tiles, std::int64_t size, std::int64_t length,
                  std::size_t reduced);
  /// The column, or another one of the row.
  ir::expr elsewhere(const ir::expr& column, std::int64_t width);
  /// The stages from `first` on, which are none then.
  ir::stmt taken(std::size_t first);

  const bool threads_ = chance(draw_, 20);  // loops of this program are bound to threads
};

}  // namespace laws
