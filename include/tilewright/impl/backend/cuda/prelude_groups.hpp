// The part of the prelude for products of warp groups, wgmma of sm_90a: 128 threads multiply tiles that lie in shared
// memory while they do something else.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tilewright::backend::cuda::detail {

inline bool multiplies_in_groups(std::string_view text) {
  return text.find("tw_multiply_group<") != text.npos;
}

/// Columns of the products in a program's text.
inline std::set<int> group_columns(std::string_view text) {
  constexpr std::string_view name = "tw_multiply_group<";
  std::set<int> out;
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    int n = 0;
    for (std::size_t d = at + name.size(); text[d] >= '0' && text[d] <= '9'; ++d)
      n = 10 * n + (text[d] - '0');
    out.insert(n);
  }
  return out;
}

/// The instruction for 64 x `columns` x 16, of each type of operands: registers of sums, two descriptors.
inline std::string device_group(int columns) {
  const int sums = columns / 2;
  const std::string n = std::to_string(columns);
  const auto argument = [](int i) { return "%" + std::to_string(i); };
  std::string registers, operands;
  for (int i = 0; i < sums; ++i) {
    registers += (i ? ", " : "") + argument(i);
    operands += (i ? ", \"+f\"(c[" : "\"+f\"(c[") + std::to_string(i) + "])";
  }
  std::string out = "template <>\nstruct tw_group<" + n + "> {\n";
  for (const std::string type : {"f16", "bf16"}) {
    out +=
        "  template <int left, int right>\n  TW_MEMBER static void multiply(float* c, const tw_" +
        type + "*, unsigned long long a, unsigned long long b) {\n";
    out += "    asm volatile(\"{\\n.reg .pred adds;\\nsetp.eq.u32 adds, 0, 0;\\n\"\n";
    out += "                 \"wgmma.mma_async.sync.aligned.m64n" + n + "k16.f32." + type + "." +
           type + " {" + registers + "}, \"\n";
    out += "                 \"" + argument(sums) + ", " + argument(sums + 1) + ", adds, 1, 1, " +
           argument(sums + 2) + ", " + argument(sums + 3) + ";\\n}\"\n";
    out += "                 : " + operands +
           "\n                 : \"l\"(a), \"l\"(b), \"n\"(left), \"n\"(right));\n  }\n";
  }
  return out + "};\n";
}

inline std::string device_groups(std::string_view text) {
  std::string out =
      R"cuda(// Products of a warp group: sums of 64 rows and as many columns as the name says, half of which many a thread has.
// Warp w has rows 16 w on, as two mma.m16n8k16 side by side lie, one pair after the other.
template <int columns> struct tw_group;
)cuda";
  for (const int n : group_columns(text)) out += device_group(n);
  out +=
      R"cuda(// Where a tile begins, in units of 16 bytes, and how it goes on: rows of 128 bytes, swizzled, eight of them in 1024.
// `panels`: 0 where the terms of a sum lie along rows; else the bytes between 64 rows or columns and the next ones.
template <int panels, class T, class I>
TW_FUNCTION unsigned long long tw_describe(const T* from, I at) {
  return ((tw_shared_address(from, at) & 0x3ffffu) >> 4) |
         static_cast<unsigned long long>(panels ? panels >> 4 : 1) << 16 | 64ull << 32 | 1ull << 62;
}
template <int columns, int left, int right, class T, class I, class J>
TW_FUNCTION void tw_multiply_group(float* c, int ci, const T* a, I ai, const T* b, J bi) {
  tw_group<columns>::template multiply<left != 0, right != 0>(c + ci, a, tw_describe<left>(a, ai),
                                                              tw_describe<right>(b, bi));
}
// Products that follow see what was stored to their sums.
TW_FUNCTION void tw_fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Products since the last one are a batch; a wait leaves the youngest `pending` batches on their way.
TW_FUNCTION void tw_commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
TW_FUNCTION void tw_wait_products() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory"); }
// The compiler moves no other use of these sums across this place.
template <int count>
TW_FUNCTION void tw_hold_sums(float* c, int at) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(c[at + i]) :: "memory");
}
)cuda";
  return out;
}

inline std::string_view host_groups() {
  return R"cuda(// Products of a warp group read their operands when they are waited for, and not before.
// The element of a tile in row or column x at step k, as a descriptor says: counted from the memory's first.
template <class T>
static long long tw_tile_element(const tw_memory<T>& of, long long first, int panels, int x, int k) {
  const auto base = reinterpret_cast<unsigned long>(of.access.base);
  unsigned long at = base + first * sizeof(T);
  at += panels ? x % 64 * 2 + x / 64 * panels + k % 8 * 128 + k / 8 * 1024
               : x % 8 * 128 + x / 8 * 1024 + k * 2;
  at ^= (at >> 7 & 7) << 4;
  return static_cast<long long>(at - base) / static_cast<long long>(sizeof(T));
}
template <class T, int columns, int left, int right, int count>
struct tw_group_product {
  tw_registers<float, count>* c;
  int ci;
  tw_memory<T> a, b;
  long long ai, bi;
  unsigned long since;
  // Each of the elements that this thread multiplies: of two rows, and two of eight columns.
  template <class F>
  void each(const F& f) const {
    const int lane = tw_place->number & 127, row = lane / 32 * 16 + lane % 32 / 4, column = lane % 4 * 2;
    for (int k = 0; k < 16; ++k) {
      long long rows[2], other[columns / 4];
      for (int h = 0; h < 2; ++h) rows[h] = tw_tile_element(a, ai, left, row + 8 * h, k);
      for (int i = 0; i < columns / 4; ++i)
        other[i] = tw_tile_element(b, bi, right, i / 2 * 8 + column + i % 2, k);
      f(k, rows, other);
    }
  }
  // Those of `wide` rows or columns side by side, from x on. Eight terms of a sum lie side by side, or rows and columns do.
  static unsigned long read(const tw_memory<T>& of, long long first, int panels, int x, int wide, unsigned long before) {
    unsigned long out = 0;
    if (panels)
      for (int k = 0; k < 16; ++k)
        out = tw_host->read_product(&of.access, tw_tile_element(of, first, panels, x, k), wide, before);
    else
      for (int i = 0; i < wide; ++i)
        for (int k = 0; k < 16; k += 8)
          out = tw_host->read_product(&of.access, tw_tile_element(of, first, panels, x + i, k), 8, before);
    return out;
  }
  unsigned long read(unsigned long before) const {
    const int lane = tw_place->number & 127, row = lane / 32 * 16 + lane % 32 / 4, column = lane % 4 * 2;
    for (int h = 0; h < 2; ++h) read(a, ai, left, row + 8 * h, 1, before);
    unsigned long out = 0;
    for (int i = 0; i < columns / 8; ++i) out = read(b, bi, right, i * 8 + column, 2, before);
    return out;
  }
  static void finish(const void* of) {
    const auto& me = *static_cast<const tw_group_product*>(of);
    me.read(me.since);
    double sums[columns / 2];
    for (int i = 0; i < columns / 2; ++i) sums[i] = me.c->values[me.ci + i];
    const T* const x = static_cast<const T*>(me.a.access.base);
    const T* const y = static_cast<const T*>(me.b.access.base);
    me.each([&](int, const long long* rows, const long long* other) {
      for (int i = 0; i < columns / 2; ++i)
        sums[i] += static_cast<double>(tw_float(x[rows[i / 2 % 2]])) *
                   static_cast<double>(tw_float(y[other[i / 4 * 2 + i % 2]]));
    });
    for (int i = 0; i < columns / 2; ++i) {
      me.c->values[me.ci + i] = static_cast<float>(sums[i]);
      --me.c->written[me.ci + i];
    }
  }
};
template <int columns, int left, int right, int count, class T>
static void tw_multiply_group(tw_registers<float, count>& c, int ci, const tw_memory<T>& a, long long ai,
                              const tw_memory<T>& b, long long bi) {
  struct tile { const void *a, *b; long long ai, bi; };
  const tile mine{a.access.base, b.access.base, ai, bi};
  const tile* const all = static_cast<const tile*>(
      tw_host->meet("a product of a warp group", columns, &mine, sizeof mine, 128));
  for (int i = 0; i < 128; ++i)
    if (all[i].a != mine.a || all[i].b != mine.b || all[i].ai != ai || all[i].bi != bi)
      tw_host->refuse("threads of a warp group multiply different tiles");
  const auto starts_well = [](const tw_memory<T>& of, long long at) {
    return ((reinterpret_cast<unsigned long>(of.access.base) + at * sizeof(T)) >> 7 & 7) == 0;
  };
  if (!starts_well(a, ai) || !starts_well(b, bi))
    tw_host->refuse("a tile of a warp group begins at no multiple of eight rows of 128 bytes");
  for (int i = ci; i < ci + columns / 2; ++i) {
    if (i < 0 || i >= count || !c.written[i]) tw_host->registers(c.name, i, count, i >= 0 && i < count);
    if (c.written[i] == 1 && c.fences == tw_product_fences[tw_place->number])
      tw_host->refuse("a product adds to sums that were stored to since the last fence");
    ++c.written[i];
  }
  tw_group_product<T, columns, left, right, count> started{&c, ci, a, b, ai, bi, 0};
  started.since = started.read(0);
  tw_host->start_product(&started.finish, &started, sizeof started);
}
static void tw_fence_products() { ++tw_product_fences[tw_place->number]; }
static void tw_commit_products() { tw_host->commit_products(); }
template <int pending>
static void tw_wait_products() {
  tw_host->wait_products(pending);
  // one instruction of the warp
  const int mine = pending;
  tw_host->meet("a wait for products", pending, &mine, sizeof mine, 32);
  tw_host->products_read();
}
template <int count, int all>
static void tw_hold_sums(tw_registers<float, all>& c, int at) {
  for (int i = at; i < at + count; ++i) static_cast<void>(c[i]);
}
)cuda";
}

}  // namespace tilewright::backend::cuda::detail
