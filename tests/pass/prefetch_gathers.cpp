#include <tilewright/pass/prefetch_gathers.hpp>

#include <doctest/doctest.h>

#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/text/print.hpp>

using namespace tilewright;

namespace {

std::string fetched(const std::string& notes, const std::string& index) {
  const ir::function f = pass::prefetch_gathers(ir::parse(
      "@T.prim_func\n"
      "def f(q: T.Buffer((9,), \"int32\"), B: T.Buffer((5, 16), \"float32\"), y: T.Buffer((16,), "
      "\"float32\")):\n"
      "    for k in T.serial(9, annotations={" +
      notes +
      "}):\n"
      "        for j in T.vectorized(16):\n"
      "            y[j] = y[j] + B[" +
      index + ", j]\n"));
  const std::string text = ir::print(f);
  const std::size_t at = text.find("T.evaluate");
  return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
}

}  // namespace

TEST_CASE("the row of a later index is asked for, inside the array of indices") {
  CHECK(fetched("\"tilewright.prefetch\": 4", "q[k]") ==
        "T.evaluate(T.call_extern(\"float32\", \"prefetch\", B[q[T.min(k + 4, 8)], 0]))");
}

TEST_CASE("nothing is asked for without the annotation, with 0, or where no index is read") {
  CHECK(fetched("\"other\": 4", "q[k]") == "");
  CHECK(fetched("\"tilewright.prefetch\": 0", "q[k]") == "");
  CHECK(fetched("\"tilewright.prefetch\": 4", "T.min(k, 4)") == "");
}
