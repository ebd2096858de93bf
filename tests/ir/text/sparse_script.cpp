#include <tilewright/ir/text/sparse_script.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/ir/interpret/sparse_interpret.hpp>
#include <tilewright/ir/verify/sparse_verify.hpp>

using namespace tilewright;

namespace {

const std::string head =
    "# from tvm.script import tir as T\n\n@T.prim_func\n"
    "def f(p: T.Buffer((4,), \"int32\"), q: T.Buffer((5,), \"int32\"), a: T.Buffer((5,), "
    "\"float32\"), x: T.Buffer((6,), \"float32\"), y: T.Buffer((3,), \"float32\")):\n";
const std::string axes =
    "    I = T.dense_fixed(3)\n"
    "    K = T.sparse_variable(I, (6, 5), (p, q))\n"
    "    a_1 = T.match_sparse_buffer(a, (I, K))\n";
const std::string product =
    "    with T.sp_iter([I, K], \"SR\", \"y\") as [i, k]:\n"
    "        with T.init():\n"
    "            y[i] = T.float32(0.0)\n"
    "        y[i] = y[i] + a_1[i, k] * x[k]\n";

std::string failure(const std::string& text) {
  try {
    ir::verify(ir::parse_sparse(text));
  } catch (const argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a sparse program is what it prints") {
  for (const std::string& text :
       {head + axes + product,
        head + axes + "    for i in range(3):\n        y[i] = x[i]\n" + product,
        head + axes +
            "    with T.sp_iter([I, K], \"SR\", \"y\") as [i, k]:\n"
            "        T.block_attr({\"note\": 1})\n"
            "        y[i] = y[i] + a_1[i, k] * x[k]\n",
        head +
            "    I = T.dense_fixed(3)\n    K = T.sparse_variable(I, (6, 5), (p, q), "
            "sorted=False)\n" +
            "    a_1 = T.match_sparse_buffer(a, (I, K))\n" + product}) {
    CHECK(ir::print(ir::parse_sparse(text)) == text);
    CHECK(failure(text) == "");
  }
}

TEST_CASE("all four kinds of axes have a text") {
  const std::string text =
      "# from tvm.script import tir as T\n\n@T.prim_func\n"
      "def f(p: T.Buffer((3,), \"int64\"), q: T.Buffer((8,), \"int64\"), a: T.Buffer((6,), "
      "\"float32\"), b: T.Buffer((8,), \"float32\"), y: T.Buffer((2,), \"float32\")):\n"
      "    I = T.dense_fixed(2)\n"
      "    V = T.dense_variable(I, (4, 6), p)\n"
      "    E = T.sparse_fixed(I, (9, 4), q)\n"
      "    a_1 = T.match_sparse_buffer(a, (I, V))\n"
      "    b_1 = T.match_sparse_buffer(b, (I, E))\n"
      "    with T.sp_iter([I, V], \"SR\", \"ragged\") as [i, v]:\n"
      "        y[i] = y[i] + a_1[i, v]\n"
      "    with T.sp_iter([I, E], \"SR\", \"ell\") as [i, e]:\n"
      "        y[i] = y[i] + b_1[i, e]\n";
  CHECK(ir::print(ir::parse_sparse(text)) == text);
  ir::verify(ir::parse_sparse(text));
}

TEST_CASE("a default value is what is read where nothing is stored") {
  const std::string buffer = "    a_1 = T.match_sparse_buffer(a, (I, K)";
  const std::string pattern = axes.substr(0, axes.find("    a_1"));
  const auto with = [&](const std::string& option) { return head + pattern + buffer + option; };
  // each element of a dense walk is looked up
  const std::string dense =
      "    N = T.dense_fixed(6)\n"
      "    with T.sp_iter([I, N], \"SR\", \"y\") as [i, k]:\n"
      "        with T.init():\n"
      "            y[i] = T.float32(0.0)\n"
      "        y[i] = y[i] + a_1[i, k] * x[k]\n";
  for (const char* value :
       {"T.float32(2.5)", "T.float32(-1.0)", "T.float32(\"inf\")", "T.float32(\"-inf\")"}) {
    const std::string text = with(std::string(", default_value=") + value + ")\n") + product;
    CHECK(ir::print(ir::parse_sparse(text)) == text);
    CHECK(failure(text) == "");
  }
  CHECK(ir::print(
            ir::parse_sparse(with(", \"float32\", default_value=T.float32(2.5))\n") + product)) ==
        with(", default_value=T.float32(2.5))\n") + product);
  const std::string lookup = pattern + "    N = T.dense_fixed(6)\n" + buffer +
                             ", default_value=T.float32(2.0))\n" +
                             dense.substr(dense.find("    with"));
  std::vector<std::int32_t> p{0, 2, 2, 5}, q{1, 3, 0, 2, 5};
  std::vector<float> a{10, 20, 30, 40, 50}, x{1, 1, 1, 1, 1, 1}, y(3);
  ir::interpret(ir::parse_sparse(head + lookup),
                {{p.data(), {}}, {q.data(), {}}, {a.data(), {}}, {x.data(), {}}, {y.data(), {}}});
  CHECK(y == std::vector<float>{38, 12, 126});
  for (const char* wrong : {"T.int32(2)", "x[0]", "T.float32(2.5) + x[0]"})
    CHECK(failure(with(std::string(", default_value=") + wrong + ")\n") + product)
              .find("a literal of the type of the storage") != std::string::npos);
}

TEST_CASE("what SparseTIR writes beside is read, where it is what is known otherwise") {
  const std::string body = "        y[i] = y[i] + a_1[i, k] * x[k]\n";
  const std::string iteration = "    with T.sp_iter([I, K], \"SR\", \"y\") as [i, k]:\n";
  const std::string plain =
      head + axes + iteration + "        T.block_attr({\"note\": 1})\n" + body;
  CHECK(ir::print(ir::parse_sparse(
            head +
            "    I = T.dense_fixed(3, idtype=\"int32\")\n"
            "    K = T.sparse_variable(I, (6, 5), (p, q), \"int32\", sorted=True)\n"
            "    a_1 = T.match_sparse_buffer(a, (I, K), \"float32\")\n" +
            iteration + "        T.sp_iter_attr({\"note\": 1})\n" + body)) == plain);
  CHECK(ir::print(ir::parse_sparse(
            head +
            "    I = T.dense_fixed(3)\n"
            "    K = T.sparse_variable(I, (6, 5), (p, q), sorted=True, idtype=\"int32\")\n"
            "    a_1 = T.match_sparse_buffer(a, (I, K))\n" +
            iteration + "        T.block_attr({\"note\": 1})\n" + body)) == plain);
  CHECK(failure(head + "    I = T.dense_fixed(3)\n"
                       "    K = T.sparse_variable(I, (6, 5), (p, q), idtype=\"int64\")\n")
            .find("expected \"int32\", which is the type of the array") != std::string::npos);
  CHECK(failure(head + axes + "    b_1 = T.match_sparse_buffer(a, (I, K), \"float16\")\n")
            .find("expected \"float32\", which is the type of the array") != std::string::npos);
}

TEST_CASE("texts that say something wrong are refused where they do") {
  CHECK(failure(head + "    K = T.sparse_variable(I, (6, 5), (p, q))\n")
            .find("line 5, column 27: expected an axis that is defined above") !=
        std::string::npos);
  CHECK(failure(head + "    I = T.dense_fixed(3)\n    K = T.sparse_variable(I, (6, 5), (a, q))\n")
            .find("expected a parameter of integers of one dimension") != std::string::npos);
  CHECK(
      failure(head + axes + "    with T.sp_iter([I, K], \"SX\", \"y\") as [i, k]:\n        pass\n")
          .find("expected one S or R for each axis") != std::string::npos);
  CHECK(failure(head + axes +
                "    with T.sp_iter([K, I], \"RS\", \"y\") as [k, i]:\n"
                "        y[i] = y[i] + a_1[i, k]\n") ==
        "iteration \"y\" has axis \"K\" without its parent \"I\" before it");
  CHECK(failure(head + "    I = T.dense_fixed(2)\n    K = T.sparse_variable(I, (6, 5), (p, q))\n"
                       "    a_1 = T.match_sparse_buffer(a, (I,))\n") == "");
}

TEST_CASE("the interpreter finds elements by their coordinates, and zero where there is none") {
  // row 0: columns 1 and 4, row 1: nothing, row 2: columns 0, 2, 5
  std::int32_t p[] = {0, 2, 2, 5}, q[] = {1, 4, 0, 2, 5};
  float a[] = {1, 2, 3, 4, 5}, x[] = {1, 1, 1, 1, 1, 1}, y[] = {9, 9, 9};
  const std::string dense_walk =
      "    J = T.dense_fixed(6)\n"
      "    with T.sp_iter([I, J], \"SR\", \"y\") as [i, j]:\n"
      "        with T.init():\n"
      "            y[i] = T.float32(0.0)\n"
      "        y[i] = y[i] + a_1[i, j] * x[5 - j]\n";
  x[0] = 10;  // meets column 5
  ir::interpret(ir::parse_sparse(head + axes + dense_walk),
                {{p, {}}, {q, {}}, {a, {}}, {x, {}}, {y, {}}});
  CHECK(y[0] == 3);
  CHECK(y[1] == 0);
  CHECK(y[2] == 57);
  ir::interpret(ir::parse_sparse(head + axes + product),
                {{p, {}}, {q, {}}, {a, {}}, {x, {}}, {y, {}}});
  CHECK(y[0] == 3);
  CHECK(y[1] == 0);
  CHECK(y[2] == 39);
}

TEST_CASE("axes that one loop walks, and rows that columns number, have a text") {
  const std::string two =
      "    I = T.dense_fixed(3)\n"
      "    K = T.sparse_variable(I, (6, 5), (p, q))\n"
      "    R = T.dense_fixed(6)\n"
      "    L = T.sparse_variable(R, (6, 5), (p, q))\n"
      "    a_1 = T.match_sparse_buffer(a, (I, K))\n";
  for (const std::string& text :
       {head + axes +
            "    with T.sp_iter([T.fuse(I, K)], \"SR\", \"y\") as [i, k]:\n"
            "        y[i] = y[i] + a_1[i, k] * x[k]\n",
        head + two +
            "    with T.sp_iter([I, K, T.attach(L, K)], \"SRR\", \"y\") as [i, k, l]:\n"
            "        y[i] = y[i] + a_1[i, k] * x[l]\n"}) {
    CHECK(ir::print(ir::parse_sparse(text)) == text);
    CHECK(failure(text) == "");
  }
}

TEST_CASE("what cannot be fused or attached is said") {
  const auto with = [](const std::string& iterated, const std::string& kinds,
                       const std::string& variables) {
    return failure(head + axes +
                   "    R = T.dense_fixed(3)\n"
                   "    L = T.sparse_variable(R, (6, 5), (p, q))\n"
                   "    with T.sp_iter([" +
                   iterated + "], \"" + kinds + "\", \"y\") as [" + variables +
                   "]:\n        y[0] = T.float32(1.0)\n");
  };
  CHECK(with("T.fuse(I, R)", "SS", "i, r").find("\"R\" among fused ones, which is no axis") !=
        std::string::npos);
  CHECK(with("I, T.fuse(K, R)", "SSS", "i, k, r").find("before which its parent is missing") !=
        std::string::npos);
  CHECK(with("I, K, T.attach(L, K)", "SSS", "i, k, l").find("another extent than its rows") !=
        std::string::npos);
  CHECK(with("I, T.attach(R, I)", "SS", "i, r").find("which is no axis of rows") !=
        std::string::npos);
  CHECK(with("R, I, T.attach(L, I)", "SSS", "r, i, l").find("whose own rows are walked") !=
        std::string::npos);
  CHECK(with("T.attach(L, I)", "S", "l").find("without its parent \"I\" before it") !=
        std::string::npos);
}
