#pragma once

#include <memory>

#include <tilewright/model/operators.hpp>

// A choice between graphs that is known when the model is loaded.
namespace tilewright::network {
namespace detail {

/// The inputs of an `If` are its condition, what its then_branch reads from outside, and what its
/// else_branch reads.
inline void expand_if(expansion& e) {
  const auto branch = [&](const char* name) {
    const auto at = e.what().attributes.find(name);
    const auto* body = at == e.what().attributes.end()
                           ? nullptr
                           : std::get_if<std::shared_ptr<const graph>>(&at->second);
    if (!body || !*body) e.fail("attribute " + std::string(name) + " is missing");
    if ((*body)->outputs.size() != e.what().outputs.size())
      e.fail("its " + std::string(name) + " has " + std::to_string((*body)->outputs.size()) +
             " outputs, and the node " + std::to_string(e.what().outputs.size()));
    return *body;
  };
  const auto yes = branch("then_branch"), no = branch("else_branch");
  const constant* condition = e.known(0);
  if (!condition)
    e.fail(
        "its condition depends on the arguments of a call; a choice has to be known when the "
        "model is loaded");
  if (condition->type().type != dtype::boolean || condition->type().elements() != 1)
    e.fail("its condition has to be one bool, and is " + text_of(condition->type()));
  const std::vector<value_id>& all = e.what().inputs;
  const auto middle = all.begin() + 1 + static_cast<std::ptrdiff_t>(yes->inputs.size());
  if (condition->integer(0) != 0)
    e.add(*yes, {all.begin() + 1, middle});
  else
    e.add(*no, {middle, all.end()});
}

}  // namespace detail

TILEWRIGHT_INLINE void add_control(std::vector<operator_definition>& to) {
  operator_definition d{"If"};
  d.expand = detail::expand_if;
  to.push_back(d);
}

}  // namespace tilewright::network
