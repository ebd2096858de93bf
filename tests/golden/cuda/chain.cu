extern "C" TW_KERNEL(256) void tilewright_chain_0(TW_GLOBAL(const float) A, TW_GLOBAL(float) B) {
  const int bx = TW_BLOCK(x);
  const int tx = TW_THREAD(x);
  {
    const auto A_lanes = tw_load_vector<4>(A, bx * 1024 + tx * 4);
    tw_vector<float, 4> B_lanes;
    #pragma unroll
    for (int i_2 = 0; i_2 < 4; ++i_2) {
      B_lanes[i_2] = tw_exp(A_lanes[i_2]) * 2.0f + A_lanes[i_2];
    }
    tw_store_vector(B, bx * 1024 + tx * 4, B_lanes);
  }
}
