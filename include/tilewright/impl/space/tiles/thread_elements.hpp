// Elements of sparse rows on the threads of a GPU, whatever rows they are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/impl/space/tiles/thread_rows.hpp>
#include <tilewright/ir/analysis/atomic_update.hpp>
#include <tilewright/ir/sparse.hpp>
#include <tilewright/ir/term_order.hpp>
#include <tilewright/sparse/iterations.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::space::detail {

/// Binds sums that memory adds up: elements or rows to blocks and to threads along y, columns to threads along x.
/// ```
/// for e in range(nnz), j: C[row[e], j]    ->    for e_0 (blockIdx.x), e_1 (threadIdx.y), j_0, j_1 (threadIdx.x), e_2: C[row[e], j]
/// ```
/// A thread walks elements side by side, most of which are in one row, and adds once for each row. Without columns,
/// threads side by side have elements side by side. The numbers are drawn.
struct bind_additions {
  std::vector<std::int64_t> columns{32, 64, 128, 16, 8};  // threads along x
  std::vector<std::int64_t> beside{4, 8, 2, 1, 16};       // threads along y
  std::vector<std::int64_t> alone{128, 64, 256, 32};      // threads where there are no columns
  std::vector<std::int64_t> run{16, 8, 32, 64, 4};        // elements that a thread walks

  void operator()(schedule& s, const std::string& name, const context& /*where*/,
                  chooser& choices) const {
    if (!support::contains(root_block_names(s), name) ||
        !ir::adds_atomically(*named_block(s, name).block))
      return;
    std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
    if (loops.empty()) return;
    const std::optional<std::size_t> at = columns_of(s, name);
    const bool wide = at && *at > 0;
    const bool elements = sums(s, name);
    const factor threads = one_of(s, wide ? beside : alone, choices);
    std::vector<loop_rv> parts;
    const auto keep = [&](const auto& made) { parts.assign(made.begin(), made.end()); };
    if (!elements)
      keep(s.split(loops[0], {infer, threads}));
    else if (wide)
      keep(s.split(loops[0], {infer, threads, one_of(s, run, choices)}));
    else
      keep(s.split(loops[0], {infer, one_of(s, run, choices), threads}));
    const loop_rv inside = wide ? parts[1] : parts.back();
    std::vector<loop_rv> order{parts[0], inside};
    if (wide) {
      const factor width = columns_beside(s, columns, s.get(loops[*at]).extent, choices);
      const auto [outer, inner] = s.split(loops[*at], {infer, width});
      order.push_back(outer);
      order.push_back(inner);
      s.bind(inner, "threadIdx.x");
    }
    if (elements) order.push_back(wide ? parts[2] : parts[1]);
    for (std::size_t l = 1; l < loops.size(); ++l)
      if (!wide || l != *at) order.push_back(loops[l]);
    s.reorder(order);
    s.bind(parts[0], "blockIdx.x");
    s.bind(inside, wide ? "threadIdx.y" : "threadIdx.x");
  }

 private:
  static factor one_of(schedule& s, const std::vector<std::int64_t>& sizes, chooser& choices) {
    return choices.categorical(s, sizes, std::vector<double>(sizes.size(), 1.0));
  }

  /// Whether the outermost loop is part of the sum, as one over all elements is.
  static bool sums(const schedule& s, const std::string& name) {
    const ir::block_realize_node& realize = named_block(s, name);
    for (std::size_t k = 0; k < realize.block->iters.size(); ++k)
      if (realize.block->iters[k].kind == ir::iter_kind::reduce)
        if (const std::optional<std::size_t> loop = loop_driving(s, realize, k); loop == 0)
          return true;
    return false;
  }
};

/// Sums along sparse rows whose results memory adds up, initialized by nests of their own: one loop over the elements of
/// each that has rows of variable length, rows of the others. Parts of a matrix do not wait for each other then. Nothing
/// where there is neither such a loop nor a second part, or a primitive refuses.
inline std::optional<schedule> with_additions(schedule s) {
  if (ir::keeps_term_order(s.function()) || s.function().attrs.count(ir::iterations_attribute) == 0)
    return std::nullopt;
  const std::optional<ir::sparse_function> program = sparse::iterations_of(s.function());
  if (!program) return std::nullopt;
  const std::vector<std::string> fused = sparse::sums_of_elements(*program);
  std::vector<std::string> names;
  try {
    for (const auto& part : program->body) {
      const auto* it = std::get_if<ir::sparse_iteration>(&part);
      if (!it) continue;
      names.push_back(it->name);
      if (support::contains(fused, it->name)) {
        s.annotate(s.get_block(it->name), ir::searched_rows_annotation, 1);
        s.sparse_fuse(s.get_block(it->name), {0, 1});
      } else if (it->init) {
        s.sparse_decompose(s.get_block(it->name));
      }
    }
    if (fused.empty() && names.size() < 2) return std::nullopt;
    for (const std::string& name : names) s.add_atomically(s.get_block(name));
  } catch (const schedule_error&) {
    return std::nullopt;
  }
  return s;
}

/// The family of programs with such sums; rows that stay get threads as in row_family.
inline std::vector<schedule> addition_family(const schedule& s, const context& where) {
  const std::optional<schedule> adds = with_additions(s);
  if (!adds) return {};
  const design_space space = each_block(bind_additions{}) >> each_block(bind_rows{}) >>
                             on<"root">(module(fuse_launches{}));
  return space.grow(*adds, where);
}

}  // namespace tilewright::space::detail
