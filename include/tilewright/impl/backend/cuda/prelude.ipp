#pragma once

#include <tilewright/backend/cuda/prelude.hpp>
#include <tilewright/impl/backend/cuda/prelude_groups.hpp>
#include <tilewright/impl/backend/cuda/prelude_parts.hpp>
#include <tilewright/impl/backend/cuda/tensor/prelude_roles.hpp>
#include <tilewright/impl/backend/cuda/tensor/prelude_tensors.hpp>

namespace tilewright::backend::cuda {
namespace detail {

inline std::string_view device_part() {
  return R"cuda(// for devices
#define TW_FUNCTION static __device__ __forceinline__
#define TW_MEMBER __device__ __forceinline__
// Threads of a block and, where it is said, how many blocks shall be on a multiprocessor at once.
#define TW_KERNEL(...) __global__ __launch_bounds__(__VA_ARGS__)
#define TW_GLOBAL(type) type* __restrict__
#define TW_BLOCK(axis) static_cast<int>(blockIdx.axis)
#define TW_THREAD(axis) static_cast<int>(threadIdx.axis)
#define TW_LOCAL(type, name, count) type name[count]
#define TW_SHARED(type, name, offset, count) \
  type* const name = reinterpret_cast<type*>(tw_shared_memory + (offset))
#ifndef TW_SHARED_ALIGNMENT
#define TW_SHARED_ALIGNMENT 128
#endif
extern __shared__ __align__(TW_SHARED_ALIGNMENT) unsigned char tw_shared_memory[];

TW_FUNCTION void tw_barrier() { asm volatile("bar.sync 0;" ::: "memory"); }

// Lanes of a group of a power of two threads exchange values; all of the group must be there.
TW_FUNCTION unsigned tw_shuffle_bits(unsigned x, int lanes, int group) {
  unsigned lane, out;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  const unsigned members = group == 32 ? 0xffffffffu : ((1u << group) - 1u) << (lane & ~(group - 1u));
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, %3;" : "=r"(out) : "r"(x), "r"(lanes), "r"(members));
  return out;
}

template <class T, class I, class V>
TW_FUNCTION void tw_store(T* to, I at, V value) {
  to[at] = static_cast<T>(value);
}
template <class To, class From>
TW_FUNCTION To tw_reinterpret(From x) {
  static_assert(sizeof(To) == sizeof(From), "");
  To out;
  memcpy(&out, &x, sizeof out);
  return out;
}
template <class T, int count>
struct __align__(sizeof(T) * count) tw_vector {
  T lanes[count];
  TW_MEMBER T& operator[](int i) { return lanes[i]; }
  TW_MEMBER const T& operator[](int i) const { return lanes[i]; }
};
template <class T>
struct tw_plain {
  using type = T;
};
template <class T>
struct tw_plain<const T> {
  using type = T;
};
template <int count, class T, class I>
TW_FUNCTION tw_vector<typename tw_plain<T>::type, count> tw_load_vector(T* from, I at) {
  return *reinterpret_cast<const tw_vector<typename tw_plain<T>::type, count>*>(from + at);
}
template <class T, int count, class I>
TW_FUNCTION void tw_store_vector(T* to, I at, tw_vector<T, count> value) {
  *reinterpret_cast<tw_vector<T, count>*>(to + at) = value;
}

TW_FUNCTION float tw_widen_f16(unsigned short x) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(x));
  return out;
}
TW_FUNCTION unsigned short tw_round_f16(float x) {
  unsigned short out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x));
  return out;
}
TW_FUNCTION unsigned short tw_round_f16(double x) {
  unsigned short out;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(out) : "d"(x));
  return out;
}
TW_FUNCTION unsigned short tw_round_bf16(float x) {
  unsigned short out;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out) : "f"(x));
  return out;
}
template <class T>
TW_FUNCTION int tw_count_bits(T x) {
  return __popcll(static_cast<unsigned long long>(x));
}
// A result below the smallest normal number is 0: two instructions less than what keeps it.
TW_FUNCTION float tw_exp2(float x) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
#define TW_MATH(name) name
#define TW_COPY memcpy
)cuda";
}

inline std::string_view host_part() {
  return R"cuda(// for the host
#define TW_FUNCTION static inline
#define TW_MEMBER
#define TW_KERNEL(...)
#define TW_GLOBAL(type) tw_memory<type>
#define TW_BLOCK(axis) tw_place->block.axis
#define TW_THREAD(axis) tw_place->thread.axis
#define TW_LOCAL(type, name, count) tw_registers<type, count> name(#name)
#define TW_SHARED(type, name, offset, count) \
  const tw_memory<type> name = tw_shared<type>(#name, offset, count)
typedef unsigned long tw_size;
struct tw_index { int x, y, z; };
struct tw_location { tw_index block, thread; int number; };
struct tw_argument { void* data; const void* region; tw_size elements; };
struct tw_access { const void* region; const char* name; void* base; tw_size elements, element; };
struct tw_runtime {
  void (*read)(const tw_access*, long long at, tw_size count);
  void (*write)(const tw_access*, long long at, tw_size count, const void* value);
  void (*add)(const tw_access*, long long at);
  void (*barrier)();
  const void* (*meet)(const char* what, int detail, const void* mine, tw_size bytes, int group);
  void (*copy)(const tw_access* to, long long at, const tw_access* from, long long there, tw_size count);
  void (*commit)();
  void (*wait_copies)(int pending);
  void (*matrix)(int steps);
  void* (*shared)(const void** region, const char* name, tw_size offset, tw_size bytes);
  void (*registers)(const char* name, long long at, tw_size count, int state);
  unsigned long (*read_product)(const tw_access*, long long at, tw_size count, unsigned long before);
  void (*start_product)(void (*finish)(const void*), const void* what, tw_size bytes);
  void (*commit_products)();
  void (*wait_products)(int pending);
  void (*refuse)(const char* what);
  void (*init_arrivals)(const tw_access* arrivals, long long at, int count);
  void (*fence_arrivals)();
  void (*drop_arrivals)(const tw_access* arrivals, long long at);
  void (*arrive)(const tw_access* arrivals, long long at, int bytes);
  void (*wait_phase)(const tw_access* arrivals, long long at, int parity);
  void (*fence_async)();
  unsigned (*draw)(unsigned below);
  void (*copy_tensor)(const tw_access* to, long long at, const void* map, const tw_access* arrivals, long long there,
                      const int* place, int rank);
  void (*store_tensor)(const void* map, const tw_access* from, long long at, const int* place, int rank);
  void (*commit_stores)();
  void (*wait_stores)(int pending, int whole);
  void (*barrier_of)(int number, int threads);
  void (*change_registers)(int count, int more);
  void (*products_read)();
};
extern "C" {
tw_location* tw_place;
const tw_runtime* tw_host;
}
static unsigned tw_product_fences[1024];  // of each thread
template <class T>
struct tw_plain { using type = T; };
template <class T>
struct tw_plain<const T> { using type = T; };
template <class T, int count>
struct tw_vector {
  T lanes[count];
  T& operator[](int i) { return lanes[i]; }
  const T& operator[](int i) const { return lanes[i]; }
};
template <class T>
struct tw_memory {
  using value = typename tw_plain<T>::type;
  tw_access access;
  value operator[](long long at) const {
    tw_host->read(&access, at, 1);
    return static_cast<const value*>(access.base)[at];
  }
};
template <class T>
static tw_memory<T> tw_global(const tw_argument& a, const char* name) {
  return {{a.region, name, a.data, a.elements, sizeof(T)}};
}
template <class T>
static tw_memory<T> tw_shared(const char* name, tw_size offset, tw_size count) {
  const void* region;
  void* base = tw_host->shared(&region, name, offset, count * sizeof(T));
  return {{region, name, base, count, sizeof(T)}};
}
// Registers of one thread; what was never written cannot be read, and nothing touched that a product is adding to.
template <class T, int count>
struct tw_registers {
  explicit tw_registers(const char* n) : name(n) {}
  T operator[](long long at) const {
    if (at < 0 || at >= count || written[at] != 1)
      tw_host->registers(name, at, count, at < 0 || at >= count ? 0 : written[at] ? 2 : 1);
    return values[at];
  }
  const T* several(long long at, int wanted) const {
    for (long long i = at; i < at + wanted; ++i)
      if (i < 0 || i >= count || written[i] != 1) (*this)[i];
    return values + at;
  }
  const char* name;
  T values[count];
  unsigned char written[count] = {};  // 1 and how many products are under way
  unsigned fences = 0;                // what the thread had executed when something was stored
};
template <class T, class V>
static void tw_store(const tw_memory<T>& to, long long at, V value) {
  const T stored = static_cast<T>(value);
  tw_host->write(&to.access, at, 1, &stored);
}
template <class T, int count, class V>
static void tw_store(tw_registers<T, count>& to, long long at, V value) {
  if (at < 0 || at >= count || to.written[at] > 1)
    tw_host->registers(to.name, at, count, at < 0 || at >= count ? 0 : 2);
  to.values[at] = static_cast<T>(value);
  to.written[at] = 1;
  to.fences = tw_product_fences[tw_place->number];
}
template <int count, class T>
static tw_vector<typename tw_plain<T>::type, count> tw_load_vector(const tw_memory<T>& from, long long at) {
  tw_host->read(&from.access, at, count);
  tw_vector<typename tw_plain<T>::type, count> out;
  for (int i = 0; i < count; ++i) out[i] = static_cast<const T*>(from.access.base)[at + i];
  return out;
}
template <class T, int count>
static void tw_store_vector(const tw_memory<T>& to, long long at, const tw_vector<T, count>& value) {
  tw_host->write(&to.access, at, count, &value);
}
static void tw_barrier() { tw_host->barrier(); }
static unsigned tw_shuffle_bits(unsigned x, int lanes, int group) {
  const void* const all = tw_host->meet("shuffle", lanes, &x, sizeof x, group);
  return static_cast<const unsigned*>(all)[(tw_place->number & (group - 1)) ^ lanes];
}

template <class To, class From>
static To tw_reinterpret(From x) {
  static_assert(sizeof(To) == sizeof(From), "");
  To out;
  __builtin_memcpy(&out, &x, sizeof out);
  return out;
}
static float tw_widen_f16(unsigned short x) {
  const unsigned sign = (x & 0x8000u) << 16, exponent = x >> 10 & 31u, fraction = x & 0x3ffu;
  if (exponent == 31) return tw_reinterpret<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent) return tw_reinterpret<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign ? -small : small;
}
// Rounds to nearest, ties to even.
static unsigned short tw_round_f16(double x) {
  const unsigned long long bits = tw_reinterpret<unsigned long long>(x);
  const unsigned short sign = static_cast<unsigned short>(bits >> 48 & 0x8000u);
  if (x != x) return 0x7fff;
  double size = x < 0 ? -x : x;
  if (size >= 65520.0) return sign | 0x7c00;
  double unit = 0x1p-24;
  while (size >= unit * 2048.0) unit *= 2;
  double steps = size / unit;
  long long whole = static_cast<long long>(steps);
  const double rest = steps - static_cast<double>(whole);
  if (rest > 0.5 || (rest == 0.5 && (whole & 1))) ++whole;
  int exponent = 0;
  while (unit > 0x1p-24) unit /= 2, ++exponent;
  // whole counts units of 2^(exponent - 24); with exponent 0 the smallest normal number is 1024 units
  return static_cast<unsigned short>(sign | (exponent == 0 ? whole : (exponent << 10) + whole));
}
static unsigned short tw_round_f16(float x) { return tw_round_f16(static_cast<double>(x)); }
static unsigned short tw_round_bf16(float x) {
  const unsigned bits = tw_reinterpret<unsigned>(x);
  if (x != x) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
template <class T>
static int tw_count_bits(T x) {
  int out = 0;
  for (unsigned long long rest = static_cast<unsigned long long>(x); rest; rest &= rest - 1) ++out;
  return out;
}
// The device's is off by no more than 2^-22 of it, and 0 too where the result is less than the smallest normal number.
static float tw_exp2(float x) {
  const float out = __builtin_exp2f(x);
  return out < 0x1p-126f ? 0.0f : out;
}
#define TW_MATH(name) __builtin_##name
#define TW_COPY __builtin_memcpy
)cuda";
}

inline std::string_view common_part() {
  return R"cuda(
struct tw_f16 {
  unsigned short bits;
  tw_f16() = default;
  TW_MEMBER explicit tw_f16(float x) : bits(tw_round_f16(x)) {}
  TW_MEMBER explicit tw_f16(double x) : bits(tw_round_f16(x)) {}
};
struct tw_bf16 {
  unsigned short bits;
  tw_bf16() = default;
  TW_MEMBER explicit tw_bf16(float x) : bits(tw_round_bf16(x)) {}
  TW_MEMBER explicit tw_bf16(double x) : bits(tw_round_bf16(static_cast<float>(x))) {}
};
TW_FUNCTION float tw_float(tw_f16 x) { return tw_widen_f16(x.bits); }
TW_FUNCTION float tw_float(tw_bf16 x) {
  return tw_reinterpret<float>(static_cast<unsigned>(x.bits) << 16);
}

template <class T> struct tw_limits;
#define TW_LIMITS(type, least, most)                    \
  template <> struct tw_limits<type> {                  \
    TW_MEMBER static constexpr type lowest() { return least; } \
    TW_MEMBER static constexpr type highest() { return most; } \
  };
TW_LIMITS(signed char, -128, 127)
TW_LIMITS(short, -32768, 32767)
TW_LIMITS(int, -2147483647 - 1, 2147483647)
TW_LIMITS(long long, -9223372036854775807ll - 1, 9223372036854775807ll)
TW_LIMITS(unsigned char, 0, 255)
TW_LIMITS(unsigned short, 0, 65535)
TW_LIMITS(unsigned int, 0, 4294967295u)
TW_LIMITS(unsigned long long, 0, 18446744073709551615ull)

template <class T> struct tw_special;
template <> struct tw_special<float> {
  TW_MEMBER static float infinity() { return tw_reinterpret<float>(0x7f800000u); }
  TW_MEMBER static float nan() { return tw_reinterpret<float>(0x7fc00000u); }
};
template <> struct tw_special<double> {
  TW_MEMBER static double infinity() { return tw_reinterpret<double>(0x7ff0000000000000ull); }
  TW_MEMBER static double nan() { return tw_reinterpret<double>(0x7ff8000000000000ull); }
};

// Integers wrap at their width.
template <class T> TW_FUNCTION T tw_add(T a, T b) {
  return static_cast<T>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(b));
}
template <class T> TW_FUNCTION T tw_sub(T a, T b) {
  return static_cast<T>(static_cast<unsigned long long>(a) - static_cast<unsigned long long>(b));
}
template <class T> TW_FUNCTION T tw_mul(T a, T b) {
  return static_cast<T>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(b));
}
template <class T> TW_FUNCTION T tw_min(T a, T b) { return a < b ? a : b; }
template <class T> TW_FUNCTION T tw_max(T a, T b) { return a > b ? a : b; }

// Dividing by 0 divides by 1, and the smallest number divided by -1 wraps.
template <class T> TW_FUNCTION T tw_div(T a, T b) {
  if (b == 0) return a;
  return static_cast<T>(b + 1) == 0 && tw_limits<T>::lowest() < 0 ? tw_sub<T>(0, a) : static_cast<T>(a / b);
}
template <class T> TW_FUNCTION T tw_mod(T a, T b) {
  if (b == 0 || (static_cast<T>(b + 1) == 0 && tw_limits<T>::lowest() < 0)) return 0;
  return static_cast<T>(a % b);
}
template <class T> TW_FUNCTION T tw_floormod(T a, T b) {
  const T rest = tw_mod<T>(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
}
template <class T> TW_FUNCTION T tw_floordiv(T a, T b) {
  const T rest = tw_mod<T>(a, b), quotient = tw_div<T>(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
}

// From a float to an integer: towards zero, at the ends of the range where it is beyond them.
template <class T, class F> TW_FUNCTION T tw_saturate(F x) {
  if (x != x) return 0;
  if (x <= static_cast<F>(tw_limits<T>::lowest())) return tw_limits<T>::lowest();
  if (x >= static_cast<F>(tw_limits<T>::highest())) return tw_limits<T>::highest();
  return static_cast<T>(x);
}

template <class T> TW_FUNCTION T tw_abs(T x) { return x < 0 ? tw_sub<T>(0, x) : x; }
TW_FUNCTION float tw_abs(float x) { return TW_MATH(fabsf)(x); }
TW_FUNCTION double tw_abs(double x) { return TW_MATH(fabs)(x); }
template <class T> TW_FUNCTION T tw_bitwise_and(T a, T b) { return static_cast<T>(a & b); }
template <class T> TW_FUNCTION T tw_bitwise_or(T a, T b) { return static_cast<T>(a | b); }
template <class T> TW_FUNCTION T tw_bitwise_xor(T a, T b) { return static_cast<T>(a ^ b); }
template <class T> TW_FUNCTION T tw_bitwise_not(T a) { return static_cast<T>(~a); }
template <class T> TW_FUNCTION T tw_shift_left(T a, T b) {
  return static_cast<T>(static_cast<unsigned long long>(a) << (b & (8 * sizeof(T) - 1)));
}
template <class T> TW_FUNCTION T tw_shift_right(T a, T b) {
  return static_cast<T>(a >> (b & (8 * sizeof(T) - 1)));
}
template <class T> TW_FUNCTION T tw_popcount(T x) {
  return static_cast<T>(tw_count_bits(static_cast<unsigned long long>(x) & (~0ull >> (64 - 8 * sizeof(T)))));
}
template <class T> TW_FUNCTION T tw_pow(T base, T exponent) {
  T out = 1;
  for (T e = exponent < 0 ? T(0) : exponent; e; e = static_cast<T>(e >> 1), base = tw_mul<T>(base, base))
    if (e & 1) out = tw_mul<T>(out, base);
  return out;
}

#define TW_UNARY(name)                                                       \
  TW_FUNCTION float tw_##name(float x) { return TW_MATH(name##f)(x); }       \
  TW_FUNCTION double tw_##name(double x) { return TW_MATH(name)(x); }
#define TW_BINARY(name)                                                                   \
  TW_FUNCTION float tw_##name(float x, float y) { return TW_MATH(name##f)(x, y); }        \
  TW_FUNCTION double tw_##name(double x, double y) { return TW_MATH(name)(x, y); }
TW_UNARY(exp) TW_UNARY(expm1) TW_UNARY(log) TW_UNARY(log2) TW_UNARY(log10)
TW_UNARY(log1p) TW_UNARY(sqrt) TW_UNARY(tanh) TW_UNARY(erf) TW_UNARY(fabs) TW_UNARY(floor)
TW_UNARY(ceil) TW_UNARY(nearbyint) TW_UNARY(trunc) TW_UNARY(sin) TW_UNARY(cos) TW_UNARY(tan)
TW_UNARY(asin) TW_UNARY(acos) TW_UNARY(atan) TW_UNARY(sinh) TW_UNARY(cosh) TW_UNARY(asinh)
TW_UNARY(acosh) TW_UNARY(atanh) TW_UNARY(cbrt)
TW_BINARY(pow) TW_BINARY(atan2) TW_BINARY(fmod) TW_BINARY(hypot) TW_BINARY(copysign)
TW_BINARY(nextafter)
TW_FUNCTION double tw_exp2(double x) { return TW_MATH(exp2)(x); }
// Of two numbers the greater one; of a number and a NaN the number, which takes one instruction.
TW_FUNCTION float tw_greater(float a, float b) { return TW_MATH(fmaxf)(a, b); }
TW_FUNCTION float tw_fma(float a, float b, float c) { return TW_MATH(fmaf)(a, b, c); }
TW_FUNCTION double tw_fma(double a, double b, double c) { return TW_MATH(fma)(a, b, c); }
template <class T> TW_FUNCTION T tw_round(T x) { return tw_nearbyint(x); }
template <class T> TW_FUNCTION T tw_exp10(T x) { return tw_pow(T(10), x); }
template <class T> TW_FUNCTION T tw_rsqrt(T x) { return T(1) / tw_sqrt(x); }
template <class T> TW_FUNCTION T tw_sigmoid(T x) { return T(1) / (T(1) + tw_exp(-x)); }
template <class T> TW_FUNCTION bool tw_isnan(T x) { return x != x; }
template <class T> TW_FUNCTION bool tw_isinf(T x) { return tw_fabs(x) == tw_special<T>::infinity(); }
template <class T> TW_FUNCTION bool tw_isfinite(T x) { return tw_fabs(x) < tw_special<T>::infinity(); }
TW_FUNCTION float tw_floordiv(float a, float b) { return tw_floor(a / b); }
TW_FUNCTION double tw_floordiv(double a, double b) { return tw_floor(a / b); }
TW_FUNCTION float tw_floormod(float a, float b) { return a - tw_floor(a / b) * b; }
TW_FUNCTION double tw_floormod(double a, double b) { return a - tw_floor(a / b) * b; }

// The value of the thread whose number differs in the bits of `lanes`, in groups of a power of two
// threads.
template <class T> TW_FUNCTION T tw_shuffle_xor(T x, int lanes, int group) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "");
  unsigned part[2] = {};
  TW_COPY(part, &x, sizeof x);
  part[0] = tw_shuffle_bits(part[0], lanes, group);
  if (sizeof(T) == 8) part[1] = tw_shuffle_bits(part[1], lanes, group);
  T out;
  TW_COPY(&out, part, sizeof out);
  return out;
}

)cuda";
}

}  // namespace detail

TILEWRIGHT_INLINE std::string device_prelude(std::string_view text) {
  const bool copies = detail::copies_in_background(text),
             matrices = detail::multiplies_matrices(text), tensors = detail::copies_tensors(text),
             groups = detail::multiplies_in_groups(text);
  // swizzled rows begin where their pattern does
  std::string out =
      std::string("#define TW_SHARED_ALIGNMENT ") + (groups || tensors ? "1024" : "128") + "\n";
  out += detail::device_part();
  out += detail::common_part();
  if (detail::adds_atomically(text)) out += detail::device_additions();
  if (copies || matrices || tensors || groups) out += detail::device_addresses();
  if (copies) out += detail::device_copies();
  if (tensors || groups) out += detail::device_fence();
  if (tensors) out += detail::device_tensors();
  if (matrices) out += detail::device_matrices();
  if (groups) out += detail::device_groups(text);
  if (detail::has_roles(text)) out += detail::device_roles();
  return out;
}

TILEWRIGHT_INLINE std::string host_prelude(std::string_view text) {
  std::string out{detail::host_part()};
  out += detail::common_part();
  if (detail::adds_atomically(text)) out += detail::host_additions();
  if (detail::copies_in_background(text)) out += detail::host_copies();
  if (detail::copies_tensors(text) || detail::multiplies_in_groups(text))
    out += detail::host_fence();
  if (detail::copies_tensors(text)) out += detail::host_tensors();
  if (detail::multiplies_matrices(text)) out += detail::host_matrices();
  if (detail::multiplies_in_groups(text)) out += detail::host_groups();
  if (detail::has_roles(text)) out += detail::host_roles();
  return out;
}

}  // namespace tilewright::backend::cuda
