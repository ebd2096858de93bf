#include "box_functions.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <tilewright/support/random.hpp>

namespace gpu_conformance {
namespace {

using namespace tilewright;
namespace cu = tilewright::backend::cuda;
using backend::launch_argument;

constexpr int count = 65536;  // elements, of which a block of 256 threads has 256

std::vector<std::byte> numbers(std::uint64_t seed) {
  support::random draw(seed);
  std::vector<std::byte> out(count * sizeof(std::int32_t));
  for (int i = 0; i < count; ++i) {
    const auto x = static_cast<std::int32_t>(draw.next() >> draw.below(60));
    std::memcpy(&out[static_cast<std::size_t>(i) * sizeof x], &x, sizeof x);
  }
  return out;
}

/// The input, or the output, as a tensor of these extents, the innermost one first.
backend::tensor_map map_of(std::int64_t parameter, const std::vector<std::int64_t>& extents,
                           const std::vector<std::int64_t>& box, std::int64_t swizzle) {
  backend::tensor_map out;
  out.index = parameter;
  out.what.type = dtype::i32;
  out.what.extents = extents;
  out.what.box = box;
  out.what.swizzle = swizzle;
  std::int64_t step = 4;
  for (std::size_t d = 0; d + 1 < extents.size(); ++d)
    out.what.strides.push_back(step *= extents[d]);
  return out;
}

/// @param producers  threads more, which compute no element
entry make(const std::string& name, const std::string& body, std::vector<backend::tensor_map> maps,
           std::uint64_t seed, unsigned producers = 0) {
  entry out;
  out.name = "conformance_" + name;
  out.input = numbers(seed);
  out.output_bytes = out.input.size();
  out.result = dtype::i32;
  cu::kernel k;
  k.start.symbol = out.name;
  k.start.grid = {count / 256, 1, 1};
  k.start.block = {256 + producers, 1, 1};
  k.start.shared_bytes = producers > 0 ? 2048 + 32 : 1024 + 8;
  using kind = launch_argument::kind;
  k.start.arguments = {{kind::buffer, 8, 0}, {kind::buffer, 8, 1}};
  k.parameters = {{"A", dtype::i32, true, false, count}, {"B", dtype::i32, true, true, count}};
  std::string parameters = "TW_GLOBAL(const int) A, TW_GLOBAL(int) B";
  for (std::size_t m = 0; m < maps.size(); ++m) {
    const std::string map = m == 0 ? "A_map" : "B_map";
    parameters += ", TW_TENSOR_MAP(int) " + map;
    k.start.arguments.push_back({kind::tensor_map, 8, static_cast<std::int64_t>(m)});
    k.parameters.push_back({map, dtype::i32, false, false, count});
  }
  k.start.tensor_maps = std::move(maps);
  out.program.kernels.push_back(k);
  const std::string bounds = producers > 0 ? std::to_string(256 + producers) + ", 1" : "256";
  out.program.text = "extern \"C\" TW_KERNEL(" + bounds + ") void " + out.name + "(" + parameters +
                     ") {\n  const int t = TW_THREAD(x), b = TW_BLOCK(x), i = b * 256 + t;\n" +
                     body + "}\n";
  return out;
}

const std::string head = R"(  TW_SHARED(int, s, 0, 256);
  TW_SHARED(unsigned long long, f, 1024, 1);
  if (t == 0) {
    tw_init_arrivals(f, 0, 1);
    tw_fence_arrivals();
  }
  tw_barrier();
)";

/// Where the box of a block begins, each dimension after a comma.
std::string places(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& box,
                   const std::string& moved) {
  std::string out;
  std::int64_t before = 1;
  for (std::size_t d = 0; d < box.size(); ++d) {
    const std::int64_t boxes = extents[d] / box[d];
    out += ", b / " + std::to_string(before) + " % " + std::to_string(boxes) + " * " +
           std::to_string(box[d]) + moved;
    before *= boxes;
  }
  return out;
}

/// Three boxes after each other, some of whose elements lie outside of the tensor.
entry make_copies(const std::string& name, const std::vector<std::int64_t>& extents,
                  const std::vector<std::int64_t>& box, std::int64_t swizzle, std::uint64_t seed) {
  std::string place = "t";
  if (swizzle > 0) {  // in units of 16 bytes, by the bits of the address above 128 bytes
    const std::string piece = "(t >> 2)", pieces = std::to_string(swizzle / 16 - 1);
    place = "((" + piece + " ^ (t >> 5 & " + pieces + ")) << 2 | (t & 3))";
  }
  const std::string body =
      head +
      "  int sum = 0;\n  for (int r = 0; r < 3; ++r) {\n    if (t == 0) {\n"
      "      tw_expect_bytes(f, 0, 1024);\n      tw_copy_tensor(s, 0, A_map, f, 0" +
      places(extents, box, " + (b + r) % 5 - 2") +
      ");\n    }\n    tw_wait_phase(f, 0, r & 1);\n    sum = tw_add<int>(tw_mul<int>(sum, 3), s[" +
      place +
      "]);\n    tw_barrier();\n  }\n  if (t == 0) tw_drop_arrivals(f, 0);\n  (void)A;\n"
      "  tw_store(B, i, sum);\n";
  return make(name, body, {map_of(0, extents, box, swizzle)}, seed);
}

/// Three boxes after each other, for which a warp group more asks: who has read one arrives, and barriers are for those
/// who read alone.
entry make_roles(const std::vector<std::int64_t>& extents, const std::vector<std::int64_t>& box,
                 std::uint64_t seed) {
  const std::string body =
      "  TW_SHARED(int, s, 0, 512);\n  TW_SHARED(unsigned long long, f, 2048, 4);\n"
      "  if (t == 0) {\n    for (int n = 0; n < 4; ++n) tw_init_arrivals(f, n, n < 2 ? 1 : 8);\n"
      "    tw_fence_arrivals();\n  }\n  tw_barrier();\n  if (t >= 256) {\n"
      "    tw_fewer_registers<40>();\n    for (int r = 0; r < 3 && t == 256; ++r) {\n"
      "      tw_wait_phase(f, 2 + r % 2, 1 - r / 2 % 2);\n"
      "      tw_expect_bytes(f, r % 2, 1024);\n      tw_copy_tensor(s, r % 2 * 256, A_map, f, r % "
      "2" +
      places(extents, box, " + (b + r) % 5 - 2") +
      ");\n    }\n  } else {\n    tw_more_registers<232>();\n    int sum = 0;\n"
      "    for (int r = 0; r < 3; ++r) {\n      tw_wait_phase(f, r % 2, r / 2 % 2);\n"
      "      sum = tw_add<int>(tw_mul<int>(sum, 3), s[r % 2 * 256 + t]);\n"
      "      tw_barrier_of<1, 256>();\n      if (t % 32 == 0) tw_arrive(f, 2 + r % 2);\n    }\n"
      "    tw_store(B, i, sum);\n  }\n  (void)A;\n";
  return make("roles", body, {map_of(0, extents, box, 0)}, seed, 128);
}

/// Each block brings its box, adds a number to each element, and stores it; two groups of stores.
entry make_stores(const std::string& name, const std::vector<std::int64_t>& extents,
                  const std::vector<std::int64_t>& box, std::int64_t swizzle, std::uint64_t seed) {
  const std::string at = places(extents, box, "");
  const std::string body =
      head +
      "  if (t == 0) {\n    tw_expect_bytes(f, 0, 1024);\n    tw_copy_tensor(s, 0, A_map, f, 0" +
      at +
      ");\n  }\n  tw_wait_phase(f, 0, 0);\n  for (int r = 0; r < 2; ++r) {\n"
      "    tw_store(s, t, tw_add<int>(s[t], t));\n    tw_fence_async();\n    tw_barrier();\n"
      "    if (t == 0) {\n      tw_store_tensor(B_map, s, 0" +
      at +
      ");\n      tw_commit_stores();\n      tw_wait_stores<0>();\n    }\n    tw_barrier();\n  }\n"
      "  if (t == 0) {\n    tw_finish_stores();\n    tw_drop_arrivals(f, 0);\n  }\n"
      "  (void)A, (void)B, (void)i;\n";
  return make(name, body, {map_of(0, extents, box, swizzle), map_of(1, extents, box, swizzle)},
              seed);
}

}  // namespace

std::vector<entry> box_functions() {
  std::vector<entry> out{make_copies("box_1d", {65536}, {256}, 0, 50),
                         make_copies("box_2d", {256, 256}, {16, 16}, 0, 51),
                         make_copies("box_2d_128", {256, 256}, {32, 8}, 128, 52),
                         make_copies("box_2d_64", {256, 256}, {16, 16}, 64, 53),
                         make_copies("box_2d_32", {256, 256}, {8, 32}, 32, 54),
                         make_copies("box_3d", {16, 16, 256}, {8, 4, 8}, 0, 55),
                         make_copies("box_3d_128", {64, 32, 32}, {32, 4, 2}, 128, 56),
                         make_copies("box_4d", {8, 8, 8, 128}, {4, 4, 4, 4}, 0, 57),
                         make_copies("box_5d", {4, 4, 4, 8, 128}, {4, 4, 4, 2, 2}, 0, 58),
                         make_stores("box_stored", {256, 256}, {32, 8}, 128, 59),
                         make_stores("box_stored_3d", {16, 16, 256}, {8, 4, 8}, 0, 60)};
  out.push_back(make_roles({256, 256}, {16, 16}, 62));
  out.push_back(make("elect",
                     "  int sum = tw_elect() ? 1 : 0;\n"
                     "  for (int d = 1; d < 32; d *= 2) sum += tw_shuffle_xor(sum, d, 32);\n"
                     "  tw_store(B, i, tw_add<int>(A[i], sum));\n",
                     {}, 61));
  return out;
}

}  // namespace gpu_conformance
