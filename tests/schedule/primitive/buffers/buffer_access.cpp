#include <tilewright/schedule/primitive/buffers/buffer_access.hpp>

#include "../../script_schedule.hpp"

using namespace tilewright;

namespace {

constexpr const char* product = R"(
@T.prim_func
def main(A: T.Buffer((5, 6), "float32"), B: T.Buffer((6, 7), "float32"),
         C: T.Buffer((5, 7), "float32")):
    for i, j, k in T.grid(5, 7, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

}  // namespace

TEST_CASE("unsafe_hide_buffer_access: takes regions out, the rest keeps its order") {
  const ir::function f = ir::parse(product);
  schedule s(f);
  const block_rv c = s.block("C");
  s.unsafe_hide_buffer_access(c, "read", {0});
  REQUIRE(s.get(c).block->reads.size() == 1);
  CHECK(s.get(c).block->reads[0].buffer->name == "B");
  s.unsafe_hide_buffer_access(c, "write", {});
  CHECK(s.get(c).block->writes.size() == 1);
  CHECK(trace::parse(s.trace().print()) == s.trace());
  check_refusal(s, "unsafe_hide_buffer_access", 1,
                [&] { s.unsafe_hide_buffer_access(c, "both", {0}); });
  check_refusal(s, "unsafe_hide_buffer_access", 2, [&] {
    s.unsafe_hide_buffer_access(c, "read", {0, 1});
  });
  check_refusal(s, "unsafe_hide_buffer_access", 2,
                [&] { s.unsafe_hide_buffer_access(c, "write", {-1}); });
}

TEST_CASE("unsafe_hide_buffer_access: several at once, in any order") {
  schedule s(ir::parse(product));
  const block_rv c = s.block("C");
  s.unsafe_hide_buffer_access(c, "read", {1, 0});
  CHECK(s.get(c).block->reads.empty());
}

TEST_CASE("annotate_buffer_access: ranges and single indices, noted once by index") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[0:16, 0:16])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi * 2, vj * 2] + A[vi * 2 + 1, vj * 2]
)");
  schedule s(f);
  const block_rv b = s.block("B");
  const auto ranges = [](std::vector<ir::expr> (*make)(const std::vector<ir::var>&)) {
    return map_argument(ir::make_index_map(2, make));
  };
  s.annotate_buffer_access(b, 0, "read", ranges([](const std::vector<ir::var>& v) {
                             return std::vector<ir::expr>{v[0], v[0] + 1, v[1], v[1] + 1};
                           }));
  s.annotate_buffer_access(
      b, 0, "read", ranges([](const std::vector<ir::var>& v) {
        return std::vector<ir::expr>{v[0] * 2, v[0] * 2 + 2, v[1] * 2, v[1] * 2 + 1};
      }));
  check_program(s, R"(
@T.prim_func
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi * 2:vi * 2 + 2, vj * 2])
            T.writes(B[vi, vj])
            T.block_attr({"explicit_read_region": [0]})
            B[vi, vj] = A[vi * 2, vj * 2] + A[vi * 2 + 1, vj * 2]
)");
  check_meaning(s, f);
  const auto one = map_argument("lambda i: (i, i)");
  check_refusal(s, "annotate_buffer_access", 1,
                [&] { s.annotate_buffer_access(b, 0, "all", one); });
  check_refusal(s, "annotate_buffer_access", 2,
                [&] { s.annotate_buffer_access(b, 1, "write", one); });
  check_refusal(s, "annotate_buffer_access", 3,
                [&] { s.annotate_buffer_access(b, 0, "write", one); });
}

TEST_CASE("annotate_buffer_access: as text") {
  const ir::function f = ir::parse(product);
  schedule s(f);
  trace::parse(R"(b0 = sch.get_block(name="C", func_name="main")
sch.annotate_buffer_access(block=b0, buffer_index=0, buf_type="write", gen_new_ranges=lambda i, j, k: ((i, i + 1), j))
)")
      .apply_to(s);
  CHECK(s.get(s.block("C")).block->annotations.count("explicit_write_region") == 1);
  check_meaning(s, f);
}
