extern "C" TW_KERNEL(256) void tilewright_tensor_matmul_tf32_0(TW_GLOBAL(const float) A, TW_GLOBAL(const float) B, TW_GLOBAL(float) C) {
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  TW_SHARED(float, A_shared_dyn, 0, 8192);
  TW_SHARED(float, B_shared_dyn, 32768, 16384);
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
      TW_LOCAL(float, A_shared_dyn_wmma_matrix_a, 32);
      {
        TW_LOCAL(float, B_shared_dyn_wmma_matrix_b, 32);
        for (int round = 0; round < 2; ++round) {
          tw_copy_async<4>(A_shared_dyn, round * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4, A, round * 5120 + ty * 640 + tx / 4 * 80 + tx % 4 * 4);
        }
        for (int round_1 = 0; round_1 < 4; ++round_1) {
          tw_copy_async<4>(B_shared_dyn, round_1 * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4, B, round_1 * 5120 + ty * 640 + tx / 4 * 80 + tx % 4 * 4);
        }
        tw_commit_copies();
        for (int round_2 = 0; round_2 < 2; ++round_2) {
          tw_copy_async<4>(A_shared_dyn, round_2 * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4 + 2048, A, round_2 * 5120 + ty * 640 + tx / 4 * 80 + tx % 4 * 4 + 16);
        }
        for (int round_3 = 0; round_3 < 4; ++round_3) {
          tw_copy_async<4>(B_shared_dyn, round_3 * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4 + 4096, B, round_3 * 5120 + ty * 640 + tx / 4 * 80 + tx % 4 * 4 + 16);
        }
        tw_commit_copies();
        for (int round_4 = 0; round_4 < 2; ++round_4) {
          tw_copy_async<4>(A_shared_dyn, round_4 * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4 + 4096, A, round_4 * 5120 + ty * 640 + tx / 4 * 80 + tx % 4 * 4 + 32);
        }
        for (int round_5 = 0; round_5 < 4; ++round_5) {
          tw_copy_async<4>(B_shared_dyn, round_5 * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4 + 8192, B, round_5 * 5120 + ty * 640 + tx / 4 * 80 + tx % 4 * 4 + 32);
        }
        tw_commit_copies();
        #pragma unroll 1
        for (int k_0 = 0; k_0 < 5; ++k_0) {
          tw_wait_copies<2>();
          tw_barrier();
          if (k_0 < 2) {
            for (int round_6 = 0; round_6 < 2; ++round_6) {
              tw_copy_async<4>(A_shared_dyn, (k_0 + 3) % 4 * 2048 + round_6 * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4, A, round_6 * 5120 + ty * 640 + tx / 4 * 80 + k_0 * 16 + tx % 4 * 4 + 48);
            }
            for (int round_7 = 0; round_7 < 4; ++round_7) {
              tw_copy_async<4>(B_shared_dyn, (k_0 + 3) % 4 * 4096 + round_7 * 1024 + ty * 128 + tx / 4 * 16 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 4, B, round_7 * 5120 + ty * 640 + tx / 4 * 80 + k_0 * 16 + tx % 4 * 4 + 48);
            }
          }
          tw_commit_copies();
          #pragma unroll
          for (int ax0_tile = 0; ax0_tile < 4; ++ax0_tile) {
            #pragma unroll
            for (int part = 0; part < 2; ++part) {
              tw_load_matrix(A_shared_dyn_wmma_matrix_a, ax0_tile * 8 + part * 4, A_shared_dyn, k_0 % 4 * 2048 + ty / 4 * 1024 + ax0_tile * 256 + tx % 16 * 16 + tw_bitwise_xor<int>(tx / 16 + part * 2, tx / 2 % 4) * 4);
            }
          }
          #pragma unroll
          for (int ax0_tile_1 = 0; ax0_tile_1 < 4; ++ax0_tile_1) {
            #pragma unroll
            for (int part_1 = 0; part_1 < 2; ++part_1) {
              tw_load_matrix(B_shared_dyn_wmma_matrix_b, ax0_tile_1 * 8 + part_1 * 4, B_shared_dyn, k_0 % 4 * 4096 + ty % 4 * 1024 + ax0_tile_1 * 256 + tx % 8 * 16 + part_1 * 128 + tw_bitwise_xor<int>(tx / 8, tx / 2 % 4) * 4);
            }
          }
          #pragma unroll
          for (int i_2 = 0; i_2 < 4; ++i_2) {
            #pragma unroll
            for (int j_2 = 0; j_2 < 4; ++j_2) {
              tw_mma(C_wmma_accumulator, i_2 * 32 + j_2 * 8, A_shared_dyn_wmma_matrix_a, i_2 * 8, B_shared_dyn_wmma_matrix_b, j_2 * 8);
            }
          }
        }
      }
    }
    #pragma unroll
    for (int ax0_tile_2 = 0; ax0_tile_2 < 4; ++ax0_tile_2) {
      #pragma unroll
      for (int ax1_tile = 0; ax1_tile < 4; ++ax1_tile) {
        #pragma unroll
        for (int group_1 = 0; group_1 < 4; ++group_1) {
          {
            tw_vector<float, 2> C_lanes;
            #pragma unroll
            for (int element_1 = 0; element_1 < 2; ++element_1) {
              C_lanes[element_1] = C_wmma_accumulator[ax0_tile_2 * 32 + ax1_tile * 8 + group_1 * 2 + element_1];
            }
            tw_store_vector(C, ty / 4 * 16384 + ax0_tile_2 * 4096 + tx / 4 * 256 + group_1 % 2 * 2048 + ty % 4 * 64 + ax1_tile * 16 + group_1 / 2 * 8 + tx % 4 * 2, C_lanes);
          }
        }
      }
    }
  }
}
