// Copies through shared memory, and the blocks around them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/ir/copy_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/schedule.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/dtype.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space::detail {

/// The block goes into the only one that writes what it reads; or stays, where that pads or is another's work.
inline void become_one_with_producer(schedule& s, const std::string& block) {
  schedule trial = s;
  try {
    trial.reverse_compute_inline(trial.get_block(block));
    s = std::move(trial);
  } catch (const schedule_error&) {  // it stays
  }
}

/// The block goes into those that read what it writes; or stays.
inline void become_one_with_consumers(schedule& s, const std::string& block) {
  schedule trial = s;
  try {
    trial.compute_inline(trial.get_block(block));
    s = std::move(trial);
  } catch (const schedule_error&) {  // it stays
  }
}

/// The loops behind the last two indices of what a copy writes, row and column, and the memory that it reads; null where
/// that is computed or none.
struct copied_tile {
  const ir::loop_node *row = nullptr, *column = nullptr;
  const ir::expr_node* from = nullptr;
};
inline copied_tile copied_by(const ir::block_node& copy) {
  copied_tile out;
  std::vector<const ir::loop_node*> loops;
  ir::stmt body = copy.body;
  for (const ir::loop_node* l = ir::as_loop(body); l; l = ir::as_loop(body)) {
    loops.push_back(l);
    body = l->body;
  }
  const ir::store_node* const to = ir::as_store(body);
  if (!to || to->indices.size() < 2) return out;
  const auto loop_of = [&](const ir::expr& index) {
    const ir::loop_node* found = nullptr;
    for (const ir::loop_node* l : loops)
      if (ir::uses_var(index, l->var)) found = l;
    return found;
  };
  out.row = loop_of(to->indices[to->indices.size() - 2]);
  out.column = loop_of(to->indices.back());
  int loads = 0;
  ir::for_each_expr(to->value, [&](const ir::expr& e) {
    if (e->op != ir::op::load) return;
    out.from = ++loads == 1 ? e.get() : nullptr;
  });
  return out;
}

/// Rows of a tile in shared memory become columns where what a copy reads lies so: neighbours in memory stay neighbours,
/// and are copied in vectors. Matrices of bytes are loaded one way alone.
inline void lie_as_in_memory(schedule& s, block_rv copy) {
  const ir::block block = s.get(copy).block;
  const ir::buffer& tile = block->writes[0].buffer;
  const copied_tile of = copied_by(*block);
  if (bytes(tile->type) == 1 || !of.from || !of.row || of.from->args.empty()) return;
  if (!ir::uses_var(of.from->args.back(), of.row->var)) return;
  s.transform_layout(copy, written_buffer(0),
                     ir::make_index_map(tile->shape.size(), [](const std::vector<ir::var>& at) {
                       std::vector<ir::expr> out(at.begin(), at.end());
                       std::swap(out[out.size() - 1], out[out.size() - 2]);
                       return out;
                     }));
}

/// How an operand comes to shared memory: a step ahead through registers, or in the background (`ahead` is not 0), by the copy
/// engine (`boxes`) or by all threads. What gives it its form is made on the way.
inline void bring_operand(schedule& s, block_rv copy, int ahead, bool boxes) {
  if (ahead > 0 && boxes) s.annotate(copy, ir::tensor_copy_note, 1);
  if (ahead == 0) {
    s.annotate(copy, "local_stage", 1);
    s.annotate(copy, "double_buffer_scope", 0);
  }
  for (const std::string& form : producer_names(s, s.get(copy).block->name))
    become_one_with_consumers(s, form);
}

/// What is computed of each result goes into the block that writes these: where several blocks read them, first
/// each into those that read it, as sums with a bias into the factors of a GeLU, if one is left that can go. Else
/// those go that can at once.
inline void take_epilogue(schedule& s, const std::string& block) {
  schedule trial = s;
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string& reader : consumer_names(trial, block)) {
      if (is_output(trial, reader)) continue;
      become_one_with_consumers(trial, reader);
      changed = changed || !has_block(trial, reader);
    }
  }
  const std::vector<std::string> left = consumer_names(trial, block);
  if (left.size() == 1) become_one_with_producer(trial, left[0]);
  if (left.size() == 1 && !has_block(trial, left[0])) {
    s = std::move(trial);
    return;
  }
  for (const std::string& reader : consumer_names(s, block)) become_one_with_producer(s, reader);
}

/// Rows of the shared buffer that the block writes begin 16 bytes further on in the banks than the row
/// before: lanes that store a few bytes of eight rows each, as fragments lie, meet no two in a bank.
inline void spread_rows(schedule& s, block_rv writer) {
  const std::int64_t size = bytes(s.get(writer).block->writes[0].buffer->type);
  constexpr std::int64_t all_banks = 128, piece = 16;  // bytes
  s.storage_align(writer, 0, -2, static_cast<int>(all_banks / size),
                  static_cast<int>(piece / size));
}

}  // namespace tilewright::space::detail
