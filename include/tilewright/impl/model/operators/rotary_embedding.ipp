#pragma once

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/impl/model/operators/heads.hpp>
#include <tilewright/model/operators.hpp>

// Rotary position embedding: pairs of features, turned by angles that depend on the position.
namespace tilewright::network {
namespace detail {

struct rotation_spec {
  head_spec x;
  std::int64_t turned;  // features of a head that are turned, the first ones
};

inline rotation_spec rotation_of(const node_view& n) {
  const head_spec x = heads_of(n, 0, n.what().integer("num_heads", 0), "num_heads");
  std::int64_t turned = n.what().integer("rotary_embedding_dim", 0);
  if (turned == 0) turned = x.size;
  if (turned < 2 || turned > x.size || turned % 2 != 0)
    n.fail("it turns " + std::to_string(turned) + " of " + std::to_string(x.size) +
           " features; it needs an even number of them");
  return {x, turned};
}

inline void infer_rotary_embedding(inference& n) {
  need_float(n);
  const rotation_spec r = rotation_of(n);
  shape wanted{n.in(0).extents[0], r.x.positions, r.turned / 2};
  if (n.what().has_input(3)) {
    if (!is_integer(n.in(3).type) || n.in(3).extents != shape{wanted[0], wanted[1]})
      n.fail("its positions are " + text_of(n.in(3)) + ", and need integers " +
             text_of(shape{wanted[0], wanted[1]}));
    wanted = {n.in(1).extents.empty() ? 0 : n.in(1).extents[0], wanted[2]};
  }
  for (std::size_t k = 1; k < 3; ++k)
    if (n.in(k).extents != wanted)
      n.fail("input " + std::to_string(k) + " has the shape " + text_of(n.in(k).extents) +
             ", and needs " + text_of(wanted));
  infer_same(n);
}

inline std::vector<index_bound> position_bounds(const node_view& n) {
  if (!n.what().has_input(3)) return {};
  return {{3, {n.in(1).extents[0]}}};
}

inline void emit_rotary_embedding(emission& e) {
  const rotation_spec r = rotation_of(e);
  const reader x = e.in(0, "X"), cosine = e.in(1, "cosine"), sine = e.in(2, "sine");
  std::optional<reader> position;
  if (e.what().has_input(3)) position = e.in(3, "position");
  const bool interleaved = e.what().integer("interleaved", 0) != 0;
  const dtype t = x.type.type;
  const cast_to_type to{sum_type(t)};
  e.out(0, [=](const dsl::index_list& at) -> runtime_expression {
    const std::int64_t half = r.turned / 2;
    const runtime_expression b = at[0], s = r.x.is_flat ? at[1] : at[2];
    const runtime_expression h = r.x.is_flat ? at[2] / r.x.size : at[1];
    const runtime_expression d = r.x.is_flat ? at[2] % r.x.size : at[3];
    // features that stay as they are have a pair and an angle, too, which are read and not used
    const runtime_expression pair = interleaved ? d / 2 % half : d % half;
    const runtime_expression other =
        interleaved ? (d + 1 - d % 2 * 2) % r.x.size : (d + half) % r.turned;
    const auto angle = [&](const reader& table) {
      if (!position) return to(table(b, s, pair));
      return to(table(from_front((*position)(b, s), table.type.extents[0]), pair));
    };
    const runtime_expression own = to(x.at(r.x.at(b, h, s, d)));
    const runtime_expression across = to(x.at(r.x.at(b, h, s, other))) * angle(sine);
    const runtime_expression is_first = interleaved ? d % 2 == 0 : d < half;
    const runtime_expression turned = own * angle(cosine) + select(is_first, across * -1.0, across);
    return cast(r.turned == r.x.size ? turned : select(d < r.turned, turned, own), t);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_rotary_embedding(std::vector<operator_definition>& to) {
  operator_definition d{"RotaryEmbedding", op_kind::opaque, detail::infer_rotary_embedding,
                        detail::emit_rotary_embedding};
  d.bounds = detail::position_bounds;
  to.push_back(d);
}

}  // namespace tilewright::network
