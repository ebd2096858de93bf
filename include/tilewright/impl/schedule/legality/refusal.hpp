// How a primitive refuses: a requirement, and a sentence given as its parts.
//
// Sentences are joined in one place. A refusal stands in hundreds of places, and the compiler would
// write each `"block \"" + name + "\" ..."` out in full there.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <tilewright/config.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::primitive {

/// A part of a sentence: text, a number, or the name of something. Lives as long as what it is made of:
/// a full expression.
class phrase {
 public:
  phrase(const char* text) : text_(text) {}         // NOLINT: phrases are written where text is
  phrase(std::string_view text) : text_(text) {}    // NOLINT
  phrase(const std::string& text) : text_(text) {}  // NOLINT
  template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char>) phrase(T number)
      : number_(static_cast<std::int64_t>(number)), is_number_(true) {}  // NOLINT

  /// `kind "name"`
  static phrase named(const char* kind, const std::string& name) {
    phrase out(name);
    out.kind_ = kind;
    return out;
  }

  void append_to(std::string& out) const;

 private:
  std::string_view text_;
  const char* kind_ = nullptr;  // null: text as it stands
  std::int64_t number_ = 0;
  bool is_number_ = false;
};

inline phrase quoted(const ir::block_node& b) { return phrase::named("block", b.name); }
inline phrase quoted(const ir::loop_node& l) { return phrase::named("loop", l.var->name); }
inline phrase quoted(const ir::buffer& b) { return phrase::named("buffer", b->name); }

std::string joined(std::initializer_list<phrase> phrases);

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
