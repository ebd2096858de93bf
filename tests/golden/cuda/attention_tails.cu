extern "C" TW_KERNEL(64) void tilewright_main_0(TW_GLOBAL(const tw_f16) Q, TW_GLOBAL(const tw_f16) K, TW_GLOBAL(const tw_f16) V, TW_GLOBAL(float) Y) {
  const int bx = TW_BLOCK(x);
  const int ty = TW_THREAD(y);
  const int tx = TW_THREAD(x);
  TW_SHARED(tw_f16, Q_pad_shared_dyn, 0, 2048);
  TW_SHARED(tw_f16, K_pad_shared_dyn, 4096, 4096);
  TW_SHARED(tw_f16, V_pad_shared_dyn, 12288, 4096);
  {
    TW_LOCAL(float, mixed_wmma_accumulator, 32);
    {
      TW_LOCAL(float, total_wmma_rows, 4);
      for (int round = 0; round < 4; ++round) {
        {
          tw_vector<tw_f16, 8> Q_pad_shared_dyn_lanes;
          #pragma unroll
          for (int lane = 0; lane < 8; ++lane) {
            Q_pad_shared_dyn_lanes[lane] = tw_f16(round * 16 + ty * 8 + tx / 4 < 50 ? tw_float(Q[round * 512 + ty * 256 + lane + tx * 8]) : 0.0f);
          }
          tw_store_vector(Q_pad_shared_dyn, round * 512 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8, Q_pad_shared_dyn_lanes);
        }
      }
      {
        TW_LOCAL(tw_f16, V_pad_shared_dyn_wmma_matrix_b, 192);
        {
          TW_LOCAL(tw_f16, share_rounded_wmma_matrix_a, 64);
          {
            TW_LOCAL(float, peak_terms_wmma_accumulator, 64);
            {
              TW_LOCAL(float, share_part_wmma_accumulator, 64);
              {
                TW_LOCAL(float, peak_factor_wmma_rows, 4);
                {
                  TW_LOCAL(float, peak_wmma_rows, 4);
                  #pragma unroll
                  for (int r_tile = 0; r_tile < 2; ++r_tile) {
                    #pragma unroll
                    for (int half = 0; half < 2; ++half) {
                      tw_store(peak_wmma_rows, r_tile * 2 + half, (-3.40282347e+38f));
                    }
                  }
                  #pragma unroll
                  for (int r_tile_1 = 0; r_tile_1 < 2; ++r_tile_1) {
                    #pragma unroll
                    for (int half_1 = 0; half_1 < 2; ++half_1) {
                      tw_store(total_wmma_rows, r_tile_1 * 2 + half_1, 0.0f);
                    }
                  }
                  #pragma unroll
                  for (int r_tile_2 = 0; r_tile_2 < 2; ++r_tile_2) {
                    #pragma unroll
                    for (int e_tile = 0; e_tile < 2; ++e_tile) {
                      #pragma unroll
                      for (int group = 0; group < 4; ++group) {
                        #pragma unroll
                        for (int element = 0; element < 2; ++element) {
                          tw_store(mixed_wmma_accumulator, r_tile_2 * 16 + e_tile * 8 + group * 2 + element, 0.0f);
                        }
                      }
                    }
                  }
                  {
                    TW_LOCAL(float, product_wmma_accumulator, 64);
                    for (int round_1 = 0; round_1 < 4; ++round_1) {
                      tw_copy_or_zero<8>(K_pad_shared_dyn, round_1 * 512 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8, K, round_1 * 512 + ty * 256 + tx * 8, true);
                    }
                    for (int round_2 = 0; round_2 < 4; ++round_2) {
                      tw_copy_or_zero<8>(V_pad_shared_dyn, round_2 * 512 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8, V, round_2 * 512 + ty * 256 + tx * 8, true);
                    }
                    tw_commit_copies();
                    #pragma unroll 1
                    for (int j_part = 0; j_part < 3; ++j_part) {
                      tw_wait_copies<0>();
                      tw_barrier();
                      if (j_part < 2) {
                        for (int round_3 = 0; round_3 < 4; ++round_3) {
                          tw_copy_or_zero<8>(K_pad_shared_dyn, (j_part + 1) % 2 * 2048 + round_3 * 512 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8, K, j_part * 2048 + round_3 * 512 + ty * 256 + tx * 8 + 2048, j_part * 64 + round_3 * 16 + ty * 8 + tx / 4 < 86);
                        }
                        for (int round_4 = 0; round_4 < 4; ++round_4) {
                          tw_copy_or_zero<8>(V_pad_shared_dyn, (j_part + 1) % 2 * 2048 + round_4 * 512 + ty * 256 + tx / 4 * 32 + tw_bitwise_xor<int>(tx % 4, tx / 8) * 8, V, j_part * 2048 + round_4 * 512 + ty * 256 + tx * 8 + 2048, j_part * 64 + round_4 * 16 + ty * 8 + tx / 4 < 86);
                        }
                      }
                      tw_commit_copies();
                      #pragma unroll
                      for (int ax1_init_tile = 0; ax1_init_tile < 2; ++ax1_init_tile) {
                        #pragma unroll
                        for (int ax2_init_tile = 0; ax2_init_tile < 4; ++ax2_init_tile) {
                          #pragma unroll
                          for (int group_1 = 0; group_1 < 4; ++group_1) {
                            #pragma unroll
                            for (int element_1 = 0; element_1 < 2; ++element_1) {
                              tw_store(product_wmma_accumulator, ax1_init_tile * 32 + ax2_init_tile * 8 + group_1 * 2 + element_1, 0.0f);
                            }
                          }
                        }
                      }
                      for (int ax3_0 = 0; ax3_0 < 2; ++ax3_0) {
                        {
                          TW_LOCAL(tw_f16, K_pad_shared_dyn_wmma_matrix_b, 32);
                          {
                            TW_LOCAL(tw_f16, Q_pad_shared_dyn_wmma_matrix_a, 16);
                            #pragma unroll
                            for (int ax1_tile = 0; ax1_tile < 2; ++ax1_tile) {
                              tw_load_matrix(Q_pad_shared_dyn_wmma_matrix_a, ax1_tile * 8, Q_pad_shared_dyn, ty * 1024 + ax1_tile * 512 + tx % 16 * 32 + tw_bitwise_xor<int>(ax3_0 * 2 + tx / 16, tx / 2 % 4) * 8);
                            }
                            #pragma unroll
                            for (int ax1_tile_1 = 0; ax1_tile_1 < 4; ++ax1_tile_1) {
                              tw_load_matrix(K_pad_shared_dyn_wmma_matrix_b, ax1_tile_1 * 8, K_pad_shared_dyn, j_part % 2 * 2048 + ax1_tile_1 * 512 + tx % 8 * 32 + tx / 16 * 256 + tw_bitwise_xor<int>(ax3_0 * 2 + tx / 8 % 2, tx / 2 % 4) * 8);
                            }
                            #pragma unroll
                            for (int ax1_tile_2 = 0; ax1_tile_2 < 2; ++ax1_tile_2) {
                              #pragma unroll
                              for (int ax2_tile = 0; ax2_tile < 4; ++ax2_tile) {
                                tw_mma(product_wmma_accumulator, ax1_tile_2 * 32 + ax2_tile * 8, Q_pad_shared_dyn_wmma_matrix_a, ax1_tile_2 * 8, K_pad_shared_dyn_wmma_matrix_b, ax2_tile * 8);
                              }
                            }
                          }
                        }
                      }
                      #pragma unroll
                      for (int r_tile_3 = 0; r_tile_3 < 2; ++r_tile_3) {
                        #pragma unroll
                        for (int half_2 = 0; half_2 < 2; ++half_2) {
                          tw_store(peak_factor_wmma_rows, r_tile_3 * 2 + half_2, peak_wmma_rows[r_tile_3 * 2 + half_2]);
                        }
                      }
                      #pragma unroll
                      for (int r_tile_4 = 0; r_tile_4 < 2; ++r_tile_4) {
                        #pragma unroll
                        for (int j_tile = 0; j_tile < 4; ++j_tile) {
                          #pragma unroll
                          for (int group_2 = 0; group_2 < 4; ++group_2) {
                            #pragma unroll
                            for (int element_2 = 0; element_2 < 2; ++element_2) {
                              tw_store(peak_terms_wmma_accumulator, r_tile_4 * 32 + j_tile * 8 + group_2 * 2 + element_2, 0.0721347556f * product_wmma_accumulator[r_tile_4 * 32 + j_tile * 8 + group_2 * 2 + element_2]);
                            }
                          }
                        }
                      }
                      if (2 <= j_part) {
                        #pragma unroll
                        for (int r_tile_5 = 0; r_tile_5 < 2; ++r_tile_5) {
                          #pragma unroll
                          for (int j_tile_1 = 0; j_tile_1 < 4; ++j_tile_1) {
                            #pragma unroll
                            for (int group_3 = 0; group_3 < 4; ++group_3) {
                              #pragma unroll
                              for (int element_3 = 0; element_3 < 2; ++element_3) {
                                tw_store(peak_terms_wmma_accumulator, r_tile_5 * 32 + j_tile_1 * 8 + group_3 * 2 + element_3, j_tile_1 * 16 + group_3 / 2 * 8 + tx % 4 * 2 + element_3 < 22 ? peak_terms_wmma_accumulator[r_tile_5 * 32 + j_tile_1 * 8 + group_3 * 2 + element_3] : (-tw_special<float>::infinity()));
                              }
                            }
                          }
                        }
                      }
                      #pragma unroll
                      for (int r_tile_6 = 0; r_tile_6 < 2; ++r_tile_6) {
                        {
                          TW_LOCAL(float, peak_wmma_rows_of_lane, 2);
                          #pragma unroll
                          for (int half_3 = 0; half_3 < 2; ++half_3) {
                            tw_store(peak_wmma_rows_of_lane, half_3, (-tw_special<float>::infinity()));
                          }
                          #pragma unroll
                          for (int j_tile_2 = 0; j_tile_2 < 4; ++j_tile_2) {
                            #pragma unroll
                            for (int group_4 = 0; group_4 < 4; ++group_4) {
                              #pragma unroll
                              for (int element_4 = 0; element_4 < 2; ++element_4) {
                                tw_store(peak_wmma_rows_of_lane, group_4 % 2, tw_greater(peak_wmma_rows_of_lane[group_4 % 2], peak_terms_wmma_accumulator[r_tile_6 * 32 + j_tile_2 * 8 + group_4 * 2 + element_4]));
                              }
                            }
                          }
                          #pragma unroll
                          for (int half_4 = 0; half_4 < 2; ++half_4) {
                            const float other = tw_shuffle_xor(peak_wmma_rows_of_lane[half_4], 1, 4);
                            tw_store(peak_wmma_rows_of_lane, half_4, tw_greater(peak_wmma_rows_of_lane[half_4], other));
                            const float other_1 = tw_shuffle_xor(peak_wmma_rows_of_lane[half_4], 2, 4);
                            tw_store(peak_wmma_rows_of_lane, half_4, tw_greater(peak_wmma_rows_of_lane[half_4], other_1));
                            tw_store(peak_wmma_rows, r_tile_6 * 2 + half_4, tw_greater(peak_wmma_rows[r_tile_6 * 2 + half_4], peak_wmma_rows_of_lane[half_4]));
                          }
                        }
                      }
                      #pragma unroll
                      for (int r_tile_7 = 0; r_tile_7 < 2; ++r_tile_7) {
                        #pragma unroll
                        for (int half_5 = 0; half_5 < 2; ++half_5) {
                          tw_store(peak_factor_wmma_rows, r_tile_7 * 2 + half_5, tw_exp2(peak_factor_wmma_rows[r_tile_7 * 2 + half_5] - peak_wmma_rows[r_tile_7 * 2 + half_5]));
                        }
                      }
                      #pragma unroll
                      for (int r_tile_8 = 0; r_tile_8 < 2; ++r_tile_8) {
                        #pragma unroll
                        for (int j_tile_3 = 0; j_tile_3 < 4; ++j_tile_3) {
                          #pragma unroll
                          for (int group_5 = 0; group_5 < 4; ++group_5) {
                            #pragma unroll
                            for (int element_5 = 0; element_5 < 2; ++element_5) {
                              tw_store(share_part_wmma_accumulator, r_tile_8 * 32 + j_tile_3 * 8 + group_5 * 2 + element_5, tw_exp2(peak_terms_wmma_accumulator[r_tile_8 * 32 + j_tile_3 * 8 + group_5 * 2 + element_5] - peak_wmma_rows[r_tile_8 * 2 + group_5 % 2]));
                            }
                          }
                        }
                      }
                      #pragma unroll
                      for (int r_tile_9 = 0; r_tile_9 < 2; ++r_tile_9) {
                        #pragma unroll
                        for (int half_6 = 0; half_6 < 2; ++half_6) {
                          tw_store(total_wmma_rows, r_tile_9 * 2 + half_6, total_wmma_rows[r_tile_9 * 2 + half_6] * peak_factor_wmma_rows[r_tile_9 * 2 + half_6]);
                        }
                      }
                      #pragma unroll
                      for (int r_tile_10 = 0; r_tile_10 < 2; ++r_tile_10) {
                        {
                          TW_LOCAL(float, total_wmma_rows_of_lane, 2);
                          #pragma unroll
                          for (int half_7 = 0; half_7 < 2; ++half_7) {
                            tw_store(total_wmma_rows_of_lane, half_7, 0.0f);
                          }
                          #pragma unroll
                          for (int j_tile_4 = 0; j_tile_4 < 4; ++j_tile_4) {
                            #pragma unroll
                            for (int group_6 = 0; group_6 < 4; ++group_6) {
                              #pragma unroll
                              for (int element_6 = 0; element_6 < 2; ++element_6) {
                                tw_store(total_wmma_rows_of_lane, group_6 % 2, total_wmma_rows_of_lane[group_6 % 2] + share_part_wmma_accumulator[r_tile_10 * 32 + j_tile_4 * 8 + group_6 * 2 + element_6]);
                              }
                            }
                          }
                          #pragma unroll
                          for (int half_8 = 0; half_8 < 2; ++half_8) {
                            const float other_2 = tw_shuffle_xor(total_wmma_rows_of_lane[half_8], 1, 4);
                            tw_store(total_wmma_rows_of_lane, half_8, total_wmma_rows_of_lane[half_8] + other_2);
                            const float other_3 = tw_shuffle_xor(total_wmma_rows_of_lane[half_8], 2, 4);
                            tw_store(total_wmma_rows_of_lane, half_8, total_wmma_rows_of_lane[half_8] + other_3);
                            tw_store(total_wmma_rows, r_tile_10 * 2 + half_8, total_wmma_rows[r_tile_10 * 2 + half_8] + total_wmma_rows_of_lane[half_8]);
                          }
                        }
                      }
                      #pragma unroll
                      for (int r_tile_11 = 0; r_tile_11 < 2; ++r_tile_11) {
                        #pragma unroll
                        for (int e_tile_1 = 0; e_tile_1 < 2; ++e_tile_1) {
                          #pragma unroll
                          for (int group_7 = 0; group_7 < 4; ++group_7) {
                            #pragma unroll
                            for (int element_7 = 0; element_7 < 2; ++element_7) {
                              tw_store(mixed_wmma_accumulator, r_tile_11 * 16 + e_tile_1 * 8 + group_7 * 2 + element_7, mixed_wmma_accumulator[r_tile_11 * 16 + e_tile_1 * 8 + group_7 * 2 + element_7] * peak_factor_wmma_rows[r_tile_11 * 2 + group_7 % 2]);
                            }
                          }
                        }
                      }
                      #pragma unroll
                      for (int r_tile_12 = 0; r_tile_12 < 2; ++r_tile_12) {
                        #pragma unroll
                        for (int j_tile_5 = 0; j_tile_5 < 4; ++j_tile_5) {
                          #pragma unroll
                          for (int group_8 = 0; group_8 < 4; ++group_8) {
                            #pragma unroll
                            for (int element_8 = 0; element_8 < 2; ++element_8) {
                              tw_store(share_rounded_wmma_matrix_a, r_tile_12 * 32 + j_tile_5 * 8 + group_8 * 2 + element_8, tw_f16(float(share_part_wmma_accumulator[r_tile_12 * 32 + j_tile_5 * 8 + group_8 * 2 + element_8])));
                            }
                          }
                        }
                      }
                      #pragma unroll
                      for (int j_0 = 0; j_0 < 4; ++j_0) {
                        #pragma unroll
                        for (int ax2_tile_1 = 0; ax2_tile_1 < 2; ++ax2_tile_1) {
                          tw_load_transposed(V_pad_shared_dyn_wmma_matrix_b, j_part * 64 + j_0 * 16 + ax2_tile_1 * 8, V_pad_shared_dyn, j_part % 2 * 2048 + j_0 * 512 + tx % 16 * 32 + tw_bitwise_xor<int>(ax2_tile_1 * 2 + tx / 16, tx / 2 % 4) * 8);
                        }
                        #pragma unroll
                        for (int r_tile_13 = 0; r_tile_13 < 2; ++r_tile_13) {
                          #pragma unroll
                          for (int e_tile_2 = 0; e_tile_2 < 2; ++e_tile_2) {
                            tw_mma(mixed_wmma_accumulator, r_tile_13 * 16 + e_tile_2 * 8, share_rounded_wmma_matrix_a, r_tile_13 * 32 + j_0 * 8, V_pad_shared_dyn_wmma_matrix_b, j_part * 64 + j_0 * 16 + e_tile_2 * 8);
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
      #pragma unroll
      for (int ax1_tile_3 = 0; ax1_tile_3 < 2; ++ax1_tile_3) {
        #pragma unroll
        for (int ax2_tile_2 = 0; ax2_tile_2 < 2; ++ax2_tile_2) {
          #pragma unroll
          for (int group_9 = 0; group_9 < 4; ++group_9) {
            if (ty * 32 + ax1_tile_3 * 16 + tx / 4 + group_9 % 2 * 8 < 50) {
              {
                tw_vector<float, 2> Y_lanes;
                #pragma unroll
                for (int element_9 = 0; element_9 < 2; ++element_9) {
                  Y_lanes[element_9] = mixed_wmma_accumulator[ax1_tile_3 * 16 + ax2_tile_2 * 8 + group_9 * 2 + element_9] / total_wmma_rows[ax1_tile_3 * 2 + group_9 % 2];
                }
                tw_store_vector(Y, ty * 1024 + ax1_tile_3 * 512 + tx / 4 * 32 + group_9 % 2 * 256 + ax2_tile_2 * 16 + group_9 / 2 * 8 + tx % 4 * 2, Y_lanes);
              }
            }
          }
        }
      }
    }
  }
}
