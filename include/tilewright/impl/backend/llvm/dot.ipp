// The calls that stand for instructions on packed numbers: short dot products and sums of differences (dot4, dot2,
// sad8: docs/intrinsics.md).
#pragma once

#include <tilewright/backend/llvm/emit.hpp>
#include <tilewright/impl/ir/intrinsics.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::backend::llvm {

/// The arguments from `first` on, in 32 bits, or 64 of eight bytes, the first in the lowest. Consecutive elements of
/// a buffer are read in one load.
TILEWRIGHT_INLINE value emitter::emit_packed(const ir::expr& e, std::size_t first,
                                             std::size_t count) {
  if (const value whole = load_packed(e, first, count); whole.v) return whole;
  if (const value whole = load_moved(e, first, count); whole.v) return whole;
  if (const value whole = emit_packed_bits(e, first, count); whole.v) return whole;
  if (count == 4)
    if (const value_ref near = load_near_bytes(e, first)) return {near, true};
  const dtype type = e->args[first].type();
  std::vector<value> parts;
  bool vector = false;
  for (std::size_t k = 0; k < count; ++k) {
    parts.push_back(emit(e->args[first + k]));
    vector = vector || parts.back().vector;
  }
  const int lanes = lanes_of(vector);
  const type_ref element = count == 8 ? b.i64 : b.i32, word = b.vector(element, lanes);
  value_ref out = nullptr;
  for (std::size_t k = 0; k < count; ++k) {
    const value_ref raw = b.to_stored(type, widen(parts[k], vector), lanes);
    const auto shift = static_cast<std::int64_t>(k) * bits(type);
    const value_ref moved =
        b.binary(opcode::shl, b.convert(opcode::zext, raw, word), b.integer(element, shift, lanes));
    out = out ? b.binary(opcode::or_, out, moved) : moved;
  }
  return {out, vector};
}

/// A null value when the arguments are no consecutive elements that every lane may read.
TILEWRIGHT_INLINE value emitter::load_packed(const ir::expr& e, std::size_t first,
                                             std::size_t count) {
  const ir::expr& low = e->args[first];
  if (low->op != ir::op::load) return {};
  const place& p = place_of(low->buffer);
  const affine start = offset(p, low->buffer, low->args);
  for (std::size_t k = 0; k < count; ++k) {
    const ir::expr& part = e->args[first + k];
    if (part->op != ir::op::load || part->buffer != low->buffer) return {};
    if (lane.mask && !in_bounds(part->buffer, part->args)) return {};
    const affine a = offset(p, part->buffer, part->args);
    if (a.constant != start.constant + static_cast<std::int64_t>(k) ||
        a.lane_step != start.lane_step || a.scalars != start.scalars ||
        a.lane_steps != start.lane_steps || a.vectors != start.vectors)
      return {};
  }
  const auto alignment = static_cast<unsigned>(bytes(p.type));
  const type_ref word = count == 8 ? b.i64 : b.i32;
  if (start.uniform()) return {b.load(word, pointer(p, start), alignment), false};
  if (!start.lane_steps.empty() || !start.vectors.empty() ||
      start.lane_step != static_cast<std::int64_t>(count))
    return {};
  return {b.load(b.vector(word, lane.lanes), pointer(p, start), alignment), true};
}

/// The same for signed bytes that are moved by 128, which turns the highest bit of each.
TILEWRIGHT_INLINE value emitter::load_moved(const ir::expr& e, std::size_t first,
                                            std::size_t count) {
  std::vector<ir::expr> bytes;
  for (std::size_t k = first; k < first + count; ++k) {
    const ir::expr& sum = e->args[k];
    if (sum.type() != dtype::u8 || sum->op != ir::op::add || !ir::is_int(sum->args[1], 128))
      return {};
    const ir::expr& raw = sum->args[0];
    if (raw->op != ir::op::cast || raw->args[0].type() != dtype::i8) return {};
    bytes.push_back(raw->args[0]);
  }
  const ir::expr raw = ir::call(e.type(), e->name, std::move(bytes));
  value whole = load_packed(raw, 0, count);
  if (!whole.v && count == 4) whole = {load_near_bytes(raw, 0), true};
  if (!whole.v) return {};
  // of lanes that are loaded as one, as an operand of the instruction that moves them
  const value_ref flip = b.integer(b.i32, static_cast<std::int32_t>(0x80808080u), lane.lanes);
  return {b.binary(opcode::xor_, widen(whole, lane.lanes > 1), flip), lane.lanes > 1};
}

/// One operation on the bits of each byte, on all of them at once; a null value where the bytes are not all of one such operation.
TILEWRIGHT_INLINE value emitter::emit_packed_bits(const ir::expr& e, std::size_t first,
                                                  std::size_t count) {
  const ir::expr& low = e->args[first];
  if (low->op != ir::op::call || low.type() != dtype::u8 || !ir::detail::works_on_bits(low->name))
    return {};
  std::vector<value> parts;
  bool vector = false;
  for (std::size_t a = 0; a < low->args.size(); ++a) {
    std::vector<ir::expr> bytes;
    for (std::size_t k = first; k < first + count; ++k) {
      const ir::expr& each = e->args[k];
      if (each->op != ir::op::call || each->name != low->name || each.type() != dtype::u8)
        return {};
      bytes.push_back(each->args[a]);
    }
    parts.push_back(emit_packed(ir::call(e.type(), e->name, std::move(bytes)), 0, count));
    vector = vector || parts.back().vector;
  }
  const int lanes = lanes_of(vector), all = lanes * static_cast<int>(count);
  std::vector<value_ref> operands;
  for (const value& part : parts)
    operands.push_back(b.convert(opcode::bitcast, widen(part, vector), b.held(dtype::u8, all)));
  const value_ref out = call_integer(low->name, dtype::u8, operands, all);
  return {b.convert(opcode::bitcast, out, b.vector(count == 8 ? b.i64 : b.i32, lanes)), vector};
}

TILEWRIGHT_INLINE value emitter::emit_dot4(const ir::expr& e) {
  if (e->args.size() != 9)
    throw argument_error("dot4 takes a sum, four factors and four more factors");
  const value c = emit(e->args[0]), x = emit_packed(e, 1, 4), y = emit_packed(e, 5, 4);
  const bool vector = c.vector || x.vector || y.vector;
  const int lanes = lanes_of(vector);
  const dot_operands o{widen(c, vector),
                       widen(x, vector),
                       widen(y, vector),
                       is_unsigned(e->args[1].type()),
                       is_unsigned(e->args[5].type()),
                       lanes};
  value_ref out = dot4_of_neon(o);
  if (!out) out = dot4_of_target(o);
  if (!out) out = dot4_of_pairs(o);
  if (!out) out = dot4_of_shifts(o);
  return {out, vector};
}

/// sdot, udot and usdot add four products to each of four sums. null for other numbers of lanes and
/// where the target has none of them for these signs.
TILEWRIGHT_INLINE value_ref emitter::dot4_of_neon(const dot_operands& o) {
  if (o.lanes != 4 && o.lanes != 2) return nullptr;
  const bool mixed = o.x_unsigned != o.y_unsigned;
  if (!b.cpu.has("neon") || !b.cpu.has(mixed ? "i8mm" : "dotprod")) return nullptr;
  const char* name = mixed          ? "llvm.aarch64.neon.usdot"
                     : o.x_unsigned ? "llvm.aarch64.neon.udot"
                                    : "llvm.aarch64.neon.sdot";
  const type_ref bytes = b.vector(b.i8, 4 * o.lanes);
  const auto split = [&](value_ref words) { return b.convert(opcode::bitcast, words, bytes); };
  const bool swapped = mixed && o.y_unsigned;
  return b.intrinsic(name, {b.vector(b.i32, o.lanes), bytes},
                     {o.sum, split(swapped ? o.y : o.x), split(swapped ? o.x : o.y)});
}

/// vpdpbusd multiplies unsigned by signed bytes; other signs are moved by 128 and corrected.
TILEWRIGHT_INLINE value_ref emitter::dot4_of_target(const dot_operands& o) {
  const bool wide = o.lanes == 16;
  if (o.lanes != 4 && o.lanes != 8 && !wide) return nullptr;
  const bool evex = b.cpu.has("avx512vnni") && (wide || b.cpu.has("avx512vl"));
  if (!evex && (wide || !b.cpu.has("avxvnni"))) return nullptr;
  const auto call = [&](value_ref sum, value_ref x, value_ref y) {
    return b.target_intrinsic("llvm.x86.avx512.vpdpbusd." + std::to_string(o.lanes * 32),
                              {sum, x, y});
  };
  const auto all = [&](std::int64_t v) { return b.integer(b.i32, v, o.lanes); };
  const value_ref zero = all(0);
  if (o.x_unsigned && !o.y_unsigned) return call(o.sum, o.x, o.y);
  if (!o.x_unsigned && o.y_unsigned) return call(o.sum, o.y, o.x);
  const std::int64_t flip = static_cast<std::int32_t>(0x80808080u);
  if (!o.x_unsigned) {  // (x + 128) y - 128 y
    const value_ref moved = call(o.sum, b.binary(opcode::xor_, o.x, all(flip)), o.y);
    return moved ? b.binary(opcode::sub, moved, call(zero, all(flip), o.y)) : nullptr;
  }
  // x (y - 128) + 2 x 64
  const value_ref moved = call(o.sum, o.x, b.binary(opcode::xor_, o.y, all(flip)));
  if (!moved) return nullptr;
  const value_ref half = call(zero, o.x, all(0x40404040));
  return b.binary(opcode::add, moved, b.binary(opcode::add, half, half));
}

/// pmaddwd adds two products of 16-bit numbers in 32 bits, which is exact: bytes 0 and 2, then 1 and 3.
TILEWRIGHT_INLINE value_ref emitter::dot4_of_pairs(const dot_operands& o) {
  const char* name = o.lanes == 16 && b.cpu.has("avx512bw") ? "llvm.x86.avx512.pmaddw.d.512"
                     : o.lanes == 8 && b.cpu.has("avx2")    ? "llvm.x86.avx2.pmadd.wd"
                     : o.lanes == 4 && b.cpu.has("sse2")    ? "llvm.x86.sse2.pmadd.wd"
                                                            : nullptr;
  if (!name) return nullptr;
  const int count = 2 * o.lanes;
  const type_ref words = b.vector(b.i16, count);
  const value_ref eight = b.integer(b.i16, 8, count);
  const auto even = [&](value_ref bytes, bool is_unsigned) {
    const value_ref w = b.convert(opcode::bitcast, bytes, words);
    if (is_unsigned) return b.binary(opcode::and_, w, b.integer(b.i16, 255, count));
    return b.binary(opcode::ashr, b.binary(opcode::shl, w, eight), eight);
  };
  const auto odd = [&](value_ref bytes, bool is_unsigned) {
    return b.binary(is_unsigned ? opcode::lshr : opcode::ashr,
                    b.convert(opcode::bitcast, bytes, words), eight);
  };
  const value_ref first =
      b.target_intrinsic(name, {even(o.x, o.x_unsigned), even(o.y, o.y_unsigned)});
  if (!first) return nullptr;
  const value_ref second =
      b.target_intrinsic(name, {odd(o.x, o.x_unsigned), odd(o.y, o.y_unsigned)});
  return b.binary(opcode::add, o.sum, b.binary(opcode::add, first, second));
}

TILEWRIGHT_INLINE value_ref emitter::dot4_of_shifts(const dot_operands& o) {
  const auto byte = [&](value_ref word, bool is_unsigned, int k) {
    const value_ref top = b.binary(opcode::shl, word, b.integer(b.i32, 24 - 8 * k, o.lanes));
    return b.binary(is_unsigned ? opcode::lshr : opcode::ashr, top, b.integer(b.i32, 24, o.lanes));
  };
  value_ref sum = o.sum;
  for (int k = 0; k < 4; ++k)
    sum = b.binary(opcode::add, sum,
                   b.binary(opcode::mul, byte(o.x, o.x_unsigned, k), byte(o.y, o.y_unsigned, k)));
  return sum;
}

TILEWRIGHT_INLINE value emitter::emit_dot2(const ir::expr& e) {
  if (e->args.size() != 5) throw argument_error("dot2 takes a sum, two factors and two more");
  const value c = emit(e->args[0]), x = emit_packed(e, 1, 2), y = emit_packed(e, 3, 2);
  const bool vector = c.vector || x.vector || y.vector;
  const int lanes = lanes_of(vector);
  const value_ref sum = widen(c, vector), a = widen(x, vector), d = widen(y, vector);
  if (b.cpu.has("avx512bf16") &&
      (lanes == 16 || ((lanes == 4 || lanes == 8) && b.cpu.has("avx512vl")))) {
    const value_ref out = b.target_intrinsic(
        "llvm.x86.avx512bf16.dpbf16ps." + std::to_string(lanes * 32), {sum, a, d});
    if (out) return {out, vector};
  }
  const type_ref real = b.vector(b.f32, lanes);
  const auto high = [&](value_ref word) {
    return b.convert(opcode::bitcast,
                     b.binary(opcode::and_, word,
                              b.integer(b.i32, static_cast<std::int32_t>(0xffff0000u), lanes)),
                     real);
  };
  const auto low = [&](value_ref word) {
    return b.convert(opcode::bitcast, b.binary(opcode::shl, word, b.integer(b.i32, 16, lanes)),
                     real);
  };
  const value_ref late = b.binary(opcode::fadd, sum, b.binary(opcode::fmul, high(a), high(d)));
  return {b.binary(opcode::fadd, late, b.binary(opcode::fmul, low(a), low(d))), vector};
}

TILEWRIGHT_INLINE value emitter::emit_sad8(const ir::expr& e) {
  if (e->args.size() != 17) throw argument_error("sad8 takes a sum, eight bytes and eight more");
  const value c = emit(e->args[0]), x = emit_packed(e, 1, 8), y = emit_packed(e, 9, 8);
  const bool vector = c.vector || x.vector || y.vector;
  const int lanes = lanes_of(vector);
  const value_ref a = widen(x, vector), d = widen(y, vector);
  value_ref sums = sad8_of_target(a, d, lanes);
  if (!sums) sums = sad8_of_shifts(a, d, lanes);
  return {b.binary(opcode::add, widen(c, vector), sums), vector};
}

/// vpsadbw adds up eight differences in each 64 bits.
TILEWRIGHT_INLINE value_ref emitter::sad8_of_target(value_ref x, value_ref y, int lanes) {
  const char* name = lanes == 8 && b.cpu.has("avx512bw") ? "llvm.x86.avx512.psad.bw.512"
                     : lanes == 4 && b.cpu.has("avx2")   ? "llvm.x86.avx2.psad.bw"
                     : lanes == 2 && b.cpu.has("sse2")   ? "llvm.x86.sse2.psad.bw"
                                                         : nullptr;
  return name ? b.target_intrinsic(name, {x, y}) : nullptr;
}

TILEWRIGHT_INLINE value_ref emitter::sad8_of_shifts(value_ref x, value_ref y, int lanes) {
  const auto byte = [&](value_ref word, int k) {
    return b.binary(opcode::and_, b.binary(opcode::lshr, word, b.integer(b.i64, 8 * k, lanes)),
                    b.integer(b.i64, 255, lanes));
  };
  value_ref out = b.integer(b.i64, 0, lanes);
  for (int k = 0; k < 8; ++k) {
    const value_ref p = byte(x, k), q = byte(y, k);
    const value_ref less = b.compare(int_predicate::slt, p, q);
    out = b.binary(opcode::add, out,
                   b.select(less, b.binary(opcode::sub, q, p), b.binary(opcode::sub, p, q)));
  }
  return out;
}

}  // namespace tilewright::backend::llvm
