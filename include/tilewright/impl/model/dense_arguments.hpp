// Arguments of a network: checked, brought into the order of the call, and made dense.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tilewright/model/saved_model.hpp>
#include <tilewright/search/measurement/argument_values.hpp>
#include <tilewright/support/any.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/find.hpp>

namespace tilewright {
namespace detail::models {

/// Arguments that are copied because they are not dense and row-major.
class dense_arguments {
 public:
  /// @param on_device elements lie where the host reads none: what is not dense is refused
  dense_arguments(const std::vector<network_port>& ports, const dsl::argument* arguments,
                  const char* what, bool is_written, bool on_device = false)
      : is_written_(is_written) {
    for (std::size_t k = 0; k < ports.size(); ++k) {
      const network_port& p = ports[k];
      const std::string who = std::string(what) + " \"" + p.name + "\"";
      check(who, p.type, arguments[k]);
      if (on_device && !is_dense(arguments[k]))
        throw argument_error(who +
                             " lies on a device and is not dense and row-major; copy it to an "
                             "array that is");
      data.push_back(add(p.type, arguments[k]));
    }
  }
  /// Brings what was written to where the caller wants it.
  void finish() const {
    for (const copy& c : copies_)
      if (is_written_)
        search::unpack_elements(c.form, static_cast<std::byte*>(c.user), c.strides, c.elements);
  }

  std::vector<void*> data;

 private:
  struct copy {
    search::operand form;
    void* user;
    std::vector<std::int64_t> strides;
    std::vector<std::byte> elements;
  };

  void check(const std::string& who, const network::tensor_type& t, const dsl::argument& a) const {
    std::vector<std::int64_t> extents(a.extents.begin(), a.extents.begin() + a.rank);
    const bool flat = a.rank == 1 && extents[0] == t.elements() && a.strides[0] == 1;
    if (a.type != t.type || (extents != t.extents && !flat))
      throw argument_error(who + " is " + network::text_of(t) + ", and gets " +
                           network::text_of(network::tensor_type{a.type, extents}));
    if (is_written_ && a.is_const)
      throw argument_error(who + " is written, and gets constant data");
    if (!a.data && a.rank > 0 && t.elements() > 0)
      throw argument_error(who + " gets a null pointer");
  }

  static bool is_dense(const dsl::argument& a) {
    std::int64_t next = 1;
    for (std::size_t d = static_cast<std::size_t>(a.rank); d-- > 0;) {
      if (a.extents[d] != 1 && a.strides[d] != next) return false;
      next *= a.extents[d];
    }
    return true;
  }

  void* add(const network::tensor_type& t, const dsl::argument& a) {
    void* user = const_cast<void*>(a.address());
    const std::vector<std::int64_t> strides(a.strides.begin(), a.strides.begin() + a.rank);
    const std::vector<std::int64_t> extents(a.extents.begin(), a.extents.begin() + a.rank);
    if (is_dense(a)) return user;
    search::operand form;
    form.type = t.type;
    form.extents = extents;
    form.strides = strides;
    copies_.push_back(
        {form, user, strides,
         search::packed_elements(form, static_cast<const std::byte*>(user), strides)});
    return copies_.back().elements.data();
  }

  bool is_written_;
  std::vector<copy> copies_;
};

inline std::vector<network_port> ports_of(const network::graph& g,
                                          const std::vector<network::value_id>& values) {
  std::vector<network_port> out;
  for (const network::value_id v : values) out.push_back({g.at(v).name, g.type_of(v)});
  return out;
}

/// Arguments by name as those of a call.
inline std::vector<named_argument> in_order(const std::string& graph,
                                            const std::vector<network_port>& input_ports,
                                            const std::vector<network_port>& output_ports,
                                            const std::vector<named_argument>& inputs,
                                            const std::vector<named_argument>& outputs) {
  std::vector<named_argument> all;
  const auto add = [&](const std::vector<named_argument>& given,
                       const std::vector<network_port>& wanted, const char* what) {
    for (const network_port& p : wanted) {
      const auto at =
          support::find(given, [&](const named_argument& a) { return a.name == p.name; });
      if (at == given.end())
        throw argument_error(std::string(what) + " \"" + p.name + "\" is missing");
      all.push_back(*at);
    }
    for (const named_argument& a : given)
      if (support::none(wanted, [&](const network_port& p) { return p.name == a.name; }))
        throw argument_error("graph " + graph + " has no " + what + " \"" + a.name + "\"");
  };
  add(inputs, input_ports, "input");
  add(outputs, output_ports, "output");
  return all;
}

/// Whether the arguments of a call lie on a device.
/// @param instead what to do where the model is for this CPU; null: it is for a GPU
/// @throws argument_error for a call that the machine of the model cannot take
inline bool are_on_device(const std::string& graph, const std::vector<named_argument>& all,
                          const void* stream, const char* instead) {
  const bool out = support::any(all, [](const named_argument& a) { return a.on_device; });
  if ((out || stream) && instead)
    throw argument_error("model " + graph + " is for this CPU, and the call is one for a GPU; " +
                         instead);
  if (stream && !out)
    throw argument_error(
        "model " + graph +
        " gets a stream and arrays of the host, for whose copies the call waits; "
        "leave the stream out, or write on_device(...) around arrays of the device");
  return out;
}

/// Calls `run` with dense data of the arguments, inputs before outputs.
/// @param on_device they lie all on a device
template <class Run>
void run_with_arguments(const std::string& graph, const std::vector<network_port>& inputs,
                        const std::vector<network_port>& outputs,
                        const std::vector<named_argument>& all, bool on_device, const Run& run) {
  if (all.size() != inputs.size() + outputs.size())
    throw argument_error("graph " + graph + " has " + std::to_string(inputs.size()) +
                         " inputs and " + std::to_string(outputs.size()) +
                         " outputs, and the call " + std::to_string(all.size()) + " arguments");
  std::vector<dsl::argument> data;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k].on_device != on_device) {
      const network_port& p = k < inputs.size() ? inputs[k] : outputs[k - inputs.size()];
      throw argument_error(
          std::string(k < inputs.size() ? "input" : "output") + " \"" + p.name + "\" " +
          (on_device
               ? "lies on the host, and others of the call on a device; copy it there, and "
                 "write on_device(...) around it"
               : "lies on a device, and the arrays of this call are read on the host; copy it "
                 "to the host"));
    }
    data.push_back(all[k].data);
  }
  const dense_arguments in(inputs, data.data(), "input", false, on_device);
  const dense_arguments out(outputs, data.data() + inputs.size(), "output", true, on_device);
  run({in.data.begin(), in.data.end()}, out.data);
  out.finish();
}

}  // namespace detail::models
}  // namespace tilewright
