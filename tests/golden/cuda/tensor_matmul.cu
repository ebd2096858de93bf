extern "C" TW_KERNEL(256) void tilewright_tensor_matmul_0(TW_GLOBAL(const tw_f16) A, TW_GLOBAL(const tw_f16) B, TW_GLOBAL(float) C) {
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  TW_SHARED(tw_f16, A_shared_dyn, 0, 16384);
  TW_SHARED(tw_f16, B_shared_dyn, 32768, 32768);
  {
    TW_LOCAL(float, C_wmma_accumulator, 128);
    #pragma unroll
    for (int i_2_init = 0; i_2_init < 4; ++i_2_init) {
      #pragma unroll
      for (int j_2_init = 0; j_2_init < 4; ++j_2_init) {
        #pragma unroll
        for (int group = 0; group < 4; ++group) {
          #pragma unroll
          for (int element = 0; element < 2; ++element) {
            tw_store(C_wmma_accumulator, i_2_init * 32 + j_2_init * 8 + group * 2 + element, 0.0f);
          }
        }
      }
    }
    {
      TW_LOCAL(tw_f16, A_shared_dyn_wmma_matrix_a, 64);
      {
        TW_LOCAL(tw_f16, B_shared_dyn_wmma_matrix_b, 64);
        for (int round = 0; round < 2; ++round) {
          tw_copy_async<8>(A_shared_dyn, round * 2048 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8, A, round * 18432 + ty * 2304 + tx / 4 * 288 + tx % 4 * 8);
        }
        for (int round_1 = 0; round_1 < 4; ++round_1) {
          tw_copy_async<8>(B_shared_dyn, round_1 * 2048 + ty * 256 + tw_bitwise_xor<int>(tx, ty) * 8, B, round_1 * 2048 + ty * 256 + tx * 8);
        }
        tw_commit_copies();
        for (int round_2 = 0; round_2 < 2; ++round_2) {
          tw_copy_async<8>(A_shared_dyn, round_2 * 2048 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8 + 4096, A, round_2 * 18432 + ty * 2304 + tx / 4 * 288 + tx % 4 * 8 + 32);
        }
        for (int round_3 = 0; round_3 < 4; ++round_3) {
          tw_copy_async<8>(B_shared_dyn, round_3 * 2048 + ty * 256 + tw_bitwise_xor<int>(tx, ty) * 8 + 8192, B, round_3 * 2048 + ty * 256 + tx * 8 + 8192);
        }
        tw_commit_copies();
        for (int round_4 = 0; round_4 < 2; ++round_4) {
          tw_copy_async<8>(A_shared_dyn, round_4 * 2048 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8 + 8192, A, round_4 * 18432 + ty * 2304 + tx / 4 * 288 + tx % 4 * 8 + 64);
        }
        for (int round_5 = 0; round_5 < 4; ++round_5) {
          tw_copy_async<8>(B_shared_dyn, round_5 * 2048 + ty * 256 + tw_bitwise_xor<int>(tx, ty) * 8 + 16384, B, round_5 * 2048 + ty * 256 + tx * 8 + 16384);
        }
        tw_commit_copies();
        tw_wait_copies<2>();
        tw_barrier();
        #pragma unroll
        for (int ax0_tile = 0; ax0_tile < 4; ++ax0_tile) {
          tw_load_matrix(A_shared_dyn_wmma_matrix_a, ax0_tile * 8, A_shared_dyn, ty / 4 * 2048 + ax0_tile * 512 + tx % 16 * 32 + tw_bitwise_xor<int>(tx / 16, tx / 2 % 4) * 8);
        }
        #pragma unroll
        for (int ax1_tile = 0; ax1_tile < 4; ++ax1_tile) {
          tw_load_transposed(B_shared_dyn_wmma_matrix_b, ax1_tile * 8, B_shared_dyn, tx % 16 * 256 + tw_bitwise_xor<int>(ty % 4 * 8 + ax1_tile * 2 + tx / 16, tx % 8) * 8);
        }
        for (int round_6 = 0; round_6 < 2; ++round_6) {
          tw_copy_async<8>(A_shared_dyn, round_6 * 2048 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8 + 12288, A, round_6 * 18432 + ty * 2304 + tx / 4 * 288 + tx % 4 * 8 + 96);
        }
        for (int round_7 = 0; round_7 < 4; ++round_7) {
          tw_copy_async<8>(B_shared_dyn, round_7 * 2048 + ty * 256 + tw_bitwise_xor<int>(tx, ty) * 8 + 24576, B, round_7 * 2048 + ty * 256 + tx * 8 + 24576);
        }
        tw_commit_copies();
        #pragma unroll
        for (int ax0_tile_1 = 0; ax0_tile_1 < 4; ++ax0_tile_1) {
          tw_load_matrix(A_shared_dyn_wmma_matrix_a, ax0_tile_1 * 8 + 32, A_shared_dyn, ty / 4 * 2048 + ax0_tile_1 * 512 + tx % 16 * 32 + tw_bitwise_xor<int>(tx / 16 + 2, tx / 2 % 4) * 8);
        }
        #pragma unroll
        for (int ax1_tile_1 = 0; ax1_tile_1 < 4; ++ax1_tile_1) {
          tw_load_transposed(B_shared_dyn_wmma_matrix_b, ax1_tile_1 * 8 + 32, B_shared_dyn, tx % 16 * 256 + tw_bitwise_xor<int>(ty % 4 * 8 + ax1_tile_1 * 2 + tx / 16, tx % 8) * 8 + 4096);
        }
        #pragma unroll
        for (int i_2 = 0; i_2 < 4; ++i_2) {
          #pragma unroll
          for (int j_2 = 0; j_2 < 4; ++j_2) {
            tw_mma(C_wmma_accumulator, i_2 * 32 + j_2 * 8, A_shared_dyn_wmma_matrix_a, i_2 * 8, B_shared_dyn_wmma_matrix_b, j_2 * 8);
          }
        }
        #pragma unroll 1
        for (int k_0 = 0; k_0 < 8; ++k_0) {
          tw_wait_copies<2>();
          tw_barrier();
          #pragma unroll
          for (int ax0_tile_2 = 0; ax0_tile_2 < 4; ++ax0_tile_2) {
            tw_load_matrix(A_shared_dyn_wmma_matrix_a, ax0_tile_2 * 8, A_shared_dyn, (k_0 + 1) % 4 * 4096 + ty / 4 * 2048 + ax0_tile_2 * 512 + tx % 16 * 32 + tw_bitwise_xor<int>(tx / 16, tx / 2 % 4) * 8);
          }
          #pragma unroll
          for (int ax1_tile_2 = 0; ax1_tile_2 < 4; ++ax1_tile_2) {
            tw_load_transposed(B_shared_dyn_wmma_matrix_b, ax1_tile_2 * 8, B_shared_dyn, (k_0 + 1) % 4 * 8192 + tx % 16 * 256 + tw_bitwise_xor<int>(ty % 4 * 8 + ax1_tile_2 * 2 + tx / 16, tx % 8) * 8);
          }
          #pragma unroll
          for (int i_2_1 = 0; i_2_1 < 4; ++i_2_1) {
            #pragma unroll
            for (int j_2_1 = 0; j_2_1 < 4; ++j_2_1) {
              tw_mma(C_wmma_accumulator, i_2_1 * 32 + j_2_1 * 8, A_shared_dyn_wmma_matrix_a, i_2_1 * 8 + 32, B_shared_dyn_wmma_matrix_b, j_2_1 * 8 + 32);
            }
          }
          if (k_0 < 5) {
            for (int round_8 = 0; round_8 < 2; ++round_8) {
              tw_copy_async<8>(A_shared_dyn, k_0 % 4 * 4096 + round_8 * 2048 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8, A, round_8 * 18432 + ty * 2304 + tx / 4 * 288 + k_0 * 32 + tx % 4 * 8 + 128);
            }
            for (int round_9 = 0; round_9 < 4; ++round_9) {
              tw_copy_async<8>(B_shared_dyn, k_0 % 4 * 8192 + round_9 * 2048 + ty * 256 + tw_bitwise_xor<int>(tx, ty) * 8, B, k_0 * 8192 + round_9 * 2048 + ty * 256 + tx * 8 + 32768);
            }
          }
          tw_commit_copies();
          #pragma unroll
          for (int ax0_tile_3 = 0; ax0_tile_3 < 4; ++ax0_tile_3) {
            tw_load_matrix(A_shared_dyn_wmma_matrix_a, ax0_tile_3 * 8 + 32, A_shared_dyn, (k_0 + 1) % 4 * 4096 + ty / 4 * 2048 + ax0_tile_3 * 512 + tx % 16 * 32 + tw_bitwise_xor<int>(tx / 16 + 2, tx / 2 % 4) * 8);
          }
          #pragma unroll
          for (int ax1_tile_3 = 0; ax1_tile_3 < 4; ++ax1_tile_3) {
            tw_load_transposed(B_shared_dyn_wmma_matrix_b, ax1_tile_3 * 8 + 32, B_shared_dyn, (k_0 + 1) % 4 * 8192 + tx % 16 * 256 + tw_bitwise_xor<int>(ty % 4 * 8 + ax1_tile_3 * 2 + tx / 16, tx % 8) * 8 + 4096);
          }
          #pragma unroll
          for (int i_2_2 = 0; i_2_2 < 4; ++i_2_2) {
            #pragma unroll
            for (int j_2_2 = 0; j_2_2 < 4; ++j_2_2) {
              tw_mma(C_wmma_accumulator, i_2_2 * 32 + j_2_2 * 8, A_shared_dyn_wmma_matrix_a, i_2_2 * 8, B_shared_dyn_wmma_matrix_b, j_2_2 * 8);
            }
          }
        }
        #pragma unroll
        for (int i_2_3 = 0; i_2_3 < 4; ++i_2_3) {
          #pragma unroll
          for (int j_2_3 = 0; j_2_3 < 4; ++j_2_3) {
            tw_mma(C_wmma_accumulator, i_2_3 * 32 + j_2_3 * 8, A_shared_dyn_wmma_matrix_a, i_2_3 * 8 + 32, B_shared_dyn_wmma_matrix_b, j_2_3 * 8 + 32);
          }
        }
      }
    }
    #pragma unroll
    for (int ax0_tile_4 = 0; ax0_tile_4 < 4; ++ax0_tile_4) {
      #pragma unroll
      for (int ax1_tile_4 = 0; ax1_tile_4 < 4; ++ax1_tile_4) {
        #pragma unroll
        for (int group_1 = 0; group_1 < 4; ++group_1) {
          {
            tw_vector<float, 2> C_lanes;
            #pragma unroll
            for (int element_1 = 0; element_1 < 2; ++element_1) {
              C_lanes[element_1] = C_wmma_accumulator[ax0_tile_4 * 32 + ax1_tile_4 * 8 + group_1 * 2 + element_1];
            }
            tw_store_vector(C, ty / 4 * 16384 + ax0_tile_4 * 4096 + tx / 4 * 256 + group_1 % 2 * 2048 + ty % 4 * 64 + ax1_tile_4 * 16 + group_1 / 2 * 8 + tx % 4 * 2, C_lanes);
          }
        }
      }
    }
  }
}
