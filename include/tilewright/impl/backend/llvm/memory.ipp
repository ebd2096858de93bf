// Loads and stores: addresses, alignment, and the forms of vector access.
#pragma once

#include <numeric>

#include <tilewright/arith/linear.hpp>
#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/backend/llvm/lanes/near_parts.hpp>
#include <tilewright/impl/backend/llvm/lanes/step_parts.hpp>
#include <tilewright/impl/backend/llvm/lanes/table_parts.hpp>
#include <tilewright/ir/analysis/reads.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>
#include <tilewright/target/lane_step.hpp>

namespace tilewright::backend::llvm {

TILEWRIGHT_INLINE place& emitter::place_of(const ir::buffer& buffer) {
  const auto found = at.places.find(buffer.get());
  if (found != at.places.end()) return found->second;
  place p;
  p.type = buffer->type;
  p.alignment = 64;
  if (buffer->scope == "workspace")
    p.base = at.workspace;
  else if (buffer->scope == "worker")
    p.base = at.worker_base;
  else
    throw argument_error("buffer \"" + buffer->name +
                         "\" is used outside of its allocation; allocate it around its uses");
  std::int64_t stride = 1;
  p.strides.resize(buffer->shape.size());
  for (std::size_t d = buffer->shape.size(); d-- > 0;) {
    if (!buffer->strides.empty()) {
      p.strides[d] = index(buffer->strides[d]);
      continue;
    }
    if (!ir::is_int(buffer->shape[d]))
      throw argument_error("buffer \"" + buffer->name +
                           "\" is allocated with a shape that is no number");
    p.strides[d].constant = stride;
    stride *= buffer->shape[d]->integer;
  }
  return at.places.emplace(buffer.get(), std::move(p)).first->second;
}

namespace detail {

/// Indices at the same offset: `x + g // n` and `g % n`, whose steps differ by n, become `x` and `g`, so that
/// no quotient is computed, and lanes along g lie side by side.
inline std::vector<ir::expr> without_digits(const place& p, std::vector<ir::expr> indices) {
  for (std::size_t d = indices.size(); d-- > 1;) {
    const ir::expr low = indices[d];
    const affine &step = p.strides[d], &whole = p.strides[d - 1];
    if (low->op != ir::op::floormod || !ir::is_int(low->args[1]) || !step.fixed() ||
        !whole.fixed() || whole.constant != step.constant * ir::as_int(low->args[1]))
      continue;
    arith::linear high = arith::to_linear(indices[d - 1]);
    const auto quotient = support::find(high.terms, [&](const auto& t) {
      return t.second == 1 && t.first->op == ir::op::floordiv &&
             ir::is_int(t.first->args[1], ir::as_int(low->args[1])) &&
             arith::same_value(t.first->args[0], low->args[0]);
    });
    if (quotient == high.terms.end()) continue;
    high.terms.erase(quotient);
    indices[d - 1] = arith::from_linear(high);
    indices[d] = low->args[0];
  }
  return indices;
}

}  // namespace detail

TILEWRIGHT_INLINE affine emitter::offset(const place& p, const ir::buffer& buffer,
                                         const std::vector<ir::expr>& all) {
  if (all.size() != p.strides.size())
    throw argument_error("buffer \"" + buffer->name + "\" of rank " +
                         std::to_string(p.strides.size()) + " is accessed with " +
                         std::to_string(all.size()) + " indices");
  const bool remainders =
      support::any(all, [](const ir::expr& e) { return e->op == ir::op::floormod; });
  const std::vector<ir::expr> indices = remainders ? detail::without_digits(p, all) : all;
  affine out;
  if (buffer->elem_offset) out = index(buffer->elem_offset);
  for (std::size_t d = 0; d < indices.size(); ++d)
    out = add(std::move(out), multiply(index(indices[d]), p.strides[d]), 1);
  return with_even_steps(std::move(out));
}

TILEWRIGHT_INLINE bool emitter::in_bounds(const ir::buffer& buffer,
                                          const std::vector<ir::expr>& indices) {
  for (std::size_t d = 0; d < indices.size() && d < buffer->shape.size(); ++d)
    if (!bounds(indices[d]).within(0, bounds(buffer->shape[d]).lo - 1)) return false;
  return true;
}

TILEWRIGHT_INLINE unsigned emitter::alignment(const place& p, const affine& a) const {
  const std::int64_t size = bytes(p.type);
  std::int64_t known = std::gcd(static_cast<std::int64_t>(p.alignment), a.constant * size);
  for (const auto& [v, k] : a.scalars) known = std::gcd(known, k * size);
  return static_cast<unsigned>(std::max(known, size));
}

/// Address of lane 0.
TILEWRIGHT_INLINE value_ref emitter::pointer(const place& p, const affine& a) {
  value_ref variable = p.base;
  if (!a.scalars.empty()) {
    pointer_key key{p.base, a.scalars};  // in bytes: the workspace holds elements of several sizes
    for (auto& [v, k] : key.second) k *= bytes(p.type);
    variable = computed.pointers.find(key);
    if (!variable) {
      affine part;
      part.scalars = a.scalars;
      variable = b.element_pointer(b.stored(p.type), p.base, scalar_sum(part));
      computed.pointers.keep(std::move(key), variable);
    }
  }
  return b.byte_pointer(variable, a.constant * bytes(p.type));
}

/// Vector of the addresses of all lanes.
TILEWRIGHT_INLINE value_ref emitter::lane_pointers(const place& p, const affine& a) {
  affine lanes = a;
  lanes.scalars.clear();
  lanes.constant = 0;
  affine base;
  base.scalars = a.scalars;
  base.constant = a.constant;
  return b.element_pointer(b.stored(p.type), pointer(p, base), lane_sum(lanes));
}

TILEWRIGHT_INLINE value emitter::emit_load(const ir::expr& e) {
  const place& p = place_of(e->buffer);
  const affine a = offset(p, e->buffer, e->args);
  const bool safe = !lane.mask || in_bounds(e->buffer, e->args);
  if (!a.uniform()) {
    value_ref raw = safe && !a.vectors.empty() ? load_shuffled(e, p) : nullptr;
    if (!raw && safe) raw = load_neighbours(e, p, a);
    if (!raw && safe) raw = load_column(e, p, a);
    if (!raw && safe) raw = load_table(e, p);
    if (!raw && safe) raw = load_pair(e, p, a);
    if (!raw) raw = load_lanes(p, a, safe);
    return {b.to_held(p.type, raw, lane.lanes), true};
  }
  value_ref address = pointer(p, a);
  if (!safe) {
    // One element for all lanes, wanted only when a lane is on: else read something harmless.
    const type_ref mask_bits = b.c.IntTypeInContext(b.context, static_cast<unsigned>(lane.lanes));
    const value_ref any =
        b.compare(int_predicate::ne, b.convert(opcode::bitcast, lane.mask, mask_bits),
                  b.c.ConstNull(mask_bits));
    address = b.select(any, address, b.zeros());
  }
  const value_ref raw = b.load(b.stored(p.type), address, static_cast<unsigned>(bytes(p.type)));
  return {b.to_held(p.type, raw, 1), false};
}

/// Asks for the line of an element, to be read and kept in all caches.
TILEWRIGHT_INLINE void emitter::emit_prefetch(const ir::expr& e) {
  const place& p = place_of(e->buffer);
  const affine a = offset(p, e->buffer, e->args);
  if (!a.uniform()) return;
  const auto number = [&](std::int64_t v) { return b.integer(b.i32, v); };
  b.intrinsic("llvm.prefetch", {b.ptr}, {pointer(p, a), number(0), number(3), number(1)});
}

/// Whether one instruction gathers lanes that lie anywhere: an index that is computed in vectors takes two to be taken out,
/// and a load. Indices from memory are addresses where they are.
TILEWRIGHT_INLINE bool emitter::gathers(const place& p, const affine& a) const {
  constexpr int least_lanes = 8;
  const auto is_computed = [&](const auto& v) { return indices_in_memory_.count(v.first) == 0; };
  return b.cpu.has("avx512f") && lane.lanes >= least_lanes && bytes(p.type) >= 4 &&
         support::any(a.vectors, is_computed);
}

TILEWRIGHT_INLINE value_ref emitter::load_lanes(const place& p, const affine& a, bool safe) {
  const int lanes = lane.lanes;
  const type_ref element = b.stored(p.type), all = b.stored(p.type, lanes);
  const auto size = static_cast<unsigned>(bytes(p.type));
  const bool strided = a.lane_steps.empty() && a.vectors.empty();
  if (strided && a.lane_step == 1) {
    if (safe)
      if (const value_ref taken = load_overlapping(p, a)) return taken;
    const value_ref from = pointer(p, a);
    if (safe) return b.load(all, from, alignment(p, a));
    return b.intrinsic("llvm.masked.load", {all, b.ptr},
                       {from, b.integer(b.i32, size), lane.mask, b.c.ConstNull(all)});
  }
  if (const value_ref near = load_near(p, a, safe)) return near;
  if (!safe || gathers(p, a)) {
    const value_ref addresses = lane_pointers(p, a),
                    on = safe ? b.integer(b.i1, 1, lanes) : lane.mask;
    return b.intrinsic("llvm.masked.gather", {all, b.vector(b.ptr, lanes)},
                       {addresses, b.integer(b.i32, size), on, b.c.ConstNull(all)});
  }
  value_ref out = b.c.GetPoison(all);
  for (int i = 0; i < lanes; ++i) {
    const value_ref one = b.load(element, lane_pointer(p, a, i), size);
    out = b.c.BuildInsertElement(b.b, out, one, b.integer(b.i32, i), "");
  }
  return out;
}

/// Lanes of a short row at computed places, as those of a table of bytes or of a code book: the row is looked up in registers. Of
/// 256 bytes at the values of 307,200 others one by one takes 69 us, in registers 2.6 us. Null where the row is long, or lanes move otherwise.
TILEWRIGHT_INLINE value_ref emitter::load_table(const ir::expr& e, const place& p) {
  namespace parts = detail::table_parts;
  constexpr std::int64_t least_bytes = 16;  // of the lanes
  const std::int64_t size = bytes(p.type), lanes = lane.lanes;
  const std::optional<parts::lookup> how = parts::lookup_of(b.cpu, size);
  const interval extent = bounds(e->buffer->shape.back());
  if (!how || lanes * size < least_bytes || extent.lo != extent.hi || extent.lo < 2 ||
      extent.lo > how->most || !p.strides.back().fixed() || p.strides.back().constant != 1)
    return nullptr;
  const affine last = index(e->args.back());
  if (last.vectors.size() != 1 || last.vectors[0].second != 1 || !last.scalars.empty() ||
      last.lane_step != 0 || !last.lane_steps.empty())
    return nullptr;
  std::vector<ir::expr> begin = e->args;  // of the row, which is one for all lanes
  begin.back() = ir::integer(begin.back().type(), 0);
  const affine row = offset(p, e->buffer, begin);
  if (!row.uniform()) return nullptr;
  const type_ref integer = size == 1 ? b.i8 : b.i32;
  const value_ref places =
                      b.add_nsw(last.vectors[0].first, b.integer(b.i64, last.constant, lane.lanes)),
                  wanted = b.convert(opcode::trunc, places, b.vector(integer, lane.lanes));
  const std::vector<value_ref> table = parts::loaded(b, *how, size, pointer(p, row), extent.lo);
  std::vector<value_ref> found;
  for (std::int64_t first = 0; first < lanes; first += how->lanes)
    found.push_back(parts::looked_up(b, *how, table,
                                     parts::part_of(b, wanted, lanes, first, how->lanes), integer));
  const value_ref all = parts::joined(b, std::move(found), how->lanes, lanes);
  return b.convert(opcode::bitcast, all, b.stored(p.type, lane.lanes));
}

/// How many elements before the lanes of `a` the vectors begin that serve all loads beside it in the statement. Vectors
/// that begin `phase` elements behind a multiple of the step come first, since other statements have them, too; but
/// of lanes two apart, 2 x + 1 and 2 x + 2 are taken out of vectors from 2 x + 1 on, and not out of those from 2 x and
/// of those from 2 x + 2 on.
TILEWRIGHT_INLINE std::int64_t emitter::behind_neighbours(const place& p, const affine& a,
                                                          std::int64_t phase) {
  if (beside_) find_neighbours();
  const std::int64_t step = a.lane_step, usual = ir::floor_modulo(a.constant - phase, step);
  const auto known = neighbours_.find(beside_key(p, a));
  if (known == neighbours_.end()) return usual;
  for (const interval& group : known->second)
    if (group.lo <= a.constant && a.constant <= group.hi &&
        ir::floor_divide(group.lo - phase, step) != ir::floor_divide(group.hi - phase, step))
      return a.constant - group.lo;
  return usual;
}

/// Lanes that lie a few elements apart, out of the whole vectors that hold these elements and those
/// between them: the accesses beside it, as other taps of a window, take theirs out of the same vectors,
/// which are loaded once. Null where the lanes lie otherwise, or not all of it is in the buffer.
TILEWRIGHT_INLINE value_ref emitter::load_neighbours(const ir::expr& e, const place& p,
                                                     const affine& a) {
  const std::int64_t lanes = lane.lanes, step = a.lane_step;
  if (step < 2 || step > target::most_lane_step || !a.lane_steps.empty() || !a.vectors.empty())
    return nullptr;
  const affine last = index(e->args.back());
  const bool along_row = last.lane_step == step;
  const std::int64_t constant = along_row ? last.constant : a.constant;
  const interval range = bounds(e->args.back()), extent = bounds(e->buffer->shape.back());
  const bool contiguous = p.strides.back().fixed() && p.strides.back().constant == 1;
  const auto inside = [&](std::int64_t before) {
    const std::int64_t behind = step - 1 - before;
    if (range.lo < before) return false;
    if ((along_row || contiguous) && range.hi <= extent.lo - 1 - behind) return true;
    return !along_row && has_bytes_behind({{e.get(), {}}}, p, behind + 1);
  };
  std::int64_t before = behind_neighbours(p, a, a.constant - constant);
  if (!inside(before)) before = ir::floor_modulo(constant, step);
  if (!inside(before)) return nullptr;
  const type_ref all = b.stored(p.type, lane.lanes);
  const auto loaded = [&](std::int64_t number) {
    affine from = a;
    from.lane_step = 0;
    from.constant += number * lanes - before;
    return b.load(all, pointer(p, from), static_cast<unsigned>(bytes(p.type)));
  };
  std::vector<value_ref> vectors;
  for (std::int64_t number = 0; number < step; ++number) vectors.push_back(loaded(number));
  return detail::every(b, lanes, std::move(vectors), before);
}

/// Address of one lane of any access.
TILEWRIGHT_INLINE value_ref emitter::lane_pointer(const place& p, const affine& a, int i) {
  affine one;
  one.scalars = a.scalars;
  one.constant = a.constant + a.lane_step * i;
  const value_ref start = pointer(p, one);
  affine rest;
  for (const auto& [v, k] : a.lane_steps)
    if (i != 0) rest.scalars.emplace_back(v, k * i);
  for (const auto& [v, k] : a.vectors) rest.scalars.emplace_back(lane_index(v, i), k);
  return rest.scalars.empty() ? start
                              : b.element_pointer(b.stored(p.type), start, scalar_sum(rest));
}

/// Indices that lie side by side in memory are loaded once more where each of them is an address of
/// its own: that is one instruction, and to take them out of a vector are two.
TILEWRIGHT_INLINE void emitter::note_indices(const ir::expr& load, value_ref wide) {
  if (lane.mask || (load.type() != dtype::i32 && load.type() != dtype::i64)) return;
  const place& p = place_of(load->buffer);
  affine first = offset(p, load->buffer, load->args);
  if (first.lane_step != 1 || !first.lane_steps.empty() || !first.vectors.empty()) return;
  indices_in_memory_[wide] = {p, std::move(first)};
}

TILEWRIGHT_INLINE value_ref emitter::lane_index(value_ref indices, int lane_number) {
  const auto found = indices_in_memory_.find(indices);
  if (found == indices_in_memory_.end()) return b.extract(indices, lane_number);
  const auto& [from, first] = found->second;
  affine one = first;
  one.constant += lane_number;
  const value_ref index =
      b.load(b.stored(from.type), pointer(from, one), static_cast<unsigned>(bytes(from.type)));
  return from.type == dtype::i64 ? index : b.convert(opcode::sext, index, b.i64);
}

/// All that a statement computes.
TILEWRIGHT_INLINE std::vector<value> emitter::emit_whole(const std::vector<ir::expr>& all) {
  if (lane.lanes > 1) whole_ = all;
  std::vector<value> out;
  for (const ir::expr& e : all) out.push_back(emit(e));
  whole_.clear();
  pairs_ = {};
  return out;
}

TILEWRIGHT_INLINE void emitter::emit_store(const ir::store_node& s) {
  beside_ = lane.lanes > 1 ? &s.value : nullptr;
  const value v = emit_whole({s.value}).front();
  beside_ = nullptr;
  neighbours_.clear();
  const place& p = place_of(s.buffer);
  const affine a = offset(p, s.buffer, s.indices);
  indices_in_memory_.clear();
  if (lane.lanes == 1)
    return b.store(b.to_stored(p.type, v.v, 1), pointer(p, a),
                   static_cast<unsigned>(bytes(p.type)));
  store_lanes(p, a, b.to_stored(p.type, widen(v, true), lane.lanes));
}

TILEWRIGHT_INLINE void emitter::store_lanes(const place& p, const affine& a, value_ref stored) {
  const int lanes = lane.lanes;
  const type_ref all = b.stored(p.type, lanes);
  const auto size = static_cast<unsigned>(bytes(p.type));
  if (a.lane_step == 1 && a.lane_steps.empty() && a.vectors.empty()) {
    const value_ref to = pointer(p, a);
    if (lane.nontemporal && !lane.mask)
      return b.store_nontemporal(stored, to, size * static_cast<unsigned>(lanes));
    if (!lane.mask) return b.store(stored, to, alignment(p, a));
    b.intrinsic("llvm.masked.store", {all, b.ptr}, {stored, to, b.integer(b.i32, size), lane.mask});
    return;
  }
  if (lane.mask) {
    const value_ref addresses = lane_pointers(p, a);
    b.intrinsic("llvm.masked.scatter", {all, b.vector(b.ptr, lanes)},
                {stored, addresses, b.integer(b.i32, size), lane.mask});
    return;
  }
  for (int i = 0; i < lanes; ++i) b.store(b.extract(stored, i), lane_pointer(p, a, i), size);
}

/// The loop's variable stands for `position`, counted from its first value.
TILEWRIGHT_INLINE void emitter::bind_position(const ir::loop_node& l, affine position) {
  const std::int64_t first = ir::as_int(l.min), last = first + ir::as_int(l.extent) - 1;
  position.constant += first;
  bound[l.var.get()] = binding{binding::kind::form, 0, {}, {first, last}, std::move(position)};
}

/// Elements from the one at `a` up to the next whose address divides by `width`, a power of two.
TILEWRIGHT_INLINE value_ref emitter::elements_before(const place& p, const affine& a,
                                                     std::int64_t width) {
  const value_ref address = b.convert(opcode::ptrtoint, pointer(p, a), b.i64);
  const value_ref gap =
      b.binary(opcode::and_, b.binary(opcode::sub, b.index(0), address), b.index(width - 1));
  return b.binary(opcode::udiv, gap, b.index(bytes(p.type)));
}

/// Asks for the lines of what is loaded `distance` elements behind `position`, or at the loop's end.
TILEWRIGHT_INLINE void emitter::emit_ahead(const ir::loop_node& l, const affine& position,
                                           std::int64_t distance) {
  affine wanted = position;
  wanted.constant += distance;
  const value_ref far = scalar_sum(wanted), last = b.index(ir::as_int(l.extent) - 1);
  affine there;
  there.scalars.emplace_back(b.select(b.compare(int_predicate::slt, far, last), far, last), 1);
  bind_position(l, std::move(there));
  ir::for_each_expr(l.body, [&](const ir::expr& e) {
    if (e->op == ir::op::load && ir::uses_var(e, l.var) &&
        support::none(e->args, [](const ir::expr& index) { return ir::reads_memory(index); }))
      emit_prefetch(e);
  });
}

/// Elements up to an aligned vector of results, groups of four vectors, vectors, and the elements that
/// are left.
TILEWRIGHT_INLINE void emitter::emit_stream(const ir::loop_node& l, const pass::stream& how) {
  constexpr std::int64_t group = 4;
  const ir::store_node& store = *ir::as_store(l.body);
  const std::int64_t extent = ir::as_int(l.extent), lanes = how.lanes;
  const double inside = work(l.body);
  const body_of body(*this, l.body);
  value_ref head = b.index(0);
  if (how.nontemporal) {
    bind_position(l, {});
    const place p = place_of(store.buffer);
    head = elements_before(p, offset(p, store.buffer, store.indices), lanes * bytes(p.type));
  }
  const auto scalars = [&](value_ref from, value_ref count) {
    emit_counted(l.var->name, b.index(0), count, false, inside, [&](value_ref i) {
      affine position;
      position.scalars = {{from, 1}, {i, 1}};
      bind_position(l, std::move(position));
      emit(l.body);
    });
  };
  const auto vector = [&](const affine& position) {
    if (how.ahead > 0) emit_ahead(l, position, how.ahead * lanes);
    lane = {static_cast<int>(lanes), nullptr, how.nontemporal};
    affine lanes_of_it = position;
    lanes_of_it.lane_step = 1;
    bind_position(l, std::move(lanes_of_it));
    emit(l.body);
    lane = {};
  };
  const auto vectors = [&](value_ref from, value_ref count, std::int64_t at_once) {
    emit_counted(l.var->name, b.index(0), count, false,
                 inside * static_cast<double>(at_once * lanes), [&](value_ref i) {
                   for (std::int64_t u = 0; u < at_once; ++u) {
                     affine position;
                     position.scalars = {{from, 1}, {i, at_once * lanes}};
                     position.constant = u * lanes;
                     vector(position);
                   }
                 });
    return b.add_nsw(from, b.mul_nsw(count, b.index(at_once * lanes)));
  };
  const auto left = [&](value_ref done) { return b.binary(opcode::sub, b.index(extent), done); };
  const auto steps = [&](value_ref count, std::int64_t of) {
    return b.binary(opcode::udiv, count, b.index(of));
  };
  scalars(b.index(0), head);
  value_ref done = vectors(head, steps(left(head), group * lanes), group);
  done = vectors(done, steps(left(done), lanes), 1);
  scalars(done, left(done));
  bound.erase(l.var.get());
  at.streams = at.streams || how.nontemporal;
}

}  // namespace tilewright::backend::llvm
