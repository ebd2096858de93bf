extern "C" TW_KERNEL(256) void tilewright_row_sums_0(TW_GLOBAL(const float) X, TW_GLOBAL(float) Y) {
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  if (tx == 0 && bx * 8 + ty < 12) {
    tw_store(Y, bx * 8 + ty, 0.0f);
  }
  {
    TW_LOCAL(float, Y_part, 1);
    tw_store(Y_part, 0, 0.0f);
    if (bx * 8 + ty < 12) {
      for (int j_0 = 0; j_0 < 4; ++j_0) {
        if (j_0 * 32 + tx < 100) {
          tw_store(Y_part, 0, Y_part[0] + X[bx * 800 + ty * 100 + j_0 * 32 + tx]);
        }
      }
    }
    const float other = tw_shuffle_xor(Y_part[0], 16, 32);
    tw_store(Y_part, 0, Y_part[0] + other);
    const float other_1 = tw_shuffle_xor(Y_part[0], 8, 32);
    tw_store(Y_part, 0, Y_part[0] + other_1);
    const float other_2 = tw_shuffle_xor(Y_part[0], 4, 32);
    tw_store(Y_part, 0, Y_part[0] + other_2);
    const float other_3 = tw_shuffle_xor(Y_part[0], 2, 32);
    tw_store(Y_part, 0, Y_part[0] + other_3);
    const float other_4 = tw_shuffle_xor(Y_part[0], 1, 32);
    tw_store(Y_part, 0, Y_part[0] + other_4);
    if (bx * 8 + ty < 12 && tx == 0) {
      const float Y_total = Y[bx * 8 + ty] + Y_part[0];
      tw_store(Y, bx * 8 + ty, Y_total);
    }
  }
}
