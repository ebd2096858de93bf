#pragma once

#include <algorithm>

#include <tilewright/impl/model/operators/dimensions.hpp>
#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/impl/model/operators/filled.hpp>
#include <tilewright/model/operators.hpp>

// Operators that give elements another shape and leave them where they are.
namespace tilewright::network {
namespace detail {

/// Output 0 is input 0 under the given extents.
inline void out_alias(inference& n, const shape& extents) {
  if (elements_of(extents) != n.in(0).elements())
    n.fail("an input of shape " + text_of(n.in(0).extents) + " has no shape " + text_of(extents));
  n.out(0, {n.in(0).type, extents});
  if (const constant* c = n.known(0)) n.out(0, c->reshaped(extents));
}

inline void infer_reshape(inference& n) {
  shape out = n.what().has_input(1) ? n.numbers(1) : n.what().integers("shape");
  const shape& from = n.in(0).extents;
  const bool zero_is_zero = n.what().integer("allowzero", 0) != 0;
  std::int64_t known = 1, open = -1;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (out[d] == 0 && !zero_is_zero) {
      if (d >= from.size())
        n.fail("its shape " + text_of(out) + " copies an extent that is not there");
      out[d] = from[d];
    }
    if (out[d] == -1) {
      if (open >= 0) n.fail("its shape " + text_of(out) + " leaves two extents open");
      open = static_cast<std::int64_t>(d);
    } else if (out[d] < 0 || __builtin_mul_overflow(known, out[d], &known)) {
      n.fail("its shape is " + text_of(out));
    }
  }
  if (open >= 0) {
    if (known == 0 || n.in(0).elements() % known != 0)
      n.fail("an input of shape " + text_of(from) + " has no shape " + text_of(out));
    out[static_cast<std::size_t>(open)] = n.in(0).elements() / known;
  }
  out_alias(n, out);
}

inline void infer_flatten(inference& n) {
  const shape& from = n.in(0).extents;
  const auto rank = static_cast<std::int64_t>(from.size());
  std::int64_t a = n.what().integer("axis", 1);
  if (a < -rank || a > rank) n.fail("axis " + std::to_string(a) + " is not one of its input");
  if (a < 0) a += rank;
  out_alias(n, {elements_of({from.begin(), from.begin() + a}),
                elements_of({from.begin() + a, from.end()})});
}

inline void infer_squeeze(inference& n) {
  const shape& from = n.in(0).extents;
  const std::vector<std::size_t> gone = n.dimensions(n.list(1, "axes"), from.size());
  const bool all = !n.has_list(1, "axes");
  shape out;
  for (std::size_t d = 0; d < from.size(); ++d) {
    const bool listed = is_in(gone, d);
    if (listed && from[d] != 1)
      n.fail("dimension " + std::to_string(d) + " of " + text_of(from) + " is not 1");
    if (!listed && !(all && from[d] == 1)) out.push_back(from[d]);
  }
  out_alias(n, out);
}

inline void infer_unsqueeze(inference& n) {
  const shape& from = n.in(0).extents;
  const std::vector<std::int64_t> list = n.list(1, "axes");
  const std::vector<std::size_t> ones = n.dimensions(list, from.size() + list.size());
  shape out;
  for (std::size_t d = 0, next = 0; d < from.size() + list.size(); ++d)
    out.push_back(is_in(ones, d) ? 1 : from[next++]);
  out_alias(n, out);
}

inline void infer_identity(inference& n) { out_alias(n, n.in(0).extents); }

inline void infer_dropout(inference& n) {
  const constant* training = n.known(2);
  if (n.what().has_input(2) && (!training || training->integer(0) != 0))
    n.fail("training is not supported; export the model for inference");
  infer_identity(n);
  // nothing is dropped: the mask, of the input's type before version 10, is true everywhere
  const dtype of_mask = n.what().version < 10 ? n.in(0).type : dtype::boolean;
  if (n.what().has_output(1)) n.out(1, filled({of_mask, n.in(0).extents}, 1, 1));
}

/// The element of the input with the same position in memory.
inline void emit_alias(emission& e) {
  const reader x = e.in(0, "X");
  const shape from = x.type.extents, to = e.type_of_output().extents;
  e.out(0, [=](const dsl::index_list& at) {
    // leading dimensions that agree stay as they are, and so do trailing ones
    std::size_t front = 0, back = 0;
    while (front < from.size() && front < to.size() && from[front] == to[front]) ++front;
    while (back + front < from.size() && back + front < to.size() &&
           from[from.size() - 1 - back] == to[to.size() - 1 - back])
      ++back;
    dsl::index_list own(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(front));
    runtime_expression flat = runtime_expression(0).as(dtype::i64, true);
    bool is_zero = true;
    for (std::size_t d = front; d + back < to.size(); ++d) {
      if (to[d] == 1) continue;
      flat = is_zero ? at[d] : flat * to[d] + at[d];
      is_zero = false;
    }
    std::int64_t below = 1;
    for (std::size_t d = front; d + back < from.size(); ++d) below *= from[d];
    const std::int64_t all = below;
    for (std::size_t d = front; d + back < from.size(); ++d) {
      below /= from[d];
      if (from[d] == 1) {
        own.push_back(0);
        continue;
      }
      const runtime_expression digit = below == 1 ? flat : flat / below;
      own.push_back(below * from[d] == all ? digit : digit % from[d]);
    }
    own.insert(own.end(), at.end() - static_cast<std::ptrdiff_t>(back), at.end());
    return x.at(own);
  });
}

inline void emit_dropout(emission& e) {
  emit_alias(e);
  if (!e.what().has_output(1)) return;
  const dtype t = e.type_of_output(1).type;
  e.out(1, [t](const dsl::index_list&) {
    return is_float(t) ? runtime_expression(1.0).as(t, false)
                       : runtime_expression(true).as(t, false);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_shapes(std::vector<operator_definition>& to) {
  const auto add = [&](std::string_view name, void (*infer)(inference&)) {
    to.push_back({name, op_kind::alias, infer, detail::emit_alias});
  };
  add("Reshape", detail::infer_reshape);
  add("Flatten", detail::infer_flatten);
  add("Squeeze", detail::infer_squeeze);
  add("Unsqueeze", detail::infer_unsqueeze);
  add("Identity", detail::infer_identity);
  to.push_back({"Dropout", op_kind::alias, detail::infer_dropout, detail::emit_dropout});
}

}  // namespace tilewright::network
