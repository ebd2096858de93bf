#pragma once

#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tilewright/model/operators.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/support/any.hpp>

namespace tilewright::network {
namespace detail {

inline bool is_same(const attribute& a, const attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& x) {
        using T = std::remove_cvref_t<decltype(x)>;
        const T& y = std::get<T>(b);
        if constexpr (std::is_same_v<T, constant>)
          return x.type() == y.type() &&
                 std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.type().bytes())) == 0;
        else
          return x == y;
      },
      a);
}

inline bool has_same_attributes(const node& a, const node& b) {
  if (a.attributes.size() != b.attributes.size()) return false;
  for (auto x = a.attributes.begin(), y = b.attributes.begin(); x != a.attributes.end(); ++x, ++y)
    if (x->first != y->first || !is_same(x->second, y->second)) return false;
  return true;
}

class repeated_nodes {
 public:
  explicit repeated_nodes(graph& g) : g_(g), equal_(g.values.size()), instead_(g.values.size()) {
    for (std::size_t v = 0; v < g.values.size(); ++v)
      equal_[v] = instead_[v] = static_cast<value_id>(v);
    unite_constants();
  }

  void run() {
    std::map<std::string, std::vector<std::size_t>> known;  // nodes that stay, by what they do
    std::vector<node> kept;
    for (node& n : g_.nodes) {
      for (value_id& v : n.inputs)
        if (v != no_value) v = instead_[static_cast<std::size_t>(v)];
      std::vector<std::size_t>& alike = known[key_of(n)];
      const node* first = nullptr;
      for (const std::size_t k : alike)
        if (!first && has_same_attributes(kept[k], n)) first = &kept[k];
      if (first && unite(n, *first)) continue;
      if (!first) alike.push_back(kept.size());
      kept.push_back(std::move(n));
    }
    g_.nodes = std::move(kept);
  }

 private:
  static constexpr std::int64_t most_bytes =
      4096;  // of constants that are compared by their elements

  void unite_constants() {
    std::map<std::string, value_id> known;
    for (std::size_t v = 0; v < g_.values.size(); ++v) {
      if (!g_.values[v].data) continue;
      const constant& c = *g_.values[v].data;
      const std::int64_t bytes = c.type().bytes();
      if (bytes > most_bytes) continue;
      const std::string key =
          text_of(c.type()) + '\0' +
          std::string(reinterpret_cast<const char*>(c.data()), static_cast<std::size_t>(bytes));
      equal_[v] = known.emplace(key, static_cast<value_id>(v)).first->second;
    }
  }
  std::string key_of(const node& n) const {
    std::string out = n.domain + '\0' + n.op + '\0' + std::to_string(n.version);
    for (const value_id v : n.inputs)
      out += " " + std::to_string(v == no_value ? v : equal_[static_cast<std::size_t>(v)]);
    out += " ->";
    for (const value_id v : n.outputs) out += v == no_value ? " -" : " " + text_of(g_.type_of(v));
    return out;
  }
  /// Values of both are known to be equal from here on.
  /// @returns whether readers take those of `first`, so that `n` may go
  bool unite(const node& n, const node& first) {
    const bool is_wanted =
        support::any(n.outputs, [&](value_id v) { return support::contains(g_.outputs, v); });
    const bool may_go = computes(n) && !is_wanted;
    for (std::size_t k = 0; k < n.outputs.size(); ++k) {
      if (n.outputs[k] == no_value) continue;
      const auto v = static_cast<std::size_t>(n.outputs[k]);
      equal_[v] = equal_[static_cast<std::size_t>(first.outputs[k])];
      if (may_go) instead_[v] = first.outputs[k];
    }
    return may_go;
  }
  /// Copies are none: each reader may take its own into its kernel, and two of one could not.
  static bool computes(const node& n) {
    const operator_definition* op = find_operator(n);
    return op && (op->kind == op_kind::elementwise || op->kind == op_kind::anchor ||
                  op->kind == op_kind::opaque);
  }

  graph& g_;
  std::vector<value_id> equal_;    // [values] the first one with the same elements
  std::vector<value_id> instead_;  // [values] the one that is read in its place
};

}  // namespace detail

TILEWRIGHT_INLINE void remove_repeated(graph& g) { detail::repeated_nodes(g).run(); }

}  // namespace tilewright::network
