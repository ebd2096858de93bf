#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/impl/space/modules/nest.hpp>
#include <tilewright/space/access_pattern.hpp>
#include <tilewright/space/modules/split_k.hpp>
#include <tilewright/space/root_blocks.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

namespace tilewright::space {
namespace detail::splitting {

/// Of a block that adds up parts.
inline constexpr const char* key = "tilewright.sums_parts";

/// A product of constant extents.
struct product {
  std::size_t loop = 0;      // the longest of the reduction, among the loops of the block
  std::int64_t length = 0;   // its iterations
  std::int64_t others = 1;   // iterations of the rest of the reduction
  std::int64_t results = 1;  // elements
  std::int64_t step = 16;    // of the loop, of tensor cores, or of vectors of 16 bytes
};

inline std::optional<product> product_of(const schedule& s, const std::string& name) {
  if (!has_block(s, name) || !shares_operands(s, name)) return std::nullopt;
  product out;
  const ir::block_node& block = *named_block(s, name).block;
  for (const ir::buffer_region& r : block.reads)
    if (bytes(r.buffer->type) >= 4 && r.buffer != block.writes[0].buffer) out.step = 4;
  const std::vector<ir::iter_var>& iters = block.iters;
  std::int64_t terms = 1;
  for (std::size_t i = 0; i < iters.size(); ++i) {
    if (!ir::is_int(iters[i].dom.extent)) return std::nullopt;
    const std::int64_t extent = iters[i].dom.extent->integer;
    if (iters[i].kind == ir::iter_kind::spatial) {
      out.results *= extent;
      continue;
    }
    terms *= extent;
    if (extent <= out.length) continue;
    out.loop = i;
    out.length = extent;
  }
  out.others = terms / std::max<std::int64_t>(out.length, 1);
  return out;
}

/// What may be drawn: first the number that comes nearest to a block for each multiprocessor.
inline std::vector<std::int64_t> fitting_parts(const split_k& rule, const product& p,
                                               std::int64_t blocks, std::int64_t processors) {
  std::vector<std::int64_t> out;
  for (const std::int64_t n : rule.parts)
    if (p.length % (n * p.step) == 0 && p.length / n * p.others >= rule.least_part &&
        n * blocks <= 2 * processors)
      out.push_back(n);
  const auto unlike = [&](std::int64_t n) { return std::abs(n * blocks - processors); };
  const auto best = std::min_element(out.begin(), out.end(), [&](std::int64_t a, std::int64_t b) {
    return unlike(a) < unlike(b);
  });
  if (best != out.end()) std::rotate(out.begin(), best, best + 1);
  return out;
}

/// The block that alone reads the sums, element by element.
inline std::optional<std::string> epilogue_of(const schedule& s, const std::string& name) {
  const std::vector<std::string> readers = consumer_names(s, name);
  if (readers.size() != 1 || is_output(s, name)) return std::nullopt;
  const ir::block_node& reader = *named_block(s, readers[0]).block;
  const read_pattern reads = pattern_of_reads(reader);
  if (reader.init || !reads.injective || !reads.ordered) return std::nullopt;
  return readers[0];
}

/// A thread adds up whole vectors: its results are the lanes, inside of the loop over the parts.
inline void add_vectors(schedule& s, const std::string& name, std::size_t own) {
  const std::vector<nest_loop> nest = nest_of(s, name);
  const std::vector<loop_rv> loops = s.get_loops(s.get_block(name));
  std::vector<loop_rv> order, lanes;
  for (std::size_t i = own; i < nest.size(); ++i)
    (nest[i].kind == primitive::loop_iter_kind::reduce ? order : lanes).push_back(loops[i]);
  if (order.empty() || lanes.empty()) return;
  order.insert(order.end(), lanes.begin(), lanes.end());
  s.reorder(order);
  s.vectorize(lanes.back());
}

/// Where the sums cannot go to their epilogue, they get the threads, and it goes to them.
inline void follow_sums(schedule& s, const std::string& name, const std::string& epilogue,
                        bool local, const auto_bind& threads, const context& where,
                        chooser& choices) {
  threads(s, name, where, choices);
  const std::vector<nest_loop> nest = nest_of(s, name);
  for (std::size_t i = nest.size(); i-- > 0;)
    if (nest[i].bound_to("threadIdx")) {
      s.reverse_compute_at(s.get_block(epilogue), s.get_loops(s.get_block(name))[i], true);
      if (local) s.set_scope(s.get_block(name), 0, "local");
      return;
    }
}

/// Threads and vectors for so many sums: where whole blocks of vectors would not occupy the device, a thread
/// has one sum, and blocks are small.
inline auto_bind binding_of(auto_bind binding, const schedule& s, const std::string& name,
                            const context& where) {
  std::int64_t sums = 1;
  for (const ir::iter_var& iter : named_block(s, name).block->iters)
    if (iter.kind == ir::iter_kind::spatial && ir::is_int(iter.dom.extent))
      sums *= iter.dom.extent->integer;
  constexpr std::int64_t block = 256, vector = 4;
  const std::int64_t all = block * (where.gpu ? where.gpu->multiprocessors : 1);
  if (sums < vector * all) binding.vector_bytes = 0;
  std::vector<std::int64_t>& sizes = binding.thread_extents;
  const auto small = std::find(sizes.begin(), sizes.end(), 64);
  if (sums < all && small != sizes.end()) std::rotate(sizes.begin(), small, small + 1);
  return binding;
}

}  // namespace detail::splitting

TILEWRIGHT_INLINE void split_k::operator()(schedule& s, const std::string& name,
                                           const context& where, chooser& choices) const {
  namespace splitting = detail::splitting;
  const std::optional<splitting::product> p = splitting::product_of(s, name);
  if (!where.gpu || !p || p->length < least_length) return;
  const std::int64_t processors = where.gpu->multiprocessors,
                     blocks = (p->results + tile - 1) / tile;
  const std::vector<std::int64_t> numbers = splitting::fitting_parts(*this, *p, blocks, processors);
  if (2 * blocks > processors || numbers.empty()) return;
  const std::size_t in_parts = 4 * blocks <= processors ? 0 : 1;
  if (choices.pick(2) != in_parts) return;
  const block_rv block = s.get_block(name);
  const expr_rv count = choices.categorical(s, numbers, std::vector<double>(numbers.size(), 1.0));
  const auto [part, inside] = s.split(s.get_loops(block)[p->loop], {count, infer});
  const block_rv product = s.rfactor(part, 0);
  std::vector<loop_rv> order = s.get_loops(product);
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(p->loop);
  std::rotate(order.begin(), first, first + 1);
  s.reorder(order);
  s.annotate(block, splitting::key, 1);
}

TILEWRIGHT_INLINE void sum_parts::operator()(schedule& s, const std::string& name,
                                             const context& where, chooser& choices) const {
  namespace splitting = detail::splitting;
  if (!has_block(s, name)) return;
  const block_rv block = s.get_block(name);
  if (s.get(block).block->annotations.count(splitting::key) == 0) return;
  std::optional<std::string> epilogue = splitting::epilogue_of(s, name);
  const bool kept = epilogue.has_value();
  if (!kept && is_output(s, name)) {
    const block_rv copy = s.cache_write(block, 0, "local");
    epilogue = std::string(s.get(copy).block->name);
  }
  const auto_bind threads = splitting::binding_of(binding, s, name, where);
  const schedule unbound = s;
  threads(s, epilogue.value_or(name), where, choices);
  if (!epilogue) return;
  const std::vector<detail::nest_loop> nest = detail::nest_of(s, *epilogue);
  for (std::size_t i = nest.size(); i-- > 0;)
    if (nest[i].bound_to("threadIdx")) {
      const bool vectors = nest.back().node->loop == ir::loop_kind::vectorized;
      try {
        s.compute_at(block, s.get_loops(s.get_block(*epilogue))[i], true);
      } catch (const schedule_error&) {  // parts of padded products are stored behind guards
        s = unbound;
        return splitting::follow_sums(s, name, *epilogue, kept, threads, where, choices);
      }
      if (kept) s.set_scope(block, 0, "local");
      if (vectors) splitting::add_vectors(s, name, i + 1);
      return;
    }
}

}  // namespace tilewright::space
