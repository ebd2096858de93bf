extern "C" TW_KERNEL(256) void tilewright_column_sums_0(TW_GLOBAL(const float) X, TW_GLOBAL(float) Y) {
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  TW_SHARED(float, Y_part_of_threads, 0, 256);
  if (ty == 0 && bx * 32 + tx < 70) {
    tw_store(Y, bx * 32 + tx, 0.0f);
  }
  {
    TW_LOCAL(float, Y_part, 1);
    tw_store(Y_part, 0, 0.0f);
    if (bx * 32 + tx < 70) {
      for (int i_0 = 0; i_0 < 7; ++i_0) {
        if (i_0 * 8 + ty < 50) {
          tw_store(Y_part, 0, Y_part[0] + X[i_0 * 560 + ty * 70 + bx * 32 + tx]);
        }
      }
    }
    tw_store(Y_part_of_threads, tx * 8 + ty, Y_part[0]);
    tw_barrier();
    tw_store(Y_part, 0, Y_part_of_threads[tx * 8]);
    for (int slot = 1; slot < 8; ++slot) {
      tw_store(Y_part, 0, Y_part[0] + Y_part_of_threads[tx * 8 + slot]);
    }
    if (bx * 32 + tx < 70 && ty == 0) {
      const float Y_total = Y[bx * 32 + tx] + Y_part[0];
      tw_store(Y, bx * 32 + tx, Y_total);
    }
  }
}
