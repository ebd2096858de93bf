#pragma once

#include <tilewright/impl/ir/text/structure.hpp>
#include <tilewright/ir/key.hpp>

namespace tilewright::ir {
namespace detail {

template <bool Names>
struct key_sink {
  static constexpr bool block_names = Names;
  static constexpr bool free_by_identity = false;
  support::hasher hash;
  void word(std::uint64_t w) { hash.add(w); }
  void text(std::string_view t) { hash.add(t); }
};

/// `version`: to be raised when the structure of the sequence changes.
template <bool Names>
support::hash128 structure_key(const function& f, const char* version) {
  key_sink<Names> sink;
  sink.text(version);
  structure_writer<key_sink<Names>>(sink).write(f);
  return sink.hash.finish();
}

}  // namespace detail

TILEWRIGHT_INLINE support::hash128 workload_key(const function& f) {
  return detail::structure_key<false>(f, "tilewright workload 2");
}

TILEWRIGHT_INLINE support::hash128 named_workload_key(const function& f) {
  return detail::structure_key<true>(f, "tilewright workload 1");
}

TILEWRIGHT_INLINE bool has_workload_key(const function& f, std::string_view hex) {
  return workload_key(f).hex() == hex || named_workload_key(f).hex() == hex;
}

}  // namespace tilewright::ir
