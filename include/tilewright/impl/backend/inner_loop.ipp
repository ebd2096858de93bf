#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tilewright/backend/inner_loop.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::backend {
namespace detail::assembly {

/// A line of code: a label, or an instruction and what it works on.
struct line {
  std::string text, label, name;
  std::vector<std::string> operands;  // the one that is written last
};

/// "8(%rax,%rcx), %zmm1" in parts; commas in parentheses and braces separate nothing.
inline std::vector<std::string> operands_of(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  std::string one;
  for (const char c : text) {
    depth += (c == '(' || c == '{') - (c == ')' || c == '}');
    if (c == ',' && depth == 0) {
      out.push_back(std::move(one));
      one.clear();
    } else if (c != ' ' && c != '\t') {
      one += c;
    }
  }
  if (!one.empty()) out.push_back(std::move(one));
  return out;
}

inline std::vector<line> lines_of(std::string_view assembly) {
  std::vector<line> out;
  for (std::size_t at = 0; at < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', at), assembly.size());
    std::string_view text = assembly.substr(at, end - at);
    at = end + 1;
    text = text.substr(0, text.find('#'));
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    if (text.empty()) continue;
    line l;
    l.text = text;
    if (text.front() != '\t' && text.front() != ' ' && text.back() == ':') {
      l.label = text.substr(0, text.size() - 1);
    } else {
      const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
      if (first == text.size() || text[first] == '.') continue;  // a directive
      const std::size_t space = std::min(text.find_first_of(" \t", first), text.size());
      l.name = text.substr(first, space - first);
      const std::size_t rest = std::min(text.find_first_not_of(" \t", space), text.size());
      l.operands = operands_of(text.substr(rest));
    }
    out.push_back(std::move(l));
  }
  return out;
}

inline bool is_floating(std::string_view name) {
  return name.starts_with("v") && (name.ends_with("ps") || name.ends_with("pd") ||
                                   name.ends_with("ss") || name.ends_with("sd"));
}

inline bool is_packed(std::string_view name) {
  return name.starts_with("v") &&
         (name.ends_with("ps") || name.ends_with("pd") || name.starts_with("vp"));
}

inline bool is_dot_product(std::string_view name) {
  return name.starts_with("vpdpbu") || name.starts_with("vdpbf16");
}

inline bool is_multiply_add(std::string_view name) {
  return name.starts_with("vfm") || name.starts_with("vfnm") || is_dot_product(name);
}

inline bool is_addition(std::string_view name) {
  return is_floating(name) && (name.starts_with("vadd") || name.starts_with("vsub"));
}

/// "zmm3" of "%zmm3 {%k1}"; empty where the operand is no vector register.
inline std::string vector_register(const std::string& operand) {
  if (operand.size() < 5 || operand[0] != '%' || operand.compare(2, 2, "mm") != 0) return {};
  return operand.substr(1, operand.find('{') - 1);
}

/// The number of a register, whatever its width.
inline std::string number_of(const std::string& name) { return name.substr(1); }

inline bool is_in_memory(const std::string& operand) {
  return operand.find('(') != std::string::npos;
}

/// Arithmetic operations of one instruction.
inline double operations_of(const line& l) {
  const bool product = is_multiply_add(l.name);
  const bool floating =
      is_floating(l.name) &&
      support::any(std::vector<std::string_view>{"vadd", "vsub", "vmul", "vdiv", "vmax", "vmin"},
                   [&](std::string_view head) { return l.name.compare(0, 4, head) == 0; });
  if ((!product && !floating) || l.operands.empty()) return 0;
  const std::string to = vector_register(l.operands.back());
  const double bits = to.starts_with('z') ? 512 : to.starts_with('y') ? 256 : 128;
  if (l.name.starts_with("vpdpbu")) return bits / 32 * 8;
  if (l.name.starts_with("vdpbf16")) return bits / 32 * 4;
  const bool scalar = l.name.ends_with("ss") || l.name.ends_with("sd");
  const double lanes = scalar ? 1 : bits / (l.name.ends_with("pd") ? 64 : 32);
  return product ? 2 * lanes : lanes;
}

/// What is done to a register in one iteration.
struct register_use {
  int multiply_adds = 0, additions = 0;
  bool carried = true;  // nothing but sums is written to it
};

/// Whether the instruction adds to what its last operand holds.
inline bool accumulates(const line& l, const std::string& to) {
  if (is_dot_product(l.name)) return true;
  if (is_multiply_add(l.name)) return l.name.find("231") != std::string::npos;
  if (!is_addition(l.name)) return false;
  for (std::size_t i = 0; i + 1 < l.operands.size(); ++i)
    if (vector_register(l.operands[i]) == to) return true;
  return false;
}

inline void count_chains(const std::vector<line>& all, std::size_t first, std::size_t last,
                         inner_loop& out) {
  std::map<std::string, register_use> uses;
  for (std::size_t i = first; i <= last; ++i) {
    const line& l = all[i];
    if (l.operands.empty() || l.name.starts_with("vucom")) continue;  // compares its last operand
    const std::string to = vector_register(l.operands.back());
    if (to.empty()) continue;
    register_use& use = uses[number_of(to)];
    if (!accumulates(l, to))
      use.carried = false;
    else
      ++(is_multiply_add(l.name) ? use.multiply_adds : use.additions);
  }
  for (const auto& [name, use] : uses) {
    if (!use.carried) continue;
    ++out.accumulators;
    out.chained_multiply_adds = std::max(out.chained_multiply_adds, use.multiply_adds);
    out.chained_additions = std::max(out.chained_additions, use.additions);
  }
}

inline inner_loop counted(const std::vector<line>& all, std::size_t first, std::size_t last) {
  inner_loop out;
  for (std::size_t i = first; i <= last; ++i) {
    const line& l = all[i];
    out.text += l.text + "\n";
    if (l.name.empty()) continue;
    ++out.instructions;
    out.multiply_adds += is_multiply_add(l.name);
    out.vector_instructions += is_packed(l.name);
    out.operations += operations_of(l);
    if (l.name.starts_with("lea") || support::none(l.operands, is_in_memory)) continue;
    ++out.memory;
    out.vector_loads += !vector_register(l.operands.back()).empty();
  }
  count_chains(all, first, last, out);
  return out;
}

}  // namespace detail::assembly

TILEWRIGHT_INLINE inner_loop find_inner_loop(std::string_view assembly) {
  namespace parts = detail::assembly;
  const std::vector<parts::line> all = parts::lines_of(assembly);
  std::map<std::string, std::size_t> labels;
  std::vector<std::pair<std::size_t, std::size_t>> loops;  // first and last line
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].label.empty()) labels[all[i].label] = i;
    if (!all[i].name.starts_with("j") || all[i].operands.empty()) continue;
    const auto target = labels.find(all[i].operands[0]);
    if (target != labels.end()) loops.emplace_back(target->second, i);
  }
  inner_loop best;
  for (const auto& [first, last] : loops) {
    const bool innermost = support::none(loops, [&, f = first, l = last](const auto& o) {
      return o.first >= f && o.second <= l && o != std::pair(f, l);
    });
    if (!innermost) continue;
    inner_loop l = parts::counted(all, first, last);
    const auto worth = [](const inner_loop& x) {
      return std::tuple(x.multiply_adds, x.vector_instructions, x.instructions);
    };
    if (worth(l) > worth(best)) best = std::move(l);
  }
  return best;
}

TILEWRIGHT_INLINE std::string inner_loop_text(const inner_loop& l) {
  if (l.instructions == 0) return "no loop: the code is straight\n";
  const auto share = [&](int n) {
    return std::to_string((100 * n + l.instructions / 2) / l.instructions);
  };
  return std::to_string(l.multiply_adds) + " of " + std::to_string(l.instructions) +
         " instructions are multiply-adds (" + share(l.multiply_adds) + " %), " +
         std::to_string(l.vector_instructions) + " work on packed numbers, " +
         std::to_string(l.memory) + " touch memory, " + std::to_string(l.accumulators) +
         (l.accumulators == 1 ? " accumulator\n" : " accumulators\n") + l.text;
}

}  // namespace tilewright::backend
