#pragma once

#include <unordered_set>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/index_map.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/function_ref.hpp>

namespace tilewright::ir {
namespace detail::maps {

/// Offset from the cursor of the bracket that closes the one there.
inline std::size_t closing(const token_stream& in) {
  int depth = 0;
  for (std::size_t i = 0;; ++i) {
    const token& t = in.peek(i);
    if (t.kind == token_kind::end) in.fail("a closing bracket");
    if (t.kind != token_kind::symbol) continue;
    if (t.text == "(" || t.text == "[" || t.text == "{") ++depth;
    if (t.text == ")" || t.text == "]" || t.text == "}")
      if (--depth == 0) return i;
  }
}

/// `(a, b)`, `(a,)`, `()` as opposed to an expression in parentheses.
inline bool at_tuple(const token_stream& in) {
  if (!in.at("(")) return false;
  const std::size_t end = closing(in);
  int depth = 0;
  for (std::size_t i = 1; i < end; ++i) {
    const token& t = in.peek(i);
    if (t.kind != token_kind::symbol) continue;
    if (t.text == "(" || t.text == "[") ++depth;
    if (t.text == ")" || t.text == "]") --depth;
    if (t.text == "," && depth == 0) return true;
  }
  return end == 1;
}

class reader {
 public:
  reader(token_stream& in, const name_resolver& outer, bool ranges)
      : in_(in), outer_(outer), ranges_(ranges) {}

  index_map run() {
    if (in_.at("lambda")) return lambda();
    const token start = in_.expect_name("an index map");
    std::string_view last = start.text;
    while (in_.accept(".")) last = in_.expect_name("a name").text;
    if (last != "from_func" && last != "index_map") in_.fail(start, "an index map");
    in_.expect("(");
    index_map out = lambda();
    while (in_.accept(",") && !in_.at(")")) argument(out);
    in_.expect(")");
    return out;
  }

 private:
  void argument(index_map& out) {
    const token name = in_.expect_name("inverse_index_map");
    in_.expect("=");
    if (name.text == "inverse_index_map") {
      if (!in_.accept("None")) out.inverse = std::make_shared<const index_map>(lambda());
    } else if (name.text == "index_dtype") {
      in_.expect_string();
    } else if (name.text == "ndim") {
      in_.expect_integer();
    } else {
      in_.fail(name, "inverse_index_map, index_dtype or ndim");
    }
  }

  index_map lambda() {
    index_map out;
    in_.expect("lambda");
    while (!in_.at(":")) {
      const token name = in_.expect_name("the name of an index");
      for (const var& v : out.inputs)
        if (v->name == name.text) in_.fail(name, "a name that is not used yet");
      if (out.inputs.size() == limit) in_.fail(name, "at most 64 indices");
      out.inputs.push_back(make_var(std::string(name.text)));
      if (!in_.accept(",")) break;
    }
    in_.expect(":");
    if (in_.at("[") || at_tuple(in_)) {
      const std::string_view close = in_.next().text == "[" ? "]" : ")";
      while (!in_.at(close)) {
        result(out);
        if (!in_.accept(",")) break;
      }
      in_.expect(close);
    } else {
      result(out);
    }
    return out;
  }

  void result(index_map& out) {
    if (out.outputs.size() >= limit) in_.fail("at most 64 results");
    if (separator(out)) return;
    const bool pair = ranges_ && at_tuple(in_);
    if (pair) in_.expect("(");
    const token at = in_.peek();
    out.outputs.push_back(expression(out.inputs));
    if (!ranges_) return;
    if (!pair) {
      if (!is_integer(out.outputs.back().type())) in_.fail(at, "an integer");
      out.outputs.push_back(out.outputs.back() + 1);
      return;
    }
    in_.expect(",");
    out.outputs.push_back(expression(out.inputs));
    in_.expect(")");
  }

  bool separator(index_map& out) {
    std::size_t last = 0;
    while (in_.peek(last).kind == token_kind::name && in_.peek(last + 1).text == ".") last += 2;
    if (in_.peek(last).text != "AXIS_SEPARATOR") return false;
    for (std::size_t i = 0; i <= last; ++i) in_.next();
    out.separators.push_back(out.outputs.size());
    return true;
  }

  /// The names that occur up to the end of the expression, at most.
  std::vector<var> meanings(const std::vector<var>& inputs) const {
    std::vector<var> out = inputs;
    std::unordered_set<std::string_view> seen;
    for (const var& v : inputs) seen.insert(v->name);
    int depth = 0;
    for (std::size_t i = 0; outer_; ++i) {
      const token& t = in_.peek(i);
      if (t.kind == token_kind::end || t.kind == token_kind::newline) break;
      if (t.text == "(" || t.text == "[") ++depth;
      if ((t.text == ")" || t.text == "]") && depth-- == 0) break;
      if (t.text == "," && depth == 0) break;
      if (t.kind != token_kind::name || !seen.insert(t.text).second) continue;
      if (var v = outer_(t.text)) out.push_back(std::move(v));
    }
    return out;
  }

  expr expression(const std::vector<var>& inputs) { return parse_expr(in_, meanings(inputs)); }

  static constexpr std::size_t limit = 64;
  token_stream& in_;
  const name_resolver& outer_;
  bool ranges_;
};

inline std::string text_of(const index_map& map) {
  std::unordered_set<std::string> taken;
  for (const expr& e : map.outputs)
    for (const var& v : free_vars(e)) {
      const bool input = support::any(map.inputs, [&](const var& i) { return i.same(v); });
      if (!input) taken.insert(v->name);
    }
  var_map names;
  std::string out = "lambda ";
  for (const var& v : map.inputs) {
    std::string name = v->name;
    for (int n = 1; !taken.insert(name).second; ++n) {
      name = v->name;
      name += '_';
      name += std::to_string(n);
    }
    const var renamed = make_var(name, v.type());
    names.emplace(v, renamed);
    if (names.size() > 1) out += ", ";
    out += print(renamed);
  }
  out += ": (";
  for (const expr& e : map.outputs) {
    out += print(substitute(e, names));
    out += &e == &map.outputs.back() ? "," : ", ";
  }
  out += ')';
  return out;
}

}  // namespace detail::maps

TILEWRIGHT_INLINE index_map make_index_map(
    std::size_t rank, support::function_ref<std::vector<expr>(const std::vector<var>&)> results) {
  index_map out;
  for (std::size_t i = 0; i < rank; ++i) out.inputs.push_back(make_var("i" + std::to_string(i)));
  out.outputs = results(out.inputs);
  return out;
}

TILEWRIGHT_INLINE index_map make_index_map(std::string_view text) {
  token_stream in(text);
  index_map out = parse_index_map(in);
  in.accept(token_kind::newline);
  if (!in.at_end()) in.fail("the end of the index map");
  return out;
}

TILEWRIGHT_INLINE std::vector<expr> map_indices(const index_map& map,
                                                const std::vector<expr>& indices) {
  if (indices.size() != map.inputs.size())
    throw argument_error("index map: " + std::to_string(map.inputs.size()) +
                         " indices are needed, " + std::to_string(indices.size()) + " are given");
  var_map values;
  for (std::size_t i = 0; i < indices.size(); ++i) values.emplace(map.inputs[i], indices[i]);
  std::vector<expr> out;
  out.reserve(map.outputs.size());
  for (const expr& e : map.outputs) out.push_back(substitute(e, values));
  return out;
}

TILEWRIGHT_INLINE index_map with_index_type(const index_map& map, dtype type) {
  index_map out = map;
  std::vector<expr> inputs;
  for (var& v : out.inputs) {
    v = make_var(v->name, type);
    inputs.push_back(v);
  }
  out.outputs = map_indices(map, inputs);
  for (expr& e : out.outputs)
    if (is_int(e) && e.type() != dtype::boolean) e = integer(type, as_int(e));
  if (map.inverse)
    out.inverse = std::make_shared<const index_map>(with_index_type(*map.inverse, type));
  return out;
}

TILEWRIGHT_INLINE bool equal(const index_map& a, const index_map& b) {
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) return false;
  if (a.separators != b.separators || !a.inverse != !b.inverse) return false;
  const std::vector<expr> renamed =
      map_indices(b, std::vector<expr>(a.inputs.begin(), a.inputs.end()));
  for (std::size_t i = 0; i < renamed.size(); ++i)
    if (!equal(a.outputs[i], renamed[i])) return false;
  return !a.inverse || equal(*a.inverse, *b.inverse);
}

TILEWRIGHT_INLINE std::string print(const index_map& map) {
  const std::string forward = detail::maps::text_of(map);
  if (!map.inverse) return forward;
  std::string out = "tvm.tir.IndexMap.from_func(";
  out += forward;
  out += ", inverse_index_map=";
  out += detail::maps::text_of(*map.inverse);
  out += ')';
  return out;
}

TILEWRIGHT_INLINE index_map parse_index_map(token_stream& in, const name_resolver& outer,
                                            bool ranges) {
  return detail::maps::reader(in, outer, ranges).run();
}

}  // namespace tilewright::ir
