extern "C" TW_KERNEL(64) void tilewright_row_argmax_0(TW_GLOBAL(const float) X, TW_GLOBAL(int) P, TW_GLOBAL(float) Y) {
  const int bx = TW_BLOCK(x);
  const int tx = TW_THREAD(x);
  TW_SHARED(int, P_part_of_threads, 0, 2);
  TW_SHARED(float, Y_part_of_threads, 128, 2);
  if (tx == 0) {
    tw_store(P, bx, (-1));
    tw_store(Y, bx, (-3.40282347e+38f));
  }
  {
    TW_LOCAL(int, P_part, 1);
    {
      TW_LOCAL(float, Y_part, 1);
      tw_store(P_part, 0, (-1));
      tw_store(Y_part, 0, (-tw_special<float>::infinity()));
      for (int j_0 = 0; j_0 < 3; ++j_0) {
        if (j_0 * 64 + tx < 150) {
          const int P_part_next = Y_part[0] > X[bx * 150 + j_0 * 64 + tx] || Y_part[0] == X[bx * 150 + j_0 * 64 + tx] && P_part[0] < j_0 * 64 + tx ? P_part[0] : j_0 * 64 + tx;
          const float Y_part_next = Y_part[0] > X[bx * 150 + j_0 * 64 + tx] ? Y_part[0] : X[bx * 150 + j_0 * 64 + tx];
          tw_store(P_part, 0, P_part_next);
          tw_store(Y_part, 0, Y_part_next);
        }
      }
      const int other = tw_shuffle_xor(P_part[0], 16, 32);
      const float other_1 = tw_shuffle_xor(Y_part[0], 16, 32);
      const int P_part_next_1 = Y_part[0] > other_1 || Y_part[0] == other_1 && P_part[0] < other ? P_part[0] : other;
      const float Y_part_next_1 = Y_part[0] > other_1 ? Y_part[0] : other_1;
      tw_store(P_part, 0, P_part_next_1);
      tw_store(Y_part, 0, Y_part_next_1);
      const int other_2 = tw_shuffle_xor(P_part[0], 8, 32);
      const float other_3 = tw_shuffle_xor(Y_part[0], 8, 32);
      const int P_part_next_2 = Y_part[0] > other_3 || Y_part[0] == other_3 && P_part[0] < other_2 ? P_part[0] : other_2;
      const float Y_part_next_2 = Y_part[0] > other_3 ? Y_part[0] : other_3;
      tw_store(P_part, 0, P_part_next_2);
      tw_store(Y_part, 0, Y_part_next_2);
      const int other_4 = tw_shuffle_xor(P_part[0], 4, 32);
      const float other_5 = tw_shuffle_xor(Y_part[0], 4, 32);
      const int P_part_next_3 = Y_part[0] > other_5 || Y_part[0] == other_5 && P_part[0] < other_4 ? P_part[0] : other_4;
      const float Y_part_next_3 = Y_part[0] > other_5 ? Y_part[0] : other_5;
      tw_store(P_part, 0, P_part_next_3);
      tw_store(Y_part, 0, Y_part_next_3);
      const int other_6 = tw_shuffle_xor(P_part[0], 2, 32);
      const float other_7 = tw_shuffle_xor(Y_part[0], 2, 32);
      const int P_part_next_4 = Y_part[0] > other_7 || Y_part[0] == other_7 && P_part[0] < other_6 ? P_part[0] : other_6;
      const float Y_part_next_4 = Y_part[0] > other_7 ? Y_part[0] : other_7;
      tw_store(P_part, 0, P_part_next_4);
      tw_store(Y_part, 0, Y_part_next_4);
      const int other_8 = tw_shuffle_xor(P_part[0], 1, 32);
      const float other_9 = tw_shuffle_xor(Y_part[0], 1, 32);
      const int P_part_next_5 = Y_part[0] > other_9 || Y_part[0] == other_9 && P_part[0] < other_8 ? P_part[0] : other_8;
      const float Y_part_next_5 = Y_part[0] > other_9 ? Y_part[0] : other_9;
      tw_store(P_part, 0, P_part_next_5);
      tw_store(Y_part, 0, Y_part_next_5);
      if (tx % 32 == 0) {
        tw_store(P_part_of_threads, tx / 32, P_part[0]);
        tw_store(Y_part_of_threads, tx / 32, Y_part[0]);
      }
      tw_barrier();
      tw_store(P_part, 0, P_part_of_threads[0]);
      tw_store(Y_part, 0, Y_part_of_threads[0]);
      const int P_part_next_6 = Y_part[0] > Y_part_of_threads[1] || Y_part[0] == Y_part_of_threads[1] && P_part[0] < P_part_of_threads[1] ? P_part[0] : P_part_of_threads[1];
      const float Y_part_next_6 = Y_part[0] > Y_part_of_threads[1] ? Y_part[0] : Y_part_of_threads[1];
      tw_store(P_part, 0, P_part_next_6);
      tw_store(Y_part, 0, Y_part_next_6);
      if (tx == 0) {
        const int P_total = Y[bx] > Y_part[0] || Y[bx] == Y_part[0] && P[bx] < P_part[0] ? P[bx] : P_part[0];
        const float Y_total = Y[bx] > Y_part[0] ? Y[bx] : Y_part[0];
        tw_store(P, bx, P_total);
        tw_store(Y, bx, Y_total);
      }
    }
  }
}
