#pragma once

#include <tilewright/arith/linear.hpp>
#include <tilewright/ir/loop_notes.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/pass/vector/split_vectors.hpp>
#include <tilewright/pass/vector/streams.hpp>

namespace tilewright::pass {
namespace detail::streams {

inline std::int64_t number(const ir::loop_node& loop, const char* key) {
  const auto note = loop.annotations.find(key);
  const auto* value =
      note == loop.annotations.end() ? nullptr : std::get_if<std::int64_t>(&note->second.value);
  return value ? *value : 0;
}

/// Whether the store moves by one element of the buffer from iteration to iteration.
inline bool goes_on(const ir::store_node& store, const ir::var& v) {
  if (store.indices.empty()) return false;
  const std::vector<ir::expr>& strides = store.buffer->strides;
  if (!strides.empty() && !ir::is_int(strides.back(), 1)) return false;
  for (std::size_t d = 0; d + 1 < store.indices.size(); ++d)
    if (ir::uses_var(store.indices[d], v)) return false;
  const arith::linear index = arith::to_linear(store.indices.back());
  for (const auto& [term, factor] : index.terms)
    if (!term.same(v) && ir::uses_var(term, v)) return false;
  return index.coefficient(v) == 1;
}

}  // namespace detail::streams

TILEWRIGHT_INLINE stream stream_of(const ir::loop_node& loop, const target::cpu& target) {
  namespace parts = detail::streams;
  stream out;
  out.nontemporal = parts::number(loop, ir::stream_note) == 1;
  out.ahead = parts::number(loop, ir::stream_ahead_note);
  if (!out.nontemporal && out.ahead <= 0) return {};
  if (loop.loop != ir::loop_kind::vectorized || !ir::is_int(loop.min) || !ir::is_int(loop.extent))
    return {};
  const ir::store_node* store = ir::as_store(loop.body);
  if (!store || !parts::goes_on(*store, loop.var)) return {};
  constexpr std::int64_t least_vectors = 8;
  const std::int64_t lanes = lanes_of(loop.body, target),
                     width = lanes * bytes(store->buffer->type);
  if (width < 16 || width > 64 || ir::as_int(loop.extent) < least_vectors * lanes) return {};
  out.lanes = lanes;
  return out;
}

}  // namespace tilewright::pass
