// Graphs that are drawn: the interpreter before and after each pass, and the plan, agree.
//
// TILEWRIGHT_DRAWN_GRAPHS says how many; with TILEWRIGHT_DRAWN_GRAPHS_FOLDER each is written there
// as an ONNX file with its inputs and results, for tools/drawn_graphs.py, which asks ONNX Runtime.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/backend/call.hpp>
#include <tilewright/expr/reify.hpp>
#include <tilewright/model/emission.hpp>
#include <tilewright/model/executable.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/memory_view.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/passes.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/model/winograd.hpp>
#include <tilewright/search/check/verify.hpp>

#include "model/drawn/graph_generator.hpp"
#include "model/onnx_writer.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Where two results differ by more than rounding explains; empty: nowhere.
std::string disagreement(const network::constant& a, const network::constant& b) {
  if (a.type() != b.type()) return text_of(a.type()) + " and " + text_of(b.type());
  const bool is_rounded = is_float(a.type().type);
  double largest = 0;
  for (std::int64_t k = 0; k < a.type().elements(); ++k)
    if (std::isfinite(a.number(k))) largest = std::max(largest, std::abs(a.number(k)));
  for (std::int64_t k = 0; k < a.type().elements(); ++k) {
    const double x = a.number(k), y = b.number(k);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!is_rounded || !(std::abs(x - y) <= 2e-5 * largest))
      return "element " + std::to_string(k) + " is " + std::to_string(x) + " and " +
             std::to_string(y);
  }
  return "";
}

struct case_data {
  network::graph source, g;  // before and after inference
  std::vector<network::constant> in, expected;
};

case_data drawn_case(std::uint64_t seed) {
  case_data c;
  c.g = c.source = graph_generator(seed).draw(5 + static_cast<int>(seed * 7 % 36));
  network::infer_types(c.g);
  c.in = graph_generator::arguments_of(c.g, seed);
  c.expected = network::interpret(c.g, c.in);
  return c;
}

void check_interpreted(const case_data& c, const network::graph& g, const char* what) {
  std::vector<network::constant> y;
  try {
    y = network::interpret(g, c.in);
  } catch (const std::exception& e) {
    FAIL_CHECK(c.g.name, " after ", what, ": ", e.what(), "\n", print(c.g), "becomes\n", print(g));
  }
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::string why = disagreement(c.expected[k], y[k]);
    CHECK_MESSAGE(why.empty(), c.g.name, ", output ", k, " after ", what, ": ", why, "\n",
                  print(c.g), "becomes\n", print(g));
  }
}

void check_run(const case_data& c, const network::graph& g, const char* what) {
  tuned_options options;
  options.mode = mode::off;
  options.database = ":memory:";
  options.threads = 1;
  const network::executable program(std::make_shared<const network::graph>(g), options);
  std::vector<const void*> inputs;
  for (const network::constant& x : c.in) inputs.push_back(x.data());
  std::vector<network::constant> made;
  std::vector<void*> outputs;
  for (const network::constant& x : c.expected) {
    auto [y, data] = network::constant::make(x.type());
    std::memset(data, 0xa5, static_cast<std::size_t>(x.type().bytes()));
    made.push_back(y);
    outputs.push_back(data);
  }
  program.run(inputs, outputs);
  program.run(inputs, outputs);  // in an arena that holds what the first run left
  for (std::size_t k = 0; k < made.size(); ++k) {
    const std::string why = disagreement(c.expected[k], made[k]);
    CHECK_MESSAGE(why.empty(), c.g.name, ", output ", k, " of ", what, ": ", why, "\n", print(c.g),
                  "becomes\n", print(g));
  }
}

/// Dense elements as an argument of a call.
dsl::argument argument_of(const network::constant& c) {
  dsl::argument a;
  a.data = const_cast<std::byte*>(c.data());  // inputs are only read
  a.type = c.type().type;
  a.rank = static_cast<std::int8_t>(c.type().extents.size());
  std::int64_t stride = 1;
  for (std::size_t d = c.type().extents.size(); d-- > 0;) {
    a.extents[d] = c.type().extents[d];
    a.strides[d] = stride;
    stride *= a.extents[d];
  }
  return a;
}

/// The model from the graph as it was drawn, saved and loaded.
void check_saved(const case_data& c) {
  const std::filesystem::path folder =
      std::filesystem::current_path() / ("drawn_graphs_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  ::chmod(folder.c_str(), 0700);
  const std::string file = (folder / "drawn.twm").string();
  model_options options;
  options.mode = mode::off;
  options.database = ":memory:";
  options.threads = 1;
  model(c.source, options).save(file);
  const saved_model m = load_model(file);
  std::vector<named_argument> inputs, outputs;
  for (std::size_t k = 0; k < c.in.size(); ++k)
    inputs.emplace_back(m.inputs().at(k).name, argument_of(c.in[k]));
  std::vector<network::constant> made;
  for (std::size_t k = 0; k < c.expected.size(); ++k) {
    auto [y, data] = network::constant::make(c.expected[k].type());
    std::memset(data, 0xa5, static_cast<std::size_t>(y.type().bytes()));
    made.push_back(y);
    outputs.emplace_back(m.outputs().at(k).name, argument_of(y));
  }
  m.run(inputs, outputs);
  for (std::size_t k = 0; k < made.size(); ++k) {
    const std::string why = disagreement(c.expected[k], made[k]);
    CHECK_MESSAGE(why.empty(), c.g.name, ", output ", k, " of the saved model: ", why, "\n",
                  print(c.g));
  }
  std::filesystem::remove_all(folder);
}

void write_case(const case_data& c, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  write_file(folder / "model.onnx", onnx_text(c.source, 21));
  for (std::size_t k = 0; k < c.in.size(); ++k)
    write_file(folder / ("in." + c.g.at(c.g.inputs[k]).name + ".npy"), npy_text(c.in[k]));
  for (std::size_t k = 0; k < c.expected.size(); ++k)
    write_file(folder / ("out." + std::to_string(k) + ".npy"), npy_text(c.expected[k]));
}

/// Every convolution that can be in tiles tries them.
void in_tiles(network::graph& g) { network::winograd(g, {.pays = false}); }

/// The algorithms of each kernel against each other, on arguments of their own.
/// @return kernels that have several
int check_algorithms(const network::graph& g) {
  int out = 0;
  for (const network::node& n : g.nodes) {
    if (network::is_view(n)) continue;
    bool makes_elements = false;
    for (const network::value_id v : n.outputs)
      makes_elements = makes_elements || (v >= 0 && g.type_of(v).elements() > 0);
    if (!makes_elements) continue;
    const network::network_kernel made = network::emit(g, n);
    if (!made.derive) continue;
    ++out;
    const std::string wrong = search::compare_alternatives(made.derive(reify(made.kernel)),
                                                           backend::serial_executor(), 7);
    CHECK_MESSAGE(wrong.empty(), wrong, "\n", print(g));
  }
  return out;
}

struct named_pass {
  const char* name;
  void (*run)(network::graph&);
};
const named_pass passes_in_turn[] = {
    {"remove_unused", network::remove_unused},     {"fold_constants", network::fold_constants},
    {"remove_repeated", network::remove_repeated}, {"replace_nan", network::replace_nan},
    {"scale_products", network::scale_products},   {"channels_last", network::channels_last},
    {"group_attention", network::group_attention}, {"fuse", network::fuse},
    {"place_parts", network::place_parts},         {"winograd", in_tiles}};

}  // namespace

TEST_CASE("drawn graphs: the interpreter before and after each pass, and the plan, agree") {
  const std::uint64_t first = setting("TILEWRIGHT_DRAWN_GRAPHS_FIRST", 1);
  const std::uint64_t count = setting("TILEWRIGHT_DRAWN_GRAPHS", 50);
  const char* folder = std::getenv("TILEWRIGHT_DRAWN_GRAPHS_FOLDER");
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    INFO("seed ", seed);
    const case_data c = drawn_case(seed);
    if (folder) write_case(c, std::filesystem::path(folder) / c.g.name);
    network::graph in_turn = c.g;
    for (const named_pass& p : passes_in_turn) {
      network::graph alone = c.g;
      p.run(alone);
      if (print(alone) != print(c.g)) check_interpreted(c, alone, p.name);
      const std::string before = print(in_turn);
      p.run(in_turn);
      if (print(in_turn) != before)
        check_interpreted(c, in_turn, (p.name + std::string(" in turn")).c_str());
    }
    check_run(c, in_turn, "the plan");
    check_algorithms(in_turn);
    if (seed % 5 == 0) {
      network::graph placed = c.g;
      network::place_parts(placed);
      check_run(c, placed, "the plan of single operators");
      check_saved(c);
    }
  }
}

TEST_CASE("drawn graphs: they hold what they are drawn for") {
  std::map<std::string, int> met;
  int attention = 0, joins = 0, parts = 0, tiled = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    network::graph g = graph_generator(seed).draw(5 + static_cast<int>(seed * 7 % 36));
    CHECK(g.nodes.size() >= 1);
    for (const network::node& n : g.nodes) ++met[n.op];
    network::infer_types(g);
    g = network::forms_of(std::move(g)).back();
    network::make_kernels(g);
    in_tiles(g);
    tiled += check_algorithms(g);
    for (const network::node& n : g.nodes) {
      attention += n.op.find("Attention") != std::string::npos;
      joins += n.op == "Join";
      parts += n.op == "Part";
    }
  }
  CHECK(met.size() >= 60);
  CHECK(attention >= 20);
  CHECK(joins >= 20);
  CHECK(tiled >= 5);
  CHECK(parts >= 10);
}
