// What mutators share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <tilewright/schedule/schedule.hpp>
#include <tilewright/schedule/trace.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/random.hpp>

namespace tilewright::search::detail {

inline bool is_kind(const trace::step& s, std::string_view name) {
  return s.what->kind->name == name;
}

/// A schedule of `f` on which `t` ran up to and with instruction `i`, so that the last step of its
/// trace is that one; nothing when a primitive refuses.
inline std::optional<schedule> replayed_through(const trace& t, std::size_t i,
                                                const ir::function& f) {
  trace first;
  for (std::size_t k = 0; k <= i; ++k) first.append(t[k].what, t[k].choice);
  try {
    schedule out(f);
    first.apply_to(out);
    return out;
  } catch (const internal_error&) {
    throw;
  } catch (const error&) {
    return std::nullopt;
  }
}

/// True when instruction `i` uses the output of instruction `from`.
inline bool feeds(const trace& t, std::size_t from, std::size_t i) {
  std::vector<rv> used;
  for (const argument& a : t[i].what->args) collect_rvs(a, used);
  for (const rv& u : used)
    for (const rv& o : t[from].what->outputs)
      if (u == o) return true;
  return false;
}

/// True when the categorical `from` is the value of an annotation about unrolling.
inline bool feeds_unroll(const trace& t, std::size_t from) {
  for (std::size_t i = from + 1; i < t.size(); ++i) {
    if (!is_kind(t[i], "annotate") || !feeds(t, from, i)) continue;
    for (const argument& a : t[i].what->args)
      if (const auto* key = std::get_if<std::string>(&a); key && key->find("unroll") != key->npos)
        return true;
  }
  return false;
}

/// True when the categorical `from` sizes a loop that is bound to threadIdx.x.
inline bool feeds_threads(const trace& t, std::size_t from) {
  for (std::size_t i = from + 1; i < t.size(); ++i) {
    if (!is_kind(t[i], "split") || !feeds(t, from, i)) continue;
    for (std::size_t j = i + 1; j < t.size(); ++j) {
      if (!is_kind(t[j], "bind") || !feeds(t, i, j)) continue;
      for (const argument& a : t[j].what->args)
        if (const auto* tag = std::get_if<std::string>(&a); tag && *tag == "threadIdx.x")
          return true;
    }
  }
  return false;
}

/// Weights of a sample_categorical, all 1 where they are missing.
inline std::vector<double> weights_of(const instruction& what) {
  if (const auto* w = std::get_if<std::vector<double>>(&what.args[1]); w && !w->empty()) return *w;
  const auto* c = std::get_if<std::vector<std::int64_t>>(&what.args[0]);
  return std::vector<double>(c ? c->size() : 0, 1.0);
}

/// One of the categoricals for which `wanted` holds gets another value.
template <class Wanted>
std::optional<trace> redraw(const trace& t, support::random& random, Wanted wanted) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (is_kind(t[i], "sample_categorical") && !t[i].choice.empty() &&
        weights_of(*t[i].what).size() > 1 && !t.is_fixed(i) && wanted(i))
      at.push_back(i);
  if (at.empty()) return std::nullopt;
  const std::size_t i = at[random.below(at.size())];
  std::vector<double> weights = weights_of(*t[i].what);
  const auto now = static_cast<std::size_t>(t[i].choice[0]);
  if (now < weights.size()) weights[now] = 0;
  double total = 0;
  for (const double w : weights) total += w;
  if (!(total > 0)) return std::nullopt;
  double ticket = random.unit() * total;
  std::size_t chosen = now == 0 ? 1 : 0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] <= 0) continue;
    chosen = k;
    if (ticket < weights[k]) break;
    ticket -= weights[k];
  }
  return t.with_decision(i, {static_cast<std::int64_t>(chosen)});
}

}  // namespace tilewright::search::detail
