#pragma once

#include <algorithm>
#include <deque>
#include <utility>

#include <tilewright/expr/builder.hpp>
#include <tilewright/expr/show.hpp>
#include <tilewright/meta/name.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright {
namespace dsl {

/// What the nodes of a built kernel point to; addresses stay.
struct kernel_storage {
  struct tensor_record {
    std::vector<dim_info> dims;
    tensor_info info;
  };
  std::deque<std::string> texts;
  std::deque<tensor_record> tensors;
};

TILEWRIGHT_INLINE runtime_access runtime_tensor::read(const index_list& at) const {
  const auto fail = [&](const std::string& what) {
    throw argument_error("tensor " + std::string(info_->name) + ": " + what);
  };
  if (static_cast<int>(at.size()) != info_->rank)
    fail("it has rank " + std::to_string(info_->rank) + " and gets " + std::to_string(at.size()) +
         (at.size() == 1 ? " index" : " indices"));
  index_list indices;
  for (const runtime_expression& i : at) {
    if (!i.is_literal() && !i.is_index() && !is_integer(i.type()))
      fail("an index is " + std::string(name(i.type())) +
           "; tensors are indexed by axes, integer expressions and integers");
    indices.push_back(i.as(dtype::i64, true));
  }
  node n;
  n.kind = node_kind::load;
  n.type = info_->type;
  n.edge = edge_;
  n.tensor = info_;
  return runtime_access({n, indices});
}

TILEWRIGHT_INLINE runtime_definitions
runtime_access::operator=(const runtime_expression& assigned) const {
  const tensor_info& t = *nodes().back().tensor;
  const auto fail = [&](const std::string& what) {
    throw argument_error("tensor " + std::string(t.name) + ": " + what);
  };
  if (t.role == role::in || t.role == role::weight)
    fail("an input cannot be assigned; declare it out or inout");
  if (nodes().back().edge != border::none) fail("what lies outside of it cannot be assigned");
  const bool fits = assigned.is_literal() || (assigned.type() == t.type && !assigned.is_index()) ||
                    (assigned.is_index() && is_integer(t.type));
  if (!fits)
    fail("it holds " + std::string(name(t.type)) + ", and the assigned expression is " +
         (assigned.is_index() ? "an index" : std::string(name(assigned.type()))) +
         "; cast the expression");
  runtime_expression target = *this;
  node store = target.nodes().back();
  store.kind = node_kind::store;
  std::vector<node> all(nodes().begin(), nodes().end() - 1);
  all.push_back(store);
  const runtime_expression result = assigned.is_literal() ? assigned.as(t.type, false) : assigned;
  all.insert(all.end(), result.nodes().begin(), result.nodes().end());
  node n;
  n.kind = node_kind::define;
  n.width = 1;
  n.arity = 2;
  n.size = static_cast<std::int32_t>(all.size()) + 1;
  all.push_back(n);
  return {std::move(all)};
}

}  // namespace dsl

TILEWRIGHT_INLINE kernel_builder::kernel_builder(std::string name)
    : storage_(std::make_shared<dsl::kernel_storage>()), name_(std::move(name)) {
  if (!meta::is_identifier(name_))
    throw argument_error("kernel \"" + name_ + "\": the name of a kernel is an identifier");
}

TILEWRIGHT_INLINE std::string_view kernel_builder::keep(std::string_view text) {
  return storage_->texts.emplace_back(text);
}

TILEWRIGHT_INLINE dsl::runtime_tensor kernel_builder::tensor(
    dsl::role role, std::string name, dtype type, const std::vector<dsl::runtime_dim>& dims) {
  const auto fail = [&](const std::string& what) {
    throw argument_error("kernel " + name_ + ": tensor " + name + ": " + what);
  };
  if (!meta::is_identifier(name)) fail("the name of a tensor is an identifier");
  if (std::find(std::begin(all_dtypes), std::end(all_dtypes), type) == std::end(all_dtypes))
    fail("a tensor holds bool, 8 to 64 bit integers, float16, bfloat16, float or double");
  if (dims.size() > 8) fail("a tensor has at most 8 dimensions");
  dsl::kernel_storage::tensor_record& t = storage_->tensors.emplace_back();
  for (const dsl::runtime_dim& d : dims) {
    if (d.name.empty() && d.extent < 1)
      fail("an extent is " + std::to_string(d.extent) + "; extents are positive");
    t.dims.push_back({d.name.empty() ? std::string_view() : keep(d.name), d.extent});
  }
  t.info = {keep(name), type, role, static_cast<int>(dims.size()), t.dims.data()};
  if (role != dsl::role::temp) params_.push_back(&t.info);
  return {&t.info, dsl::border::none};
}

TILEWRIGHT_INLINE dsl::runtime_expression kernel_builder::axis(std::string_view name,
                                                               std::int64_t extent) {
  if (!meta::is_identifier(name))
    throw argument_error("kernel " + name_ + ": axis \"" + std::string(name) +
                         "\": the name of an axis is an identifier");
  dsl::node n;
  n.kind = dsl::node_kind::axis;
  n.type = dtype::i64;
  n.is_index = true;
  n.name = keep(name);
  n.dim.extent = extent;
  return {n, {}};
}

TILEWRIGHT_INLINE dsl::runtime_expression kernel_builder::extent(std::string_view name) {
  dsl::node n;
  n.kind = dsl::node_kind::extent;
  n.type = dtype::i64;
  n.is_index = true;
  n.name = keep(name);
  return {n, {}};
}

TILEWRIGHT_INLINE void kernel_builder::define(const dsl::runtime_definitions& d) {
  nodes_.insert(nodes_.end(), d.nodes.begin(), d.nodes.end());
}

TILEWRIGHT_INLINE void kernel_builder::expects(const dsl::runtime_expression& condition) {
  if (condition.type() != dtype::boolean)
    throw argument_error("kernel " + name_ + ": expects(...) needs a condition");
  dsl::node n;
  n.kind = dsl::node_kind::expect;
  n.type = dtype::boolean;
  const dsl::runtime_expression e(n, {condition});
  nodes_.insert(nodes_.end(), e.nodes().begin(), e.nodes().end());
}

TILEWRIGHT_INLINE any_kernel kernel_builder::build() const {
  const dsl::finding problem = dsl::check_program({nodes_.data(),
                                                   static_cast<int>(nodes_.size()),
                                                   params_.data(),
                                                   static_cast<int>(params_.size()),
                                                   {}});
  if (!problem.ok()) dsl::throw_mistake(name_, problem, nodes_.data());
  return any_kernel(name_, params_, nodes_, storage_);
}

}  // namespace tilewright
