extern "C" TW_KERNEL(256) void tilewright_online_softmax_0(TW_GLOBAL(const float) X, TW_GLOBAL(float) Y) {
  const int bx = TW_BLOCK(x);
  const int tx = TW_THREAD(x);
  TW_SHARED(float, S_shared, 0, 1);
  TW_SHARED(float, M_shared, 128, 1);
  TW_SHARED(float, M_shared_part_of_threads, 256, 8);
  TW_SHARED(float, S_shared_part_of_threads, 384, 8);
  if (tx == 0) {
    tw_store(M_shared, 0, (-9.99999968e+37f));
    tw_store(S_shared, 0, 0.0f);
  }
  {
    TW_LOCAL(float, M_shared_part, 1);
    {
      TW_LOCAL(float, S_shared_part, 1);
      tw_store(M_shared_part, 0, (-9.99999968e+37f));
      tw_store(S_shared_part, 0, 0.0f);
      for (int ax1_0 = 0; ax1_0 < 2; ++ax1_0) {
        if (ax1_0 * 256 + tx < 300) {
          const float M_shared_part_next = tw_max<float>(M_shared_part[0], X[bx * 300 + ax1_0 * 256 + tx]);
          const float S_shared_part_next = S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared_part[0], X[bx * 300 + ax1_0 * 256 + tx])) + tw_exp(X[bx * 300 + ax1_0 * 256 + tx] - tw_max<float>(M_shared_part[0], X[bx * 300 + ax1_0 * 256 + tx]));
          tw_store(M_shared_part, 0, M_shared_part_next);
          tw_store(S_shared_part, 0, S_shared_part_next);
        }
      }
      const float other = tw_shuffle_xor(M_shared_part[0], 16, 32);
      const float other_1 = tw_shuffle_xor(S_shared_part[0], 16, 32);
      const float M_shared_part_next_1 = tw_max<float>(M_shared_part[0], other);
      const float S_shared_part_next_1 = S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared_part[0], other)) + other_1 * tw_exp(other - tw_max<float>(M_shared_part[0], other));
      tw_store(M_shared_part, 0, M_shared_part_next_1);
      tw_store(S_shared_part, 0, S_shared_part_next_1);
      const float other_2 = tw_shuffle_xor(M_shared_part[0], 8, 32);
      const float other_3 = tw_shuffle_xor(S_shared_part[0], 8, 32);
      const float M_shared_part_next_2 = tw_max<float>(M_shared_part[0], other_2);
      const float S_shared_part_next_2 = S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared_part[0], other_2)) + other_3 * tw_exp(other_2 - tw_max<float>(M_shared_part[0], other_2));
      tw_store(M_shared_part, 0, M_shared_part_next_2);
      tw_store(S_shared_part, 0, S_shared_part_next_2);
      const float other_4 = tw_shuffle_xor(M_shared_part[0], 4, 32);
      const float other_5 = tw_shuffle_xor(S_shared_part[0], 4, 32);
      const float M_shared_part_next_3 = tw_max<float>(M_shared_part[0], other_4);
      const float S_shared_part_next_3 = S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared_part[0], other_4)) + other_5 * tw_exp(other_4 - tw_max<float>(M_shared_part[0], other_4));
      tw_store(M_shared_part, 0, M_shared_part_next_3);
      tw_store(S_shared_part, 0, S_shared_part_next_3);
      const float other_6 = tw_shuffle_xor(M_shared_part[0], 2, 32);
      const float other_7 = tw_shuffle_xor(S_shared_part[0], 2, 32);
      const float M_shared_part_next_4 = tw_max<float>(M_shared_part[0], other_6);
      const float S_shared_part_next_4 = S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared_part[0], other_6)) + other_7 * tw_exp(other_6 - tw_max<float>(M_shared_part[0], other_6));
      tw_store(M_shared_part, 0, M_shared_part_next_4);
      tw_store(S_shared_part, 0, S_shared_part_next_4);
      const float other_8 = tw_shuffle_xor(M_shared_part[0], 1, 32);
      const float other_9 = tw_shuffle_xor(S_shared_part[0], 1, 32);
      const float M_shared_part_next_5 = tw_max<float>(M_shared_part[0], other_8);
      const float S_shared_part_next_5 = S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared_part[0], other_8)) + other_9 * tw_exp(other_8 - tw_max<float>(M_shared_part[0], other_8));
      tw_store(M_shared_part, 0, M_shared_part_next_5);
      tw_store(S_shared_part, 0, S_shared_part_next_5);
      if (tx % 32 == 0) {
        tw_store(M_shared_part_of_threads, tx / 32, M_shared_part[0]);
        tw_store(S_shared_part_of_threads, tx / 32, S_shared_part[0]);
      }
      tw_barrier();
      tw_store(M_shared_part, 0, M_shared_part_of_threads[0]);
      tw_store(S_shared_part, 0, S_shared_part_of_threads[0]);
      for (int slot = 1; slot < 8; ++slot) {
        const float M_shared_part_next_6 = tw_max<float>(M_shared_part[0], M_shared_part_of_threads[slot]);
        const float S_shared_part_next_6 = S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared_part[0], M_shared_part_of_threads[slot])) + S_shared_part_of_threads[slot] * tw_exp(M_shared_part_of_threads[slot] - tw_max<float>(M_shared_part[0], M_shared_part_of_threads[slot]));
        tw_store(M_shared_part, 0, M_shared_part_next_6);
        tw_store(S_shared_part, 0, S_shared_part_next_6);
      }
      if (tx == 0) {
        const float M_shared_total = tw_max<float>(M_shared[0], M_shared_part[0]);
        const float S_shared_total = S_shared[0] * tw_exp(M_shared[0] - tw_max<float>(M_shared[0], M_shared_part[0])) + S_shared_part[0] * tw_exp(M_shared_part[0] - tw_max<float>(M_shared[0], M_shared_part[0]));
        tw_store(M_shared, 0, M_shared_total);
        tw_store(S_shared, 0, S_shared_total);
      }
    }
  }
  tw_barrier();
  for (int j_0 = 0; j_0 < 2; ++j_0) {
    if (j_0 * 256 + tx < 300) {
      tw_store(Y, bx * 300 + j_0 * 256 + tx, tw_exp(X[bx * 300 + j_0 * 256 + tx] - M_shared[0]) / S_shared[0]);
    }
  }
}
