// A process that ends while another thread is in the first call of a network: the thread is told to stop and
// is waited for, so that it meets nothing that has ended, neither of the network nor of the code generator.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include <tilewright/model/model.hpp>

#include "host.hpp"

using namespace host;

extern char** environ;

namespace {

/// Made before all others, so that it ends last: threads that went on would run while it does.
struct last_to_end {
  ~last_to_end() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }
} last;

network::value_id weights(network::graph& g, std::int64_t rows, std::int64_t columns) {
  auto [c, data] = network::constant::make({dtype::f32, {rows, columns}});
  std::memset(data, 0, static_cast<std::size_t>(c.type().bytes()));
  network::value v;
  v.name = "weights" + std::to_string(g.values.size());
  v.type = c.type();
  v.data = c;
  return g.add(v);
}

/// Four products of different extents, and what stands behind them.
network::graph layers() {
  network::graph g;
  g.name = "layers";
  network::value x;
  x.name = "x";
  x.type = network::tensor_type{dtype::f32, {256, 64}};
  g.inputs = {g.add(x)};
  network::value_id at = g.inputs[0];
  const auto add = [&](const char* op, std::vector<network::value_id> inputs) {
    network::value v;
    v.name = op + std::to_string(g.values.size());
    network::node n;
    n.op = op;
    n.name = v.name;
    n.version = 17;
    n.inputs = std::move(inputs);
    n.outputs = {g.add(v)};
    g.nodes.push_back(n);
    at = n.outputs[0];
  };
  std::int64_t width = 64;
  for (const std::int64_t next : {96, 128, 80, 48}) {
    add("MatMul", {at, weights(g, width, next)});
    add("Softmax", {at});
    width = next;
  }
  g.outputs = {at};
  return g;
}

std::atomic<bool> reached{false};  // a kernel runs, in the first call

/// Runs chunks one after the other, on the thread that called.
void run_here(void*, std::int64_t chunks, backend::chunk_body body, void* context) {
  reached = true;
  for (std::int64_t k = 0; k < chunks; ++k) body(context, k, 0);
}

/// Ends `after` so many ms while a thread is in the first call of `m`.
int end_while_called(model& m, int after) {
  std::thread([&m] {
    std::vector<float> x(256 * 64, 1.0f), y(256 * 48);
    m(x, y);
    reached = true;  // too early: where no kernel has loops that run in parallel
  }).detach();
  while (!reached) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(after));
  return 0;
}

int end_process(const std::string& owner, const std::string& how, int after) {
  static const backend::executor own{&run_here, nullptr, 2};
  model_options o;
  o.seconds = 30;
  o.database = ":memory:";
  o.mode = how == "tuned" ? mode::now : mode::off;
  o.executor = &own;
  if (owner == "static") {
    static model m{layers(), o};
    return end_while_called(m, after);
  }
  static auto* kept = new model{layers(), o};  // nobody ends it
  return end_while_called(*kept, after);
}

/// The exit status of this program, run with these arguments.
int status_of(const char* program, std::string owner, std::string how, std::string after) {
  char* const arguments[] = {const_cast<char*>(program), owner.data(), how.data(), after.data(),
                             nullptr};
  pid_t other = 0;
  expect(posix_spawn(&other, program, nullptr, nullptr, arguments, environ) == 0,
         "the program starts itself");
  int status = 0;
  expect(waitpid(other, &status, 0) == other, "the program ends");
  return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 4) return end_process(arguments[1], arguments[2], std::stoi(arguments[3]));
  for (const char* owner : {"static", "kept"})
    for (const char* how : {"tuned", "untuned"})
      for (const char* after : {"0", "30", "300"}) {
        const int status = status_of(arguments[0], owner, how, after);
        expect(status == 0, std::string("a process with a ") + owner + " network, " + how +
                                ", that ends " + after +
                                " ms behind the first kernel of its first call ends with " +
                                std::to_string(status));
      }
}
