// How a primitive refuses: a requirement, and a sentence given as its parts (support/refusal.hpp).
#pragma once

#include <initializer_list>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright::primitive {

using support::joined, support::phrase;

inline phrase quoted(const ir::block_node& b) { return phrase::named("block", b.name); }
inline phrase quoted(const ir::loop_node& l) { return phrase::named("loop", l.var->name); }
inline phrase quoted(const ir::buffer& b) { return phrase::named("buffer", b->name); }

/// A primitive's voice: `refuse(2, {quoted(block), " has ", n, " loops"})` throws.
class refusal {
 public:
  constexpr explicit refusal(std::string_view primitive) : primitive_(primitive) {}
  /// @throws schedule_error always
  [[noreturn]] void operator()(int requirement, std::initializer_list<phrase> phrases) const;
  [[noreturn]] void operator()(int requirement, phrase whole) const {
    (*this)(requirement, {whole});
  }

 private:
  std::string_view primitive_;
};

}  // namespace tilewright::primitive
