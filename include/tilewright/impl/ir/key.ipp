#pragma once

#include <tilewright/impl/ir/text/structure.hpp>
#include <tilewright/ir/key.hpp>

namespace tilewright::ir {
namespace detail {

struct key_sink {
  static constexpr bool block_names = true;
  static constexpr bool free_by_identity = false;
  support::hasher hash;
  void word(std::uint64_t w) { hash.add(w); }
  void text(std::string_view t) { hash.add(t); }
};

}  // namespace detail

TILEWRIGHT_INLINE support::hash128 workload_key(const function& f) {
  detail::key_sink sink;
  sink.text("tilewright workload 1");  // raise when the structure of the sequence changes
  detail::structure_writer<detail::key_sink>(sink).write(f);
  return sink.hash.finish();
}

}  // namespace tilewright::ir
