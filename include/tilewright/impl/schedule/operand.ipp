#pragma once

#include <limits>

#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/operand.hpp>

namespace tilewright {

TILEWRIGHT_INLINE map_argument::map_argument(
    std::string_view text, std::initializer_list<std::pair<std::string_view, expr_rv>> values) {
  ir::token_stream in(text);
  map = ir::parse_index_map(in, [&](std::string_view name) {
    for (const auto& [known, rv] : values) {
      if (known != name) continue;
      for (const auto& [v, number] : variables)
        if (v->name == name) return v;
      variables.emplace_back(ir::make_var(std::string(name)), rv);
      return variables.back().first;
    }
    return ir::var();
  });
  in.accept(ir::token_kind::newline);
  if (!in.at_end()) in.fail("the end of the index map");
}

TILEWRIGHT_INLINE bool operator==(const map_argument& a, const map_argument& b) {
  ir::var_map same;
  for (const auto& [v, number] : b.variables)
    for (const auto& [u, other] : a.variables)
      if (number == other) same.emplace(v, u);
  const auto renamed = [&](ir::index_map m) {
    for (ir::expr& e : m.outputs) e = ir::substitute(e, same);
    return m;
  };
  ir::index_map other = renamed(b.map);
  if (other.inverse) other.inverse = std::make_shared<const ir::index_map>(renamed(*other.inverse));
  return ir::equal(a.map, other);
}

TILEWRIGHT_INLINE ir::index_map bound(const map_argument& m,
                                      const std::vector<std::int64_t>& values) {
  if (m.variables.empty()) return m.map;
  ir::var_map replace;
  for (std::size_t k = 0; k < values.size(); ++k) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const bool narrow = values[k] <= most && values[k] >= -most;
    replace.emplace(m.variables[k].first, ir::integer(narrow ? dtype::i32 : dtype::i64, values[k]));
  }
  const auto fill = [&](ir::index_map map) {
    for (ir::expr& e : map.outputs) e = ir::substitute(e, replace);
    return map;
  };
  ir::index_map out = fill(m.map);
  if (out.inverse) out.inverse = std::make_shared<const ir::index_map>(fill(*out.inverse));
  return out;
}

}  // namespace tilewright
