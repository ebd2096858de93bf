#include <tilewright/pass/gpu/order_products.hpp>

#include <string>

#include <doctest/doctest.h>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/pass/gpu/lower_gpu.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/target/gpu.hpp>

using namespace tilewright;

namespace {

/// 64 x 64 x 256 by one warp group, copied ahead where `pipelined`.
ir::function product(bool pipelined, const std::string& guard = "", bool scaled = false) {
  std::string text = R"(
@T.prim_func
def main(A: T.Buffer((64, 256), "float16"), B: T.Buffer((256, 64), "float16"), C: T.Buffer((64, 64), "float32")):
    with T.block("root"):
        T.block_attr({"warp_execution": 4})
        S = T.alloc_buffer((64, 64), "float32", scope="wgmma.accumulator")
        X = T.alloc_buffer((64, 256), "float16", scope="shared.dyn")
        Y = T.alloc_buffer((256, 64), "float16", scope="shared.dyn")
        for b in T.thread_binding(1, thread="blockIdx.x"):
            for i, j in T.grid(64, 64):
                with T.block("Z"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    S[vi, vj] = T.float32(0)
            for k_0 in T.serial(4{pipeline}):
                with T.block("X"):
                    v = T.axis.spatial(4, k_0)
                    T.reads(A[0:64, v * 64:v * 64 + 64])
                    T.writes(X[0:64, v * 64:v * 64 + 64])
                    T.block_attr({"auto_copy": 1, "vector_bytes": 16})
                    for x, y in T.grid(64, 64):
                        X[x, v * 64 + y] = A[x, v * 64 + y]
                with T.block("Y"):
                    v = T.axis.spatial(4, k_0)
                    T.reads(B[v * 64:v * 64 + 64, 0:64])
                    T.writes(Y[v * 64:v * 64 + 64, 0:64])
                    T.block_attr({"auto_copy": 1, "vector_bytes": 16})
                    for x, y in T.grid(64, 64):
                        Y[v * 64 + x, y] = B[v * 64 + x, y]
                for i, j, k_1 in T.grid(64, 64, 64):
                    with T.block("S"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        vk = T.axis.reduce(256, k_0 * 64 + k_1)
{guard}                        S[vi, vj] = S[vi, vj] + T.cast(X[vi, vk], "float32") * T.cast(Y[vk, vj], "float32")
{scaled}            for i, j in T.grid(64, 64):
                with T.block("C"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = S[vi, vj]
)";
  const auto put = [&](const std::string& word, const std::string& value) {
    text.replace(text.find(word), word.size(), value);
  };
  put("{scaled}", scaled ? R"(                for i, j in T.grid(64, 64):
                    with T.block("W"):
                        vi, vj, vk = T.axis.remap("SSR", [i, j, k_0])
                        S[vi, vj] = S[vi, vj] * T.float32(0.5)
)"
                         : "");
  put("{pipeline}", pipelined
                        ? std::string(", annotations={\"software_pipeline_stage\": [0, 0, 1") +
                              (scaled ? ", 1" : "") + "], \"software_pipeline_order\": [0, 1, 2" +
                              (scaled ? ", 3" : "") +
                              "], "
                              "\"software_pipeline_async_stages\": [0]}"
                        : "");
  put("{guard}", guard);
  return ir::parse(text);
}

/// The calls that order products, in the order of the text, by their first letters.
std::string order(const ir::function& f) {
  const std::string text = ir::print(pass::lower(f, target::named_gpu("sm_90a")));
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at)
    for (const auto& [word, letter] :
         {std::pair<std::string, const char*>{"tw_fence_async", "shared "},
          {"tvm_storage_sync", "barrier "},
          {"tw_hold_sums", "hold "},
          {"tw_fence_products", "fence "},
          {"tw_multiply_group", "multiply "},
          {"tw_commit_products", "commit "},
          {"\"tw_wait_products\", 0", "wait0 "},
          {"\"tw_wait_products\", 1", "wait1 "}})
      if (text.compare(at, word.size(), word) == 0) out += letter;
  return out;
}

}  // namespace

TEST_CASE("products are fenced and waited for at once, where memory is copied to after them") {
  CHECK(order(product(false)) == "shared barrier hold fence multiply commit wait0 hold barrier ");
}

TEST_CASE("a batch goes on beside the next iteration, where its memory has a version more") {
  const std::string got = order(product(true));
  CHECK(got == "hold shared barrier fence multiply commit wait1 wait0 hold ");
}

TEST_CASE("a batch is waited for at once where the loop does something else with its sums") {
  const std::string got = order(product(true, "", true));
  CHECK(got.find("hold fence multiply commit wait0 hold") != got.npos);
  CHECK(got.find("wait1") == got.npos);
}

TEST_CASE("kernels without products of warp groups stay as they are") {
  const ir::function f = ir::parse(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in T.thread_binding(64, thread="threadIdx.x"):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi]
)");
  const ir::function lowered = pass::lower(f, target::named_gpu("sm_90a"));
  CHECK(ir::print(pass::order_products(lowered)) == ir::print(lowered));
}

TEST_CASE("products under a condition on single elements, and on other devices, are refused") {
  CHECK_THROWS_WITH_AS(order(product(false, "                        T.where(i < 60)\n")),
                       doctest::Contains("pad the operands instead"), build_error);
  CHECK_THROWS_WITH_AS(pass::lower(product(false), target::named_gpu("sm_90")),
                       doctest::Contains("choose wmma instead of wgmma"), build_error);
}
