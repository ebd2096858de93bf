// Kernels that take longer in the network than alone are tuned again there.
#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/in_place.hpp>
#include <tilewright/model/inference.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/model/model.hpp>
#include <tilewright/model/session.hpp>
#include <tilewright/search/measurement/builder.hpp>
#include <tilewright/search/session.hpp>

#include "model/array_file.hpp"
#include "model/written_graph.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

/// A tuned network, and its database.
struct tuned_network {
  std::shared_ptr<search::database> db = std::make_shared<search::database>(":memory:");
  std::shared_ptr<const network::graph> graph;

  tuned_network() {
    model_options o;
    o.database = ":memory:";
    o.mode = mode::off;
    o.threads = 1;
    graph =
        std::make_shared<const network::graph>(load_onnx(data_folder + "tiny_cnn.onnx", o).graph());
    network::tune_kernels({program()}, 3, 42, *db);
  }
  std::shared_ptr<const network::executable> program() const {
    tuned_options o;
    o.own_database = db;
    o.mode = mode::off;
    o.threads = 1;
    return std::make_shared<const network::executable>(graph, o);
  }
  std::vector<search::record> in_place() const {
    return db->all([](const search::record& r) {
      return r.key.arguments.size() > 9 &&
             r.key.arguments.substr(r.key.arguments.size() - 9) == " in place";
    });
  }
  network::constant result() const {
    auto [y, data] = network::constant::make(graph->type_of(graph->outputs[0]));
    const network::constant x = read_array("tiny_cnn.x.npy");
    program()->run({x.data()}, {data});
    return y;
  }
};

}  // namespace

TEST_CASE("in place: kernels whose records say that they are ten times as fast are tuned again") {
  const tuned_network n;
  const std::shared_ptr<const network::executable> program = n.program();
  std::vector<std::string> before;
  std::size_t known = 0;
  for (std::size_t k = 0; k < program->launches().size(); ++k) {
    std::optional<search::record> r = n.db->chosen(program->task(k).key);
    before.push_back(r ? r->trace : std::string());
    if (!r) continue;  // a session has not come to it
    ++known;
    for (double& s : r->seconds) s /= 10;  // as a measurement alone could have found
    n.db->add(*r);
  }
  REQUIRE(known > 0);
  const network::in_place_summary s = network::tune_in_place(*program, 4, 42, *n.db);
  CHECK(s.slower > 0);
  CHECK(s.tuned > 0);
  CHECK(s.kept <= s.tuned);
  CHECK(s.before > 0);
  CHECK(s.after <= s.before);
  CHECK(!n.in_place().empty());
  // who was not kept is as before
  std::size_t changed = 0;
  for (std::size_t k = 0; k < before.size(); ++k)
    if (const auto now = n.db->chosen(program->task(k).key)) changed += now->trace != before[k];
  if (s.kept == 0) CHECK(changed == 0);
  CHECK(difference(read_array("tiny_cnn.y.npy"), n.result()) <= 1e-5);
}

TEST_CASE("in place: a kernel that is as fast in the network as alone stays") {
  const tuned_network n;
  const std::shared_ptr<const network::executable> program = n.program();
  for (std::size_t k = 0; k < program->launches().size(); ++k) {
    std::optional<search::record> r = n.db->chosen(program->task(k).key);
    if (!r) continue;
    for (double& s : r->seconds) s = 10;
    n.db->add(*r);
  }
  const network::in_place_summary s = network::tune_in_place(*program, 2, 42, *n.db);
  CHECK(s.slower == 0);
  CHECK(s.tuned == 0);
  CHECK(n.in_place().empty());
}

TEST_CASE("in place: a cancelled one changes nothing") {
  const tuned_network n;
  const std::atomic<bool> cancelled{true};
  const network::in_place_summary s =
      network::tune_in_place(*n.program(), 5, 42, *n.db, &cancelled);
  CHECK(s.tuned == 0);
  CHECK(n.in_place().empty());
}

TEST_CASE("in place: code that stands in for a launch computes the same, with weights of its own") {
  written_graph w;
  w.g.name = "product";
  const auto x = w.input("x", {5, 6});
  w.g.outputs = {w.add("MatMul", {x, w.known(waves({6, 40}, 0.3))})};
  network::infer_types(w.g);
  tuned_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.threads = 1;
  const network::executable program(std::make_shared<const network::graph>(w.g), o);
  REQUIRE(program.launches().size() == 1);
  const network::launch& l = program.launches()[0];
  const search::workload& task = program.task(0);
  const schedule s =
      search::default_schedule(task.function, task.space, {task.machine, task.exec->threads}, 42);
  const search::built b = search::build(s.function(), task.machine);
  REQUIRE(b.code);
  const network::stand_in other(task, b.code);
  const network::constant in = waves({5, 6}, 0.8);
  const network::constant expected = network::interpret(w.g, {in}).at(0);
  auto [y, data] = network::constant::make(expected.type());
  std::vector<dispatch::call_argument> arguments;
  for (std::size_t p = 0; p < l.slots.size(); ++p) {
    using slot = network::launch::slot;
    const void* from = l.slots[p].where == slot::input   ? in.data()
                       : l.slots[p].where == slot::fixed ? l.slots[p].data
                                                         : static_cast<const void*>(data);
    arguments.push_back({const_cast<void*>(from), l.extents[p].data(), l.strides[p].data()});
  }
  other.call(arguments);
  CHECK(difference(expected, y) <= 1e-6);
  const network::executable::timed_run run(program);
  CHECK(run({{0, &other}}).size() == 1);
  CHECK(network::median_times({{3, 1}, {1, 5}, {2, 4}}) == std::vector<double>{2, 4});
  CHECK(network::least_times({{3, 1}, {1, 5}, {2, 4}}) == std::vector<double>{1, 1});
}
