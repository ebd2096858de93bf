// What a loop does to the memory below it: the loop context vectors of AutoTVM, one row for every
// loop, and a form of them whose width depends on no program.
//
// A touch is one place of the program that loads or stores, under every loop around it: `C_0` is
// the first one of buffer C in the order of the program, where a store comes before the loads of
// its value. For a loop, `count` is the product of the extents of the loops from it inwards that
// move the touch, `reuse` the product of those that do not. Differently from AutoTVM, strides are
// exact coefficients where an index is a sum, threads that occur in several nests have a row in
// each of them, and the initialization of a reduction is walked in front of its reduction loops.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>

namespace tilewright::cost {

/// How a loop runs, in the order of AutoTVM's one-hot annotation.
enum class loop_annotation : std::uint8_t {
  block_x,
  block_y,
  block_z,
  thread_x,
  thread_y,
  thread_z,
  unrolled,
  vectorized,
  parallel,
  serial,
  virtual_thread
};

/// What a loop is to the stores below it.
enum class loop_role : std::uint8_t {
  spatial,  // moves what is stored
  reduce,   // does not, and what is stored is loaded, too
  other
};

/// A place that loads or stores, as one of the loops around it sees it.
struct buffer_touch {
  std::string name;         // of the buffer, "_", number of the occurrence
  std::size_t buffer = 0;   // touches of one buffer have one number
  double stride = 0;        // elements per iteration; 0: the loop does not move it
  double count = 1;         // addresses that the loop meets, at most
  double reuse = 1;         // how often it meets each of them
  double thread_count = 0;  // by how many times the addresses grow across threads; 0: no threads
  double thread_reuse = 0;
  // beyond AutoTVM:
  double bytes = 4;  // of an element
  bool written = false;
  bool indirect = false;  // the place is loaded from memory
};

/// A loop with what lies below it.
struct loop_context {
  double length = 1;    // extent; 1 where it is unknown
  int nest = 1;         // 1: outermost
  double topdown = 1;   // product of the lengths from the outermost loop to this one
  double bottomup = 1;  // largest count * reuse of its touches
  loop_annotation annotation = loop_annotation::serial;
  loop_role role = loop_role::other;
  std::array<double, 3> arithmetic{};  // float {add and subtract, multiply, divide} directly below
  std::vector<buffer_touch> touches;   // by name, as text
  int parent = -1;                     // position of the loop around it; -1: none
};

/// The loops of a program with a store below them, outer before inner ones, in program order.
std::vector<loop_context> loop_contexts(const ir::function& f);

/// Numbers of a node.
inline constexpr std::size_t node_width = 64;
using node_row = std::array<float, node_width>;

/// What ratios are taken of.
struct node_options {
  std::array<double, 3> caches{32768, 1048576, 33554432};  // bytes: L1, L2, L3
  double vector_bytes = 32;
  double line_bytes = 64;
  double cores = 1;
};

/// A loop in 64 numbers, logarithms but for flags:
///
///   0  length, nest, topdown, bottomup
///   4  annotation, one-hot
///  15  role, one-hot
///  18  arithmetic
///  21  the four buffers of most bytes below the loop, what is written first: {stride, count, reuse,
///      unique bytes, lines, indirect, thread count}
///  49  the same seven summed over the other buffers
///  56  footprint / {L1, L2, L3}, contiguous bytes / vector, cores / length, footprint, flops per
///      byte, whether it is the innermost loop
node_row loop_node(const loop_context& loop, const node_options& options = {});

}  // namespace tilewright::cost
