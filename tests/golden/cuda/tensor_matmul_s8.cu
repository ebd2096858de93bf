extern "C" TW_KERNEL(128) void tilewright_tensor_matmul_s8_0(TW_GLOBAL(const signed char) A, TW_GLOBAL(const signed char) B, TW_GLOBAL(int) C) {
  const int by = TW_BLOCK(y);
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  TW_SHARED(signed char, A_shared_dyn, 0, 32768);
  TW_SHARED(signed char, B_shared_dyn, 32768, 32768);
  {
    TW_LOCAL(int, C_wmma_accumulator, 128);
    #pragma unroll
    for (int i_2_init = 0; i_2_init < 4; ++i_2_init) {
      #pragma unroll
      for (int j_2_init = 0; j_2_init < 4; ++j_2_init) {
        #pragma unroll
        for (int group = 0; group < 4; ++group) {
          #pragma unroll
          for (int element = 0; element < 2; ++element) {
            tw_store(C_wmma_accumulator, i_2_init * 32 + j_2_init * 8 + group * 2 + element, 0);
          }
        }
      }
    }
    {
      TW_LOCAL(signed char, A_shared_dyn_wmma_matrix_a, 64);
      {
        TW_LOCAL(signed char, B_shared_dyn_wmma_matrix_b, 64);
        for (int round = 0; round < 4; ++round) {
          tw_copy_async<16>(A_shared_dyn, round * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16, A, round * 10240 + ty * 2560 + tx / 4 * 320 + tx % 4 * 16);
        }
        for (int round_1 = 0; round_1 < 4; ++round_1) {
          tw_copy_async<16>(B_shared_dyn, round_1 * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16, B, round_1 * 10240 + ty * 2560 + tx / 4 * 320 + tx % 4 * 16);
        }
        tw_commit_copies();
        for (int round_2 = 0; round_2 < 4; ++round_2) {
          tw_copy_async<16>(A_shared_dyn, round_2 * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16 + 8192, A, round_2 * 10240 + ty * 2560 + tx / 4 * 320 + tx % 4 * 16 + 64);
        }
        for (int round_3 = 0; round_3 < 4; ++round_3) {
          tw_copy_async<16>(B_shared_dyn, round_3 * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16 + 8192, B, round_3 * 10240 + ty * 2560 + tx / 4 * 320 + tx % 4 * 16 + 64);
        }
        tw_commit_copies();
        for (int round_4 = 0; round_4 < 4; ++round_4) {
          tw_copy_async<16>(A_shared_dyn, round_4 * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16 + 16384, A, round_4 * 10240 + ty * 2560 + tx / 4 * 320 + tx % 4 * 16 + 128);
        }
        for (int round_5 = 0; round_5 < 4; ++round_5) {
          tw_copy_async<16>(B_shared_dyn, round_5 * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16 + 16384, B, round_5 * 10240 + ty * 2560 + tx / 4 * 320 + tx % 4 * 16 + 128);
        }
        tw_commit_copies();
        #pragma unroll 1
        for (int k_0 = 0; k_0 < 5; ++k_0) {
          tw_wait_copies<2>();
          tw_barrier();
          if (k_0 < 2) {
            for (int round_6 = 0; round_6 < 4; ++round_6) {
              tw_copy_async<16>(A_shared_dyn, (k_0 + 3) % 4 * 8192 + round_6 * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16, A, round_6 * 10240 + ty * 2560 + tx / 4 * 320 + k_0 * 64 + tx % 4 * 16 + 192);
            }
            for (int round_7 = 0; round_7 < 4; ++round_7) {
              tw_copy_async<16>(B_shared_dyn, (k_0 + 3) % 4 * 8192 + round_7 * 2048 + ty * 512 + tx / 4 * 64 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 16, B, round_7 * 10240 + ty * 2560 + tx / 4 * 320 + k_0 * 64 + tx % 4 * 16 + 192);
            }
          }
          tw_commit_copies();
          #pragma unroll
          for (int ax0_tile = 0; ax0_tile < 4; ++ax0_tile) {
            tw_load_matrix(A_shared_dyn_wmma_matrix_a, ax0_tile * 8, A_shared_dyn, k_0 % 4 * 8192 + ty / 2 * 4096 + ax0_tile * 1024 + tx % 16 * 64 + tw_bitwise_xor<int>(0, tx / 2 % 4) * 16);
          }
          #pragma unroll
          for (int ax0_tile_1 = 0; ax0_tile_1 < 4; ++ax0_tile_1) {
            tw_load_matrix(B_shared_dyn_wmma_matrix_b, ax0_tile_1 * 8, B_shared_dyn, k_0 % 4 * 8192 + ty % 2 * 4096 + ax0_tile_1 * 1024 + tx % 16 * 64 + tw_bitwise_xor<int>(0, tx / 2 % 4) * 16);
          }
          #pragma unroll
          for (int k_1 = 0; k_1 < 3; ++k_1) {
            #pragma unroll
            for (int ax0_tile_2 = 0; ax0_tile_2 < 4; ++ax0_tile_2) {
              tw_load_matrix(A_shared_dyn_wmma_matrix_a, (k_1 + 1) % 2 * 32 + ax0_tile_2 * 8, A_shared_dyn, k_0 % 4 * 8192 + ty / 2 * 4096 + ax0_tile_2 * 1024 + tx % 16 * 64 + tw_bitwise_xor<int>(k_1 + 1, tx / 2 % 4) * 16);
            }
            #pragma unroll
            for (int ax0_tile_3 = 0; ax0_tile_3 < 4; ++ax0_tile_3) {
              tw_load_matrix(B_shared_dyn_wmma_matrix_b, (k_1 + 1) % 2 * 32 + ax0_tile_3 * 8, B_shared_dyn, k_0 % 4 * 8192 + ty % 2 * 4096 + ax0_tile_3 * 1024 + tx % 16 * 64 + tw_bitwise_xor<int>(k_1 + 1, tx / 2 % 4) * 16);
            }
            #pragma unroll
            for (int i_2 = 0; i_2 < 4; ++i_2) {
              #pragma unroll
              for (int j_2 = 0; j_2 < 4; ++j_2) {
                tw_mma(C_wmma_accumulator, i_2 * 32 + j_2 * 8, A_shared_dyn_wmma_matrix_a, k_1 % 2 * 32 + i_2 * 8, B_shared_dyn_wmma_matrix_b, k_1 % 2 * 32 + j_2 * 8);
              }
            }
          }
          #pragma unroll
          for (int i_2_1 = 0; i_2_1 < 4; ++i_2_1) {
            #pragma unroll
            for (int j_2_1 = 0; j_2_1 < 4; ++j_2_1) {
              tw_mma(C_wmma_accumulator, i_2_1 * 32 + j_2_1 * 8, A_shared_dyn_wmma_matrix_a, i_2_1 * 8 + 32, B_shared_dyn_wmma_matrix_b, j_2_1 * 8 + 32);
            }
          }
        }
      }
    }
    #pragma unroll
    for (int ax0_tile_4 = 0; ax0_tile_4 < 4; ++ax0_tile_4) {
      #pragma unroll
      for (int ax1_tile = 0; ax1_tile < 4; ++ax1_tile) {
        #pragma unroll
        for (int group_1 = 0; group_1 < 4; ++group_1) {
          {
            tw_vector<int, 2> C_lanes;
            #pragma unroll
            for (int element_1 = 0; element_1 < 2; ++element_1) {
              C_lanes[element_1] = C_wmma_accumulator[ax0_tile_4 * 32 + ax1_tile * 8 + group_1 * 2 + element_1];
            }
            tw_store_vector(C, ty / 2 * 8192 + ax0_tile_4 * 2048 + tx / 4 * 128 + group_1 % 2 * 1024 + ty % 2 * 64 + ax1_tile * 16 + group_1 / 2 * 8 + tx % 4 * 2, C_lanes);
          }
        }
      }
    }
  }
}
