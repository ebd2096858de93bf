// T.comm_reducer(lambda x, y: x + y, [T.float32(0)]): how it is read and printed.
//
// The parameters are numbered, not named, so that two reducers are equal when they compute the
// same; they are printed as x0, x1, ... and y0, y1, ...
#pragma once

#include <algorithm>

#include <tilewright/impl/ir/text/opaque.hpp>
#include <tilewright/impl/ir/text/parser.hpp>
#include <tilewright/impl/ir/text/printer.hpp>
#include <tilewright/ir/comm_reducer.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::ir::detail {

/// The result of a reducer of `half` values: made from its parameters and literals.
TILEWRIGHT_INLINE bool uses_parameters_alone(const expr& e, std::size_t half) {
  if (e->op == op::call && e->name == reducer_parameter)
    return e->args.size() == 1 && is_int(e->args[0]) && e->args[0]->integer >= 0 &&
           e->args[0]->integer < static_cast<std::int64_t>(2 * half);
  if (e->op == op::var || e->op == op::load || e->op == op::let || e->op == op::data ||
      (e->op == op::call && e->name == reducer_call))
    return false;
  return support::all(e->args, [&](const expr& arg) { return uses_parameters_alone(arg, half); });
}

/// The identities come last but give the parameters their types.
TILEWRIGHT_INLINE operand parser::reducer(const token& name) {
  in_.expect("(");
  in_.expect("lambda");
  std::vector<token> names;
  do {
    names.push_back(in_.expect_name("a parameter of the reducer"));
  } while (in_.accept(","));
  in_.expect(":");
  const std::size_t body_at = in_.mark();
  skip_argument("',' and the identities of the reducer");
  const token list = in_.peek();
  const operand given = any();
  in_.accept(",");
  in_.expect(")");
  const std::size_t end = in_.mark();
  std::vector<expr> identities;
  for (const operand& o : given.items) identities.push_back(argument(o));
  if (!given.tuple || identities.empty() || names.size() != 2 * identities.size())
    in_.fail(list, "a list with one identity for every two parameters");
  const std::size_t scope = scope_.size();
  reducer_parameters(names, identities);
  in_.rewind(body_at);
  const operand body = any();
  in_.rewind(end);
  leave_scope(scope);
  const std::vector<operand> results = body.tuple ? body.items : std::vector<operand>{body};
  if (results.size() != identities.size())
    in_.fail(name, "a reducer with as many results as identities");
  std::vector<expr> parts;
  int depth = 1;
  for (std::size_t i = 0; i < results.size(); ++i) {
    parts.push_back(converted(name, results[i], identities[i].type()));
    if (!uses_parameters_alone(parts.back(), identities.size()))
      in_.fail(name, "a reducer of its parameters and literals alone");
    depth = std::max(depth, results[i].depth);
  }
  parts.insert(parts.end(), identities.begin(), identities.end());
  return deeper(name, call(dtype::handle, std::string(reducer_call), std::move(parts)), depth);
}

TILEWRIGHT_INLINE void parser::reducer_parameters(const std::vector<token>& names,
                                                  const std::vector<expr>& identities) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    const dtype type = identities[k % identities.size()].type();
    const expr number = integer(dtype::i32, static_cast<std::int64_t>(k));
    define_constant(names[k], {call(type, std::string(reducer_parameter), {number})});
  }
}

/// Whether the call is one that `parser::reducer` makes.
TILEWRIGHT_INLINE bool is_reducer(const expr& e) {
  const std::size_t half = e->args.size() / 2;
  if (e->name != reducer_call || half == 0 || e->args.size() != 2 * half) return false;
  for (std::size_t i = 0; i < half; ++i)
    if (e->args[i].type() != e->args[half + i].type() || !uses_parameters_alone(e->args[i], half))
      return false;
  return true;
}

TILEWRIGHT_INLINE void printer::reducer(const expr& e) {
  const std::size_t half = e->args.size() / 2;
  const std::vector<expr> results(e->args.begin(), e->args.begin() + static_cast<long>(half));
  const std::vector<expr> identities(e->args.begin() + static_cast<long>(half), e->args.end());
  out_ += "T.comm_reducer(lambda ";
  for (std::size_t k = 0; k < 2 * half; ++k) {
    if (k) out_ += ", ";
    out_ += (k < half ? "x" : "y") + std::to_string(k % half);
  }
  out_ += half > 1 ? ": (" : ": ";
  const std::size_t outer = std::exchange(reducer_half_, half);
  write_list(results);
  reducer_half_ = outer;
  out_ += half > 1 ? "), [" : ", [";
  write_list(identities);
  out_ += "])";
}

TILEWRIGHT_INLINE void printer::reducer_name(const expr& e) {
  const auto k = static_cast<std::size_t>(e->args[0]->integer);
  out_ += (k < reducer_half_ ? "x" : "y") + std::to_string(k % reducer_half_);
}

}  // namespace tilewright::ir::detail

namespace tilewright::ir {

TILEWRIGHT_INLINE std::vector<expr> comm_reducer::combined(const std::vector<expr>& left,
                                                           const std::vector<expr>& right) const {
  std::vector<expr> out;
  for (const expr& e : result)
    out.push_back(rewrite(e, [&](const expr& x) {
      if (x->op != op::call || x->name != detail::reducer_parameter) return x;
      const auto k = static_cast<std::size_t>(x->args[0]->integer);
      return k < left.size() ? left[k] : right[k - left.size()];
    }));
  return out;
}

TILEWRIGHT_INLINE expr reducer_operand(dtype type, std::size_t position) {
  return call(type, std::string(detail::reducer_parameter),
              {integer(dtype::i32, static_cast<std::int64_t>(position))});
}

TILEWRIGHT_INLINE std::string print(const comm_reducer& r) {
  std::vector<expr> parts = r.result;
  parts.insert(parts.end(), r.identity.begin(), r.identity.end());
  const expr whole = call(dtype::handle, std::string(detail::reducer_call), std::move(parts));
  return detail::is_reducer(whole) ? print(whole) : std::string();
}

TILEWRIGHT_INLINE std::optional<comm_reducer> parse_reducer(std::string_view text) try {
  token_stream in(text);
  const expr whole = parse_expr(in, {});
  in.accept(token_kind::newline);
  if (!in.at_end() || whole->op != op::call || !detail::is_reducer(whole)) return std::nullopt;
  const auto half = whole->args.begin() + static_cast<std::ptrdiff_t>(whole->args.size() / 2);
  return comm_reducer{{half, whole->args.end()}, {whole->args.begin(), half}};
} catch (const argument_error&) {
  return std::nullopt;
}

}  // namespace tilewright::ir
