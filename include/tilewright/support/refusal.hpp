// How the library refuses: a sentence given as its parts, behind a head that says who speaks.
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
#include <tilewright/support/error.hpp>

namespace tilewright::support {

/// A part of a sentence: text, a number, or the name of something. Lives as long as what it is made of:
/// a full expression.
class phrase {
 public:
  constexpr phrase(const char* text) : text_(text) {}  // NOLINT: phrases are written where text is
  constexpr phrase(std::string_view text) : text_(text) {}  // NOLINT
  phrase(const std::string& text) : text_(text) {}          // NOLINT
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

std::string joined(std::initializer_list<phrase> phrases);

/// A voice whose refusals are of one type: `refuse({"has ", n, " rows"})` throws it with the head before the sentence
/// and the tail behind; `refuse(2, ...)` says the requirement, too.
template <std::derived_from<error> Error>
class refusal {
 public:
  /// @param head, tail  texts that live as long as the voice
  constexpr explicit refusal(phrase head, phrase tail = "") : head_(head), tail_(tail) {}

  /// @throws Error always
  [[noreturn]] void operator()(std::initializer_list<phrase> phrases) const {
    throw Error(sentence(phrases));
  }
  [[noreturn]] void operator()(phrase whole) const { (*this)({whole}); }
  [[noreturn]] void operator()(int requirement, std::initializer_list<phrase> phrases) const {
    throw Error(sentence(phrases) + joined({" (requirement ", requirement, ")"}));
  }
  [[noreturn]] void operator()(int requirement, phrase whole) const {
    (*this)(requirement, {whole});
  }

 private:
  std::string sentence(std::initializer_list<phrase> phrases) const {
    return joined({head_, joined(phrases), tail_});
  }

  phrase head_, tail_;
};

}  // namespace tilewright::support
