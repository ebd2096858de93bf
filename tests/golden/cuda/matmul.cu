extern "C" TW_KERNEL(256) void tilewright_matmul_0(TW_GLOBAL(const float) A, TW_GLOBAL(const float) B, TW_GLOBAL(float) C) {
  const int by = TW_BLOCK(y);
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  TW_SHARED(float, B_shared, 0, 512);
  TW_SHARED(float, A_shared, 2048, 512);
  {
    TW_LOCAL(float, C_local, 16);
    #pragma unroll
    for (int i_2_init = 0; i_2_init < 4; ++i_2_init) {
      #pragma unroll
      for (int j_2_init = 0; j_2_init < 4; ++j_2_init) {
        tw_store(C_local, i_2_init * 4 + j_2_init, 0.0f);
      }
    }
    #pragma unroll 1
    for (int k_0 = 0; k_0 < 4; ++k_0) {
      for (int ax0_ax1_fused_0 = 0; ax0_ax1_fused_0 < 2; ++ax0_ax1_fused_0) {
        tw_store(A_shared, ax0_ax1_fused_0 * 256 + ty * 16 + tx, A[by * 2048 + ax0_ax1_fused_0 * 1024 + ty * 64 + tx / 8 * 32 + k_0 * 8 + tx % 8]);
      }
      {
        const auto B_lanes = tw_load_vector<2>(B, k_0 * 512 + tx * 2 + ty * 32);
        tw_vector<float, 2> B_shared_lanes;
        #pragma unroll
        for (int ax0_ax1_fused_3 = 0; ax0_ax1_fused_3 < 2; ++ax0_ax1_fused_3) {
          B_shared_lanes[ax0_ax1_fused_3] = B_lanes[ax0_ax1_fused_3];
        }
        tw_store_vector(B_shared, tx * 2 + ty * 32, B_shared_lanes);
      }
      tw_barrier();
      for (int k_1 = 0; k_1 < 8; ++k_1) {
        #pragma unroll
        for (int i_2 = 0; i_2 < 4; ++i_2) {
          #pragma unroll
          for (int j_2 = 0; j_2 < 4; ++j_2) {
            tw_store(C_local, i_2 * 4 + j_2, C_local[i_2 * 4 + j_2] + A_shared[ty * 32 + i_2 * 8 + k_1] * B_shared[k_1 * 64 + tx * 4 + j_2]);
          }
        }
      }
      tw_barrier();
    }
    #pragma unroll
    for (int ax0 = 0; ax0 < 4; ++ax0) {
      #pragma unroll
      for (int ax1 = 0; ax1 < 4; ++ax1) {
        tw_store(C, by * 4096 + ty * 256 + ax0 * 64 + tx * 4 + ax1, C_local[ax0 * 4 + ax1]);
      }
    }
  }
}
