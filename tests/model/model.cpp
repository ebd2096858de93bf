// A network as a function: results, names, threads, and what bad arguments get.
#include <doctest/doctest.h>

#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/model.hpp>

#include "model/array_file.hpp"
#include "model/refusal.hpp"
#include "support/forks.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

model_options quick() {
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.threads = 1;
  return o;
}

std::vector<float> floats(const network::constant& c) {
  std::vector<float> out(static_cast<std::size_t>(c.type().elements()));
  std::memcpy(out.data(), c.data(), out.size() * sizeof(float));
  return out;
}

double apart(const std::vector<float>& a, const std::vector<float>& b) {
  double out = 0, largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    out = std::max(out, std::abs(static_cast<double>(a[k]) - static_cast<double>(b[k])));
    largest = std::max(largest, std::abs(static_cast<double>(a[k])));
  }
  return out / largest;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++out;
  return out;
}

}  // namespace

TEST_CASE("model: what ONNX Runtime computes, with and without passes") {
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  const std::vector<float> expected = floats(read_array("tiny_cnn.y.npy"));
  for (const bool optimize : {false, true}) {
    model_options o = quick();
    o.optimize = optimize;
    const model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
    std::vector<float> y(5), named(5);
    m(view(x.data(), {1, 3, 13, 11}), view(y.data(), {1, 5}));
    CHECK(apart(expected, y) <= 1e-6);
    m.run({{"x", x}}, {{"y", named}});  // flat lists of as many elements
    CHECK(named == y);
    CHECK(m.program()->arena_bytes() >= m.program()->least_arena_bytes());
    const std::string report = m.report();
    CHECK(report.find("of the roofline; arena") != std::string::npos);
    CHECK(count(report, " untuned  ") == m.program()->launches().size());
    CHECK(count(report, " tuned ") == 0);
  }
}

TEST_CASE("model: reports say where schedules come from") {
  model_options o = quick();
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
  const search::workload& task = m.program()->task(0);
  search::database records(":memory:");
  const auto first = [&] { return network::reports_of(*m.program(), records, 1).at(0).origin; };
  CHECK(first() == network::schedule_origin::untuned);
  search::record r;
  r.key = task.key;
  r.seconds = {1e-3};
  records.add(r);
  CHECK(first() == network::schedule_origin::measured);
  r.chosen = true;
  records.add(r);
  CHECK(first() == network::schedule_origin::tuned);
  // fewer threads know the same kernel
  o.threads = 2;
  const model two = load_onnx(data_folder + "tiny_cnn.onnx", o);
  search::database of_one(":memory:");
  r.key = two.program()->task(0).key;
  CHECK(r.key.threads == 2);
  r.key.threads = 1;
  r.trace = "b0 = sch.get_block(name=\"#0\", func_name=\"main\")";
  of_one.add(r);
  CHECK(network::reports_of(*two.program(), of_one, 1).at(0).origin ==
        network::schedule_origin::nearest);
}

TEST_CASE("model: strided arguments are copied") {
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  const std::vector<float> expected = floats(read_array("tiny_cnn.y.npy"));
  std::vector<float> turned(x.size()), y(10, -1.0f);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t k = 0; k < 143; ++k) turned[k * 3 + c] = x[c * 143 + k];
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
  m(view(turned.data(), {1, 3, 13, 11}, {429, 1, 33, 3}), view(y.data(), {1, 5}, {10, 2}));
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(y[2 * k] == doctest::Approx(expected[k]).epsilon(1e-5));
    CHECK(y[2 * k + 1] == -1.0f);
  }
}

TEST_CASE("model: open extents, several outputs, integers") {
  model_options o = quick();
  o.extents = {{"batch", 2}};
  const model m = load_onnx(data_folder + "tiny_attention.onnx", o);
  const std::vector<float> x = floats(read_array("tiny_attention.x.npy"));
  std::vector<float> mean(16), padded(80);
  std::vector<std::int64_t> position(20);
  m(view(x.data(), {2, 6, 8}), view(mean.data(), {2, 8}), view(padded.data(), {2, 4, 10}),
    view(position.data(), {2, 10}));
  CHECK(apart(floats(read_array("tiny_attention.mean.npy")), mean) <= 1e-6);
  CHECK(apart(floats(read_array("tiny_attention.padded.npy")), padded) <= 1e-6);
  const network::constant p = read_array("tiny_attention.position.npy");
  for (std::size_t k = 0; k < 20; ++k)
    CHECK(position[k] == p.integer(static_cast<std::int64_t>(k)));
}

TEST_CASE("model: indices may count from the end") {
  network::graph g;
  g.name = "take";
  const auto add = [&](const char* name, dtype t, network::shape extents) {
    network::value v;
    v.name = name;
    v.type = network::tensor_type{t, std::move(extents)};
    return g.add(std::move(v));
  };
  g.inputs = {add("x", dtype::f32, {3, 2}), add("i", dtype::i64, {4})};
  g.outputs = {add("y", dtype::f32, {4, 2})};
  network::node n;
  n.op = "Gather";
  n.version = 13;
  n.inputs = g.inputs;
  n.outputs = g.outputs;
  g.nodes.push_back(n);
  const model m(g, quick());
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> i{-1, 0, 2, -3};
  std::vector<float> y(8);
  m(x, i, y);
  CHECK(y == std::vector<float>{5, 6, 1, 2, 5, 6, 1, 2});
}

TEST_CASE("model: a short session finds kernels, and the results stay") {
  model_options o = quick();
  o.mode = mode::now;
  o.seconds = 2;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  std::vector<float> y(5);
  m(x, y);
  CHECK(apart(floats(read_array("tiny_cnn.y.npy")), y) <= 1e-6);
  const std::string report = m.report();
  std::size_t known = 0;
  for (const char* origin : {" tuned ", " measured ", " nearest ", " untuned "})
    known += count(report, origin);
  CHECK(known == m.program()->launches().size());
  const std::vector<network::kernel_report> kernels = m.kernel_reports();
  CHECK(kernels.size() == known);
  for (const network::kernel_report& k : kernels) {
    CHECK(k.seconds > 0);
    CHECK(k.bound >= 0);
  }
}

TEST_CASE("model: tuning in the background, while calls run") {
  model_options o = quick();
  o.mode = mode::background;
  o.seconds = 2;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  const std::vector<float> expected = floats(read_array("tiny_cnn.y.npy"));
  const auto first = m.program();
  std::vector<float> y(5);
  m(x, y);
  CHECK(apart(expected, y) <= 1e-6);
  m.wait();
  CHECK(m.program() != first);  // kernels were swapped
  m(x, y);
  CHECK(apart(expected, y) <= 1e-6);
}

TEST_CASE("model: tuning on request while tuning in the background") {
  model_options o = quick();
  o.mode = mode::background;
  o.seconds = 1.5;
  o.extents = {{"batch", 2}};
  model m = load_onnx(data_folder + "tiny_attention.onnx", o);
  const std::vector<float> x = floats(read_array("tiny_attention.x.npy"));
  std::vector<float> mean(16), padded(80);
  std::vector<std::int64_t> position(20);
  for (int k = 0; k < 3; ++k) {
    m(x, mean, padded, position);
    CHECK(apart(floats(read_array("tiny_attention.mean.npy")), mean) <= 1e-6);
    m.tune(0.3);
  }
  m.wait();
}

TEST_CASE("model: the same network at other extents, on the same weights") {
  model_options o = quick();
  o.extents = {{"batch", 2}};
  const model two = load_onnx(data_folder + "tiny_attention.onnx", o);
  const model three = two.with_extents({{"batch", 3}});
  const std::vector<float> x = floats(read_array("tiny_attention.x.npy"));
  const std::vector<float> expected = floats(read_array("tiny_attention.mean.npy"));
  std::vector<float> more(x), mean(24), padded(120);  // the first of the batch once more at the end
  more.insert(more.end(), x.begin(), x.begin() + 48);
  std::vector<std::int64_t> position(30);
  three(view(more.data(), {3, 6, 8}), view(mean.data(), {3, 8}), view(padded.data(), {3, 4, 10}),
        view(position.data(), {3, 10}));
  for (std::size_t k = 0; k < 24; ++k)
    CHECK(mean[k] == doctest::Approx(expected[k % 16]).epsilon(1e-5));
  CHECK(two.source().type_of(two.source().inputs[0]).extents == network::shape{2, 6, 8});
  // constants that no pass changes are one piece of memory
  std::size_t shared = 0;
  for (const network::value& a : two.source().values)
    for (const network::value& b : three.source().values)
      shared += a.data && b.data && a.name == b.name && a.data->data() == b.data->data();
  CHECK(shared > 0);
  CHECK(refusal([&] { two.with_extents({}); }).find("are open") != std::string::npos);
}

TEST_CASE("model: one that goes away ends its tuning") {
  model_options o = quick();
  o.mode = mode::background;
  o.seconds = 1000;
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  std::vector<float> y(5);
  load_onnx(data_folder + "tiny_cnn.onnx", o)(x, y);
  CHECK(apart(floats(read_array("tiny_cnn.y.npy")), y) <= 1e-6);
}

TEST_CASE("model: what nodes and values are called does not matter to what is tuned") {
  for (const char* file : {"tiny_cnn.onnx", "tiny_attention.onnx"}) {
    model_options o = quick();
    if (std::string_view(file) == "tiny_attention.onnx") o.extents = {{"batch", 2}};
    const model m = load_onnx(data_folder + file, o);
    network::graph g = m.source();
    for (network::node& n : g.nodes) n.name = "other_" + n.name;
    for (network::value& v : g.values) v.name = "value of " + v.name;
    const model renamed(g, o);
    const auto a = m.program(), b = renamed.program();
    REQUIRE(a->launches().size() == b->launches().size());
    for (std::size_t k = 0; k < a->launches().size(); ++k) CHECK(a->task(k).key == b->task(k).key);
  }
}

TEST_CASE("model: a child that is forked while a thread tunes it goes on by itself" *
          doctest::skip(!forks::forks_usable)) {
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  const std::vector<float> expected = floats(read_array("tiny_cnn.y.npy"));
  for (const mode how : {mode::now, mode::background}) {
    model_options o = quick();
    o.mode = how;
    o.seconds = 3;
    const model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
    const auto is_right = [&] {
      std::vector<float> y(5);
      m(x, y);
      return apart(expected, y) <= 1e-5;
    };
    std::thread first([&] { CHECK(is_right()); });  // tunes, or starts to
    std::thread waiting([&] { m.wait(); });
    forks::nap(300);
    CHECK(forks::status_of([&] {
            if (!is_right()) _exit(1);
            m.wait();
            _exit(is_right() ? 0 : 2);
          }) == 0);
    first.join();
    waiting.join();
    CHECK(is_right());
  }
}

TEST_CASE("model: threads call one model at once") {
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  std::vector<float> first(5);
  m(x, first);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<float> y(5);
      for (int k = 0; k < 50; ++k) {
        m(x, y);
        wrong[t] += y != first;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("model: bad arguments") {
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
  std::vector<float> x(429), y(5), few(3);
  std::vector<double> wide(429);
  const std::vector<float> fixed(5);
  CHECK(refusal([&] { m(x); }) ==
        "graph tiny_cnn has 1 inputs and 1 outputs, and the call 1 arguments");
  CHECK(refusal([&] { m(few, y); }) ==
        "input \"x\" is float32 (1, 3, 13, 11), and gets float32 (3)");
  CHECK(refusal([&] { m(wide, y); }) ==
        "input \"x\" is float32 (1, 3, 13, 11), and gets float64 (429)");
  CHECK(refusal([&] { m(x, fixed); }) == "output \"y\" is written, and gets constant data");
  CHECK(refusal([&] { m.run({{"z", x}}, {{"y", y}}); }) == "input \"x\" is missing");
  CHECK(refusal([&] {
          m.run({{"x", x}, {"z", x}}, {{"y", y}});
        }) == "graph tiny_cnn has no input \"z\"");
  model_options o = quick();
  CHECK(refusal([&] {
          load_onnx(data_folder + "tiny_attention.onnx", o);
        }).find("the extents batch of graph tiny_attention are open") != std::string::npos);
  o.extents = {{"batch", 2}, {"seq", 3}};
  CHECK(refusal([&] {
          load_onnx(data_folder + "tiny_attention.onnx", o);
        }).find("has no open extent seq; it has batch") != std::string::npos);
  o.extents = {{"batch", 0}};
  CHECK(refusal([&] {
          load_onnx(data_folder + "tiny_attention.onnx", o);
        }).find("extent batch is 0") != std::string::npos);
}
