// Expression half of the interpreter: flattened nodes and the functions that evaluate them.
#pragma once

#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/float16.hpp>

namespace tilewright::ir::detail::interp {

/// A scalar: `i` for integers and booleans (wrapped to their type), `f` for f16, bf16 and f32, `d`
/// for f64.
union value {
  std::int64_t i;
  double d;
  float f;
};

/// Last writer and readers of an element within a parallel loop, for the race check.
struct shadow {
  std::uint64_t write_loop = 0, write_turn = 0, read_loop = 0, read_turn = 0;
  bool many_readers = false;
};

struct bound_buffer {
  const buffer_node* node = nullptr;
  std::byte* data = nullptr;  // element 0
  std::vector<std::int64_t> shape, strides;
  std::int64_t lowest = 0;  // smallest offset of an element, <= 0; index 0 of the two tables
  std::vector<std::byte> storage;
  std::vector<unsigned char> written_storage;
  std::vector<shadow> shadow_storage;
  unsigned char* written = nullptr;
  shadow* shadows = nullptr;
};

struct machine {
  std::vector<value> slots;
  std::vector<bound_buffer> buffers;
  const block_node* block = nullptr;  // innermost, for messages
  std::uint64_t parallel_loop = 0;    // instance of the outermost parallel loop, 0 outside
  std::uint64_t parallel_turn = 0;
  std::uint64_t parallel_instances = 0;
};

struct expr_code;
using evaluator = value (*)(const expr_code&, machine&);

/// Term of an affine integer expression: coefficient * (slot or sub-expression).
struct affine_term {
  std::int64_t coefficient = 1;
  int slot = -1;
  const expr_code* code = nullptr;
};

struct expr_code {
  evaluator run = nullptr;
  const expr_code* a = nullptr;
  const expr_code* b = nullptr;
  const expr_code* c = nullptr;
  value constant{};
  int slot = -1;  // variable or buffer
  double (*real_function)(double) = nullptr;
  float (*float_function)(float) = nullptr;
  std::vector<affine_term> terms;
  std::vector<const expr_code*> indices;
};

inline value eval(const expr_code* code, machine& m) { return code->run(*code, m); }
inline std::int64_t eval_int(const expr_code* code, machine& m) { return code->run(*code, m).i; }

inline value of_int(std::int64_t i) {
  value v;
  v.i = i;
  return v;
}
inline value of_float(float f) {
  value v;
  v.f = f;
  return v;
}
inline value of_double(double d) {
  value v;
  v.d = d;
  return v;
}

inline std::string where(const machine& m) {
  return m.block && m.block->name != "root" ? "block " + m.block->name
                                            : std::string("the function body");
}

/// How a type is held in a `value`.
template <dtype D>
using held_t = std::conditional_t<D == dtype::f64, double,
                                  std::conditional_t<is_float(D), float, std::int64_t>>;

template <class T>
T get(const value& v) {
  if constexpr (std::is_same_v<T, double>)
    return v.d;
  else if constexpr (std::is_same_v<T, float>)
    return v.f;
  else
    return v.i;
}
template <class T>
value put(T x) {
  if constexpr (std::is_same_v<T, double>)
    return of_double(x);
  else if constexpr (std::is_same_v<T, float>)
    return of_float(x);
  else
    return of_int(x);
}

template <dtype D>
std::int64_t wrap(std::uint64_t raw) {
  if constexpr (D == dtype::boolean)
    return raw != 0;
  else if constexpr (D == dtype::i8)
    return static_cast<std::int8_t>(raw);
  else if constexpr (D == dtype::i16)
    return static_cast<std::int16_t>(raw);
  else if constexpr (D == dtype::i32)
    return static_cast<std::int32_t>(raw);
  else if constexpr (D == dtype::u8)
    return static_cast<std::uint8_t>(raw);
  else if constexpr (D == dtype::u16)
    return static_cast<std::uint16_t>(raw);
  else if constexpr (D == dtype::u32)
    return static_cast<std::uint32_t>(raw);
  else
    return static_cast<std::int64_t>(raw);
}

[[noreturn]] inline void divide_by_zero(const machine& m) {
  throw error("integer division by zero in " + where(m));
}

template <op O, dtype D>
value binary_int(const expr_code& n, machine& m) {
  const std::int64_t a = eval_int(n.a, m), b = eval_int(n.b, m);
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  constexpr bool wide = D == dtype::u64;
  if constexpr (O == op::add)
    return of_int(wrap<D>(ua + ub));
  else if constexpr (O == op::sub)
    return of_int(wrap<D>(ua - ub));
  else if constexpr (O == op::mul)
    return of_int(wrap<D>(ua * ub));
  else if constexpr (O == op::min)
    return of_int((wide ? ua < ub : a < b) ? a : b);
  else if constexpr (O == op::max)
    return of_int((wide ? ua < ub : a < b) ? b : a);
  else {
    if (b == 0) divide_by_zero(m);
    return of_int(fold_integer(O, D, a, b));
  }
}

template <op O, dtype D>
value binary_real(const expr_code& n, machine& m) {
  using T = held_t<D>;
  const T a = get<T>(eval(n.a, m)), b = get<T>(eval(n.b, m));
  if constexpr (O == op::add)
    return put<T>(a + b);
  else if constexpr (O == op::sub)
    return put<T>(a - b);
  else if constexpr (O == op::mul)
    return put<T>(a * b);
  else if constexpr (O == op::div)
    return put<T>(a / b);
  else if constexpr (O == op::mod)
    return put<T>(std::fmod(a, b));
  else if constexpr (O == op::floordiv)
    return put<T>(std::floor(a / b));
  else if constexpr (O == op::floormod)
    return put<T>(a - std::floor(a / b) * b);
  else if constexpr (O == op::min)
    return put<T>(a < b ? a : b);
  else
    return put<T>(a > b ? a : b);
}

template <op O, dtype D>
value comparison(const expr_code& n, machine& m) {
  using T = held_t<D>;
  const auto apply = [](auto a, auto b) {
    if constexpr (O == op::eq)
      return a == b;
    else if constexpr (O == op::ne)
      return a != b;
    else if constexpr (O == op::lt)
      return a < b;
    else if constexpr (O == op::le)
      return a <= b;
    else if constexpr (O == op::gt)
      return a > b;
    else
      return a >= b;
  };
  const T a = get<T>(eval(n.a, m)), b = get<T>(eval(n.b, m));
  if constexpr (D == dtype::u64)
    return of_int(apply(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  else
    return of_int(apply(a, b));
}

template <op O, dtype D>
evaluator pick_typed() {
  if constexpr (O >= op::eq && O <= op::ge)
    return &comparison<O, D>;
  else if constexpr (is_float(D))
    return &binary_real<O, D>;
  else
    return &binary_int<O, D>;
}

/// Calls `f` with the type as a template argument.
template <class F>
auto with_type(dtype t, const F& f) {
  switch (t) {
    case dtype::boolean: return f(std::integral_constant<dtype, dtype::boolean>{});
    case dtype::i8: return f(std::integral_constant<dtype, dtype::i8>{});
    case dtype::i16: return f(std::integral_constant<dtype, dtype::i16>{});
    case dtype::i32: return f(std::integral_constant<dtype, dtype::i32>{});
    case dtype::i64: return f(std::integral_constant<dtype, dtype::i64>{});
    case dtype::u8: return f(std::integral_constant<dtype, dtype::u8>{});
    case dtype::u16: return f(std::integral_constant<dtype, dtype::u16>{});
    case dtype::u32: return f(std::integral_constant<dtype, dtype::u32>{});
    case dtype::u64: return f(std::integral_constant<dtype, dtype::u64>{});
    case dtype::f16: return f(std::integral_constant<dtype, dtype::f16>{});
    case dtype::bf16: return f(std::integral_constant<dtype, dtype::bf16>{});
    case dtype::f32: return f(std::integral_constant<dtype, dtype::f32>{});
    case dtype::f64: return f(std::integral_constant<dtype, dtype::f64>{});
    case dtype::handle: throw argument_error("pointers cannot be interpreted");
  }
  throw internal_error("interpret met an unknown type");
}

template <op O>
evaluator pick_operator(dtype t) {
  return with_type(t, [](auto d) { return pick_typed<O, decltype(d)::value>(); });
}

inline evaluator pick_binary(op o, dtype operands) {
  switch (o) {
    case op::add: return pick_operator<op::add>(operands);
    case op::sub: return pick_operator<op::sub>(operands);
    case op::mul: return pick_operator<op::mul>(operands);
    case op::div: return pick_operator<op::div>(operands);
    case op::mod: return pick_operator<op::mod>(operands);
    case op::floordiv: return pick_operator<op::floordiv>(operands);
    case op::floormod: return pick_operator<op::floormod>(operands);
    case op::min: return pick_operator<op::min>(operands);
    case op::max: return pick_operator<op::max>(operands);
    case op::eq: return pick_operator<op::eq>(operands);
    case op::ne: return pick_operator<op::ne>(operands);
    case op::lt: return pick_operator<op::lt>(operands);
    case op::le: return pick_operator<op::le>(operands);
    case op::gt: return pick_operator<op::gt>(operands);
    case op::ge: return pick_operator<op::ge>(operands);
    default: throw internal_error("interpret met an unknown operator");
  }
}

template <dtype D, class T>
std::int64_t to_integer(T x) {
  if constexpr (D == dtype::boolean) return x != 0;
  if (std::isnan(x)) return 0;
  constexpr int width = bits(D);
  const double cut = std::trunc(static_cast<double>(x));
  const double top = std::ldexp(1.0, is_unsigned(D) ? width : width - 1);
  if (cut >= top) return highest_value(D)->integer;
  if (cut < (is_unsigned(D) ? 0.0 : -top)) return lowest_value(D)->integer;
  if constexpr (D == dtype::u64)
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(cut));
  else
    return static_cast<std::int64_t>(cut);
}

/// Value of a narrow float type after one rounding, held as float.
template <dtype D, class T>
float rounded(T x) {
  if constexpr (D == dtype::f16)
    return static_cast<float>(float16(x));
  else if constexpr (D == dtype::bf16)
    return static_cast<float>(bfloat16(x));
  else
    return static_cast<float>(x);
}

template <dtype To, dtype From>
value convert(const value& v) {
  using source = held_t<From>;
  const source x = get<source>(v);
  if constexpr (To == dtype::f64) {
    if constexpr (From == dtype::u64)
      return of_double(static_cast<double>(static_cast<std::uint64_t>(x)));
    else
      return of_double(static_cast<double>(x));
  } else if constexpr (is_float(To)) {
    if constexpr (From == dtype::f64)
      return of_float(rounded<To>(x));
    else if constexpr (From == dtype::u64)
      return of_float(rounded<To>(static_cast<float>(static_cast<std::uint64_t>(x))));
    else
      return of_float(rounded<To>(static_cast<float>(x)));
  } else if constexpr (is_float(From)) {
    return of_int(to_integer<To>(x));
  } else {
    return of_int(wrap<To>(static_cast<std::uint64_t>(x)));
  }
}

template <dtype To, dtype From>
value run_cast(const expr_code& n, machine& m) {
  return convert<To, From>(eval(n.a, m));
}

inline evaluator pick_cast(dtype to, dtype from) {
  return with_type(to, [&](auto t) {
    return with_type(from, [&](auto f) -> evaluator {
      return &run_cast<decltype(t)::value, decltype(f)::value>;
    });
  });
}

template <class T>
T read_raw(const std::byte* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

template <dtype D>
value read_element(const std::byte* p) {
  if constexpr (D == dtype::boolean)
    return of_int(read_raw<std::uint8_t>(p) != 0);
  else if constexpr (D == dtype::i8)
    return of_int(read_raw<std::int8_t>(p));
  else if constexpr (D == dtype::i16)
    return of_int(read_raw<std::int16_t>(p));
  else if constexpr (D == dtype::i32)
    return of_int(read_raw<std::int32_t>(p));
  else if constexpr (D == dtype::u8)
    return of_int(read_raw<std::uint8_t>(p));
  else if constexpr (D == dtype::u16)
    return of_int(read_raw<std::uint16_t>(p));
  else if constexpr (D == dtype::u32)
    return of_int(read_raw<std::uint32_t>(p));
  else if constexpr (D == dtype::f32)
    return of_float(read_raw<float>(p));
  else if constexpr (D == dtype::f64)
    return of_double(read_raw<double>(p));
  else if constexpr (D == dtype::f16) {
    float16 h{};
    h.bits = read_raw<std::uint16_t>(p);
    return of_float(static_cast<float>(h));
  } else if constexpr (D == dtype::bf16) {
    bfloat16 h{};
    h.bits = read_raw<std::uint16_t>(p);
    return of_float(static_cast<float>(h));
  } else {
    return of_int(read_raw<std::int64_t>(p));
  }
}

template <dtype D>
void write_element(std::byte* p, const value& v) {
  if constexpr (D == dtype::f32) {
    std::memcpy(p, &v.f, 4);
  } else if constexpr (D == dtype::f64) {
    std::memcpy(p, &v.d, 8);
  } else if constexpr (D == dtype::f16) {
    const std::uint16_t raw = float16(v.f).bits;
    std::memcpy(p, &raw, 2);
  } else if constexpr (D == dtype::bf16) {
    const std::uint16_t raw = bfloat16(v.f).bits;
    std::memcpy(p, &raw, 2);
  } else if constexpr (bytes(D) == 1) {
    const auto raw = static_cast<std::uint8_t>(v.i);
    std::memcpy(p, &raw, 1);
  } else if constexpr (bytes(D) == 2) {
    const auto raw = static_cast<std::uint16_t>(v.i);
    std::memcpy(p, &raw, 2);
  } else if constexpr (bytes(D) == 4) {
    const auto raw = static_cast<std::uint32_t>(v.i);
    std::memcpy(p, &raw, 4);
  } else {
    std::memcpy(p, &v.i, 8);
  }
}

inline std::string position(const std::vector<const expr_code*>& indices, machine& m) {
  std::string text = "[";
  for (std::size_t d = 0; d < indices.size(); ++d)
    text += (d ? ", " : "") + std::to_string(eval_int(indices[d], m));
  return text + "]";
}

[[noreturn]] inline void refuse_access(const char* what, const bound_buffer& b,
                                       const std::vector<const expr_code*>& indices, machine& m) {
  std::string shape;
  for (std::size_t d = 0; d < b.shape.size(); ++d)
    shape += (d ? ", " : "") + std::to_string(b.shape[d]);
  throw error(std::string(what) + " " + b.node->name + position(indices, m) + " in " + where(m) +
              "; the shape of " + b.node->name + " is (" + shape + ")");
}

/// Offset of an element from element 0, in elements, after the bounds check.
inline std::int64_t locate(const bound_buffer& b, const std::vector<const expr_code*>& indices,
                           machine& m) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const std::int64_t i = eval_int(indices[d], m);
    if (i < 0 || i >= b.shape[d]) refuse_access("access out of bounds:", b, indices, m);
    offset += i * b.strides[d];
  }
  return offset;
}

inline void note_read(const bound_buffer& b, std::int64_t offset,
                      const std::vector<const expr_code*>& indices, machine& m) {
  if (!m.parallel_loop) return;
  shadow& s = b.shadows[offset - b.lowest];
  if (s.write_loop == m.parallel_loop && s.write_turn != m.parallel_turn)
    refuse_access("race: two parallel iterations touch", b, indices, m);
  s.many_readers =
      s.read_loop == m.parallel_loop && (s.many_readers || s.read_turn != m.parallel_turn);
  s.read_loop = m.parallel_loop;
  s.read_turn = m.parallel_turn;
}

inline void note_write(const bound_buffer& b, std::int64_t offset,
                       const std::vector<const expr_code*>& indices, machine& m) {
  if (!m.parallel_loop) return;
  shadow& s = b.shadows[offset - b.lowest];
  const bool read_elsewhere =
      s.read_loop == m.parallel_loop && (s.many_readers || s.read_turn != m.parallel_turn);
  if (read_elsewhere || (s.write_loop == m.parallel_loop && s.write_turn != m.parallel_turn))
    refuse_access("race: two parallel iterations touch", b, indices, m);
  s.write_loop = m.parallel_loop;
  s.write_turn = m.parallel_turn;
}

template <dtype D>
value run_load(const expr_code& n, machine& m) {
  const bound_buffer& b = m.buffers[static_cast<std::size_t>(n.slot)];
  const std::int64_t offset = locate(b, n.indices, m);
  if (b.written && !b.written[offset - b.lowest])
    refuse_access("read of unwritten memory:", b, n.indices, m);
  if (b.shadows) note_read(b, offset, n.indices, m);
  return read_element<D>(b.data + offset * bytes(D));
}

template <dtype D>
void run_store(const bound_buffer& b, const std::vector<const expr_code*>& indices, const value& v,
               machine& m) {
  const std::int64_t offset = locate(b, indices, m);
  if (b.written) b.written[offset - b.lowest] = 1;
  if (b.shadows) note_write(b, offset, indices, m);
  write_element<D>(b.data + offset * bytes(D), v);
}

inline value run_constant(const expr_code& n, machine&) { return n.constant; }
inline value run_variable(const expr_code& n, machine& m) {
  return m.slots[static_cast<std::size_t>(n.slot)];
}
inline value run_choice(const expr_code& n, machine& m) {
  return eval_int(n.a, m) ? eval(n.b, m) : eval(n.c, m);
}
inline value run_select(const expr_code& n, machine& m) {
  const bool yes = eval_int(n.a, m) != 0;
  const value x = eval(n.b, m), y = eval(n.c, m);
  return yes ? x : y;
}
inline value run_and(const expr_code& n, machine& m) {
  const std::int64_t a = eval_int(n.a, m), b = eval_int(n.b, m);
  return of_int(a && b);
}
inline value run_or(const expr_code& n, machine& m) {
  const std::int64_t a = eval_int(n.a, m), b = eval_int(n.b, m);
  return of_int(a || b);
}
inline value run_not(const expr_code& n, machine& m) { return of_int(eval_int(n.a, m) == 0); }

/// Sum of coefficient * variable; wrapping once at the end equals wrapping after every operation.
template <dtype D>
value run_affine(const expr_code& n, machine& m) {
  auto sum = static_cast<std::uint64_t>(n.constant.i);
  for (const affine_term& t : n.terms) {
    const std::int64_t x =
        t.slot >= 0 ? m.slots[static_cast<std::size_t>(t.slot)].i : eval_int(t.code, m);
    sum += static_cast<std::uint64_t>(t.coefficient) * static_cast<std::uint64_t>(x);
  }
  return of_int(wrap<D>(sum));
}

}  // namespace tilewright::ir::detail::interp
