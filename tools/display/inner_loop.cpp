#include "inner_loop.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

namespace tool {
namespace {

/// A line of code: a label, or an instruction and what it works on.
struct line {
  std::string text, label, name, operands;
};

std::vector<line> instructions_of(std::string_view assembly) {
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
      l.operands = text.substr(rest);
    }
    out.push_back(std::move(l));
  }
  return out;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_packed(std::string_view name) {
  return !name.empty() && name[0] == 'v' &&
         (ends_with(name, "ps") || ends_with(name, "pd") || name.substr(0, 2) == "vp");
}

inner_loop counted(const std::vector<line>& all, std::size_t first, std::size_t last) {
  inner_loop out;
  for (std::size_t i = first; i <= last; ++i) {
    const line& l = all[i];
    out.text += l.text + "\n";
    if (l.name.empty()) continue;
    ++out.instructions;
    out.multiply_adds += l.name.compare(0, 3, "vfm") == 0 || l.name.compare(0, 4, "vfnm") == 0 ||
                         l.name.compare(0, 6, "vpdpbu") == 0;
    out.vector_instructions += is_packed(l.name);
    out.memory += l.name.compare(0, 3, "lea") != 0 && l.operands.find('(') != std::string::npos;
  }
  return out;
}

}  // namespace

inner_loop find_inner_loop(std::string_view assembly) {
  const std::vector<line> all = instructions_of(assembly);
  std::map<std::string, std::size_t> labels;
  std::vector<std::pair<std::size_t, std::size_t>> loops;  // first and last line
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].label.empty()) labels[all[i].label] = i;
    if (all[i].name.empty() || all[i].name[0] != 'j') continue;
    const auto target = labels.find(all[i].operands);
    if (target != labels.end()) loops.emplace_back(target->second, i);
  }
  inner_loop best;
  for (const auto& [first, last] : loops) {
    const bool innermost =
        std::none_of(loops.begin(), loops.end(), [&, f = first, l = last](const auto& o) {
          return o.first >= f && o.second <= l && o != std::pair(f, l);
        });
    if (!innermost) continue;
    inner_loop l = counted(all, first, last);
    const auto worth = [](const inner_loop& x) {
      return std::tuple(x.multiply_adds, x.vector_instructions, x.instructions);
    };
    if (worth(l) > worth(best)) best = std::move(l);
  }
  return best;
}

std::string inner_loop_text(const inner_loop& l) {
  if (l.instructions == 0) return "no loop: the code is straight\n";
  const auto share = [&](int n) {
    return std::to_string((100 * n + l.instructions / 2) / l.instructions);
  };
  return std::to_string(l.multiply_adds) + " of " + std::to_string(l.instructions) +
         " instructions are multiply-adds (" + share(l.multiply_adds) + " %), " +
         std::to_string(l.vector_instructions) + " work on packed numbers, " +
         std::to_string(l.memory) + " touch memory\n" + l.text;
}

}  // namespace tool
