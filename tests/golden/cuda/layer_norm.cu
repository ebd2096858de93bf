extern "C" TW_KERNEL(256) void tilewright_layer_norm_0(TW_GLOBAL(const float) X, TW_GLOBAL(const float) G, TW_GLOBAL(const float) B, TW_GLOBAL(float) Y) {
  const int bx = TW_BLOCK(x);
  const int tx = TW_THREAD(x);
  TW_SHARED(float, V_shared, 0, 1);
  TW_SHARED(float, S_shared, 128, 1);
  TW_SHARED(float, S_shared_part_of_threads, 256, 8);
  TW_SHARED(float, V_shared_part_of_threads, 256, 8);
  if (tx == 0) {
    tw_store(S_shared, 0, 0.0f);
  }
  {
    TW_LOCAL(float, S_shared_part, 1);
    tw_store(S_shared_part, 0, 0.0f);
    for (int ax1_0 = 0; ax1_0 < 2; ++ax1_0) {
      if (ax1_0 * 256 + tx < 300) {
        tw_store(S_shared_part, 0, S_shared_part[0] + X[bx * 300 + ax1_0 * 256 + tx]);
      }
    }
    const float other = tw_shuffle_xor(S_shared_part[0], 16, 32);
    tw_store(S_shared_part, 0, S_shared_part[0] + other);
    const float other_1 = tw_shuffle_xor(S_shared_part[0], 8, 32);
    tw_store(S_shared_part, 0, S_shared_part[0] + other_1);
    const float other_2 = tw_shuffle_xor(S_shared_part[0], 4, 32);
    tw_store(S_shared_part, 0, S_shared_part[0] + other_2);
    const float other_3 = tw_shuffle_xor(S_shared_part[0], 2, 32);
    tw_store(S_shared_part, 0, S_shared_part[0] + other_3);
    const float other_4 = tw_shuffle_xor(S_shared_part[0], 1, 32);
    tw_store(S_shared_part, 0, S_shared_part[0] + other_4);
    if (tx % 32 == 0) {
      tw_store(S_shared_part_of_threads, tx / 32, S_shared_part[0]);
    }
    tw_barrier();
    tw_store(S_shared_part, 0, S_shared_part_of_threads[0]);
    for (int slot = 1; slot < 8; ++slot) {
      tw_store(S_shared_part, 0, S_shared_part[0] + S_shared_part_of_threads[slot]);
    }
    if (tx == 0) {
      const float S_shared_total = S_shared[0] + S_shared_part[0];
      tw_store(S_shared, 0, S_shared_total);
    }
  }
  if (tx == 0) {
    tw_store(V_shared, 0, 0.0f);
  }
  tw_barrier();
  {
    TW_LOCAL(float, V_shared_part, 1);
    tw_store(V_shared_part, 0, 0.0f);
    for (int ax1_0_1 = 0; ax1_0_1 < 2; ++ax1_0_1) {
      if (ax1_0_1 * 256 + tx < 300) {
        tw_store(V_shared_part, 0, V_shared_part[0] + (X[bx * 300 + ax1_0_1 * 256 + tx] - S_shared[0] / 300.0f) * (X[bx * 300 + ax1_0_1 * 256 + tx] - S_shared[0] / 300.0f));
      }
    }
    const float other_5 = tw_shuffle_xor(V_shared_part[0], 16, 32);
    tw_store(V_shared_part, 0, V_shared_part[0] + other_5);
    const float other_6 = tw_shuffle_xor(V_shared_part[0], 8, 32);
    tw_store(V_shared_part, 0, V_shared_part[0] + other_6);
    const float other_7 = tw_shuffle_xor(V_shared_part[0], 4, 32);
    tw_store(V_shared_part, 0, V_shared_part[0] + other_7);
    const float other_8 = tw_shuffle_xor(V_shared_part[0], 2, 32);
    tw_store(V_shared_part, 0, V_shared_part[0] + other_8);
    const float other_9 = tw_shuffle_xor(V_shared_part[0], 1, 32);
    tw_store(V_shared_part, 0, V_shared_part[0] + other_9);
    if (tx % 32 == 0) {
      tw_store(V_shared_part_of_threads, tx / 32, V_shared_part[0]);
    }
    tw_barrier();
    tw_store(V_shared_part, 0, V_shared_part_of_threads[0]);
    for (int slot_1 = 1; slot_1 < 8; ++slot_1) {
      tw_store(V_shared_part, 0, V_shared_part[0] + V_shared_part_of_threads[slot_1]);
    }
    if (tx == 0) {
      const float V_shared_total = V_shared[0] + V_shared_part[0];
      tw_store(V_shared, 0, V_shared_total);
    }
  }
  tw_barrier();
  for (int j_0 = 0; j_0 < 2; ++j_0) {
    if (j_0 * 256 + tx < 300) {
      tw_store(Y, bx * 300 + j_0 * 256 + tx, (X[bx * 300 + j_0 * 256 + tx] - S_shared[0] / 300.0f) * tw_rsqrt(V_shared[0] / 300.0f + 9.99999975e-06f) * G[j_0 * 256 + tx] + B[j_0 * 256 + tx]);
    }
  }
}
