// How many operations the algorithms of a function take: what is expected of one, and what no call goes below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/ir/alternatives.hpp>
#include <tilewright/ir/extents.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/search/check/verify.hpp>
#include <tilewright/target/cpu.hpp>

namespace tilewright::search::detail {

/// Operations of an algorithm, and those that a core does while it moves what the last cache does not hold.
inline double expected_operations(const ir::function& f, const target::cpu& cpu) {
  constexpr double for_each_byte = 6;  // 250 GFLOP/s beside 44 GB/s of memory
  double out = operations_of(f);
  const auto add = [&](const ir::buffer& b) {
    const std::int64_t size = ir::bytes_of(b);
    if (size > cpu.l3_bytes) out += for_each_byte * static_cast<double>(size);
  };
  for (const ir::param& p : f.params)
    if (p.buffer) add(p.buffer);
  if (const ir::block& root = ir::root_block(f))
    for (const ir::buffer& b : root->alloc_buffers) add(b);
  return out;
}

/// Operations of the sums of an algorithm, whose blocks stand one behind the other.
inline double operations_of_sums(const ir::function& f) {
  const ir::block& root = ir::root_block(f);
  const ir::seq_node* seq = ir::as_seq(root->body);
  if (!seq) return operations_of(f);
  ir::block_node sums = *root;
  std::vector<ir::stmt> kept;
  for (const ir::stmt& s : seq->stmts)
    if (ir::any_stmt(s, [](const ir::stmt& x) {
          const ir::block_realize_node* r = ir::as_realize(x);
          return r && r->block->init;
        }))
      kept.push_back(s);
  sums.body = ir::make_seq(std::move(kept));
  ir::function out = f;
  out.body = ir::make_realize({}, ir::boolean(true), ir::make_block(std::move(sums)));
  return operations_of(out);
}

/// No call takes fewer, whichever algorithm of the function runs: of others than the first the sums alone count,
/// since what they transform is shared, or done once.
inline double least_operations(const ir::function& f) {
  const std::vector<ir::function> all = ir::alternatives(f);
  double out = operations_of(all.front());
  for (std::size_t k = 1; k < all.size(); ++k) out = std::min(out, operations_of_sums(all[k]));
  return out;
}

}  // namespace tilewright::search::detail
