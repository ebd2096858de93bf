// Threads, barriers, races and execution scopes in the interpreter.
#include <tilewright/ir/interpret/interpret.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/visit.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;
using namespace tilewright::ir;

namespace {

/// Calls of "barrier" become barriers of shared memory.
function with_barriers(function f) {
  const auto on_expr = [](const expr& e) {
    return e->op == op::call && e->name == "barrier"
               ? call(dtype::i32, "tvm_storage_sync", {text("shared")})
               : e;
  };
  f.body = rewrite(f.body, on_expr, [](const stmt& s) { return s; });
  return f;
}

/// Runs a function of A and B, 8 floats each, on A = 0, 1, ..., 7 with all checks.
std::vector<float> run(const std::string& body) {
  const std::string head =
      "@T.prim_func\ndef main(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"float32\")):\n";
  const function f = with_barriers(parse(head + body));
  std::vector<float> a{0, 1, 2, 3, 4, 5, 6, 7}, b(8, -1);
  interpret_options options;
  options.check_races = true;
  interpret(f, {{a.data(), {}}, {b.data(), {}}}, options);
  return b;
}

std::string refusal(const std::string& body) {
  try {
    run(body);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

const std::vector<float> backwards{7, 6, 5, 4, 3, 2, 1, 0};

/// Every thread stores its element, then reads another one's; `between` separates the two.
std::string exchange(const std::string& scope, const std::string& between,
                     const std::string& index = "7 - t") {
  return "    S = T.alloc_buffer((8,), scope=\"" + scope +
         "\")\n"
         "    for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
         "        S[t] = A[t]\n" +
         between + "        B[t] = S[" + index + "]\n";
}
const char* const barrier = "        T.call_extern(\"int32\", \"barrier\", 0)\n";

}  // namespace

TEST_CASE("threads run from barrier to barrier") {
  CHECK(run(exchange("shared", barrier)) == backwards);
  CHECK(run(exchange("shared.dyn", barrier)) == backwards);
}

TEST_CASE("without a barrier a thread reads what another one has not written") {
  CHECK(refusal(exchange("shared", "")).find("read of unwritten memory: S[7]") !=
        std::string::npos);
}

TEST_CASE("a missing second barrier is a race") {
  const std::string twice =
      "    S = T.alloc_buffer((8,), scope=\"shared\")\n"
      "    for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
      "        for k in range(2):\n"
      "            S[t] = A[t]\n"
      "            T.call_extern(\"int32\", \"barrier\", 0)\n"
      "            B[t] = S[7 - t]\n";
  // the loop's next S[t] may overtake another thread's read of S[7 - t]
  CHECK(refusal(twice + "            S[t] = T.float32(0)\n").find("race") != std::string::npos);
  CHECK(run(twice + "            T.call_extern(\"int32\", \"barrier\", 0)\n") == backwards);
}

TEST_CASE("a barrier under a condition that differs between threads is refused") {
  const std::string body =
      "    S = T.alloc_buffer((8,), scope=\"shared\")\n"
      "    for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
      "        S[t] = A[t]\n"
      "        if t < 4:\n"
      "            T.call_extern(\"int32\", \"barrier\", 0)\n"
      "        B[t] = S[t]\n";
  CHECK(refusal(body).find("not reached by all threads: a condition differs") != std::string::npos);
}

TEST_CASE("a barrier outside of threads is refused") {
  const std::string body =
      "    for i in range(8):\n"
      "        B[i] = A[i]\n"
      "        T.call_extern(\"int32\", \"barrier\", 0)\n";
  CHECK(refusal(body).find("stands in no loop bound to threads") != std::string::npos);
}

TEST_CASE("threads of two axes and a loop bound to an axis that is bound already") {
  const std::string body =
      "    S = T.alloc_buffer((8,), scope=\"shared\")\n"
      "    for y in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
      "        for x in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
      "            for z in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
      "                S[y * 4 + z] = A[y * 4 + z]\n"
      "            T.call_extern(\"int32\", \"barrier\", 0)\n"
      "            B[y * 4 + x] = S[7 - y * 4 - x]\n";
  CHECK(run(body) == backwards);
}

TEST_CASE("scope local belongs to a thread, scope shared to a block of threads") {
  CHECK(run(exchange("local", "", "t")) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(refusal(exchange("local", barrier))
            .find("execution scope: another thread wrote what is read; scope \"local\" belongs to "
                  "one thread: S[7]") != std::string::npos);
  const std::string blocks =
      "    S = T.alloc_buffer((8,), scope=\"shared\")\n"
      "    for t in T.thread_binding(8, thread=\"blockIdx.x\"):\n"
      "        S[t] = A[t]\n"
      "    for t in T.thread_binding(8, thread=\"blockIdx.x\"):\n"
      "        B[t] = S[7 - t]\n";
  CHECK(refusal(blocks).find("another block of threads wrote") != std::string::npos);
}

TEST_CASE("races between parallel, vectorized, bound and nested iterations") {
  for (const char* loop :
       {"T.parallel(8)", "T.vectorized(8)", "T.thread_binding(8, thread=\"threadIdx.x\")",
        "T.thread_binding(8, thread=\"blockIdx.x\")"}) {
    const std::string head = std::string("    for i in ") + loop + ":\n";
    CAPTURE(head);
    CHECK(
        refusal(head + "        B[0] = A[i]\n").find("race: two parallel iterations touch B[0]") !=
        std::string::npos);
    CHECK(refusal(head + "        B[i] = A[i]\n        B[7] = B[7] + B[i]\n").find("race") !=
          std::string::npos);
    CHECK(refusal(head + "        A[i] = A[0]\n").find("race") != std::string::npos);
    CHECK(run(head + "        B[7 - i] = A[i]\n") == backwards);
  }
}

TEST_CASE("what follows in one iteration is no race, what two iterations share is") {
  const std::string nested =
      "    for i in T.parallel(2):\n"
      "        for j in T.vectorized(4):\n"
      "            B[i * 4 + j] = A[7 - i * 4 - j]\n";
  CHECK(run(nested + "        for j in T.vectorized(4):\n"
                     "            B[i * 4 + j] = B[i * 4 + j] + B[i * 4 + j] * T.float32(0)\n") ==
        backwards);
  CHECK(refusal(nested + "        B[0] = B[7]\n").find("race") != std::string::npos);
  const std::string turned =
      "        for j in T.vectorized(4):\n"
      "            A[i * 4 + j] = B[i * 4 + 3 - j]\n";
  CHECK(refusal(nested + turned).find("race") != std::string::npos);  // the other i reads A
  // two loops one after the other share everything
  CHECK(refusal("    for i in T.parallel(8):\n        B[i] = A[7 - i]\n"
                "    for i in T.parallel(8):\n        A[i] = B[7 - i]\n")
            .empty());
}

TEST_CASE("buffers of blocks: iterations have their own where all accesses are below the loop") {
  const std::string buffer = "    S = T.alloc_buffer((8,))\n",
                    loop = "    for i in T.parallel(8):\n";
  const std::string use = "        S[0] = A[7 - i]\n        B[i] = S[0]\n";
  CHECK(run(buffer + loop + use) == backwards);
  // an access outside makes it one for all
  CHECK(refusal(buffer + "    S[1] = T.float32(0)\n" + loop + use).find("race") !=
        std::string::npos);
  CHECK(run(buffer + "    S[1] = T.float32(0)\n" + loop +
            "        S[i] = A[7 - i]\n        B[i] = S[i]\n") == backwards);
  // what another iteration has left is not there
  CHECK(
      refusal(buffer + loop + "        if i == 0:\n            S[0] = A[7]\n        B[i] = S[0]\n")
          .find("race") != std::string::npos);
  CHECK(refusal(buffer + "    for k in range(2):\n" +
                "        for i in T.vectorized(8):\n            S[0] = A[i]\n"
                "        B[k] = S[0]\n")
            .find("race") != std::string::npos);
}

TEST_CASE("many readers and one writer that is among them") {
  // all iterations read A[0], in two vectors after each other; then iteration 0 writes it
  CHECK(refusal("    for i in T.parallel(2):\n"
                "        for j in T.vectorized(4):\n"
                "            B[i * 4 + j] = A[0]\n"
                "        if i == 0:\n"
                "            A[0] = T.float32(1)\n")
            .find("race") != std::string::npos);
  CHECK(refusal("    for i in T.parallel(1):\n"
                "        for j in T.vectorized(4):\n"
                "            B[i * 4 + j] = A[0]\n"
                "        A[0] = T.float32(1)\n")
            .empty());
}

TEST_CASE("threads may share a declared reduction, parallel iterations may not") {
  const auto sum = [](const std::string& loop) {
    return "    for i in " + loop +
           ":\n"
           "        with T.block(\"sum\"):\n"
           "            vi = T.axis.reduce(8, i)\n"
           "            with T.init():\n"
           "                B[0] = T.float32(0)\n"
           "            B[0] = B[0] + A[vi]\n";
  };
  CHECK(run(sum("T.thread_binding(8, thread=\"threadIdx.x\")"))[0] == 28);
  CHECK(refusal(sum("T.parallel(8)")).find("race") != std::string::npos);
  CHECK(refusal(sum("T.thread_binding(8, thread=\"blockIdx.x\")")).find("race") !=
        std::string::npos);
}

namespace {

/// Each thread writes its element of S; what stands behind that is given.
std::string with_copies(const std::string& behind) {
  return "    S = T.alloc_buffer((8,), scope=\"shared\")\n"
         "    R = T.alloc_buffer((8,), scope=\"shared\")\n"
         "    for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
         "        with T.block(\"S\"):\n"
         "            v = T.axis.spatial(8, t)\n"
         "            S[v] = A[v]\n" +
         behind;
}

/// A block that copies all of a buffer backwards.
std::string copy_of(const std::string& from, const std::string& to, const std::string& iter = "",
                    const std::string& where = "") {
  return "        with T.block(\"copy\"):\n" + iter + where +  //
         "            T.reads(" + from + "[0:8])\n            T.writes(" + to +
         "[0:8])\n            T.block_attr({\"auto_copy\": 1})\n            for ax in range(8):\n"
         "                " +
         to + "[ax] = " + from + "[7 - ax]\n";
}

}  // namespace

TEST_CASE("joint copies: once for all threads of a block, between barriers") {
  CHECK(run(with_copies(copy_of("S", "B"))) == backwards);
  // what it has copied is there for all threads, and none is late
  const std::string last =
      "        with T.block(\"B\"):\n"
      "            v = T.axis.spatial(8, t)\n"
      "            B[7 - v] = R[v]\n";
  const std::vector<float> forwards{0, 1, 2, 3, 4, 5, 6, 7};
  CHECK(run(with_copies(copy_of("S", "R") + last)) == forwards);
  // blocks of threads make their own
  CHECK(run("    S = T.alloc_buffer((8,), scope=\"shared\")\n"
            "    for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
            "        for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
            "            with T.block(\"S\"):\n"
            "                v = T.axis.spatial(8, b * 4 + t)\n"
            "                S[v] = A[7 - v]\n"
            "            with T.block(\"copy\"):\n"
            "                v = T.axis.spatial(2, b)\n"
            "                T.reads(S[v * 4:v * 4 + 4])\n"
            "                T.writes(B[v * 4:v * 4 + 4])\n"
            "                T.block_attr({\"auto_copy\": 1})\n"
            "                for ax in range(4):\n"
            "                    B[v * 4 + ax] = S[v * 4 + ax]\n") == backwards);
  // lanes of a warp copy jointly, warps do not
  CHECK(run("    S = T.alloc_buffer((8,), scope=\"warp\")\n"
            "    for w in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
            "        for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
            "            with T.block(\"S\"):\n"
            "                v = T.axis.spatial(8, w * 4 + t)\n"
            "                S[v] = A[7 - v]\n"
            "            with T.block(\"copy\"):\n"
            "                v = T.axis.spatial(2, w)\n"
            "                T.reads(S[v * 4:v * 4 + 4])\n"
            "                T.writes(B[v * 4:v * 4 + 4])\n"
            "                T.block_attr({\"auto_copy\": 1})\n"
            "                for ax in range(4):\n"
            "                    B[v * 4 + ax] = S[v * 4 + ax]\n") == backwards);
}

TEST_CASE("joint copies: not what a thread reads of others before, nor places that differ") {
  const std::string early =
      "        with T.block(\"early\"):\n"
      "            v = T.axis.spatial(8, t)\n"
      "            B[v] = S[7 - v]\n";
  CHECK(refusal(with_copies(early + copy_of("S", "R"))).find("race") != std::string::npos);
  CHECK(run(with_copies(copy_of("S", "R") + early)) == backwards);
  const std::string iter = "            v = T.axis.spatial(8, t)\n";
  CHECK(refusal(with_copies(copy_of("S", "B", iter))).find("do not agree") != std::string::npos);
  CHECK(refusal(with_copies(copy_of("S", "B", "", "            T.where(t < 3)\n")))
            .find("do not agree") != std::string::npos);
  const std::string some = "        if t < 3:\n            with T.block(\"outer\"):\n";
  std::string inner = copy_of("S", "B");
  for (std::size_t at = 0; at < inner.size(); at = inner.find('\n', at) + 1)
    inner.insert(at, "        ");
  CHECK(refusal(with_copies(some + inner)).find("not reached by all threads") != std::string::npos);
}

TEST_CASE("joint copies: threads keep what is their own") {
  // L belongs to each thread, as it does without copies: lowering allocates it inside
  CHECK(run("    S = T.alloc_buffer((8,), scope=\"shared\")\n"
            "    L = T.alloc_buffer((1,))\n"
            "    for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
            "        with T.block(\"L\"):\n"
            "            v = T.axis.spatial(8, t)\n"
            "            L[0] = A[v]\n"
            "        with T.block(\"S\"):\n"
            "            v = T.axis.spatial(8, t)\n"
            "            S[v] = L[0]\n" +
            copy_of("S", "B")) == backwards);
}

TEST_CASE("threads that add up a reduction have one result, also one that nobody else touches") {
  const std::string body =
      "    S = T.alloc_buffer((1,))\n"
      "    for b in T.thread_binding(2, thread=\"threadIdx.y\"):\n"
      "        for t in T.thread_binding(4, thread=\"threadIdx.x\"):\n"
      "            with T.block(\"S\"):\n"
      "                vb, vt = T.axis.remap(\"SR\", [b, t])\n"
      "                with T.init():\n"
      "                    S[0] = T.float32(0)\n"
      "                S[0] = S[0] + A[vb * 4 + vt]\n"
      "        for t in range(4):\n"
      "            with T.block(\"B\"):\n"
      "                vb, vt = T.axis.remap(\"SS\", [b, t])\n"
      "                B[vb * 4 + vt] = S[0]\n";
  CHECK(run(body) == std::vector<float>{6, 6, 6, 6, 22, 22, 22, 22});
}

TEST_CASE("threads that add up a reduction may do so through a view") {
  const std::string body =
      "    for t in T.thread_binding(8, thread=\"threadIdx.x\"):\n"
      "        with T.block(\"B\"):\n"
      "            vt = T.axis.reduce(8, t)\n"
      "            T.reads(A[vt])\n"
      "            T.writes(B[0])\n"
      "            V = T.match_buffer(B[0:1], (1,), \"float32\")\n"
      "            with T.init():\n"
      "                V[0] = T.float32(0)\n"
      "            V[0] = V[0] + A[vt]\n";
  CHECK(run(body)[0] == 28);
}

TEST_CASE("joint copies: none where no thread runs") {
  CHECK(run("    S = T.alloc_buffer((8,), scope=\"shared\")\n"
            "    for t in range(8):\n"
            "        with T.block(\"B\"):\n"
            "            v = T.axis.spatial(8, t)\n"
            "            B[v] = A[7 - v]\n"
            "    for t in T.thread_binding(0, thread=\"threadIdx.x\"):\n"
            "        with T.block(\"S\"):\n"
            "            v = T.axis.spatial(0, t)\n"
            "            S[v] = A[v]\n"
            "        with T.block(\"copy\"):\n"
            "            T.reads(S[0:8])\n"
            "            T.writes(B[0:8])\n"
            "            T.block_attr({\"auto_copy\": 1})\n"
            "            for ax in range(8):\n"
            "                B[ax] = S[ax]\n") == backwards);
}
