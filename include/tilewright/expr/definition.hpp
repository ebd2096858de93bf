// Definitions: what `=` on an access gives, and `blocks` that lists them in program order.
#pragma once

#include <tilewright/expr/expression.hpp>

namespace tilewright::dsl {

/// One or more definitions as N nodes, each ending with a `define` node.
template <int N>
struct definitions {
  static constexpr int length = N;
  node nodes[N > 0 ? N : 1]{};
};

template <class T>
inline constexpr bool is_definitions = false;
template <int N>
inline constexpr bool is_definitions<definitions<N>> = true;

template <class... T>
inline constexpr bool is_definition = false;

/// Stores before one value: targets are loads, rewritten to stores. The value's root may have
/// `width` results (a fold over tuples), one per target.
template <class U, int V, class... T, int... N>
constexpr definitions<((1 + V) + ... + N)> make_definition(const expression<U, V>& value,
                                                           const expression<T, N>&... target) {
  constexpr int total = ((1 + V) + ... + N);
  definitions<total> out;
  node_writer writer{out.nodes};
  const auto put_target = [&](const auto& t) {
    writer.put(t.nodes, t.length);
    out.nodes[writer.used - 1].kind = node_kind::store;
  };
  (put_target(target), ...);
  writer.put(value.nodes, V);
  node n;
  n.kind = node_kind::define;
  n.width = sizeof...(N);
  n.arity = sizeof...(N) + 1;
  n.size = total;
  out.nodes[total - 1] = n;
  return out;
}

/// `blocks(a = .., b = ..)`: definitions in program order, one TensorIR block each.
template <class... D>
constexpr auto blocks(const D&... definition) {
  if constexpr (!(is_definitions<D> && ...)) {
    TILEWRIGHT_MISTAKE(
        is_definition,
        "tilewright: blocks(...) lists definitions; write `tensor(axes) = value` for "
        "each of them",
        D...);
    return definitions<1>{};
  } else {
    constexpr int total = (0 + ... + D::length);
    definitions<total> out;
    [[maybe_unused]] node_writer writer{out.nodes};
    (writer.put(definition.nodes, D::length), ...);
    return out;
  }
}

}  // namespace tilewright::dsl

namespace tilewright {
using dsl::blocks;
}
