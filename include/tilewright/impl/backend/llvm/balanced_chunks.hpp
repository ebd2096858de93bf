// Parallel loops over the rows of a sparse matrix that are shared out by what rows have, not by their number.
//
// A chunk ends where its rows, and the elements in them, are its share of all, moved to the end of a row: the model is
// the one of tasks (pass/rows/divide_rows.hpp). Each chunk finds its borders by binary search in the offsets, so that
// nothing is kept and nothing is made ready.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <tilewright/backend/llvm/builder.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/numbers/index_type.hpp>

namespace tilewright::backend::llvm {

/// The parameter of offsets that the loop's annotation names, by its position; nothing where there is none,
/// or the iterations are no rows of it.
inline std::optional<std::size_t> balancing_offsets(const ir::function& f, const ir::loop_node& l) {
  const auto note = l.annotations.find(ir::balance_annotation);
  const auto* name =
      note == l.annotations.end() ? nullptr : std::get_if<std::string>(&note->second.value);
  if (!name || !ir::is_int(l.min, 0) || !ir::is_int(l.extent)) return std::nullopt;
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    const ir::buffer& b = f.params[i].buffer;
    if (!b || b->name != *name) continue;
    const bool rows = b->shape.size() == 1 && ir::is_int(b->shape[0], ir::as_int(l.extent) + 1) &&
                      b->strides.empty() && is_index(b->type);
    return rows ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

/// The first row of chunk `number`: the first r with offsets[r] + r >= number / chunks of the same of all rows.
inline value_ref balanced_border(const builder& b, value_ref offsets, dtype type, value_ref rows,
                                 value_ref number, value_ref chunks) {
  const value_ref function = b.here_in();
  const int size = bytes(type);
  const auto share = [&](value_ref row) {
    const value_ref at = b.element_pointer(b.i8, offsets, b.mul_nsw(row, b.index(size)));
    const value_ref offset = type == dtype::i64
                                 ? b.load(b.i64, at, 8)
                                 : b.convert(opcode::sext, b.load(b.i32, at, 4), b.i64);
    return b.add_nsw(offset, row);
  };
  const value_ref wanted = b.binary(opcode::udiv, b.mul_nsw(share(rows), number), chunks);
  const block_ref before = b.here();
  const block_ref head = b.new_block(function, "search"), look = b.new_block(function, "look"),
                  found = b.new_block(function, "found");
  b.branch(head);
  b.at(head);
  const value_ref low = b.phi(b.i64, {{b.index(0), before}});
  const value_ref high = b.phi(b.i64, {{rows, before}});
  b.branch(b.compare(int_predicate::slt, low, high), look, found);
  b.at(look);
  const value_ref middle = b.binary(opcode::udiv, b.add_nsw(low, high), b.index(2));
  const value_ref less = b.compare(int_predicate::slt, share(middle), wanted);
  b.add_incoming(low, b.select(less, b.add_nsw(middle, b.index(1)), low), b.here());
  b.add_incoming(high, b.select(less, high, middle), b.here());
  b.branch(head);
  b.at(found);
  return low;
}

}  // namespace tilewright::backend::llvm
