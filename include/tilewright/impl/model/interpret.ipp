#pragma once

#include <map>
#include <utility>

#include <tilewright/expr/reify.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/model/emission.hpp>
#include <tilewright/model/interpret.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {

TILEWRIGHT_INLINE std::vector<constant> evaluate(const graph& g, const node& n,
                                                 const std::vector<constant>& inputs) {
  std::map<value_id, constant> values;
  for (std::size_t k = 0; k < n.inputs.size(); ++k)
    if (n.has_input(k)) values[n.inputs[k]] = inputs.at(k);
  std::vector<constant> out(n.outputs.size());
  bool is_empty = true;
  std::map<value_id, std::byte*> memory;
  for (std::size_t k = 0; k < n.outputs.size(); ++k) {
    if (!n.has_output(k)) continue;
    auto [c, data] = constant::make(g.type_of(n.outputs[k]));
    is_empty = is_empty && c.type().elements() == 0;
    memory[n.outputs[k]] = data;
    out[k] = c;
  }
  if (is_empty) return out;
  const network_kernel made = emit(g, n);
  std::vector<ir::tensor_view> views;
  for (const value_id v : made.params) {
    const auto written = memory.find(v);
    void* data = written != memory.end()
                     ? written->second
                     : const_cast<std::byte*>(values.at(v).data());  // inputs are only read
    views.push_back({data, {}});
  }
  ir::interpret(reify(made.kernel), std::move(views));
  return out;
}

TILEWRIGHT_INLINE std::vector<constant> interpret(const graph& g,
                                                  const std::vector<constant>& inputs) {
  if (inputs.size() != g.inputs.size())
    throw argument_error("graph " + g.name + " has " + std::to_string(g.inputs.size()) +
                         " inputs, and gets " + std::to_string(inputs.size()));
  std::map<value_id, constant> values;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const tensor_type& t = g.type_of(g.inputs[k]);
    if (inputs[k].type() != t)
      throw argument_error("input \"" + g.at(g.inputs[k]).name + "\" is " + text_of(t) +
                           ", and gets " + text_of(inputs[k].type()));
    values[g.inputs[k]] = inputs[k];
  }
  const auto known = [&](value_id v) {
    if (v == no_value) return constant();
    const std::optional<constant>& data = g.at(v).data;
    return data ? *data : values.at(v);
  };
  for (const node& n : g.nodes) {
    std::vector<constant> in;
    for (const value_id v : n.inputs) in.push_back(known(v));
    std::vector<constant> out = evaluate(g, n, in);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (n.has_output(k)) values[n.outputs[k]] = std::move(out[k]);
  }
  std::vector<constant> out;
  for (const value_id v : g.outputs) out.push_back(known(v));
  return out;
}

}  // namespace tilewright::network
