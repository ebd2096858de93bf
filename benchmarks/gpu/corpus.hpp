// Kernels for GPUs that are checked and timed by hand-written schedules: what lowering, emulator,
// compile gate, mutants and the GPU program share.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <tilewright/ir/stmt.hpp>

namespace gpu_corpus {

/// A function, as it is written and as it is scheduled.
struct entry {
  std::string name;
  tilewright::ir::function written, scheduled;
  int registers = 255;      // what a thread may need at most
  double tolerance = 1e-5;  // relative, against the interpreter
  double operations = 0;    // of one run, floating point
  double bytes = 0;         // of one run, read and written at least once
  std::map<std::string, std::vector<std::byte>> given = {};  // parameters that are not random
};

/// B = exp(A) * 2 + A on vectors of four.
entry chain(int n);
/// C = A B in f32: blocks of 64 x 64, threads of 4 x 4, 8 of K at once in shared memory.
entry matmul(int m, int n, int k);
/// The same with a bias and max(., 0), where no tile divides its extent.
entry matmul_tails(int m, int n, int k);
/// C = A B of f16 with sums in f32 on tensor cores: blocks of 128 x 128, four warps of 64 x 64, 32 of K at
/// once copied in the background, four steps on their way.
entry tensor_matmul(int m, int n, int k);
/// The same by blocks of 128 x 128, 64 of K at once, which the copy engine of sm_90a brings; threads do elsewhere.
entry boxed_matmul(int m, int n, int k);
/// tensor_matmul of f32 with factors rounded to tf32, 16 of K at once, and of bytes with sums in i32, 64 of K at once;
/// the second operand lies as [n, k], so that matrices of both can be loaded.
entry tensor_matmul_tf32(int m, int n, int k);
entry tensor_matmul_s8(int m, int n, int k);
/// Softmax of rows, a block to a row.
entry softmax(int rows, int columns);
/// The same with the largest element and the sum as one reducer of two values: rows are read twice.
entry online_softmax(int rows, int columns);
/// (x - mean) / sqrt(variance + epsilon) of rows, a block to a row.
entry layer_norm(int rows, int columns);
/// Sums of rows, a warp to a row, and of columns, a thread to a column.
entry row_sums(int rows, int columns);
entry column_sums(int rows, int columns);
/// Position of the largest element of each row, across threads.
entry row_argmax(int rows, int columns);

/// Attention of f16 in one kernel, as the default space has it unmeasured: parts of the keys by warps on tensor cores.
entry attention(int heads, int queries, int keys, int depth);

/// All of them but boxed_matmul, small enough to be emulated.
std::vector<entry> small();
/// All of them but boxed_matmul, large enough to be timed.
std::vector<entry> large();

}  // namespace gpu_corpus
