extern "C" TW_KERNEL(256) void tilewright_matmul_tails_0(TW_GLOBAL(const float) A, TW_GLOBAL(const float) B, TW_GLOBAL(const float) D, TW_GLOBAL(float) C) {
  const int by = TW_BLOCK(y);
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  TW_SHARED(float, B_shared, 0, 1850);
  TW_SHARED(float, A_shared, 7424, 512);
  {
    TW_LOCAL(float, P_local, 16);
    #pragma unroll
    for (int i_2_init = 0; i_2_init < 4; ++i_2_init) {
      if (by * 64 + ty * 4 + i_2_init < 70) {
        #pragma unroll
        for (int j_2_init = 0; j_2_init < 4; ++j_2_init) {
          if (tx * 4 + j_2_init < 50) {
            tw_store(P_local, i_2_init * 4 + j_2_init, 0.0f);
          }
        }
      }
    }
    #pragma unroll 1
    for (int k_0 = 0; k_0 < 5; ++k_0) {
      if (k_0 * 8 + tx % 8 < 37) {
        for (int ax0_ax1_fused_0 = 0; ax0_ax1_fused_0 < 2; ++ax0_ax1_fused_0) {
          if (by * 64 + ax0_ax1_fused_0 * 32 + ty * 2 + tx / 8 < 70) {
            tw_store(A_shared, ax0_ax1_fused_0 * 256 + ty * 16 + tx, A[by * 2368 + ax0_ax1_fused_0 * 1184 + ty * 74 + tx / 8 * 37 + k_0 * 8 + tx % 8]);
          }
        }
      }
      for (int ax0_ax1_fused_0_1 = 0; ax0_ax1_fused_0_1 < 2; ++ax0_ax1_fused_0_1) {
        if (k_0 * 8 + (ax0_ax1_fused_0_1 * 256 + ty * 16 + tx) / 50 < 37 && ax0_ax1_fused_0_1 * 256 + ty * 16 + tx < 400) {
          tw_store(B_shared, k_0 * 400 + ax0_ax1_fused_0_1 * 256 + ty * 16 + tx, B[k_0 * 400 + ax0_ax1_fused_0_1 * 256 + ty * 16 + tx]);
        }
      }
      tw_barrier();
      for (int k_1 = 0; k_1 < 8; ++k_1) {
        if (k_0 * 8 + k_1 < 37) {
          #pragma unroll
          for (int i_2 = 0; i_2 < 4; ++i_2) {
            if (by * 64 + ty * 4 + i_2 < 70) {
              #pragma unroll
              for (int j_2 = 0; j_2 < 4; ++j_2) {
                if (tx * 4 + j_2 < 50) {
                  tw_store(P_local, i_2 * 4 + j_2, P_local[i_2 * 4 + j_2] + A_shared[ty * 32 + i_2 * 8 + k_1] * B_shared[k_0 * 400 + k_1 * 50 + tx * 4 + j_2]);
                }
              }
            }
          }
        }
      }
      tw_barrier();
    }
    #pragma unroll
    for (int ax0 = 0; ax0 < 4; ++ax0) {
      if (by * 64 + ty * 4 + ax0 < 70) {
        #pragma unroll
        for (int ax1 = 0; ax1 < 4; ++ax1) {
          if (tx * 4 + ax1 < 50) {
            tw_store(C, by * 3200 + ty * 200 + ax0 * 50 + tx * 4 + ax1, tw_max<float>(P_local[ax0 * 4 + ax1] + D[tx * 4 + ax1], 0.0f));
          }
        }
      }
    }
  }
}
