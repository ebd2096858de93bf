#include <tilewright/search/tvm_workload.hpp>

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include <tilewright/ir/equal.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/text/parse.hpp>
#include <tilewright/ir/verify/verify.hpp>
#include <tilewright/support/error.hpp>

using namespace tilewright;

namespace {

const std::string data = "tests/search/data/tvm/";

std::string text_of(const std::string& name) {
  std::ifstream in(data + name);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string first_line(const std::string& name) {
  const std::string all = text_of(name);
  return all.substr(0, all.find('\n'));
}

std::string refusal(const std::string& line) {
  try {
    ir::parse(search::read_tvm_workload(line));
  } catch (const argument_error& e) {
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a workload of TVM is the program that TVM prints") {
  for (const std::string name : {"dense_relu", "softmax", "operators"}) {
    CAPTURE(name);
    const std::string script =
        search::read_tvm_workload(first_line(name + "/database_workload.json"));
    CAPTURE(script);
    const ir::function f = ir::parse(script);
    CHECK_NOTHROW(ir::verify(f));
    const ir::function printed = ir::parse(text_of(name + "/script.py"));
    CHECK(ir::equal(f, printed));
    CHECK(ir::workload_key(f) == ir::workload_key(printed));
  }
}

TEST_CASE("a damaged workload is refused wherever it is cut or changed") {
  const std::string line = first_line("dense_relu/database_workload.json");
  CHECK(refusal("[]").find("a line has a hash and a text") != std::string::npos);
  CHECK(refusal("[\"1\", \"?\"]").find("base64") != std::string::npos);
  CHECK(refusal("[\"1\", \"AAAA\"]").find("another form") != std::string::npos);
  for (std::size_t cut = 1; cut < line.size(); cut += 997)
    CHECK(refusal(line.substr(0, cut)) != "accepted");
  // what was changed is refused or another program, and never a crash
  for (std::size_t at = 30; at < line.size(); at += 211) {
    std::string changed = line;
    changed[at] = changed[at] == 'Q' ? 'R' : 'Q';
    CHECK(refusal(changed) != "");
  }
}

namespace {

std::string encode_base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned v = 0;
    for (std::size_t k = 0; k < 3; ++k)
      v = v << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (int k = 18; k >= 0; k -= 6) out += digits[v >> k & 63];
    for (std::size_t k = bytes.size(); k < i + 3; ++k)
      out[out.size() - (k + 1 - bytes.size())] = '=';
  }
  return out;
}

std::string refusal_of_graph(const std::string& graph) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(graph.size() & 0xff);
  length[1] = static_cast<char>(graph.size() >> 8);
  return refusal("[\"1\", \"" + encode_base64(length + graph) + "\"]");
}

}  // namespace

TEST_CASE("graphs that are none are refused by what is wrong") {
  const auto says = [](const std::string& graph, const char* part) {
    const std::string got = refusal_of_graph(graph);
    CAPTURE(got);
    CHECK(got.find(part) != std::string::npos);
  };
  says("{}", "there is no graph");
  says(R"({"root_index":7,"nodes":[{"type":"None"}]})", "out of the graph");
  says(R"({"root_index":0,"nodes":[{"type":"None"}]})", "None in the place of a IRModule");
  says(R"({"root_index":1,"nodes":[{"type":"None"},{"type":"ir.IRModule","data":{"functions":2}},)"
       R"({"type":"ffi.Map","data":[]}]})",
       "does not have one function");
  const std::string head =
      R"({"root_index":1,"nodes":[{"type":"None"},{"type":"ir.IRModule","data":{"functions":2}},)"
      R"({"type":"ffi.Map","data":[3,5]},{"type":"ir.GlobalVar","data":{"name_hint":4}},)"
      R"({"type":"ffi.String","data":"main"},{"type":"tirx.PrimFunc","data":{"params":6,"body":7}},)"
      R"({"type":"ffi.Array","data":[]},)";
  says(head + R"({"type":"tirx.While","data":{}}]})", "statements of type While");
  says(head + R"({"type":"tirx.SeqStmt","data":{"seq":8}},{"type":"ffi.Array","data":[7]}]})",
       "nested too deeply");  // it holds itself
  says(head + R"({"type":"tirx.For","data":{"kind":4,"thread_binding":0}}]})", "loops of threads");
}
