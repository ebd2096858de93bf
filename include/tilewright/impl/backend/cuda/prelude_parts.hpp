// The parts of the prelude that some programs need: products of matrices on tensor cores, copies in
// the background, and additions that memory makes. They follow the common part.
#pragma once

#include <string_view>

namespace tilewright::backend::cuda::detail {

/// Whether a program's text needs this part.
inline bool multiplies_matrices(std::string_view text) {
  for (const char* name : {"tw_mma(", "tw_mma_pair(", "tw_load_matrix(", "tw_load_transposed("})
    if (text.find(name) != text.npos) return true;
  return false;
}

inline bool copies_in_background(std::string_view text) {
  return text.find("tw_copy_async<") != text.npos || text.find("tw_copy_or_zero<") != text.npos;
}

inline bool adds_atomically(std::string_view text) {
  return text.find("tw_atomic_add(") != text.npos;
}

inline std::string_view device_additions() {
  return R"cuda(// Memory adds by itself, whoever else adds to the element; nobody asks what it held before.
#define TW_ATOMIC_ADD(type, instruction, letter)                                         \
  template <class I>                                                                     \
  TW_FUNCTION void tw_atomic_add(type* to, I at, type value) {                           \
    asm volatile("red.relaxed.gpu.add." instruction " [%0], %1;"                         \
                 : : "l"(to + at), letter(value) : "memory");                            \
  }
TW_ATOMIC_ADD(float, "f32", "f")
TW_ATOMIC_ADD(double, "f64", "d")
TW_ATOMIC_ADD(int, "s32", "r")
TW_ATOMIC_ADD(unsigned int, "u32", "r")
TW_ATOMIC_ADD(long long, "u64", "l")
TW_ATOMIC_ADD(unsigned long long, "u64", "l")
template <class I>
TW_FUNCTION void tw_atomic_add(tw_f16* to, I at, tw_f16 value) {
  asm volatile("red.relaxed.gpu.add.noftz.f16 [%0], %1;"
               : : "l"(to + at), "h"(value.bits) : "memory");
}
)cuda";
}

inline std::string_view host_additions() {
  return R"cuda(// Memory adds by itself; integers wrap.
template <class T>
static T tw_sum(T a, T b) { return tw_add<T>(a, b); }
static float tw_sum(float a, float b) { return a + b; }
static double tw_sum(double a, double b) { return a + b; }
static tw_f16 tw_sum(tw_f16 a, tw_f16 b) { return tw_f16(tw_float(a) + tw_float(b)); }
template <class T, class V>
static void tw_atomic_add(const tw_memory<T>& to, long long at, V value) {
  tw_host->add(&to.access, at);
  T* const element = static_cast<T*>(to.access.base) + at;
  *element = tw_sum(*element, static_cast<T>(value));
}
)cuda";
}

/// Addresses of shared memory as instructions want them; before the parts that follow.
inline std::string_view device_addresses() {
  return R"cuda(// Where an element of shared memory lies: 32 bits, the beginning and what is added to it.
template <class T, class I>
TW_FUNCTION unsigned tw_shared_address(const T* from, I at) {
  unsigned long long out;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(out) : "l"(from));
  return static_cast<unsigned>(out) + static_cast<unsigned>(at) * static_cast<unsigned>(sizeof(T));
}
)cuda";
}

inline std::string_view device_copies() {
  return R"cuda(// Copies of 4, 8 or 16 bytes to shared memory that the thread does not wait for.
template <int count, class T, class I, class J>
TW_FUNCTION void tw_copy_async(T* to, I at, const T* from, J there) {
  const unsigned place = tw_shared_address(to, at);
  if (count * sizeof(T) == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" :: "r"(place), "l"(from + there) : "memory");
  else if (count * sizeof(T) == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(place), "l"(from + there) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(place), "l"(from + there) : "memory");
}
// The same where there is something to be copied; otherwise zeros.
template <int count, class T, class I, class J>
TW_FUNCTION void tw_copy_or_zero(T* to, I at, const T* from, J there, bool some) {
  unsigned long long address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(to + at));
  const unsigned place = static_cast<unsigned>(address), bytes = some ? count * sizeof(T) : 0;
  const T* const source = some ? from + there : from;
  if (count * sizeof(T) == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" :: "r"(place), "l"(source), "r"(bytes) : "memory");
  else if (count * sizeof(T) == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" :: "r"(place), "l"(source), "r"(bytes) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(place), "l"(source), "r"(bytes) : "memory");
}
// What was started since the last one is a group; a wait leaves the youngest `pending` groups on their way.
TW_FUNCTION void tw_commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
TW_FUNCTION void tw_wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory"); }
)cuda";
}

inline std::string_view host_copies() {
  return R"cuda(template <int count, class T, class U>
static void tw_copy_async(const tw_memory<T>& to, long long at, const tw_memory<U>& from, long long there) {
  tw_host->copy(&to.access, at, &from.access, there, count);
}
template <int count, class T, class U>
static void tw_copy_or_zero(const tw_memory<T>& to, long long at, const tw_memory<U>& from, long long there, bool some) {
  tw_host->copy(&to.access, at, some ? &from.access : nullptr, there, count);
}
static void tw_commit_copies() { tw_host->commit(); }
template <int pending>
static void tw_wait_copies() { tw_host->wait_copies(pending); }
)cuda";
}

inline std::string_view device_matrices() {
  return R"cuda(// Matrices of 16 x 16 elements in the registers of a warp, 8 elements a lane.
// Their layout is that of two mma.m16n8k16 side by side, of tf32 of four mma.m16n8k8.
// `row`: where the row of 16 bytes begins that this lane points to. Of elements of 4 bytes four are loaded,
// which is half of a matrix.
template <class T, class I>
TW_FUNCTION void tw_load_matrix(T* to, int at, const T* from, I row) {
  unsigned words[4];
  const unsigned address = tw_shared_address(from, row);
  if (sizeof(T) == 1) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1]) : "r"(address) : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(address) : "memory");
  }
  memcpy(to + at, words, sizeof(T) == 1 ? 8 : 16);
}
// Of bytes pairs are transposed: those of rows 2 g, then those of rows 2 g + 1.
template <class I>
TW_FUNCTION void tw_load_transposed(signed char* to, int at, const signed char* from, I row) {
  unsigned x, y;
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(x), "=r"(y) : "r"(tw_shared_address(from, row)) : "memory");
  const unsigned words[2] = {__byte_perm(x, y, 0x6420), __byte_perm(x, y, 0x7531)};
  memcpy(to + at, words, sizeof words);
}
template <class T, class I>
TW_FUNCTION void tw_load_transposed(T* to, int at, const T* from, I row) {
  unsigned words[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(tw_shared_address(from, row)) : "memory");
  memcpy(to + at, words, sizeof words);
}
#define TW_MMA_FLOAT(type, name)                                                                  \
  TW_FUNCTION void tw_mma(float* c, int ci, const type* a, int ai, const type* b, int bi) {       \
    unsigned x[4], y[4];                                                                          \
    memcpy(x, a + ai, sizeof x);                                                                  \
    memcpy(y, b + bi, sizeof y);                                                                  \
    for (int n = 0; n < 2; ++n) {                                                                 \
      float* const s = c + ci + 4 * n;                                                            \
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "                 \
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
                   : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])                               \
                   : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * n]), "r"(y[2 * n + 1])); \
    }                                                                                             \
  }
TW_MMA_FLOAT(tw_f16, "f16")
TW_MMA_FLOAT(tw_bf16, "bf16")
TW_FUNCTION void tw_mma(tw_f16* c, int ci, const tw_f16* a, int ai, const tw_f16* b, int bi) {
  unsigned x[4], y[4], s[4];
  memcpy(x, a + ai, sizeof x);
  memcpy(y, b + bi, sizeof y);
  memcpy(s, c + ci, sizeof s);
  for (int n = 0; n < 2; ++n)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
                 "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(s[2 * n]), "+r"(s[2 * n + 1])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * n]), "r"(y[2 * n + 1]));
  memcpy(c + ci, s, sizeof s);
}
// Factors of 32 bits lose the last 13 of their fraction: tf32.
TW_FUNCTION unsigned tw_round_tf32(float x) {
  unsigned out;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(x));
  return out;
}
TW_FUNCTION void tw_mma(float* c, int ci, const float* a, int ai, const float* b, int bi) {
  unsigned x[8], y[8];
  for (int i = 0; i < 8; ++i) x[i] = tw_round_tf32(a[ai + i]), y[i] = tw_round_tf32(b[bi + i]);
  for (int n = 0; n < 2; ++n)
    for (int k = 0; k < 2; ++k) {
      float* const s = c + ci + 4 * n;
      const unsigned* const l = x + 4 * k;
      const unsigned* const r = y + 4 * n + 2 * k;
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                   "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                   : "r"(l[0]), "r"(l[1]), "r"(l[2]), "r"(l[3]), "r"(r[0]), "r"(r[1]));
    }
}
TW_FUNCTION void tw_mma(int* c, int ci, const signed char* a, int ai, const signed char* b, int bi) {
  unsigned x[2], y[2];
  memcpy(x, a + ai, sizeof x);
  memcpy(y, b + bi, sizeof y);
  for (int n = 0; n < 2; ++n) {
    int* const s = c + ci + 4 * n;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]) : "r"(x[0]), "r"(x[1]), "r"(y[n]));
  }
}
// Of two tiles along k.
TW_FUNCTION void tw_mma_pair(int* c, int ci, const signed char* a, int ai, const signed char* a1, int ai1,
                             const signed char* b, int bi, const signed char* b1, int bi1) {
  unsigned x[4], y[4];
  memcpy(x, a + ai, 8);
  memcpy(x + 2, a1 + ai1, 8);
  memcpy(y, b + bi, 8);
  memcpy(y + 2, b1 + bi1, 8);
  for (int n = 0; n < 2; ++n) {
    int* const s = c + ci + 4 * n;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[n]), "r"(y[2 + n]));
  }
}
)cuda";
}

inline std::string_view host_matrices() {
  return R"cuda(// Matrices of 16 x 16 elements in the registers of a warp, 8 elements a lane.
// What a lane receives it has read; the row that it points to has to be there whole.
template <class U>
struct tw_pointer { tw_memory<U> from; long long row; };
template <class T, class U>
static const tw_pointer<U>* tw_point(const char* what, const tw_memory<U>& from, long long row, int matrices) {
  using pointer = tw_pointer<U>;
  constexpr int width = 16 / sizeof(T);  // elements of a row
  const pointer mine{from, row};
  if ((tw_place->number & 31) < 8 * matrices) tw_host->read(&from.access, row, width);
  const pointer* const all = static_cast<const pointer*>(
      tw_host->meet(what, 0, &mine, sizeof mine, 32));
  const int lane = tw_place->number & 31;
  // a step gives each of the eight places of 16 bytes in a row of all banks once
  for (int m = 0; lane == 0 && m < matrices; ++m) {
    int wanted[8] = {}, most = 0;
    for (int i = 0; i < 8; ++i) {
      const pointer& p = all[8 * m + i];
      const auto address = reinterpret_cast<unsigned long>(p.from.access.base) + p.row * sizeof(T);
      const int times = ++wanted[address / 16 % 8];
      most = times > most ? times : most;
    }
    tw_host->matrix(most);
  }
  return all;
}
template <class T, int count, class U>
static void tw_receive(const char* what, tw_registers<T, count>& to, int at, const tw_memory<U>& from,
                       long long row, int matrices, bool transposed) {
  constexpr int part = 4 / sizeof(T);  // elements of a register
  const tw_pointer<U>* const all = tw_point<T>(what, from, row, matrices);
  const int lane = tw_place->number & 31, group = lane >> 2, place = lane & 3;
  for (int m = 0; m < matrices; ++m)
    for (int i = 0; i < part; ++i) {
      const tw_pointer<U>& p = all[8 * m + (transposed ? part * place + i : group)];
      tw_store(to, at + part * m + i, p.from[p.row + (transposed ? group : part * place + i)]);
    }
}
template <class T, int count, class U>
static void tw_load_matrix(tw_registers<T, count>& to, int at, const tw_memory<U>& from, long long row) {
  tw_receive("a load of matrices", to, at, from, row, sizeof(T) == 1 ? 2 : 4, false);
}
// Of bytes pairs are transposed: those of rows 2 g, then those of rows 2 g + 1.
template <int count, class U>
static void tw_load_transposed(tw_registers<signed char, count>& to, int at, const tw_memory<U>& from, long long row) {
  const tw_pointer<U>* const all = tw_point<signed char>("a load of transposed matrices", from, row, 2);
  const int lane = tw_place->number & 31, group = lane >> 2, place = lane & 3;
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 4; ++i) {
      const tw_pointer<U>& p = all[8 * (i / 2) + 2 * place + i % 2];
      tw_store(to, at + 4 * n + i, p.from[p.row + 2 * group + n]);
    }
}
template <class T, int count, class U>
static void tw_load_transposed(tw_registers<T, count>& to, int at, const tw_memory<U>& from, long long row) {
  static_assert(sizeof(T) == 2, "");
  tw_receive("a load of transposed matrices", to, at, from, row, 4, true);
}

template <class T>
static double tw_wide(T x) { return tw_float(x); }
static double tw_wide(float x) { return x; }
static long long tw_wide(signed char x) { return x; }
static long long tw_wide(int x) { return x; }
template <class T>
static auto tw_factor(T x) { return tw_wide(x); }
// Of 32 bits the last 13 are rounded away, halves upwards: tf32.
static double tw_factor(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if ((bits >> 23 & 255) != 255) bits = (bits + 0x1000) & 0xffffe000u;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// Sums of products are computed wider than they are kept, and rounded once.
template <class S, int cs, class T, int as, int bs>
static void tw_mma(tw_registers<S, cs>& c, int ci, const tw_registers<T, as>& a, int ai,
                   const tw_registers<T, bs>& b, int bi) {
  struct operands { T a[8], b[8]; };
  operands mine;
  __builtin_memcpy(mine.a, a.several(ai, 8), sizeof mine.a);
  __builtin_memcpy(mine.b, b.several(bi, 8), sizeof mine.b);
  const operands* const all = static_cast<const operands*>(
      tw_host->meet("a product of matrices", 0, &mine, sizeof mine, 32));
  // registers of k = part * place + ... lie in lanes 4 * outer + place
  constexpr int part = 4 / sizeof(T), steps = 4 * part;
  using wide = decltype(tw_wide(T()));
  const int lane = tw_place->number & 31, group = lane >> 2, place = lane & 3;
  wide left[2][16], right[4][16];
  for (int k = 0; k < 16; ++k) {
    const int giver = k % steps / part, step = k / steps, i = k % part;
    for (int row = 0; row < 2; ++row)
      left[row][k] = tw_factor(all[4 * group + giver].a[part * (2 * step + row) + i]);
    for (int column = 0; column < 4; ++column)
      right[column][k] = tw_factor(all[4 * (2 * place + column % 2) + giver]
                                     .b[part * (column / 2 * (16 / steps) + step) + i]);
  }
  for (int n = 0; n < 2; ++n)
    for (int row = 0; row < 2; ++row)
      for (int h = 0; h < 2; ++h) {
        const int at = ci + 4 * n + 2 * row + h;
        wide sum = tw_wide(c[at]);
        for (int k = 0; k < 16; ++k) sum += left[row][k] * right[2 * n + h][k];
        tw_store(c, at, static_cast<S>(sum));
      }
}
// Of two tiles along k.
template <int cs, int as, int bs>
static void tw_mma_pair(tw_registers<int, cs>& c, int ci, const tw_registers<signed char, as>& a, int ai,
                        const tw_registers<signed char, as>& a1, int ai1,
                        const tw_registers<signed char, bs>& b, int bi,
                        const tw_registers<signed char, bs>& b1, int bi1) {
  tw_mma(c, ci, a, ai, b, bi);
  tw_mma(c, ci, a1, ai1, b1, bi1);
}
)cuda";
}

/// For the copy engine and products of warp groups, which reach shared memory by a way of their own.
inline std::string_view device_fence() {
  return R"cuda(// What the thread has stored to shared memory is seen by the copy engine, and by products that read it there.
TW_FUNCTION void tw_fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
)cuda";
}
inline std::string_view host_fence() {
  return "static void tw_fence_async() { tw_host->fence_async(); }\n";
}

}  // namespace tilewright::backend::cuda::detail
