#pragma once

#include <utility>

#include <tilewright/model/emission.hpp>
#include <tilewright/model/operators.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::network {

/// A kernel while its nodes are emitted one after another, those of a body inside the node that
/// holds it.
class kernel_writer {
 public:
  kernel_writer(const graph& g, const node& n)
      : builder_(name_of(n)), outer_{&g, nullptr, nullptr, {}} {
    run(n, outer_);
  }

  network_kernel finish(const node& n) {
    std::size_t number = 0;
    for (const value_id v : n.outputs) {
      if (v == no_value || stored(v) || outer_.of->type_of(v).elements() == 0) continue;
      const auto made = outer_.known.find(v);
      if (made == outer_.known.end())
        fail(n, "no kernel computes its output " + outer_.of->at(v).name);
      const reader r = made->second;
      const dsl::runtime_tensor to = out_param(v);
      const dsl::index_list at = axes(number++ ? "o" : "i", r.type.extents);
      builder_.define(to(at) = r.at(at));
    }
    return {builder_.build(), params_, is_weight_, derive_};
  }

  // ---- what an emission asks for ----

  reader value_of(value_id v, const char* role) { return value_in(*scope_, v, role); }

  dsl::runtime_tensor tensor_of(value_id v, const char* role) {
    const reader r = value_of(v, role);
    if (r.tensor) return *r.tensor;
    const dsl::runtime_tensor t = temp(role, r.type.type, r.type.extents);
    const dsl::index_list at = axes("i", r.type.extents);
    builder_.define(t(at) = r.at(at));
    scope_->known[v] = reader_of(t);
    return t;
  }

  dsl::runtime_expression axis(const std::string& name, std::int64_t extent) {
    return builder_.axis(name, extent);
  }
  dsl::index_list axes(const std::string& name, const shape& extents) {
    dsl::index_list out;
    for (std::size_t d = 0; d < extents.size(); ++d)
      out.push_back(builder_.axis(name + std::to_string(d), extents[d]));
    return out;
  }
  dsl::runtime_tensor temp(const std::string& name, dtype type, const shape& extents) {
    return builder_.temp(unused(name), type, dims_of(extents));
  }
  void define(const dsl::runtime_definitions& d) { builder_.define(d); }

  void set(value_id v, element_function f) {
    // a number as an index may meet another number in f, and two of them are no expression
    const auto at_indices = [f = std::move(f)](const dsl::index_list& at) {
      dsl::index_list own = at;
      for (dsl::runtime_expression& i : own)
        if (i.is_literal()) i = i.as(dtype::i64, true);
      return f(own);
    };
    scope_->known[v] = {scope_->of->type_of(v), at_indices};
  }
  dsl::runtime_tensor store(value_id v) {
    const tensor_type& t = scope_->of->type_of(v);
    const dsl::runtime_tensor to =
        scope_ == &outer_ ? out_param(v) : temp("part", t.type, t.extents);
    scope_->known[v] = reader_of(to);
    return to;
  }
  void derive(dsl::algorithm_deriver more) { derive_ = std::move(more); }

 private:
  struct scope {
    const graph* of;
    scope* around;       // of a body
    const node* holder;  // node that holds the body
    std::map<value_id, reader> known;
  };

  static std::string name_of(const node& n) { return meta::is_identifier(n.op) ? n.op : "network"; }

  static std::vector<dsl::runtime_dim> dims_of(const shape& extents) {
    return {extents.begin(), extents.end()};
  }

  static reader reader_of(const dsl::runtime_tensor& t) {
    tensor_type type{t.info().type, {}};
    for (int d = 0; d < t.rank(); ++d) type.extents.push_back(t.extent(d));
    return {std::move(type), [t](const dsl::index_list& at) { return t(at); }, t};
  }

  void run(const node& n, scope& inside) {
    scope* before = std::exchange(scope_, &inside);
    if (const graph* body = body_of(n)) {
      run_body(n, *body, inside);
    } else {
      const operator_definition* op = find_operator(n);
      if (!op || !op->emit) fail(n, "no kernel computes this operator");
      emission e(*this, *inside.of, n);
      op->emit(e);
    }
    scope_ = before;
  }

  void run_body(const node& n, const graph& body, scope& around) {
    scope inside{&body, &around, &n, {}};
    for (const node& part : body.nodes) run(part, inside);
    for (std::size_t k = 0; k < n.outputs.size(); ++k)
      around.known[n.outputs[k]] = value_in(inside, body.outputs.at(k), "X");
  }

  reader value_in(scope& s, value_id v, const char* role) {
    if (const auto known = s.known.find(v); known != s.known.end()) return known->second;
    const value& x = s.of->at(v);
    reader out;
    if (x.data && x.type->elements() == 1)
      out = literal(*x.data);
    else if (s.around)
      out = value_in(*s.around, outer_value(s, v), role);
    else
      out = reader_of_param(in_param(v, role), outer_.of->type_of(v));
    return s.known[v] = out;
  }

  /// Of a number, which is an array of one element: another kernel may have made it, in the memory of a device.
  static reader reader_of_param(const dsl::runtime_tensor& t, const tensor_type& type) {
    if (!type.extents.empty()) return reader_of(t);
    const dsl::runtime_expression first =
        t(dsl::index_list{dsl::runtime_expression(0).as(dtype::i64, true)});
    return {type, [first](const dsl::index_list&) { return first; }};
  }

  static value_id outer_value(const scope& s, value_id v) {
    for (std::size_t k = 0; k < s.of->inputs.size(); ++k)
      if (s.of->inputs[k] == v) return s.holder->inputs.at(k);
    throw internal_error("a body reads value " + s.of->at(v).name + ", which it does not make");
  }

  static reader literal(const constant& c) {
    const dtype t = c.type().type;
    const dsl::runtime_expression e =
        is_float(t)           ? dsl::runtime_expression(c.number(0)).as(t, false)
        : t == dtype::boolean ? dsl::runtime_expression(c.integer(0) != 0).as(t, false)
                              : dsl::runtime_expression(c.integer(0)).as(t, false);
    return {c.type(), [e](const dsl::index_list&) { return e; }};
  }

  dsl::runtime_tensor in_param(value_id v, const char* role) {
    const value& x = outer_.of->at(v);
    const tensor_type& t = outer_.of->type_of(v);
    if (t.elements() == 0)
      throw argument_error("value \"" + x.name + "\" has no elements: " + text_of(t));
    params_.push_back(v);
    is_weight_.push_back(x.data.has_value());
    return builder_.tensor(x.data ? dsl::role::weight : dsl::role::in, unused(role), t.type,
                           dims_of(t.extents.empty() ? shape{1} : t.extents));
  }

  dsl::runtime_tensor out_param(value_id v) {
    const tensor_type& t = outer_.of->type_of(v);
    if (t.elements() == 0)
      throw argument_error("value \"" + outer_.of->at(v).name +
                           "\" has no elements: " + text_of(t));
    params_.push_back(v);
    is_weight_.push_back(false);
    return builder_.out(unused("Y"), t.type, dims_of(t.extents));
  }

  bool stored(value_id v) const {
    for (const value_id p : params_)
      if (p == v) return true;
    return false;
  }

  std::string unused(const std::string& name) {
    const int times = names_[name]++;
    return times == 0 ? name : name + std::to_string(times + 1);
  }

  kernel_builder builder_;
  scope outer_;
  scope* scope_ = nullptr;
  std::map<std::string, int> names_;
  std::vector<value_id> params_;
  std::vector<bool> is_weight_;
  dsl::algorithm_deriver derive_;
};

TILEWRIGHT_INLINE const tensor_type& emission::type_of_output(std::size_t k) const {
  return whole().type_of(what().outputs.at(k));
}

TILEWRIGHT_INLINE reader emission::in(std::size_t k, const char* role) {
  if (!what().has_input(k)) fail("input " + std::to_string(k) + " is missing");
  return writer_->value_of(what().inputs[k], role);
}

TILEWRIGHT_INLINE dsl::runtime_tensor emission::tensor(std::size_t k, const char* role) {
  if (!what().has_input(k)) fail("input " + std::to_string(k) + " is missing");
  return writer_->tensor_of(what().inputs[k], role);
}

TILEWRIGHT_INLINE reader emission::broadcast(std::size_t k, const char* role) {
  const reader r = in(k, role);
  const shape& from = r.type.extents;
  const shape& to = type_of_output().extents;
  if (from == to) return r;
  const std::size_t skip = to.size() - from.size();
  return {{r.type.type, to}, [r, skip](const dsl::index_list& at) {
            dsl::index_list own;
            for (std::size_t d = 0; d < r.type.extents.size(); ++d)
              own.push_back(r.type.extents[d] == 1 ? dsl::runtime_expression(0) : at[d + skip]);
            return r.at(own);
          }};
}

TILEWRIGHT_INLINE dsl::runtime_expression emission::axis(const std::string& name,
                                                         std::int64_t extent) {
  return writer_->axis(name, extent);
}
TILEWRIGHT_INLINE dsl::index_list emission::axes(const char* name, const shape& extents) {
  return writer_->axes(name, extents);
}
TILEWRIGHT_INLINE dsl::runtime_tensor emission::temp(const char* name, dtype type,
                                                     const shape& extents) {
  return writer_->temp(name, type, extents);
}
TILEWRIGHT_INLINE void emission::define(const dsl::runtime_definitions& d) { writer_->define(d); }

TILEWRIGHT_INLINE void emission::out(std::size_t k, element_function f) {
  if (what().has_output(k)) writer_->set(what().outputs[k], std::move(f));
}
TILEWRIGHT_INLINE dsl::runtime_tensor emission::store(std::size_t k) {
  return writer_->store(what().outputs.at(k));
}
TILEWRIGHT_INLINE void emission::derive(dsl::algorithm_deriver more) {
  writer_->derive(std::move(more));
}

TILEWRIGHT_INLINE network_kernel emit(const graph& g, const node& n) {
  try {
    return kernel_writer(g, n).finish(n);
  } catch (const argument_error& problem) {
    const std::string text = problem.what();
    if (text.find(text_of(n)) != std::string::npos) throw;
    fail(n, text);
  }
}

}  // namespace tilewright::network
