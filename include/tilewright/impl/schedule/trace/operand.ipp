#pragma once

#include <limits>

#include <tilewright/impl/schedule/trace/map_scalars.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/schedule/operand.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright {
namespace detail::operands {

/// Variables that neither map binds are names of a function's scalars: the same name is the same.
inline void match_scalars(const ir::index_map& a, const ir::index_map& b, ir::var_map& same) {
  const auto scalars = [](const ir::index_map& m) {
    std::vector<ir::var> out;
    for (const ir::expr& e : m.outputs)
      for (const ir::var& v : ir::free_vars(e))
        if (support::none(m.inputs, [&](const ir::var& i) { return i.same(v); })) out.push_back(v);
    return out;
  };
  const std::vector<ir::var> of_a = scalars(a);
  for (const ir::var& v : scalars(b))
    for (const ir::var& u : of_a)
      if (u->name == v->name) same.emplace(v, u);
}

}  // namespace detail::operands

TILEWRIGHT_INLINE map_argument::map_argument(
    std::string_view text, std::initializer_list<std::pair<std::string_view, expr_rv>> values) {
  ir::token_stream in(text);
  std::map<std::string, ir::var, std::less<>> scalars;
  map = ir::parse_index_map(in, [&](std::string_view name) {
    for (const auto& [known, rv] : values) {
      if (known != name) continue;
      for (const auto& [v, number] : variables)
        if (v->name == name) return v;
      variables.emplace_back(ir::make_var(std::string(name)), rv);
      return variables.back().first;
    }
    return detail::operands::scalar(name, scalars);
  });
  in.accept(ir::token_kind::newline);
  if (!in.at_end()) in.fail("the end of the index map");
}

TILEWRIGHT_INLINE bool operator==(const map_argument& a, const map_argument& b) {
  ir::var_map same;
  for (const auto& [v, number] : b.variables)
    for (const auto& [u, other] : a.variables)
      if (number == other) same.emplace(v, u);
  detail::operands::match_scalars(a.map, b.map, same);
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
