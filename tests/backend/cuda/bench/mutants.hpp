// Programs with one thing left out, which emulator or result should tell from the whole ones.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../cases.hpp"
#include "gpu/corpus.hpp"

namespace mutants {

using namespace tilewright;

/// A program with one thing left out.
struct mutant {
  std::string what;
  cases::cu::program p;
  // what a guard keeps from happening touches a thread's registers alone, or copies zeros for a round that is not there
  bool redundant = false;
};

/// What stands in the braces behind `at`.
inline std::string body_behind(const std::string& text, std::size_t at) {
  const std::size_t begin = text.find('{', at);
  std::size_t end = begin + 1;
  for (int depth = 1; depth > 0; ++end) depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
  return text.substr(begin, end - begin);
}

/// Whether the guard counts parts and keeps nothing but copies from being made that have zeros where there is nothing: for a
/// part behind the last one they fill memory that is free by then, and is read no more.
inline bool copies_zeros_only(const std::string& text, std::size_t at) {
  const std::string body = body_behind(text, at);
  return text.substr(at, text.find(')', at) - at).find("_part < ") != text.npos &&
         body.find("tw_copy_or_zero") != body.npos && body.find("tw_copy_async") == body.npos &&
         body.find("tw_store") == body.npos && body.find("tw_barrier") == body.npos;
}

/// Whether all that stands in the braces behind `at` stores to registers and reads none but these.
inline bool touches_registers_only(const std::string& text, std::size_t at) {
  const std::string body = body_behind(text, at);
  for (const char* declaration : {"TW_GLOBAL(", "TW_SHARED("})
    for (std::size_t d = text.find(declaration); d != text.npos;
         d = text.find(declaration, d + 1)) {
      const bool shared = declaration[3] == 'S';
      std::size_t first = text.find(shared ? ", " : ") ", d) + 2;
      const std::string name = text.substr(first, text.find_first_of(",)", first) - first);
      if (body.find(name + "[") != body.npos || body.find("(" + name + ",") != body.npos)
        return false;
    }
  return body.find("tw_barrier") == body.npos && body.find("tw_shuffle") == body.npos &&
         body.find("tw_copy_async") == body.npos;
}

/// One past the comma or parenthesis that ends the argument which begins at `at`.
inline std::size_t end_of_argument(const std::string& text, std::size_t at) {
  for (int depth = 0;; ++at) {
    if (depth == 0 && (text[at] == ',' || text[at] == ')')) return at + 1;
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
  }
}

/// One mutant for each barrier, for each condition of an if, for each group of copies in the background, for each
/// place in swizzled memory, whose row is forgotten, and two for each wait for copies or products: it is left out, or lets
/// one group more be on its way. Of products of warp groups one for each fence and each batch as well.
inline std::vector<mutant> all(const cases::cu::program& p) {
  std::vector<mutant> out;
  const auto add = [&](std::size_t at, std::size_t length, const std::string& instead) {
    mutant m{p.text.substr(at, length), p};
    m.redundant =
        m.what[0] == 'i' && (touches_registers_only(p.text, at) || copies_zeros_only(p.text, at));
    m.p.text.replace(at, length, instead);
    out.push_back(std::move(m));
  };
  const std::string barrier = "tw_barrier();", guard = "if (";
  for (std::size_t at = p.text.find(barrier); at != p.text.npos; at = p.text.find(barrier, at + 1))
    add(at, barrier.size(), "");
  for (std::size_t at = p.text.find(guard); at != p.text.npos; at = p.text.find(guard, at + 1))
    add(at, p.text.find(" {\n", at) - at, "if (true)");
  const std::string swizzle = "tw_bitwise_xor<int>(";
  for (std::size_t at = p.text.find(swizzle); at != p.text.npos;
       at = p.text.find(swizzle, at + 1)) {
    const std::size_t column = at + swizzle.size(), row = end_of_argument(p.text, column);
    add(at, end_of_argument(p.text, row) - at, "(" + p.text.substr(column, row - 1 - column) + ")");
  }
  for (const std::string said : {"tw_commit_copies();", "tw_commit_products();",
                                 "tw_fence_async();", "tw_fence_products();"})
    for (std::size_t at = p.text.find(said); at != p.text.npos; at = p.text.find(said, at + 1))
      add(at, said.size(), "");
  for (const std::string wait : {"tw_wait_copies<", "tw_wait_products<"})
    for (std::size_t at = p.text.find(wait); at != p.text.npos; at = p.text.find(wait, at + 1)) {
      const std::size_t number = at + wait.size(), end = p.text.find(';', at) + 1;
      add(at, end - at, "");
      add(at, end - at, wait + std::to_string(std::stoi(p.text.substr(number)) + 1) + ">();");
    }
  return out;
}

/// Why the emulator or the result tells a mutant; empty when nothing does.
inline std::string caught(const mutant& m, const gpu_corpus::entry& e,
                          const std::vector<harness::argument>& expected) {
  const cases::cu::emulator kernels(m.p);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    try {
      const std::vector<harness::argument> got = cases::emulated(kernels, e.written, seed);
      for (std::size_t i = 0; i < got.size(); ++i)
        if (harness::difference(got[i], expected[i]) > e.tolerance) return "wrong result";
    } catch (const error& found) {
      return found.what();
    }
  }
  return {};
}

}  // namespace mutants
