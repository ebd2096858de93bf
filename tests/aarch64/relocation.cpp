#include <tilewright/impl/backend/aarch64_relocation.hpp>

#include <array>
#include <cstdint>
#include <cstring>

#include <doctest/doctest.h>
#include <tilewright/support/error.hpp>

using namespace tilewright;
namespace aarch64 = tilewright::backend::detail::aarch64;

namespace {

/// The instruction after the relocation.
std::uint32_t relocated(std::uint32_t kind, std::uint32_t instruction, std::uint64_t here,
                        std::uint64_t target) {
  std::array<std::byte, 4> bytes{};
  std::memcpy(bytes.data(), &instruction, 4);
  aarch64::relocate(kind, bytes.data(), here, target);
  std::memcpy(&instruction, bytes.data(), 4);
  return instruction;
}

constexpr std::uint32_t adrp = 0x90000000, adr = 0x10000000, add = 0x91000000, ldrb = 0x39400000,
                        ldrh = 0x79400000, ldr_w = 0xb9400000, ldr_x = 0xf9400000,
                        ldr_q = 0x3dc00000, bl = 0x94000000, b = 0x14000000, beq = 0x54000000,
                        tbz = 0x36000000;

}  // namespace

TEST_CASE("relocation of AArch64: pages and what lies in them") {
  using namespace aarch64;
  // 0x3f3 pages further on: the two lowest bits stand apart
  CHECK(relocated(r_adr_prel_pg_hi21, adrp, 0x400ffc, 0x7f3210) == 0xf0001f80);
  CHECK(relocated(r_adr_got_page, adrp, 0x400ffc, 0x7f3210) == 0xf0001f80);
  // one page back
  CHECK(relocated(r_adr_prel_pg_hi21, adrp, 0x401000, 0x400fff) == 0xf0ffffe0);
  CHECK(relocated(r_adr_prel_lo21, adr, 0x1000, 0x1005) == 0x30000020);
  CHECK(relocated(r_add_abs_lo12_nc, add, 0, 0x7f3217) == (add | 0x217u << 10));
  CHECK(relocated(r_ldst8_abs_lo12_nc, ldrb, 0, 0x7f3217) == (ldrb | 0x217u << 10));
  CHECK(relocated(r_ldst16_abs_lo12_nc, ldrh, 0, 0x7f3216) == (ldrh | 0x10bu << 10));
  CHECK(relocated(r_ldst32_abs_lo12_nc, ldr_w, 0, 0x7f3214) == (ldr_w | 0x85u << 10));
  CHECK(relocated(r_ldst64_abs_lo12_nc, ldr_x, 0, 0x7f3218) == (ldr_x | 0x43u << 10));
  CHECK(relocated(r_ld64_got_lo12_nc, ldr_x, 0, 0x7f3218) == (ldr_x | 0x43u << 10));
  CHECK(relocated(r_ldst128_abs_lo12_nc, ldr_q, 0, 0x7f3210) == (ldr_q | 0x21u << 10));
  for (const std::uint32_t kind :
       {r_ldst16_abs_lo12_nc, r_ldst32_abs_lo12_nc, r_ldst64_abs_lo12_nc, r_ldst128_abs_lo12_nc})
    CHECK_THROWS_WITH_AS(relocated(kind, ldr_q, 0, 0x1001), doctest::Contains("middle"),
                         build_error);
}

TEST_CASE("relocation of AArch64: jumps") {
  using namespace aarch64;
  CHECK(relocated(r_call26, bl, 0x1000, 0xff0) == 0x97fffffc);
  CHECK(relocated(r_jump26, b, 0x1000, 0x1000 + (1 << 20)) == (b | 1u << 18));
  CHECK(relocated(r_condbr19, beq, 0x1000, 0x1010) == (beq | 4u << 5));
  CHECK(relocated(r_tstbr14, tbz, 0x1000, 0x0ffc) == (tbz | 0x3fffu << 5));
  CHECK_THROWS_WITH_AS(relocated(r_call26, bl, 0, 1 << 27), doctest::Contains("reach"),
                       build_error);
  CHECK_NOTHROW(relocated(r_call26, bl, 0, (1 << 27) - 4));
  CHECK_THROWS_WITH_AS(relocated(r_tstbr14, tbz, 0, 1 << 15), doctest::Contains("reach"),
                       build_error);
  CHECK_THROWS_WITH_AS(relocated(r_call26, bl, 0, 6), doctest::Contains("between"), build_error);
}

TEST_CASE("relocation of AArch64: words") {
  using namespace aarch64;
  std::array<std::byte, 8> bytes{};
  const auto word = [&] {
    std::uint64_t out = 0;
    std::memcpy(&out, bytes.data(), 8);
    return out;
  };
  relocate(r_abs64, bytes.data(), 0x1000, 0x123456789abcdef0);
  CHECK(word() == 0x123456789abcdef0);
  relocate(r_prel64, bytes.data(), 0x1008, 0x1000);
  CHECK(word() == ~std::uint64_t{7});
  bytes = {};
  relocate(r_prel32, bytes.data(), 0x1008, 0x1000);
  CHECK(word() == 0xfffffff8);
  relocate(r_abs32, bytes.data(), 0, 0x89abcdef);
  CHECK(word() == 0x89abcdef);
  CHECK_THROWS_AS(relocate(r_abs32, bytes.data(), 0, std::uint64_t{1} << 32), build_error);
  CHECK_THROWS_AS(relocate(r_prel32, bytes.data(), 0, std::uint64_t{1} << 31), build_error);
  CHECK(width(r_prel64) == 8);
  CHECK(width(r_call26) == 4);
  CHECK_THROWS_WITH_AS(relocate(1024, bytes.data(), 0, 0), doctest::Contains("1024"), build_error);
}

TEST_CASE("a stub of AArch64 jumps to any address") {
  std::array<std::byte, 16> bytes{};
  int somewhere = 0;
  aarch64::write_stub(bytes.data(), &somewhere);
  std::uint32_t code[2];
  void* address = nullptr;
  std::memcpy(code, bytes.data(), 8);
  std::memcpy(&address, bytes.data() + 8, 8);
  CHECK(code[0] == 0x58000050);  // ldr x16, [pc + 8]
  CHECK(code[1] == 0xd61f0200);  // br x16
  CHECK(address == &somewhere);
}
