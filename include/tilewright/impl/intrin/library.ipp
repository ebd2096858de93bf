#pragma once

#include <array>

#include <tilewright/intrin/dot_bf16.hpp>
#include <tilewright/intrin/dot_i8.hpp>
#include <tilewright/intrin/dp4a.hpp>
#include <tilewright/intrin/library.hpp>
#include <tilewright/intrin/outer_product_f32.hpp>

namespace tilewright::intrin {

TILEWRIGHT_INLINE std::span<const library_entry> library() {
  static constexpr std::array table{
      library_entry{"outer_product_6x16_f32", &outer_product_6x16_f32},
      library_entry{"outer_product_14x32_f32", &outer_product_14x32_f32},
      library_entry{"dot_16x4_vnni", &dot_16x4_vnni},
      library_entry{"dot_16x4_avx512", &dot_16x4_avx512},
      library_entry{"dot_8x4_vnni", &dot_8x4_vnni},
      library_entry{"dot_4x4_vnni", &dot_4x4_vnni},
      library_entry{"dot_8x4_avx2", &dot_8x4_avx2},
      library_entry{"dot_16x4_i8i8i32", &dot_16x4_i8i8i32},
      library_entry{"dot_8x4_i8i8i32", &dot_8x4_i8i8i32},
      library_entry{"dot_4x4_i8i8s32_neon", &dot_4x4_i8i8s32_neon},
      library_entry{"dot_4x4_i8i8s32_sdot", &dot_4x4_i8i8s32_sdot},
      library_entry{"dot_4x4_u8u8u32_udot", &dot_4x4_u8u8u32_udot},
      library_entry{"dot_4x4_u8u8i32_hdot", &dot_4x4_u8u8i32_hdot},
      library_entry{"dot_32x4_u8u8i32_vrmpy", &dot_32x4_u8u8i32_vrmpy},
      library_entry{"dot_16x2_bf16", &dot_16x2_bf16},
      library_entry{"dp4a_s8s8s32", &dp4a_s8s8s32},
      library_entry{"dp4a_u8s8s32", &dp4a_u8s8s32},
      library_entry{"dp4a_s8u8s32", &dp4a_s8u8s32},
      library_entry{"dp4a_u8u8u32", &dp4a_u8u8u32},
  };
  return table;
}

}  // namespace tilewright::intrin
