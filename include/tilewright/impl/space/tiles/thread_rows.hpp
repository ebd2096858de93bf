// Rows whose lengths are data, on the threads of a GPU: what a sparse matrix asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/impl/space/fuse_launches.hpp>
#include <tilewright/impl/space/gpu_rules.hpp>
#include <tilewright/impl/space/vector_axis.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/space/modules/ragged_reduction.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::space::detail {

/// The loop over the columns of the result, among those around the block: all of its iterations are apart, and
/// their number is no data.
inline std::optional<std::size_t> columns_of(const schedule& s, const std::string& name) {
  const ir::block_realize_node& realize = named_block(s, name);
  const std::vector<ir::iter_var>& iters = realize.block->iters;
  for (std::size_t k = iters.size(); k-- > 0;) {
    if (iters[k].kind != ir::iter_kind::spatial || !ir::is_int(iters[k].dom.extent) ||
        ir::as_int(iters[k].dom.extent) < 2)
      continue;
    if (const std::optional<std::size_t> loop = loop_driving(s, realize, k)) return loop;
  }
  return std::nullopt;
}

/// How many columns threads side by side have.
inline factor columns_beside(schedule& s, const std::vector<std::int64_t>& sizes,
                             const ir::expr& all, chooser& choices) {
  std::vector<std::int64_t> fitting;
  for (const std::int64_t n : sizes)
    if (n < 2 * ir::as_int(all)) fitting.push_back(n);
  if (fitting.empty()) fitting.push_back(sizes.back());
  return choices.categorical(s, fitting, std::vector<double>(fitting.size(), 1.0));
}

/// Binds the rows of a ragged reduction, and the columns of its result where there are any:
/// ```
/// for i: C_o                             for i_0 (blockIdx.x), i_1 (threadIdx.y): C_o
///   for k in range(n), j: C        ->      for j_0, j_1 (threadIdx.x), k in range(n): C
/// ```
/// Threads side by side have columns side by side, so that a row of the other operand is read in whole lines and all
/// of them walk a row of one length. Without columns, as in a product with a vector, each thread has a row.
/// The numbers of threads are drawn.
struct bind_rows {
  std::vector<std::int64_t> columns{32, 64, 128, 16, 8};  // threads along x
  std::vector<std::int64_t> rows{4, 8, 2, 1, 16};         // threads along y
  std::vector<std::int64_t> alone{128, 64, 256, 32};  // rows of a block where there are no columns

  void operator()(schedule& s, const std::string& name, const context& /*where*/,
                  chooser& choices) const {
    if (!support::contains(root_block_names(s), name) || !is_ragged_reduction(s, name)) return;
    const block_rv block = s.get_block(name);
    std::vector<loop_rv> around = s.get_loops(block);
    if (around.empty()) around.push_back(s.add_unit_loop(block));
    const loop_rv all = around.size() > 1 ? s.fuse(around) : around.front();
    const std::optional<std::string> inner = nest_with_columns(s, name);
    if (inner) bind_columns(s, *inner, choices);
    if (!inner) keep_rows_private(s, name);
    const auto [first, second] = s.split(all, {infer, one_of(s, inner ? rows : alone, choices)});
    s.bind(first, "blockIdx.x");
    s.bind(second, inner ? "threadIdx.y" : "threadIdx.x");
  }

 private:
  static factor one_of(schedule& s, const std::vector<std::int64_t>& sizes, chooser& choices) {
    return choices.categorical(s, sizes, std::vector<double>(sizes.size(), 1.0));
  }

  /// What one nest over a row leaves for the next one is the thread's own.
  static void keep_rows_private(schedule& s, const std::string& name) {
    const ir::block block = named_block(s, name).block;
    std::vector<std::pair<std::string, int>> writers;  // and which of what they write
    ir::for_each_stmt(block->body, [&](const ir::stmt& at) {
      const ir::block_realize_node* inner = ir::as_realize(at);
      if (!inner) return;
      const std::vector<ir::buffer_region>& writes = inner->block->writes;
      for (std::size_t k = 0; k < writes.size(); ++k)
        if (support::contains(block->alloc_buffers, writes[k].buffer) &&
            writes[k].buffer->scope != "local")
          writers.emplace_back(inner->block->name, static_cast<int>(k));
    });
    for (const auto& [writer, number] : writers) {
      const block_rv by = s.get_block(writer);
      if (s.get(by).block->writes[static_cast<std::size_t>(number)].buffer->scope != "local")
        s.set_scope(by, number, "local");
    }
  }

  /// The one block in the block of rows, where it has columns.
  static std::optional<std::string> nest_with_columns(schedule& s, const std::string& rows_name) {
    ir::stmt at = named_block(s, rows_name).block->body;
    while (const ir::loop_node* loop = ir::as_loop(at)) at = loop->body;
    const ir::block_realize_node* inner = ir::as_realize(at);
    if (!inner || !columns_of(s, inner->block->name)) return std::nullopt;
    return inner->block->name;
  }

  void bind_columns(schedule& s, const std::string& name, chooser& choices) const {
    const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
    const std::size_t at = *columns_of(s, name);
    std::vector<loop_rv> order{loops[at]};
    for (std::size_t l = 0; l < loops.size(); ++l)
      if (l != at) order.push_back(loops[l]);
    if (order.size() > 1 && at > 0) s.reorder(order);
    const factor beside = columns_beside(s, columns, s.get(loops[at]).extent, choices);
    const auto [outer, inner] = s.split(loops[at], {infer, beside});
    (void)outer;
    s.bind(inner, "threadIdx.x");
  }
};

/// Whether some block in the root scope walks rows whose lengths are data.
inline bool has_ragged_rows(const schedule& s) {
  return support::any(root_block_names(s),
                      [&](const std::string& name) { return is_ragged_reduction(s, name); });
}

/// The family of a program with such rows; blocks beside get their threads by rewrite_unbound_block.
inline std::vector<schedule> row_family(const schedule& s, const context& where) {
  const design_space space = each_block(bind_rows{}) >> on<"root">(module(fuse_launches{}));
  return space.grow(s, where);
}

}  // namespace tilewright::space::detail
