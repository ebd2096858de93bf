// Which iterations have a buffer of their own, when it is lowered.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <tilewright/ir/analysis/buffer_uses.hpp>

namespace tilewright::ir {

/// The loops around every access to a buffer that a block allocates. Lowering allocates it around the
/// smallest statement that holds all accesses, so that iterations of these loops which run at once
/// have one each. Threads that copy jointly share what they copy (ir/analysis/joint_copy.hpp): their loops and
/// those below are none of these. The statement is walked when it is first asked about.
class private_buffers : buffer_uses {
 public:
  explicit private_buffers(stmt body) : body_(std::move(body)) {}

  /// Outermost first; none around a parameter, and around what nobody touches.
  const std::vector<const loop_node*>& loops_around(const buffer& b);
  /// Whether an iteration of the loop has the buffer for itself.
  bool within(const loop_node& loop, const buffer& b);

 private:
  using buffer_uses::visit;
  void visit(const stmt& s) override;
  void visit(const block& b) override;
  void use(const buffer& b) override;

  /// A loop, and the place of the one around it; uses share the links of the loops that they have in common.
  struct link {
    const loop_node* loop;
    std::size_t around, depth;
  };
  static constexpr std::size_t outside = 0;  // place of what stands below no loop
  struct life {
    const buffer_node* buffer;
    bool allocated = false, touched = false;
    std::size_t below = outside;                // place of the innermost loop around all uses
    std::vector<const loop_node*> around = {};  // once it is asked for
  };
  void walk();
  life& life_of(const buffer& b);
  /// Null for what nobody touches, and for a parameter.
  life* own_life_of(const buffer& b);

  stmt body_;
  bool walked_ = false;
  std::size_t here_ = outside;
  std::vector<link> links_;
  std::vector<life> lives_;  // few: looked through faster than a table
};

}  // namespace tilewright::ir
