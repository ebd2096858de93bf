#include "workload.hpp"

#include <algorithm>
#include <charconv>

#include <tilewright/backend/pool.hpp>
#include <tilewright/ir/bound_weights.hpp>
#include <tilewright/ir/key.hpp>
#include <tilewright/ir/specialize.hpp>
#include <tilewright/space/cpu.hpp>
#include <tilewright/target/cpu.hpp>

#include "command.hpp"

namespace tool {

using namespace tilewright;

std::map<std::string, std::int64_t> extents_of(const std::vector<std::string>& dims) {
  std::map<std::string, std::int64_t> out;
  for (const std::string& text : dims) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const char* first = text.data() + std::min(equals + 1, text.size());
    const char* last = text.data() + text.size();
    std::int64_t value = 0;
    const auto end = std::from_chars(first, last, value);
    if (end.ec != std::errc() || end.ptr != last)
      throw argument_error("--dim wants NAME=EXTENT, not " + text);
    out[text.substr(0, equals)] = value;
  }
  return out;
}

ir::function with_extents(const std::string& file, const ir::function& f,
                          const std::map<std::string, std::int64_t>& extents) {
  const ir::function out = ir::specialize(f, extents);
  const std::vector<ir::var> open = ir::symbolic_extents(out);
  if (!open.empty())
    throw input_error(
        file, "extent " + open[0]->name + " has no value; give --dim " + open[0]->name + "=...");
  return out;
}

search::workload workload_of(const ir::function& f, const target::cpu& cpu,
                             const backend::executor& exec) {
  search::workload w;
  w.function = f;
  w.key = {ir::workload_key(f).hex(), cpu.isa_key(), "", exec.threads};
  const std::vector<ir::buffer> bound = ir::bound_weights(f);
  for (const ir::param& p : f.params) {
    const bool is_bound = std::find(bound.begin(), bound.end(), p.buffer) != bound.end();
    w.key.arguments += std::string(w.key.arguments.empty() ? "" : " ") + (is_bound ? "bound" : "r");
    if (!p.buffer) continue;
    for (const ir::expr& e : p.buffer->shape) w.extents.push_back(ir::as_int(e));
  }
  w.family = search::family_of(f);
  w.cpu = &cpu;
  w.exec = &exec;
  w.space = space::default_cpu();
  return w;
}

}  // namespace tool
