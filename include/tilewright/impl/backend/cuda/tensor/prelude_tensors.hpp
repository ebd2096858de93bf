// The part of the prelude for copies of boxes of tensors by the device's copy engine, and for barriers in shared
// memory that count arrivals and bytes (sm_90 and later).
#pragma once

#include <array>
#include <string_view>

namespace tilewright::backend::cuda::detail {

/// Whether a program's text needs this part.
inline bool copies_tensors(std::string_view text) {
  constexpr std::array<std::string_view, 4> names{"tw_copy_tensor(", "tw_store_tensor(",
                                                  "tw_init_arrivals(", "tw_elect("};
  for (const std::string_view name : names)
    if (text.find(name) != text.npos) return true;
  return false;
}

inline std::string_view device_tensors() {
  return R"cuda(// A tensor in global memory, as the driver encodes it; kernels get it by value.
struct __align__(128) tw_tensor_map {
  unsigned long long opaque[16];
};
#define TW_TENSOR_MAP(type) const __grid_constant__ tw_tensor_map
// Barriers of 8 bytes in shared memory: a phase ends when all have arrived and all bytes have landed.
template <class I>
TW_FUNCTION void tw_init_arrivals(unsigned long long* at, I i, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(tw_shared_address(at, i)), "r"(count) : "memory");
}
// What the thread has initialized is seen by the copy engine.
TW_FUNCTION void tw_fence_arrivals() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
template <class I>
TW_FUNCTION void tw_drop_arrivals(unsigned long long* at, I i) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(tw_shared_address(at, i)) : "memory");
}
template <class I>
TW_FUNCTION void tw_arrive(unsigned long long* at, I i) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(tw_shared_address(at, i)) : "memory");
}
// Arrives, and the phase lasts until so many bytes more have landed.
template <class I>
TW_FUNCTION void tw_expect_bytes(unsigned long long* at, I i, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(tw_shared_address(at, i)), "r"(bytes) : "memory");
}
// Returns when the phase of this parity has ended; the first one has parity 0.
template <class I>
TW_FUNCTION void tw_wait_phase(unsigned long long* at, I i, int parity) {
  const unsigned address = tw_shared_address(at, i);
  unsigned over;
  do {
    asm volatile("{\n.reg .pred over;\nmbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, over;\n}" : "=r"(over) : "r"(address), "r"(parity) : "memory");
  } while (!over);
}
// True in one lane of a warp; all lanes must be there.
TW_FUNCTION bool tw_elect() {
  unsigned mine;
  asm volatile("{\n.reg .pred mine;\nelect.sync _|mine, 0xffffffff;\nselp.u32 %0, 1, 0, mine;\n}" : "=r"(mine) :: "memory");
  return mine != 0;
}
// One thread asks for a box; its bytes land at a barrier. Places are counted in elements, the innermost one first.
// In both instructions places are operands from 3 on; the second one has no use for operand 2.
#define TW_COPY_TENSOR(rank, places, names, ...)                                                             \
  template <class T, class I, class J>                                                                       \
  TW_FUNCTION void tw_copy_tensor(T* to, I at, const tw_tensor_map& map, unsigned long long* arrivals, J i,  \
                                  TW_UNPACK places) {                                                        \
    asm volatile("cp.async.bulk.tensor." rank ".shared::cluster.global.mbarrier::complete_tx::bytes "        \
                 "[%0], [%1, {" names "}], [%2];"                                                            \
                 :: "r"(tw_shared_address(to, at)), "l"(&map), "r"(tw_shared_address(arrivals, i)),          \
                    __VA_ARGS__ : "memory");                                                                 \
  }                                                                                                          \
  template <class T, class I>                                                                                \
  TW_FUNCTION void tw_store_tensor(const tw_tensor_map& map, const T* from, I at, TW_UNPACK places) {        \
    asm volatile("cp.async.bulk.tensor." rank ".global.shared::cta.bulk_group [%1, {" names "}], [%0];"      \
                 :: "r"(tw_shared_address(from, at)), "l"(&map), "r"(0), __VA_ARGS__ : "memory");             \
  }
#define TW_UNPACK(...) __VA_ARGS__
TW_COPY_TENSOR("1d", (int x), "%3", "r"(x))
TW_COPY_TENSOR("2d", (int x, int y), "%3, %4", "r"(x), "r"(y))
TW_COPY_TENSOR("3d", (int x, int y, int z), "%3, %4, %5", "r"(x), "r"(y), "r"(z))
TW_COPY_TENSOR("4d", (int x, int y, int z, int u), "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u))
TW_COPY_TENSOR("5d", (int x, int y, int z, int u, int v), "%3, %4, %5, %6, %7", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v))
// Stores since the last commit are a group; a wait leaves the youngest `pending` groups reading shared memory.
TW_FUNCTION void tw_commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int pending>
TW_FUNCTION void tw_wait_stores() { asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(pending) : "memory"); }
// All of them are in global memory.
TW_FUNCTION void tw_finish_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
)cuda";
}

inline std::string_view host_tensors() {
  return R"cuda(struct tw_tensor_map { const void* described; };
#define TW_TENSOR_MAP(type) const tw_tensor_map
using tw_arrivals = tw_memory<unsigned long long>;
static void tw_init_arrivals(const tw_arrivals& at, long long i, int count) { tw_host->init_arrivals(&at.access, i, count); }
static void tw_fence_arrivals() { tw_host->fence_arrivals(); }
static void tw_drop_arrivals(const tw_arrivals& at, long long i) { tw_host->drop_arrivals(&at.access, i); }
static void tw_arrive(const tw_arrivals& at, long long i) { tw_host->arrive(&at.access, i, 0); }
static void tw_expect_bytes(const tw_arrivals& at, long long i, int bytes) { tw_host->arrive(&at.access, i, bytes); }
static void tw_wait_phase(const tw_arrivals& at, long long i, int parity) { tw_host->wait_phase(&at.access, i, parity); }
// Which lane it is nobody knows.
static bool tw_elect() {
  const unsigned drawn = tw_host->draw(32);
  const unsigned* const all = static_cast<const unsigned*>(tw_host->meet("an election", 0, &drawn, sizeof drawn, 32));
  return all[0] == (tw_place->number & 31u);
}
template <class T, class... Places>
static void tw_copy_tensor(const tw_memory<T>& to, long long at, const tw_tensor_map& map, const tw_arrivals& arrivals,
                           long long i, Places... places) {
  const int all[] = {places...};
  tw_host->copy_tensor(&to.access, at, map.described, &arrivals.access, i, all, sizeof...(places));
}
template <class T, class... Places>
static void tw_store_tensor(const tw_tensor_map& map, const tw_memory<T>& from, long long at, Places... places) {
  const int all[] = {places...};
  tw_host->store_tensor(map.described, &from.access, at, all, sizeof...(places));
}
static void tw_commit_stores() { tw_host->commit_stores(); }
template <int pending>
static void tw_wait_stores() { tw_host->wait_stores(pending, 0); }
static void tw_finish_stores() { tw_host->wait_stores(0, 1); }
)cuda";
}

}  // namespace tilewright::backend::cuda::detail
