// What a reader of files owes: errors that name what is wrong, whatever the bytes.
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/model.hpp>

#include "model/array_file.hpp"
#include "model/refusal.hpp"

using namespace tilewright;
using network_tests::data_folder;
using network_tests::refusal;

namespace {

/// A model in the wire format, made by hand.
struct written_model {
  std::string graph;
  int ir = 9, opset = 17;
  std::vector<std::string> functions;

  static std::string node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs, const std::string& name,
                          const std::string& domain = "") {
    std::string out;
    protozero::pbf_writer w(out);
    for (const std::string& i : inputs) w.add_string(1, i);
    for (const std::string& o : outputs) w.add_string(2, o);
    w.add_string(3, name);
    w.add_string(4, op);
    if (!domain.empty()) w.add_string(7, domain);
    return out;
  }
  /// @param extents -1: open, named N
  static std::string value(const std::string& name, const std::vector<std::int64_t>& extents,
                           int type = 1) {
    std::string out, tensor, shape, holder;
    protozero::pbf_writer s(shape);
    for (const std::int64_t e : extents) {
      std::string dim;
      protozero::pbf_writer d(dim);
      if (e < 0)
        d.add_string(2, "N");
      else
        d.add_int64(1, e);
      s.add_message(1, dim);
    }
    protozero::pbf_writer t(tensor);
    t.add_int32(1, type);
    t.add_message(2, shape);
    protozero::pbf_writer(holder).add_message(1, tensor);
    protozero::pbf_writer w(out);
    w.add_string(1, name);
    w.add_message(2, holder);
    return out;
  }
  static std::string tensor(const std::string& name, const std::vector<std::int64_t>& extents,
                            const std::string& raw) {
    std::string out;
    protozero::pbf_writer w(out);
    for (const std::int64_t e : extents) w.add_int64(1, e);
    w.add_int32(2, 1);
    w.add_string(8, name);
    w.add_bytes(9, raw);
    return out;
  }
  static std::string function(const std::string& domain, const std::string& name,
                              const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs,
                              const std::vector<std::string>& nodes) {
    std::string out, set;
    protozero::pbf_writer(set).add_int64(2, 17);
    protozero::pbf_writer w(out);
    w.add_string(1, name);
    for (const std::string& i : inputs) w.add_string(4, i);
    for (const std::string& o : outputs) w.add_string(5, o);
    for (const std::string& n : nodes) w.add_message(7, n);
    w.add_message(9, set);
    w.add_string(10, domain);
    return out;
  }
  /// A node with one more attribute: a graph, a number, or the name of one that the caller gives.
  static std::string with_graph(std::string node, const std::string& name,
                                const std::string& graph) {
    std::string a;
    protozero::pbf_writer w(a);
    w.add_string(1, name);
    w.add_message(6, graph);
    w.add_int32(20, 5);
    protozero::pbf_writer(node).add_message(5, a);
    return node;
  }
  static std::string with_number(std::string node, const std::string& name, float number) {
    std::string a;
    protozero::pbf_writer w(a);
    w.add_string(1, name);
    w.add_float(2, number);
    w.add_int32(20, 1);
    protozero::pbf_writer(node).add_message(5, a);
    return node;
  }
  static std::string with_reference(std::string node, const std::string& name,
                                    const std::string& of) {
    std::string a;
    protozero::pbf_writer w(a);
    w.add_string(1, name);
    w.add_int32(20, 1);
    w.add_string(21, of);
    protozero::pbf_writer(node).add_message(5, a);
    return node;
  }
  static std::string external(const std::string& name, const std::vector<std::int64_t>& extents,
                              const std::string& location, const std::string& offset = "0") {
    std::string out;
    protozero::pbf_writer w(out);
    for (const std::int64_t e : extents) w.add_int64(1, e);
    w.add_int32(2, 1);
    w.add_string(8, name);
    for (const auto& [key, text] : std::vector<std::pair<std::string, std::string>>{
             {"location", location}, {"offset", offset}}) {
      std::string entry;
      protozero::pbf_writer e(entry);
      e.add_string(1, key);
      e.add_string(2, text);
      w.add_message(13, entry);
    }
    w.add_int32(14, 1);
    return out;
  }
  written_model& add(int field, const std::string& message) {
    protozero::pbf_writer(graph).add_message(static_cast<protozero::pbf_tag_type>(field), message);
    return *this;
  }
  std::string bytes() const {
    std::string out, set;
    protozero::pbf_writer w(out);
    w.add_int64(1, ir);
    w.add_message(7, graph);
    protozero::pbf_writer(set).add_int64(2, opset);
    w.add_message(8, set);
    for (const std::string& f : functions) w.add_message(25, f);
    return out;
  }
};
using m = written_model;
constexpr int node_field = 1, tensor_field = 5, input_field = 11, output_field = 12;

/// y = Relu(x).
written_model simple() {
  written_model out;
  out.add(node_field, m::node("Relu", {"x"}, {"y"}, "act"))
      .add(input_field, m::value("x", {2, 3}))
      .add(output_field, m::value("y", {2, 3}));
  return out;
}

std::string refusal_of(const written_model& w, const std::string& folder = {}) {
  return refusal([&] {
    network::graph g = interop::parse_onnx(w.bytes(), {}, folder);
    network::infer_types(g);
  });
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("onnx: a model made by hand") {
  CHECK(refusal_of(simple()) == "none");
  const network::graph g = interop::parse_onnx(simple().bytes());
  CHECK(g.nodes.size() == 1);
  CHECK(g.nodes[0].version == 17);
  CHECK(*g.at(g.inputs[0]).type == network::tensor_type{dtype::f32, {2, 3}});
}

TEST_CASE("onnx: nodes may stand in any order, cycles and gaps may not") {
  written_model w;
  w.add(node_field, m::node("Relu", {"h"}, {"y"}, "second"))
      .add(node_field, m::node("Neg", {"x"}, {"h"}, "first"))
      .add(input_field, m::value("x", {2}))
      .add(output_field, m::value("y", {2}));
  CHECK(refusal_of(w) == "none");
  written_model cycle;
  cycle.add(node_field, m::node("Add", {"x", "b"}, {"a"}, "one"))
      .add(node_field, m::node("Neg", {"a"}, {"b"}, "two"))
      .add(input_field, m::value("x", {2}))
      .add(output_field, m::value("a", {2}));
  CHECK(has(refusal_of(cycle), "node one (Add): it is part of a cycle"));
  written_model gap = simple();
  gap.add(node_field, m::node("Neg", {"nowhere"}, {"z"}, "lost"));
  CHECK(has(refusal_of(gap), "node lost (Neg): value \"nowhere\" is read, but no node makes it"));
  written_model twice = simple();
  twice.add(node_field, m::node("Neg", {"x"}, {"y"}, "again"));
  CHECK(has(refusal_of(twice), "node again (Neg): value \"y\" is made twice"));
  written_model none = simple();
  none.add(output_field, m::value("z", {2}));
  CHECK(has(refusal_of(none), "output \"z\" of graph  is made by no node"));
}

TEST_CASE("onnx: one error lists all operators that are not supported") {
  written_model w = simple();
  w.add(node_field, m::node("NonZero", {"x"}, {"a"}, "n1"))
      .add(node_field, m::node("NonZero", {"x"}, {"b"}, "n2"))
      .add(node_field, m::node("FusedThing", {"x"}, {"c"}, "n3", "com.example"));
  const std::string text = refusal_of(w);
  CHECK(has(text, "NonZero (version 17): 2 nodes, the first is node n1 (NonZero)"));
  CHECK(has(text, "com.example.FusedThing (version 7): 1 node, node n3 (FusedThing)"));
}

TEST_CASE("onnx: functions of the model are inlined, with the attributes of their call") {
  written_model w;
  w.functions = {
      m::function("own", "twice", {"a"}, {"b"},
                  {m::with_number(m::node("leaky", {"a"}, {"t"}, "one", "own"), "slope", 0.5f),
                   m::node("Add", {"t", "t"}, {"b"}, "two")}),
      m::function(
          "own", "leaky", {"a"}, {"b"},
          {m::with_reference(m::node("LeakyRelu", {"a"}, {"b"}, "act"), "alpha", "slope")})};
  w.add(node_field, m::node("twice", {"x"}, {"h"}, "first", "own"))
      .add(node_field, m::node("twice", {"h"}, {"y"}, "second", "own"))
      .add(input_field, m::value("x", {2}))
      .add(output_field, m::value("y", {2}));
  const network::graph g = interop::parse_onnx(w.bytes());
  REQUIRE(g.nodes.size() == 4);
  CHECK(g.nodes[0].op == "LeakyRelu");
  CHECK(g.nodes[0].name == "first/one/act");
  CHECK(g.nodes[0].version == 17);
  CHECK(g.nodes[0].real("alpha", 0) == doctest::Approx(0.5));
  CHECK(g.nodes[3].op == "Add");
  CHECK(refusal_of(w) == "none");
  w.functions = {
      m::function("own", "twice", {"a"}, {"b"}, {m::node("twice", {"a"}, {"b"}, "again", "own")})};
  CHECK(has(refusal_of(w), "does one call itself?"));
}

TEST_CASE("onnx: the branch of a condition that is known") {
  const auto branch = [](const std::string& op, const std::string& reads) {
    std::string out;
    protozero::pbf_writer b(out);
    b.add_message(1, m::node(op, {reads}, {"z"}, "inner"));
    b.add_message(12, m::value("z", {2}));
    return out;
  };
  const auto with = [&](bool condition) {
    std::string choice, flag;
    choice = m::node("If", {"c"}, {"y"}, "choice");
    choice = m::with_graph(choice, "else_branch", branch("Neg", "u"));
    choice = m::with_graph(choice, "then_branch", branch("Abs", "x"));
    protozero::pbf_writer f(flag);
    f.add_int32(2, 9);
    f.add_string(8, "c");
    f.add_bytes(9, std::string(1, condition ? '\1' : '\0'));
    written_model w;
    w.add(node_field, choice)
        .add(tensor_field, flag)
        .add(input_field, m::value("x", {2}))
        .add(input_field, m::value("u", {2}))
        .add(output_field, m::value("y", {2}));
    network::graph g = interop::parse_onnx(w.bytes());
    network::infer_types(g);
    REQUIRE(g.nodes.size() == 2);
    CHECK(g.nodes[1].op == "Identity");
    return g.nodes[0].op + " " + g.at(g.nodes[0].inputs[0]).name;
  };
  CHECK(with(true) == "Abs x");
  CHECK(with(false) == "Neg u");
  written_model open;
  open.add(node_field, m::with_graph(m::with_graph(m::node("If", {"c"}, {"y"}, "choice"),
                                                   "then_branch", branch("Abs", "x")),
                                     "else_branch", branch("Neg", "x")))
      .add(input_field, m::value("x", {2}))
      .add(input_field, m::value("c", {}, 9))
      .add(output_field, m::value("y", {2}));
  CHECK(has(refusal_of(open), "node choice (If): its condition depends on the arguments"));
}

TEST_CASE("onnx: versions") {
  written_model w = simple();
  w.ir = 2;
  CHECK(has(refusal_of(w), "its IR version is 2; 3 to 14 are read"));
  w.ir = 9;
  w.opset = 6;
  CHECK(has(refusal_of(w), "its operator set is 6; 7 to 28 are read"));
  w.opset = 29;
  CHECK(has(refusal_of(w), "its operator set is 29"));
}

TEST_CASE("onnx: shapes and data that disagree") {
  const auto with = [](const std::string& tensor) { return simple().add(tensor_field, tensor); };
  CHECK(has(refusal_of(with(m::tensor("w", {2}, "1234"))),
            "constant \"w\" is float32 (2), which takes 8 bytes, and has 4"));
  CHECK(has(refusal_of(with(m::tensor("w", {-1}, "1234"))), "constant \"w\" has the shape (-1)"));
  CHECK(has(refusal_of(with(m::tensor("w", {std::int64_t{1} << 40, std::int64_t{1} << 40}, ""))),
            "constant \"w\" has the shape"));
  CHECK(has(refusal_of(with(m::tensor("", {1}, "1234"))), "a constant has no name"));
  written_model string = simple();
  string.add(input_field, m::value("s", {2}, 8));
  CHECK(has(refusal_of(string), "input \"s\" has element type 8, which is not supported"));
  written_model apart = simple();
  apart.add(input_field, m::value("z", {2, 4}))
      .add(node_field, m::node("Add", {"x", "z"}, {"u"}, "sum"));
  CHECK(has(refusal_of(apart), "node sum (Add): shapes (2, 3) and (2, 4) do not go together"));
}

TEST_CASE("onnx: external data lie in the folder of the model") {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("tilewright_onnx_" + std::to_string(::getpid()));
  fs::create_directories(folder / "inside");
  std::ofstream(folder / "inside" / "w.data", std::ios::binary) << std::string(12, '\0');
  std::ofstream(folder / "outside.data", std::ios::binary) << std::string(12, '\0');
  fs::create_symlink(folder / "outside.data", folder / "inside" / "link.data");
  const auto with = [&](const std::string& location, const std::string& offset = "0") {
    return refusal_of(simple().add(tensor_field, m::external("w", {2}, location, offset)),
                      (folder / "inside").string());
  };
  CHECK(with("w.data") == "none");
  CHECK(with("w.data", "4") == "none");
  CHECK(has(with("w.data", "8"), "8 bytes at 8 are not in \"w.data\" (12 bytes"));
  CHECK(has(with("w.data", "18446744073709551615"), "are not in \"w.data\""));
  CHECK(has(with("w.data", "99999999999999999999"), "offset of its external data is"));
  CHECK(has(with("w.data", "-1"), "offset of its external data is"));
  CHECK(has(with("missing.data"), "missing.data"));
  for (const char* bad : {"../outside.data", "link.data", "/etc/hostname", "", "."})
    CHECK(with(bad) != "none");
  CHECK(has(with("../outside.data"), "is not in the folder of the model"));
  CHECK(has(with("link.data"), "is not in the folder of the model"));
  CHECK(has(refusal_of(simple().add(tensor_field, m::external("w", {2}, "w.data"))),
            "is not in the folder of the model"));
  fs::remove_all(folder);
}

TEST_CASE("onnx: no prefix of a file, and no file with a changed byte, does harm") {
  const std::string whole = file_bytes(data_folder + "tiny_attention.onnx");
  REQUIRE(whole.size() > 1000);
  int good = 0;
  const auto read = [&](const std::string& bytes) {
    try {
      network::graph g = interop::parse_onnx(bytes);
      ++good;
    } catch (const argument_error&) {
    }
  };
  for (std::size_t n = 0; n < whole.size(); n += 7) read(whole.substr(0, n));
  CHECK(good == 0);
  for (std::size_t k = 0; k < whole.size(); k += 3)
    for (const int flip : {1, 128}) {
      std::string bytes = whole;
      bytes[k] = static_cast<char>(bytes[k] ^ flip);
      read(bytes);
    }
  CHECK(refusal([] { interop::read_onnx("no/such/file.onnx"); }).find("no/such/file.onnx: ") == 0);
  CHECK(refusal([] { interop::read_onnx("tests/model"); }) ==
        "tests/model: this is no regular file");
}
