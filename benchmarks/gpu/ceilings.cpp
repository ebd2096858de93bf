#include "ceilings.hpp"

namespace gpu_ceilings {
namespace {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;

entry make(const char* name, std::uint32_t blocks, std::uint32_t threads, const char* text) {
  entry out;
  out.name = std::string("ceiling_") + name;
  out.program = one_kernel(out.name, blocks, threads, text);
  out.input_bytes = out.output_bytes = 1 << 20;
  return out;
}

}  // namespace

cu::program one_kernel(const std::string& name, std::uint32_t blocks, std::uint32_t threads,
                       const std::string& body) {
  cu::kernel k;
  k.start.symbol = name;
  k.start.grid = {blocks, 1, 1};
  k.start.block = {threads, 1, 1};
  using kind = backend::launch_argument::kind;
  k.start.arguments = {{kind::buffer, 8, 0}, {kind::buffer, 8, 1}};
  k.parameters = {{"A", dtype::f32, true, false, 0}, {"B", dtype::f32, true, true, 0}};
  cu::program out;
  out.kernels = {k};
  out.text = "extern \"C\" TW_KERNEL(" + std::to_string(threads) + ") void " + name +
             "(TW_GLOBAL(const float) A, TW_GLOBAL(float) B) {\n" + body + "}\n";
  return out;
}

std::vector<entry> all() {
  std::vector<entry> out;
  constexpr std::uint32_t blocks = 132 * 16;

  // 2^26 elements, four at once
  out.push_back(make("copy", (1u << 24) / 256, 256,
                     "  const int i = (TW_BLOCK(x) * 256 + TW_THREAD(x)) * 4;\n"
                     "  tw_store_vector(B, i, tw_load_vector<4>(A, i));\n"));
  out.back().input_bytes = out.back().output_bytes = std::size_t{1} << 28;
  out.back().bytes = 2.0 * (1 << 28);

  out.push_back(make("multiply_add_f32", blocks, 256,
                     "  float c[16];\n"
                     "  const float x = A[TW_THREAD(x)], y = A[TW_THREAD(x) + 256];\n"
                     "  #pragma unroll\n"
                     "  for (int i = 0; i < 16; ++i) c[i] = A[i];\n"
                     "  #pragma unroll 8\n"
                     "  for (int n = 0; n < 2048; ++n) {\n"
                     "    #pragma unroll\n"
                     "    for (int i = 0; i < 16; ++i) c[i] = tw_fma(c[i], x, y);\n"
                     "  }\n"
                     "  float sum = 0;\n"
                     "  #pragma unroll\n"
                     "  for (int i = 0; i < 16; ++i) sum += c[i];\n"
                     "  tw_store(B, TW_THREAD(x), sum);\n"));
  out.back().operations = 2.0 * 16 * 2048 * 256 * blocks;

  out.push_back(make(
      "mma_f16", blocks, 256,
      "  float c[8][4];\n"
      "  unsigned a[4], b[2];\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 4; ++i) a[i] = tw_reinterpret<unsigned>(A[TW_THREAD(x) + 256 * i]);\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 2; ++i) b[i] = tw_reinterpret<unsigned>(A[TW_THREAD(x) + 64 * i]);\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 32; ++i) c[i / 4][i % 4] = A[i];\n"
      "  #pragma unroll 4\n"
      "  for (int n = 0; n < 1024; ++n) {\n"
      "    #pragma unroll\n"
      "    for (int i = 0; i < 8; ++i)\n"
      "      asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \"\n"
      "                   \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
      "                   : \"+f\"(c[i][0]), \"+f\"(c[i][1]), \"+f\"(c[i][2]), \"+f\"(c[i][3])\n"
      "                   : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), "
      "\"r\"(b[1]));\n"
      "  }\n"
      "  float sum = 0;\n"
      "  #pragma unroll\n"
      "  for (int i = 0; i < 32; ++i) sum += c[i / 4][i % 4];\n"
      "  tw_store(B, TW_THREAD(x), sum);\n"));
  out.back().operations = 2.0 * 16 * 8 * 16 * 8 * 1024 * 8 * blocks;  // 8 warps in a block

  // additions that memory makes: to elements side by side, which no other warp adds to meanwhile, and all to one
  out.push_back(
      make("atomic_apart", blocks, 256,
           "  const int i = TW_BLOCK(x) * 256 + TW_THREAD(x);\n"
           "  #pragma unroll 1\n"
           "  for (int n = 0; n < 64; ++n) tw_atomic_add(B, i + n * 4096 & 0x3ffff, 1.0f);\n"));
  out.back().operations = 64.0 * 256 * blocks;
  out.push_back(make("atomic_together", blocks, 256,
                     "  #pragma unroll 1\n"
                     "  for (int n = 0; n < 16; ++n) tw_atomic_add(B, 0, 1.0f);\n"));
  out.back().operations = 16.0 * 256 * blocks;

  out.push_back(make("nothing", 1, 32, ""));
  return out;
}

}  // namespace gpu_ceilings
