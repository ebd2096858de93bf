// The loop in which a kernel spends its time, found in its assembly.
#pragma once

#include <string>
#include <string_view>

#include <tilewright/config.hpp>

namespace tilewright::backend {

/// An innermost loop of assembly. Counts are of one iteration.
struct inner_loop {
  std::string text;             // its lines, without directives
  int instructions = 0;         // the jump back included
  int multiply_adds = 0;        // fused ones, of vectors or scalars, and dot products
  int vector_instructions = 0;  // of packed numbers
  int memory = 0;               // instructions with an operand in memory
  int vector_loads = 0;         // of these, the ones that read into vector registers
  int accumulators = 0;  // registers that iterations hand on through multiply-adds or additions
  int chained_multiply_adds = 0;  // the most that one accumulator waits for
  int chained_additions = 0;      // the same of additions
  double operations =
      0;  // arithmetic of all lanes; a multiply-add counts as two, a dot product more
};

/// The innermost loop with the most fused multiply-adds, or the most instructions on packed numbers
/// where none has any; without instructions where nothing jumps back.
/// @param assembly x86-64 in AT&T's syntax, as LLVM prints it
inner_loop find_inner_loop(std::string_view assembly);

/// "9 of 14 instructions are multiply-adds (64 %), 5 touch memory", and the loop's lines.
std::string inner_loop_text(const inner_loop& l);

}  // namespace tilewright::backend
