#include <tilewright/ir/text/parse.hpp>

#include <string>

#include <doctest/doctest.h>
#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/print.hpp>
#include <tilewright/ir/verify/verify.hpp>

#include "../programs.hpp"

using namespace tilewright;
using namespace tilewright::ir;

namespace {

/// A function around lines of a body with A: f32 [16, 16], I: i64 [16], C: f32 [16], n: i32.
std::string around(std::string_view lines) {
  std::string out =
      "@T.prim_func\ndef main(A: T.Buffer((16, 16), \"float32\"), I: T.Buffer((16,), \"int64\"), "
      "C: T.Buffer((16,), \"float32\"), n: T.int32):\n";
  std::size_t start = 0;
  while (start < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', start), lines.size());
    out += "    ";
    out += lines.substr(start, end - start);
    out += '\n';
    start = end + 1;
  }
  return out;
}

stmt body_of(std::string_view lines) { return parse(around(lines)).body; }

/// The text of the value stored by `C[0] = ...`.
std::string value(const std::string& text) {
  return print(as_store(body_of("C[0] = " + text))->value);
}

/// The text of an expression, with its type.
std::string evaluated(const std::string& text) {
  const expr e = as_evaluate(body_of("T.evaluate(" + text + ")"))->value;
  return std::string(name(e.type())) + " " + print(e);
}

void check_error(const std::string& text, int line, int column, const char* expected) {
  try {
    parse(text);
    FAIL("no error for " << text);
  } catch (const parse_error& e) {
    const std::string what = e.what();
    CAPTURE(what);
    CHECK(e.line() == line);
    CHECK(e.column() == column);
    CHECK(e.expected() == expected);
  }
}

block last_block(const stmt& body) {
  block found;
  for_each_stmt(body, [&](const stmt& s) {
    if (const block_realize_node* r = as_realize(s)) found = r->block;
  });
  REQUIRE(found);
  return found;
}

std::string regions(const std::vector<buffer_region>& list) {
  std::string out;
  for (const buffer_region& r : list) out += (out.empty() ? "" : ", ") + print(r);
  return out;
}

}  // namespace

TEST_CASE("printed programs parse to equal programs that print the same") {
  for (const auto& program : test::all_programs()) {
    const char* const label = program.first;
    const function& f = program.second;
    CAPTURE(label);
    const std::string text = print(f);
    const function again = parse(text);
    CHECK(print(again) == text);
    CHECK(equal(again, f));
    CHECK(workload_key(again) == workload_key(f));
    CHECK_NOTHROW(verify(again));
  }
}

TEST_CASE("a script as a person writes it") {
  const function f = parse(R"(
from tvm.script import tir as T

@T.prim_func(private=True)
def matmul(a: T.handle, b: T.handle, c: T.handle) -> None:
    # T.sblock and T.block are the same
    A = T.match_buffer(a, [128, 32])
    B = T.match_buffer(b, [32, 64])
    C = T.match_buffer(c, [128, 64])
    for i, j, k in T.grid(128, 64, 32):
        with T.sblock("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)");
  CHECK(equal(f, test::matmul(128, 64, 32)));
  CHECK(f.name == "matmul");
}

TEST_CASE("literals take the type of their surroundings") {
  CHECK(value("1") == "T.float32(1.0)");
  CHECK(value("-1.5") == "T.float32(-1.5)");
  CHECK(value("A[0, 0] * 2 + 0.5") == "A[0, 0] * T.float32(2.0) + T.float32(0.5)");
  CHECK(value("T.max(A[0, 0], 0)") == "T.max(A[0, 0], T.float32(0.0))");
  CHECK(value("T.if_then_else(n < 3, A[0, n], 0)") ==
        "T.if_then_else(n < 3, A[0, n], T.float32(0.0))");
  CHECK(evaluated("3") == "int32 3");
  CHECK(evaluated("3000000000") == "int64 T.int64(3000000000)");
  CHECK(evaluated("2.5") == "float32 T.float32(2.5)");
  CHECK(evaluated("I[0] + 1") == "int64 I[0] + T.int64(1)");
  CHECK(evaluated("n + I[0]") == "int64 T.Cast(\"int64\", n) + I[0]");
  CHECK(evaluated("2 * 3 + I[0]") == "int64 T.int64(6) + I[0]");
  CHECK(evaluated("-2147483648") == "int32 -2147483648");
  CHECK(evaluated("T.int64(-9223372036854775808)") == "int64 T.int64(-9223372036854775808)");
  CHECK(evaluated("T.uint64(18446744073709551615)") == "uint64 T.uint64(18446744073709551615)");
  CHECK(evaluated("T.float32(n)") == "float32 T.Cast(\"float32\", n)");
  CHECK(evaluated("T.float16(\"-inf\")") == "float16 T.float16(\"-inf\")");
}

TEST_CASE("operators bind as in Python") {
  CHECK(evaluated("n + n * n") == "int32 n + n * n");
  CHECK(evaluated("(n + n) * n") == "int32 (n + n) * n");
  CHECK(evaluated("n - n - n") == "int32 n - n - n");
  CHECK(evaluated("n // 2 % 3") == "int32 n // 2 % 3");
  CHECK(evaluated("-n + 1") == "int32 0 - n + 1");
  CHECK(evaluated("not n < 1 and n > 2 or n == 3") == "bool not n < 1 and n > 2 or n == 3");
  CHECK(evaluated("n if n > 0 else 0") == "int32 T.if_then_else(n > 0, n, 0)");
  CHECK(evaluated("T.truncdiv(n, 2)") == "int32 T.Div(n, 2)");
  CHECK(evaluated("T.FloorMod(n, 2)") == "int32 n % 2");
  CHECK(evaluated("T.ceildiv(n, 4)") == "int32 (n + 3) // 4");
  CHECK(evaluated("T.cast(n, \"int64\")") == "int64 T.Cast(\"int64\", n)");
  CHECK(evaluated("T.pow(A[0, 0], 2)") == "float32 T.pow(A[0, 0], T.float32(2.0))");
  CHECK(evaluated("T.min_value(\"int8\")") == "int8 T.int8(-128)");
}

TEST_CASE("forms of lets") {
  for (const char* form :
       {"x: T.int32 = n\nC[x] = 0", "x = n\nC[x] = 0", "x: T.let[T.int32] = n\nC[x] = 0",
        "x: T.let = n\nC[x] = 0", "with T.LetStmt(n) as x:\n    C[x] = 0",
        "x = T.int32()\nwith T.LetStmt(n, var=x):\n    C[x] = 0"})
    CHECK(print(body_of(form)) == "x: T.int32 = n\nC[x] = T.float32(0.0)\n");
}

TEST_CASE("updates in place") {
  CHECK(print(body_of("C[n] += 1")) == "C[n] = C[n] + T.float32(1.0)\n");
  CHECK(print(body_of("C[n] /= A[0, n]")) == "C[n] = C[n] / A[0, n]\n");
  CHECK_THROWS_AS(body_of("I[n] /= 2"), parse_error);
}

TEST_CASE("elif, pass and bare calls") {
  CHECK(print(body_of("if n == 0:\n    pass\nelif n == 1:\n    T.call_extern(\"int32\", "
                      "\"f\")\nelse:\n    C[0] = 1")) ==
        "if n == 0:\n    pass\nelse:\n    if n == 1:\n        T.evaluate(T.call_extern(\"int32\", "
        "\"f\"))\n"
        "    else:\n        C[0] = T.float32(1.0)\n");
}

TEST_CASE("a root block is added where blocks need one, and only there") {
  const char* block =
      "for i in range(16):\n    with T.block(\"C\"):\n        vi = T.axis.spatial(16, i)\n        "
      "C[vi] = 0";
  const stmt body = body_of(block);
  REQUIRE(as_realize(body));
  CHECK(as_realize(body)->block->name == "root");
  CHECK(as_loop(as_realize(body)->block->body));
  CHECK(as_store(body_of("C[0] = 0")));
  const stmt with_root = body_of("with T.block(\"root\"):\n    C[0] = 0");
  REQUIRE(as_realize(with_root));
  CHECK(as_realize(with_root)->block->reads.empty());
  CHECK(as_realize(with_root)->block->writes.empty());
  const stmt alloc = body_of("D = T.sblock_alloc_buffer((4,))\nD[0] = 0.0");
  REQUIRE(as_realize(alloc));
  CHECK(as_realize(alloc)->block->alloc_buffers.size() == 1);
}

TEST_CASE("missing reads and writes are inferred") {
  const auto infer = [](const std::string& lines) {
    const block b =
        last_block(body_of("for i in range(4):\n    with T.block(\"b\"):\n"
                           "        vi = T.axis.spatial(4, i)\n" +
                           lines));
    return regions(b->reads) + " -> " + regions(b->writes);
  };
  CHECK(infer("        C[vi] = A[vi, vi + 1] + C[vi]") == "A[vi, vi + 1], C[vi] -> C[vi]");
  CHECK(infer("        for j in range(4):\n            C[vi * 4 + j] = A[j, vi]") ==
        "A[0:4, vi] -> C[vi * 4:vi * 4 + 4]");
  CHECK(infer("        C[vi] = A[vi, 1] + A[vi, 3]") == "A[vi, 1:4] -> C[vi]");
  CHECK(infer("        C[vi] = A[vi + 1, 0] + A[vi - 1, 0]") == "A[vi - 1:vi + 2, 0] -> C[vi]");
  CHECK(infer("        C[I[vi]] = 0") == "I[vi] -> C[0:16]");
  CHECK(infer("        for j in range(8):\n            C[vi] = A[j // 2, 15 - j]") ==
        "A[0:4, 8:16] -> C[vi]");
  CHECK(infer("        for j in range(n):\n            C[vi] = A[vi, j]") == "A[vi, 0:n] -> C[vi]");
  CHECK(infer("        with T.init():\n            C[vi] = 0\n        C[vi] = C[vi] + A[vi, 0]") ==
        "A[vi, 0] -> C[vi]");
  CHECK(infer("        T.reads(A[0:16, 0:16])\n        C[vi] = A[vi, 0]") ==
        "A[0:16, 0:16] -> C[vi]");
  CHECK(infer("        T.reads()\n        T.writes(C)\n        C[vi] = 0") == " -> C[0:16]");
  CHECK(infer("        D = T.alloc_buffer((1,))\n        D[0] = A[vi, 0]\n        C[vi] = D[0]") ==
        "A[vi, 0] -> C[vi]");
  // through a match, and a match of it; what the block itself allocates is nobody else's business
  CHECK(infer("        R = T.match_buffer(C[vi:vi + 2], (2,))\n"
              "        E = T.match_buffer(R[1], ())\n        E[()] = A[vi, 0]") ==
        "A[vi, 0] -> C[vi:vi + 2]");
  CHECK(infer("        D = T.alloc_buffer((4, 4))\n        R = T.match_buffer(D[vi, 0:4], (4,))\n"
              "        R[0] = A[vi, 0]\n        C[vi] = R[0]") == "A[vi, 0] -> C[vi]");
}

TEST_CASE("a line behind a colon is a body to its end, semicolons included") {
  const auto same = [](const char* line, const char* lines) {
    CHECK(print(parse(around(line))) == print(parse(around(lines))));
  };
  same("if n > 0: C[0] = 1; C[1] = 2\nC[2] = 3", "if n > 0:\n    C[0] = 1\n    C[1] = 2\nC[2] = 3");
  same("for i in range(4): C[i] = 1; C[i + 4] = 2;\nC[2] = 3",
       "for i in range(4):\n    C[i] = 1\n    C[i + 4] = 2\nC[2] = 3");
  same("for i in range(4):\n    with T.block(\"b\"): v = T.axis.spatial(4, i); C[v] = 1\nC[2] = 3",
       "for i in range(4):\n    with T.block(\"b\"):\n        v = T.axis.spatial(4, i)\n"
       "        C[v] = 1\nC[2] = 3");
}

TEST_CASE("inner blocks pass their regions on") {
  const stmt body = body_of(R"(for i in range(4):
    with T.block("outer"):
        vio = T.axis.spatial(4, i)
        for k in range(4):
            with T.block("inner"):
                vi = T.axis.spatial(4, k)
                C[vio * 4 + vi] = A[vio * 4 + vi, 0])");
  const block_realize_node* outer = as_realize(as_loop(as_realize(body)->block->body)->body);
  REQUIRE(outer);
  CHECK(regions(outer->block->reads) == "A[vio * 4:vio * 4 + 4, 0]");
  CHECK(regions(outer->block->writes) == "C[vio * 4:vio * 4 + 4]");
}

TEST_CASE("errors give line, column and what was expected") {
  check_error("", 1, 1, "'def'");
  check_error("def f(:", 1, 8, "')' for the '(' of line 1, column 6");
  check_error(around("C[0] = T.max(\n    1, 2]"), 4, 13, "')' for the '(' of line 3, column 17");
  check_error(around("C[0] = T.Cast(\"int32\", T.int8(128))"), 3, 35, "a literal of type int8");
  check_error(around("C[0] = T.max(n)"), 3, 19, "',' and another operand");
  check_error(around("else:\n    pass"), 3, 5, "a statement: no if ends before this line");
  check_error(around("elif n == 0:\n    pass"), 3, 5, "a statement: no if ends before this line");
  check_error(around("with T.block(f\"b{n}\"):\n    pass"), 3, 18,
              "a string without values in braces");
  check_error(around("for i in T.serial(0, n, step=0):\n    pass"), 3, 22, "a positive step");
  check_error(around("C[0] = x"), 3, 12, "a name that is defined here");
  check_error(around("C[0, 1] = 1"), 3, 6, "1 indices of C");
  check_error(around("C[0] = \"x\""), 3, 12, "a value of type float32");
  check_error(around("C[0] = A[0, 0] + A.data"), 3, 20, "two numbers");
  check_error(around("C[1.5] = 1"), 3, 7, "an integer index");
  check_error(around("if n:\n    pass"), 3, 8, "a boolean condition");
  check_error(around("for i in T.zip(3):\n    pass"), 3, 16,
              "grid, serial, parallel, vectorized, unroll or thread_binding");
  check_error(around("for i, j in T.grid(3):\n    pass"), 3, 23, "2 extents");
  check_error(around("for i in range(3):\nC[0] = 1"), 4, 5, "an indented line");
  check_error(around("T.reads(A)"), 3, 7, "this line directly inside a block");
  check_error(around("C[0] = T.frobnicate(1)"), 3, 14,
              "a function of T that is known; others are called by T.call_extern");
  check_error(around("C[0] = n / 2"), 3, 14, "T.truncdiv or // between integers");
  check_error(around("C[0] = 1 < n and 3"), 3, 18, "booleans on both sides");
  check_error("@T.prim_func\ndef f(n: T.int32):\n    pass\nC[0] = 1\n", 4, 1,
              "the end of the text after one function");
}

TEST_CASE("a block says everything once") {
  const auto twice = [](const std::string& line, int column, const char* expected) {
    const std::string head = "for i, j in T.grid(4, 4):\n    with T.block(\"b\"):\n        ";
    check_error(around(head + line + "\n        " + line + "\n        C[0] = 1"), 6, column,
                expected);
  };
  twice("T.reads(A[0, 0])", 15, "one T.reads in a block");
  twice("T.writes(C[0])", 15, "one T.writes in a block");
  twice("T.where(i < 2)", 15, "one T.where in a block");
  twice("vi = T.axis.spatial(4, i)", 13, "an axis of another name");
  check_error(around("for i, j in T.grid(4, 4):\n    with T.block(\"b\"):\n"
                     "        v, v = T.axis.remap(\"SS\", [i, j])"),
              5, 16, "an axis of another name");
  check_error(around("with T.block(\"b\"):\n    T.block_attr({\"k\": 1})\n"
                     "    T.block_attr({\"k\": 2})"),
              5, 11, "one value of the annotation \"k\"");
  CHECK_NOTHROW(
      parse(around("with T.block(\"b\"):\n    T.block_attr({\"k\": 1})\n"
                   "    T.block_attr({\"k\": 1, \"m\": 2})\n    C[0] = 1")));
}

TEST_CASE("names end with their scope") {
  check_error(around("for i in range(3):\n    C[i] = 0\nC[i] = 0"), 5, 7,
              "a name that is defined here");
}

TEST_CASE("deep and long input is refused or read, never overrun") {
  const std::string deep(300, '(');
  CHECK_THROWS_AS(parse(around("C[0] = " + deep + "1" + std::string(300, ')'))), parse_error);
  std::string chain = "n", nots = "n < 1";
  for (int i = 0; i < 5000; ++i) chain += " + n";
  CHECK_THROWS_AS(parse(around("C[n] = T.float32(" + chain + ")")), parse_error);
  for (int i = 0; i < 5000; ++i) nots = "not " + nots;
  CHECK_THROWS_AS(parse(around("T.evaluate(" + nots + ")")), parse_error);
  std::string lets, loops, indent, branches = "if n == 0:\n    pass\n";
  for (int i = 0; i < 5000; ++i) lets += "x" + std::to_string(i) + " = n\n";
  CHECK_THROWS_AS(parse(around(lets)), parse_error);
  for (int i = 0; i < 600; ++i, indent += ' ')
    loops += indent + "for i" + std::to_string(i) + " in range(2):\n";
  CHECK_THROWS_AS(parse(around(loops + indent + "pass")), parse_error);
  for (int i = 0; i < 5000; ++i) branches += "elif n == 1:\n    pass\n";
  CHECK_THROWS_AS(parse(around(branches)), parse_error);
  std::string names = "i0", extents = "2";
  for (int i = 1; i < 5000; ++i) names += ", i" + std::to_string(i), extents += ", 2";
  CHECK_THROWS_AS(parse(around("for " + names + " in T.grid(" + extents + "):\n    pass")),
                  parse_error);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "C[0] = 1\n";
  CHECK(as_seq(body_of(many))->stmts.size() == 5000);
}

TEST_CASE("changed bytes give an error or a program, and a program still round-trips") {
  std::uint64_t state = 12345;
  const auto below = [&](std::size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 33) % n);
  };
  static constexpr std::string_view pieces[] = {"(",  ")",    "[",  "]",   ",",          ":",  " ",
                                                "\n", "    ", "T.", "0",   "9999999999", "-",  "vi",
                                                "C",  "\"",   "=",  "for", "\xff",       "1e9"};
  int accepted = 0;
  for (const auto& program : test::all_programs()) {
    const std::string text = print(program.second);
    for (int round = 0; round < 400; ++round) {
      std::string changed = text;
      for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
        const std::size_t at = below(changed.size());
        const std::string_view piece = pieces[below(std::size(pieces))];
        if (below(2))
          changed.insert(at, piece);
        else
          changed.erase(at, 1 + below(6));
      }
      try {
        const function g = parse(changed);
        verify(g);
        ++accepted;
        CHECK(print(parse(print(g))) == print(g));
        CHECK(equal(parse(print(g)), g));
      } catch (const argument_error&) {  // parse_error and verify_error
      }
    }
  }
  CHECK(accepted > 50);
}

TEST_CASE("parse: a function of a module by its name") {
  const char* const text = R"(@I.ir_module
class Module:
    @T.prim_func
    def first(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(1)
    @T.prim_func
    def second(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(2)
)";
  CHECK(ir::function_names(text) == std::vector<std::string>{"first", "second"});
  CHECK(ir::parse(text).name == "first");
  CHECK(ir::parse(text, "second").name == "second");
  CHECK(ir::parse(text, "").name == "first");
  CHECK_THROWS_WITH_AS(ir::parse(text, "third"),
                       "the script has no function \"third\"; it has first, second",
                       argument_error);
}
