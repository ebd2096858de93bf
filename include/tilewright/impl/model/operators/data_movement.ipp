#pragma once

#include <algorithm>
#include <limits>

#include <tilewright/impl/model/operators/elements.hpp>
#include <tilewright/impl/model/operators/slice_spec.hpp>
#include <tilewright/model/operators.hpp>

// Operators that move elements: every output element is one element of an input.
namespace tilewright::network {
namespace detail {

inline std::vector<std::size_t> permutation_of(const node_view& n) {
  std::vector<std::int64_t> list = n.what().integers("perm");
  const std::size_t rank = n.rank(0);
  if (!n.what().has("perm"))
    for (std::size_t d = rank; d-- > 0;) list.push_back(static_cast<std::int64_t>(d));
  if (list.size() != rank || n.dimensions(list, rank).size() != rank)
    n.fail("attribute perm is no permutation of " + std::to_string(rank) + " dimensions");
  std::vector<std::size_t> out;
  for (const std::int64_t d : list) out.push_back(n.dimension(d, rank));
  return out;
}

inline void infer_transpose(inference& n) {
  shape out;
  for (const std::size_t d : permutation_of(n)) out.push_back(n.in(0).extents[d]);
  n.out(0, {n.in(0).type, out});
}

inline void emit_transpose(emission& e) {
  const std::vector<std::size_t> p = permutation_of(e);
  const reader x = e.in(0, "X");
  e.out(0, [=](const dsl::index_list& at) {
    dsl::index_list own = at;
    for (std::size_t d = 0; d < p.size(); ++d) own[p[d]] = at[d];
    return x.at(own);
  });
}

inline void infer_concat(inference& n) {
  tensor_type out = n.in(0);
  const std::size_t a = n.dimension(n.what().integer("axis", 1), out.extents.size());
  for (std::size_t k = 1; k < n.input_count(); ++k) {
    shape next = n.in(k).extents;
    if (n.in(k).type != out.type || next.size() != out.extents.size())
      n.fail("its inputs " + text_of(n.in(0)) + " and " + text_of(n.in(k)) + " do not go together");
    const std::int64_t extent = next[a];
    next[a] = out.extents[a];
    if (next != out.extents)
      n.fail("its inputs " + text_of(n.in(0)) + " and " + text_of(n.in(k)) + " do not go together");
    out.extents[a] += extent;
  }
  n.out(0, out);
}

/// One definition per input, of its part of the output.
inline void emit_concat(emission& e) {
  const std::size_t a = e.dimension(e.what().integer("axis", 1), e.rank(0));
  std::vector<reader> parts;
  for (std::size_t k = 0; k < e.input_count(); ++k)
    if (e.whole().type_of(e.what().inputs[k]).elements() > 0) parts.push_back(e.in(k, "X"));
  const dsl::runtime_tensor y = e.store(0);
  std::int64_t offset = 0;
  for (const reader& x : parts) {
    const dsl::index_list at = e.axes("i", x.type.extents);
    dsl::index_list to = at;
    to[a] = at[a] + offset;
    e.define(y(to) = x.at(at));
    offset += x.type.extents[a];
  }
}

inline void infer_slice(inference& n) { n.out(0, {n.in(0).type, slice_of(n).length}); }

inline void emit_slice(emission& e) {
  const slice_spec s = slice_of(e);
  const reader x = e.in(0, "X");
  e.out(0, [=](const dsl::index_list& at) {
    dsl::index_list own;
    for (std::size_t d = 0; d < at.size(); ++d) {
      const runtime_expression i = s.step[d] == 1 ? at[d] : at[d] * s.step[d];
      own.push_back(s.start[d] == 0 ? i : i + s.start[d]);
    }
    return x.at(own);
  });
}

/// Lengths of the parts of a split.
inline std::vector<std::int64_t> parts_of(const node_view& n, std::size_t a) {
  const std::int64_t extent = n.in(0).extents[a];
  if (n.has_list(1, "split")) {
    const std::vector<std::int64_t> out = n.list(1, "split");
    std::int64_t all = 0;
    for (const std::int64_t x : out) all += x;
    if (out.size() != n.what().outputs.size() || all != extent)
      n.fail("its parts " + text_of(out) + " do not make " + std::to_string(extent) +
             " elements in " + std::to_string(n.what().outputs.size()) + " outputs");
    return out;
  }
  const auto count = static_cast<std::int64_t>(n.what().outputs.size());
  const std::int64_t each = (extent + count - 1) / count;
  std::vector<std::int64_t> out(n.what().outputs.size(), each);
  out.back() = extent - each * (count - 1);
  if (out.back() < 0) n.fail("there are more outputs than elements");
  return out;
}

/// Each part is a slice, which its reader may take in.
inline void expand_split(expansion& e) {
  const std::size_t a = e.dimension(e.what().integer("axis", 0), e.rank(0));
  const std::vector<std::int64_t> parts = parts_of(e, a);
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto list = [](std::int64_t x) { return std::vector<std::int64_t>{x}; };
    if (e.what().has_output(k))
      e.add("Slice", {e.what().inputs[0]}, {e.what().outputs[k]},
            {{"starts", list(offset)},
             {"ends", list(offset + parts[k])},
             {"axes", list(static_cast<std::int64_t>(a))}});
    offset += parts[k];
  }
}

inline void infer_expand(inference& n) {
  n.out(0, {n.in(0).type, broadcast(n, n.in(0).extents, n.numbers(1))});
}

inline void emit_expand(emission& e) {
  const reader x = e.broadcast(0, "X");
  e.out(0, x.at);
}

inline void infer_tile(inference& n) {
  const std::vector<std::int64_t> times = n.numbers(1);
  tensor_type t = n.in(0);
  if (times.size() != t.extents.size()) n.fail("repeats has one number per dimension");
  for (std::size_t d = 0; d < times.size(); ++d)
    if (times[d] < 0 || __builtin_mul_overflow(t.extents[d], times[d], &t.extents[d]))
      n.fail("repeats is " + text_of(times));
  n.out(0, t);
}

inline void emit_tile(emission& e) {
  const reader x = e.in(0, "X");
  e.out(0, [x](const dsl::index_list& at) {
    dsl::index_list own;
    for (std::size_t d = 0; d < at.size(); ++d) own.push_back(at[d] % x.type.extents[d]);
    return x.at(own);
  });
}

inline std::vector<std::int64_t> pads_of(const node_view& n) {
  const std::size_t rank = n.rank(0);
  std::vector<std::int64_t> list = n.list(1, "pads"), out(2 * rank, 0);
  std::vector<std::size_t> along;
  if (n.what().has_input(3))
    for (const std::int64_t a : n.numbers(3)) along.push_back(n.dimension(a, rank));
  else
    for (std::size_t d = 0; d < rank; ++d) along.push_back(d);
  if (list.size() != 2 * along.size())
    n.fail("pads has " + std::to_string(list.size()) + " numbers, and needs " +
           std::to_string(2 * along.size()));
  for (std::size_t k = 0; k < along.size(); ++k) {
    out[along[k]] = list[k];
    out[rank + along[k]] = list[along.size() + k];
  }
  return out;
}

inline void infer_pad(inference& n) {
  tensor_type t = n.in(0);
  const std::vector<std::int64_t> pads = pads_of(n);
  for (std::size_t d = 0; d < t.extents.size(); ++d)
    if (__builtin_add_overflow(t.extents[d], pads[d], &t.extents[d]) ||
        __builtin_add_overflow(t.extents[d], pads[t.extents.size() + d], &t.extents[d]))
      n.fail("pads is " + text_of(pads));
  n.out(0, t);
}

inline void emit_pad(emission& e) {
  const std::vector<std::int64_t> pads = pads_of(e);
  const std::string how = e.what().text("mode", "constant");
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const shape from = e.in(0, "X").type.extents;
  const auto place = [=](const dsl::index_list& at) {
    dsl::index_list own = at;
    for (std::size_t d = 0; d < at.size(); ++d)
      if (pads[d] != 0) own[d] = at[d] - pads[d];
    return own;
  };
  if (how == "edge")
    return e.out(0, [=](const dsl::index_list& at) { return clamp_outside(x)(place(at)); });
  if (how == "reflect")
    return e.out(0, [=](const dsl::index_list& at) { return mirror_outside(x)(place(at)); });
  if (how == "wrap")
    return e.out(0, [=](const dsl::index_list& at) {
      dsl::index_list own = place(at);
      for (std::size_t d = 0; d < own.size(); ++d) own[d] = own[d] % from[d];
      return x(own);
    });
  if (how != "constant") e.fail("mode is \"" + how + "\"; write constant, edge, reflect or wrap");
  std::optional<reader> filling;
  if (e.what().has_input(2)) filling = e.in(2, "value");
  const double number = e.what().real("value", 0);
  e.out(0, [=](const dsl::index_list& at) {
    const dsl::index_list own = place(at);
    const auto element = zero_outside(x)(own);
    if (!filling && number == 0) return static_cast<runtime_expression>(element);
    runtime_expression inside = runtime_expression(true).as(dtype::boolean, false);
    for (std::size_t d = 0; d < own.size(); ++d)
      if (pads[d] > 0 || pads[own.size() + d] > 0)
        inside = inside & (own[d] >= 0) & (own[d] < from[d]);
    const runtime_expression outside =
        !filling ? dsl::runtime_literal(x.info().type, number)
                 : filling->at(dsl::index_list(filling->type.extents.size(), 0));
    return select(inside, element, outside);
  });
}

inline void infer_gather(inference& n) {
  const shape &x = n.in(0).extents, &i = n.in(1).extents;
  if (!is_integer(n.in(1).type)) n.fail("its indices have to be integers");
  const auto a = static_cast<std::ptrdiff_t>(n.dimension(n.what().integer("axis", 0), x.size()));
  shape out(x.begin(), x.begin() + a);
  out.insert(out.end(), i.begin(), i.end());
  out.insert(out.end(), x.begin() + a + 1, x.end());
  n.out(0, {n.in(0).type, out});
}

inline void emit_gather(emission& e) {
  const auto a = static_cast<std::ptrdiff_t>(e.dimension(e.what().integer("axis", 0), e.rank(0)));
  const reader x = e.in(0, "X"), i = e.in(1, "I");
  const auto rank = static_cast<std::ptrdiff_t>(i.type.extents.size());
  e.out(0, [=](const dsl::index_list& at) {
    dsl::index_list own(at.begin(), at.begin() + a);
    const dsl::index_list where(at.begin() + a, at.begin() + a + rank);
    own.push_back(from_front(i.at(where), x.type.extents[static_cast<std::size_t>(a)]));
    own.insert(own.end(), at.begin() + a + rank, at.end());
    return x.at(own);
  });
}

/// The indices of Gather and GatherElements.
inline std::vector<index_bound> gathered_bounds(const node_view& n) {
  const std::size_t a = n.dimension(n.what().integer("axis", 0), n.rank(0));
  return {{1, {n.in(0).extents[a]}}};
}

inline void infer_gather_elements(inference& n) {
  n.dimension(n.what().integer("axis", 0), n.rank(0));
  if (!is_integer(n.in(1).type)) n.fail("its indices have to be integers");
  if (n.rank(1) != n.rank(0)) n.fail("input and indices need one rank");
  n.out(0, {n.in(0).type, n.in(1).extents});
}

inline void emit_gather_elements(emission& e) {
  const std::size_t a = e.dimension(e.what().integer("axis", 0), e.rank(0));
  const reader x = e.in(0, "X"), i = e.in(1, "I");
  e.out(0, [=](const dsl::index_list& at) {
    dsl::index_list own = at;
    own[a] = from_front(i.at(at), x.type.extents[a]);
    return x.at(own);
  });
}

inline void infer_gather_nd(inference& n) {
  const shape &x = n.in(0).extents, &i = n.in(1).extents;
  const std::int64_t batch = n.what().integer("batch_dims", 0);
  if (i.empty() || batch < 0 || batch >= static_cast<std::int64_t>(std::min(x.size(), i.size())) ||
      i.back() < 1 || i.back() + batch > static_cast<std::int64_t>(x.size()))
    n.fail("its indices " + text_of(i) + " do not go together with " + text_of(x));
  shape out(i.begin(), i.end() - 1);
  out.insert(out.end(), x.begin() + batch + i.back(), x.end());
  n.out(0, {n.in(0).type, out});
}

inline std::vector<index_bound> gathered_nd_bounds(const node_view& n) {
  const auto first = n.in(0).extents.begin() + n.what().integer("batch_dims", 0);
  return {{1, {first, first + n.in(1).extents.back()}}};
}

inline void emit_gather_nd(emission& e) {
  const reader x = e.in(0, "X"), i = e.in(1, "I");
  const auto batch = static_cast<std::ptrdiff_t>(e.what().integer("batch_dims", 0));
  const std::int64_t depth = i.type.extents.back();
  const auto lead = static_cast<std::ptrdiff_t>(i.type.extents.size()) - 1;
  e.out(0, [=](const dsl::index_list& at) {
    dsl::index_list own(at.begin(), at.begin() + batch);
    const dsl::index_list where(at.begin(), at.begin() + lead);
    for (std::int64_t d = 0; d < depth; ++d)
      own.push_back(from_front(
          i(where, d),
          x.type.extents[static_cast<std::size_t>(batch) + static_cast<std::size_t>(d)]));
    own.insert(own.end(), at.begin() + lead, at.end());
    return x.at(own);
  });
}

/// Elements `on` at the positions that input 0 names, and `off` elsewhere.
inline void infer_one_hot(inference& n) {
  const constant* depth = n.known(1);
  if (!depth || depth->type().elements() != 1)
    n.fail(
        "its depth depends on the arguments of a call; it has to be known when the model is "
        "loaded");
  if (n.in(2).extents != shape{2}) n.fail("its third input has to hold two elements, off and on");
  shape out = n.in(0).extents;
  const std::size_t a = n.dimension(n.what().integer("axis", -1), out.size() + 1);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(a),
             static_cast<std::int64_t>(depth->number(0)));
  n.out(0, {n.in(2).type, out});
}

inline void emit_one_hot(emission& e) {
  const reader i = e.in(0, "I"), choices = e.in(2, "choices");
  const std::size_t a = e.dimension(e.what().integer("axis", -1), i.type.extents.size() + 1);
  const std::int64_t depth = e.type_of_output().extents[a];
  e.out(0, [=](const dsl::index_list& at) {
    dsl::index_list own = at;
    own.erase(own.begin() + static_cast<std::ptrdiff_t>(a));
    const runtime_expression p = cast(i.at(own), dtype::i64);
    const runtime_expression place = select(p < 0, p + depth, p);
    return select(cast(at[a], dtype::i64) == place, choices(1), choices(0));
  });
}

inline void infer_cumulative_sum(inference& n) {
  const constant* axis = n.known(1);
  if (!axis || axis->type().elements() != 1)
    n.fail(
        "its axis depends on the arguments of a call; it has to be known when the model is loaded");
  n.dimension(axis->integer(0), n.rank(0));
  infer_same(n);
}

/// The sum over all elements up to one's own: quadratic in the extent.
inline void emit_cumulative_sum(emission& e) {
  const dsl::runtime_tensor x = e.tensor(0, "X");
  const std::size_t a = e.dimension(e.known(1)->integer(0), e.rank(0));
  const bool exclusive = e.what().integer("exclusive", 0) != 0;
  const bool reverse = e.what().integer("reverse", 0) != 0;
  const auto r = e.axis("r", x.extent(static_cast<int>(a)));
  e.out(0, [=](const dsl::index_list& at) {
    dsl::index_list place = at;
    place[a] = r;
    const auto &i = at[a],
               taken = reverse ? (exclusive ? r > i : r >= i) : (exclusive ? r < i : r <= i);
    return reduce(dsl::reduction::sum, {r},
                  select(taken, x(place), dsl::runtime_literal(x.info().type, 0)));
  });
}

inline void infer_trilu(inference& n) {
  if (n.rank(0) < 2) n.fail("its input has to be a matrix or a stack of them");
  infer_same(n);
}

inline void emit_trilu(emission& e) {
  const reader x = e.in(0, "X");
  const bool upper = e.what().integer("upper", 1) != 0;
  const std::int64_t k = e.what().has_input(1) ? e.numbers(1).at(0) : 0;
  e.out(0, [=](const dsl::index_list& at) {
    const auto& i = at[at.size() - 2];
    const auto& j = at.back();
    const runtime_expression kept = upper ? j >= i + k : j <= i + k;
    return select(kept, x.at(at), dsl::runtime_literal(x.type.type, 0));
  });
}

inline std::int64_t block_size(const node_view& n) {
  const std::int64_t b = n.what().integer("blocksize", 0);
  if (n.rank(0) != 4 || b < 1 || b > (1 << 15))
    n.fail("it needs an image and a positive blocksize");
  return b;
}

inline void infer_depth_to_space(inference& n) {
  const std::int64_t b = block_size(n);
  shape s = n.in(0).extents;
  if (s[1] % (b * b) != 0) n.fail("its channels are no multiple of the squared blocksize");
  n.out(0, {n.in(0).type, {s[0], s[1] / (b * b), s[2] * b, s[3] * b}});
}

inline void emit_depth_to_space(emission& e) {
  const reader x = e.in(0, "X");
  const std::int64_t b = block_size(e), channels = x.type.extents[1] / (b * b);
  const bool column_row = e.what().text("mode", "DCR") == "CRD";
  e.out(0, [=](const dsl::index_list& at) {
    const runtime_expression part = at[2] % b * b + at[3] % b;
    const runtime_expression c = column_row ? at[1] * (b * b) + part : part * channels + at[1];
    return x(at[0], c, at[2] / b, at[3] / b);
  });
}

inline void infer_space_to_depth(inference& n) {
  const std::int64_t b = block_size(n);
  shape s = n.in(0).extents;
  if (s[2] % b != 0 || s[3] % b != 0) n.fail("its extents are no multiple of the blocksize");
  n.out(0, {n.in(0).type, {s[0], s[1] * b * b, s[2] / b, s[3] / b}});
}

inline void emit_space_to_depth(emission& e) {
  const reader x = e.in(0, "X");
  const std::int64_t b = block_size(e), channels = x.type.extents[1];
  const bool column_row = e.what().text("mode", "DCR") == "CRD";
  e.out(0, [=](const dsl::index_list& at) {
    const runtime_expression part = column_row ? at[1] % (b * b) : at[1] / channels;
    const runtime_expression c = column_row ? at[1] / (b * b) : at[1] % channels;
    return x(at[0], c, at[2] * b + part / b, at[3] * b + part % b);
  });
}

}  // namespace detail

TILEWRIGHT_INLINE void add_data_movement(std::vector<operator_definition>& to) {
  const auto add = [&](std::string_view name, void (*infer)(inference&), void (*emit)(emission&)) {
    to.push_back({name, op_kind::index_map, infer, emit});
  };
  add("Transpose", detail::infer_transpose, detail::emit_transpose);
  add("Slice", detail::infer_slice, detail::emit_slice);
  operator_definition split{"Split"};
  split.expand = detail::expand_split;
  to.push_back(split);
  add("Expand", detail::infer_expand, detail::emit_expand);
  add("Tile", detail::infer_tile, detail::emit_tile);
  const auto add_gather = [&](std::string_view name, void (*infer)(inference&),
                              void (*emit)(emission&),
                              std::vector<index_bound> (*bounds)(const node_view&)) {
    operator_definition d{name, op_kind::index_map, infer, emit};
    d.bounds = bounds;
    to.push_back(d);
  };
  add_gather("Gather", detail::infer_gather, detail::emit_gather, detail::gathered_bounds);
  add_gather("GatherElements", detail::infer_gather_elements, detail::emit_gather_elements,
             detail::gathered_bounds);
  add_gather("GatherND", detail::infer_gather_nd, detail::emit_gather_nd,
             detail::gathered_nd_bounds);
  add("Trilu", detail::infer_trilu, detail::emit_trilu);
  add("DepthToSpace", detail::infer_depth_to_space, detail::emit_depth_to_space);
  add("SpaceToDepth", detail::infer_space_to_depth, detail::emit_space_to_depth);
  add("OneHot", detail::infer_one_hot, detail::emit_one_hot);
  to.push_back(
      {"CumSum", op_kind::anchor, detail::infer_cumulative_sum, detail::emit_cumulative_sum});
  to.push_back({"Pad", op_kind::opaque, detail::infer_pad, detail::emit_pad});
  to.push_back({"Concat", op_kind::opaque, detail::infer_concat, detail::emit_concat});
  // of the pass place_parts
  to.push_back({"Join", op_kind::joined, detail::infer_concat, detail::emit_concat, "tilewright"});
  to.push_back({"Part", op_kind::part, detail::infer_slice, detail::emit_slice, "tilewright"});
  to.push_back(
      {"Copy", op_kind::index_map, infer_same,
       detail::emit_activation<[](const detail::runtime_expression& x, const node&) { return x; }>,
       "tilewright"});
}

}  // namespace tilewright::network
