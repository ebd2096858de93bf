// ONNX: a network from a file.
//
//     tw::model m = tw::load_onnx("resnet50.onnx");
//     m(x, y);
//
// The wire format is read with protozero (Debian: libprotozero-dev), which this header alone needs.
// Nothing in a file is trusted. Constants stay where they are, in the mapped file; functions of the
// model are inlined, and so is the branch of an `If` whose condition is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include <tilewright/interop/onnx_tensor.hpp>
#include <tilewright/models.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/mapped_file.hpp>

namespace tilewright {
namespace interop {

/// Oldest and newest versions that are read.
inline constexpr std::int64_t onnx_ir_first = 3, onnx_ir_last = 14;
inline constexpr std::int64_t onnx_opset_first = 7, onnx_opset_last = 28;

/// @cond
// Reads one model; numbers of fields as in onnx.proto3.
class onnx_reader {
 public:
  onnx_reader(std::string_view bytes, std::shared_ptr<const void> owner, std::string folder)
      : bytes_(bytes), tensors_(std::move(owner), std::move(folder)) {}

  network::graph read() {
    protozero::pbf_reader model(bytes_.data(), bytes_.size());
    std::vector<std::string_view> graphs;
    std::int64_t ir = 0;
    while (model.next()) switch (model.tag()) {
        case 1: ir = model.get_int64(); break;
        case 7: graphs.push_back(onnx_wire::view_of(model)); break;
        case 8: read_opset(model.get_message(), scope_.versions); break;
        case 25: read_function(onnx_wire::view_of(model)); break;
        default: model.skip();
      }
    if (graphs.size() != 1) fail("it holds no graph; is it an ONNX model?");
    if (ir < onnx_ir_first || ir > onnx_ir_last)
      fail("its IR version is " + std::to_string(ir) + "; " + std::to_string(onnx_ir_first) +
           " to " + std::to_string(onnx_ir_last) + " are read");
    const auto opset = scope_.versions.find("");
    if (opset != scope_.versions.end() &&
        (opset->second < onnx_opset_first || opset->second > onnx_opset_last))
      fail("its operator set is " + std::to_string(opset->second) + "; " +
           std::to_string(onnx_opset_first) + " to " + std::to_string(onnx_opset_last) +
           " are read (onnx.version_converter converts)");
    network::graph g;
    read_graph(g, graphs[0]);
    network::sort_nodes(g);
    return g;
  }

 private:
  static constexpr std::size_t most_nodes = std::size_t{1} << 22;  // after functions are inlined
  static constexpr int most_depth = 64;  // of functions and branches inside each other

  /// A function of the model: what nodes of its name stand for.
  struct function {
    std::vector<std::string> inputs, outputs;
    std::vector<std::string_view> nodes, defaults;  // of attributes
    std::map<std::string, int> versions;
  };

  /// Where names are looked up.
  struct scope {
    std::map<std::string, network::value_id> names;
    std::string prefix;                   // of new names
    std::map<std::string, int> versions;  // of operator sets, by domain
    /// Of the call of a function.
    std::map<std::string, network::attribute, std::less<>> attributes;
  };

  /// What the graphs inside a node read from around it, by the name of the attribute.
  using captures = std::map<std::string, std::vector<network::value_id>>;

  [[noreturn]] static void fail(const std::string& what) { throw argument_error(what); }

  static void read_opset(protozero::pbf_reader r, std::map<std::string, int>& to) {
    std::string domain;
    std::int64_t version = 0;
    while (r.next()) switch (r.tag()) {
        case 1: domain = r.get_string(); break;
        case 2: version = r.get_int64(); break;
        default: r.skip();
      }
    if (domain == "ai.onnx") domain.clear();
    if (version < 0 || version > (1 << 20)) fail("version of operator set \"" + domain + "\"");
    to[domain] = static_cast<int>(version);
  }

  static std::string function_key(const std::string& domain, const std::string& name,
                                  const std::string& overload) {
    return domain + '\0' + name + '\0' + overload;
  }

  void read_function(std::string_view text) {
    protozero::pbf_reader r(text.data(), text.size());
    function f;
    std::string name, domain, overload;
    while (r.next()) switch (r.tag()) {
        case 1: name = r.get_string(); break;
        case 4: f.inputs.push_back(r.get_string()); break;
        case 5: f.outputs.push_back(r.get_string()); break;
        case 7: f.nodes.push_back(onnx_wire::view_of(r)); break;
        case 9: read_opset(r.get_message(), f.versions); break;
        case 10: domain = r.get_string(); break;
        case 11: f.defaults.push_back(onnx_wire::view_of(r)); break;
        case 13: overload = r.get_string(); break;
        default: r.skip();
      }
    if (domain == "ai.onnx") domain.clear();
    if (!functions_.emplace(function_key(domain, need_name(name, "a function"), overload), f)
             .second)
      fail("function \"" + name + "\" is there twice");
  }

  network::value_id value_of(network::graph& g, const std::string& name) {
    if (name.empty()) return network::no_value;
    const auto [at, is_new] = scope_.names.emplace(name, network::no_value);
    if (is_new) {
      network::value v;
      v.name = scope_.prefix + name;
      at->second = g.add(std::move(v));
    }
    return at->second;
  }

  void read_graph(network::graph& g, std::string_view text) {
    protozero::pbf_reader r(text.data(), text.size());
    std::vector<std::string_view> nodes, inputs, outputs, constants;
    while (r.next()) switch (r.tag()) {
        case 1: nodes.push_back(onnx_wire::view_of(r)); break;
        case 2: g.name = r.get_string(); break;
        case 5: constants.push_back(onnx_wire::view_of(r)); break;
        case 11: inputs.push_back(onnx_wire::view_of(r)); break;
        case 12: outputs.push_back(onnx_wire::view_of(r)); break;
        case 15: fail("graph " + g.name + " has sparse constants; export it with dense ones");
        default: r.skip();
      }
    for (const std::string_view c : constants) {
      std::string name;
      network::constant data = tensors_.read(c, name);
      network::value& v = g.at(value_of(g, need_name(name, "a constant")));
      if (v.data) fail("constant \"" + name + "\" is there twice");
      v.type = data.type();
      v.data = std::move(data);
    }
    // constants may be listed among the inputs, as they were before IR version 4
    for (const std::string_view i : inputs) read_input(g, i);
    for (const std::string_view n : nodes) read_node(g, n);
    for (const std::string_view o : outputs) {
      protozero::pbf_reader info(o.data(), o.size());
      std::string name;
      while (info.next())
        if (info.tag() == 1)
          name = info.get_string();
        else
          info.skip();
      g.outputs.push_back(value_of(g, need_name(name, "an output")));
    }
    if (g.outputs.empty()) fail("graph " + g.name + " has no outputs");
  }

  static const std::string& need_name(const std::string& name, const char* what) {
    if (name.empty()) fail(std::string(what) + " has no name");
    return name;
  }

  void read_input(network::graph& g, std::string_view text) {
    protozero::pbf_reader r(text.data(), text.size());
    std::string name;
    std::string_view type;
    while (r.next()) switch (r.tag()) {
        case 1: name = r.get_string(); break;
        case 2: type = onnx_wire::view_of(r); break;
        default: r.skip();
      }
    const network::value_id v = value_of(g, need_name(name, "an input"));
    if (g.at(v).data) return;
    for (const network::value_id other : g.inputs)
      if (other == v) fail("input \"" + name + "\" is there twice");
    read_type(g.at(v), type);
    g.inputs.push_back(v);
  }

  void read_type(network::value& v, std::string_view text) {
    protozero::pbf_reader type(text.data(), text.size());
    network::tensor_type t;
    bool is_tensor = false, has_shape = false;
    while (type.next()) {
      if (type.tag() != 1) {
        type.skip();
        continue;
      }
      is_tensor = true;
      protozero::pbf_reader tensor = type.get_message();
      while (tensor.next()) switch (tensor.tag()) {
          case 1:
            t.type = onnx_wire::element_type(tensor.get_int32(), "input \"" + v.name + "\"");
            break;
          case 2:
            has_shape = true;
            read_dims(v, t, tensor.get_message());
            break;
          default: tensor.skip();
        }
    }
    if (!is_tensor)
      fail("input \"" + v.name +
           "\" is no tensor; sequences, maps and optional values are not supported");
    if (!has_shape) fail("input \"" + v.name + "\" has no shape; export the model with shapes");
    v.type = std::move(t);
  }

  static void read_dims(network::value& v, network::tensor_type& t, protozero::pbf_reader shape) {
    while (shape.next()) {
      if (shape.tag() != 1) {
        shape.skip();
        continue;
      }
      protozero::pbf_reader dim = shape.get_message();
      std::int64_t extent = -1;
      std::string name;
      while (dim.next()) switch (dim.tag()) {
          case 1: extent = dim.get_int64(); break;
          case 2: name = dim.get_string(); break;
          default: dim.skip();
        }
      if (extent < 0 && name.empty()) name = v.name + "_" + std::to_string(t.extents.size());
      if (extent >= 0) name.clear();
      v.dim_names.push_back(name);
      t.extents.push_back(extent);
    }
  }

  void read_node(network::graph& g, std::string_view text) {
    protozero::pbf_reader r(text.data(), text.size());
    network::node n;
    std::string overload;
    std::vector<std::string_view> attributes;
    while (r.next()) switch (r.tag()) {
        case 1: n.inputs.push_back(value_of(g, r.get_string())); break;
        case 2: n.outputs.push_back(value_of(g, r.get_string())); break;
        case 3: n.name = scope_.prefix + r.get_string(); break;
        case 4: n.op = r.get_string(); break;
        case 5: attributes.push_back(onnx_wire::view_of(r)); break;
        case 7: n.domain = r.get_string(); break;
        case 8: overload = r.get_string(); break;
        default: r.skip();
      }
    if (n.domain == "ai.onnx") n.domain.clear();
    if (n.outputs.empty()) network::fail(n, "it has no outputs");
    if (n.name == scope_.prefix && n.outputs[0] != network::no_value)
      n.name = g.at(n.outputs[0]).name;
    const auto version = scope_.versions.find(n.domain);
    n.version = version == scope_.versions.end() ? onnx_opset_first : version->second;
    captures read_outside;
    for (const std::string_view a : attributes) read_attribute(g, n, a, read_outside);
    for (const char* branch : {"then_branch", "else_branch"})
      n.inputs.insert(n.inputs.end(), read_outside[branch].begin(), read_outside[branch].end());
    const auto f = functions_.find(function_key(n.domain, n.op, overload));
    if (f != functions_.end()) return inline_function(g, n, f->second);
    if (g.nodes.size() >= most_nodes) network::fail(n, "the model has too many nodes");
    g.nodes.push_back(std::move(n));
  }

  /// The nodes of a function in place of a node that calls it.
  void inline_function(network::graph& g, const network::node& call, const function& f) {
    if (call.inputs.size() > f.inputs.size() || call.outputs.size() > f.outputs.size())
      network::fail(call, "its function has " + std::to_string(f.inputs.size()) + " inputs and " +
                              std::to_string(f.outputs.size()) + " outputs");
    const depth_guard deeper(*this);
    scope inside;
    inside.prefix = call.name + "/";
    inside.versions = f.versions;
    for (std::size_t k = 0; k < f.inputs.size(); ++k)
      inside.names[f.inputs[k]] = call.has_input(k) ? call.inputs[k] : network::no_value;
    std::swap(scope_, inside);
    network::node defaults;
    captures none;
    for (const std::string_view a : f.defaults) read_attribute(g, defaults, a, none);
    scope_.attributes = call.attributes;
    scope_.attributes.merge(defaults.attributes);
    for (std::size_t k = 0; k < f.outputs.size(); ++k) {
      if (!call.has_output(k)) continue;
      // an output that is an input, too, is handed on
      const auto known = scope_.names.find(f.outputs[k]);
      if (known == scope_.names.end()) {
        scope_.names[f.outputs[k]] = call.outputs[k];
        continue;
      }
      network::node same;
      same.name = call.name;
      same.op = "Identity";
      same.version = onnx_opset_first;
      same.inputs = {known->second};
      same.outputs = {call.outputs[k]};
      g.nodes.push_back(std::move(same));
    }
    for (const std::string_view n : f.nodes) read_node(g, n);
    std::swap(scope_, inside);
  }

  /// A graph inside a node. What it reads from around becomes its inputs, and is listed.
  std::shared_ptr<const network::graph> read_branch(network::graph& g, const network::node& n,
                                                    std::string_view text,
                                                    std::vector<network::value_id>& outside) {
    const depth_guard deeper(*this);
    scope inside;
    inside.prefix = n.name + "/";
    inside.versions = scope_.versions;
    inside.attributes = scope_.attributes;
    std::swap(scope_, inside);
    network::graph branch;
    read_graph(branch, text);
    std::swap(scope_, inside);
    if (!branch.inputs.empty())
      network::fail(n, "a graph inside it has inputs; loops are not supported");
    std::vector<bool> is_made(branch.values.size(), false);
    for (const network::node& part : branch.nodes)
      for (const network::value_id v : part.outputs)
        if (v != network::no_value) is_made[static_cast<std::size_t>(v)] = true;
    for (const auto& [name, v] : inside.names) {
      if (v == network::no_value || is_made[static_cast<std::size_t>(v)] || branch.at(v).data)
        continue;
      branch.inputs.push_back(v);
      outside.push_back(value_of(g, name));
    }
    network::sort_nodes(branch);
    return std::make_shared<const network::graph>(std::move(branch));
  }

  void read_attribute(network::graph& g, network::node& n, std::string_view text,
                      captures& read_outside) {
    protozero::pbf_reader r(text.data(), text.size());
    std::string name, string, reference, none;
    std::int64_t integer = 0;
    double real = 0;
    int kind = 0;
    std::string_view tensor, graph;
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string> strings;
    while (r.next()) switch (r.tag()) {
        case 1: name = r.get_string(); break;
        case 2: real = static_cast<double>(r.get_float()); break;
        case 3: integer = r.get_int64(); break;
        case 4: string = r.get_string(); break;
        case 5: tensor = onnx_wire::view_of(r); break;
        case 6: graph = onnx_wire::view_of(r); break;
        case 7:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_float(); }, [&] { return r.get_float(); }, reals);
          break;
        case 8:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_int64(); }, [&] { return r.get_int64(); }, integers);
          break;
        case 9: strings.push_back(r.get_string()); break;
        case 20: kind = r.get_int32(); break;
        case 21: reference = r.get_string(); break;
        default: r.skip();
      }
    need_name(name, "an attribute");
    if (name == "channels_last") return;  // a mark of the passes, which no file may set
    if (!reference.empty()) {             // of the node that calls a function
      const auto given = scope_.attributes.find(reference);
      if (given != scope_.attributes.end()) n.attributes[name] = given->second;
      return;
    }
    if (kind == 5 && n.op != "If")
      network::fail(n, "attribute " + name + " is a graph; loops and scans are not supported");
    network::attribute value;
    switch (kind) {
      case 1: value = real; break;
      case 2: value = integer; break;
      case 3: value = string; break;
      case 4: value = tensors_.read(tensor, none); break;
      case 5: value = read_branch(g, n, graph, read_outside[name]); break;
      case 6: value = reals; break;
      case 7: value = integers; break;
      case 8: value = strings; break;
      default:
        network::fail(n, "attribute " + name + " is of a kind that is not supported (" +
                             std::to_string(kind) + ")");
    }
    n.attributes[name] = std::move(value);
  }

  class depth_guard {
   public:
    explicit depth_guard(onnx_reader& of) : of_(of) {
      if (++of_.depth_ > most_depth)
        fail("functions and branches are nested more than " + std::to_string(most_depth) +
             " deep; does one call itself?");
    }
    ~depth_guard() { --of_.depth_; }
    depth_guard(const depth_guard&) = delete;
    depth_guard& operator=(const depth_guard&) = delete;

   private:
    onnx_reader& of_;
  };

  std::string_view bytes_;
  onnx_tensor_reader tensors_;
  std::map<std::string, function> functions_;
  scope scope_;
  int depth_ = 0;
};
/// @endcond

/// The graph in the bytes of a model; constants are copied unless `owner` keeps the bytes.
/// @param folder where external data lie; empty: there must be none
/// @throws argument_error naming node or value for what is no model, or is not supported
inline network::graph parse_onnx(std::string_view bytes, std::shared_ptr<const void> owner = {},
                                 const std::string& folder = {}) {
  try {
    return onnx_reader(bytes, std::move(owner), folder).read();
  } catch (const protozero::exception& e) {
    throw argument_error(std::string("the file is damaged or no ONNX model: ") + e.what());
  }
}

/// The graph of a file, as it stands in it: types are known of inputs and constants alone.
/// @throws argument_error naming the file, and node or value
inline network::graph read_onnx(const std::string& path) {
  const auto file = std::make_shared<const support::mapped_file>(path);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  try {
    return parse_onnx({reinterpret_cast<const char*>(file->data()), file->size()}, file, folder);
  } catch (const argument_error& e) {
    throw argument_error(path + ": " + e.what());
  }
}

}  // namespace interop

/// A network from an ONNX file, ready to be called:
///
///     tw::model m = tw::load_onnx("bert.onnx", {.extents = {{"batch", 1}, {"seq", 128}}});
///
/// IR versions 3 to 14 and operator sets 7 to 28 are read.
/// @throws argument_error naming the file, and the node or value that makes no sense
inline model load_onnx(const std::string& path, model_options options = {}) {
  try {
    return model(interop::read_onnx(path), std::move(options));
  } catch (const argument_error& e) {
    const std::string text = e.what();
    throw argument_error(text.rfind(path, 0) == 0 ? text : path + ": " + text);
  }
}

}  // namespace tilewright
