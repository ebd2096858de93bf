// ONNX: a network from a file.
//
//     tw::model m = tw::load_onnx("resnet50.onnx");
//     m(x, y);
//
// The wire format is read with protozero (Debian: libprotozero-dev), which this header alone needs.
// Nothing in a file is trusted: lengths, shapes, element counts and the place of external data are
// checked before they are used. Constants stay where they are, in the mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include <tilewright/model/element_number.hpp>
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
  /// @param folder where external data lie; empty: there must be none
  onnx_reader(std::string_view bytes, std::shared_ptr<const void> owner, std::string folder)
      : bytes_(bytes), owner_(std::move(owner)), folder_(std::move(folder)) {}

  network::graph read() {
    protozero::pbf_reader model(bytes_.data(), bytes_.size());
    std::vector<std::string_view> graphs;
    std::int64_t ir = 0;
    std::string_view function;
    while (model.next()) switch (model.tag()) {
        case 1: ir = model.get_int64(); break;
        case 7: graphs.push_back(view_of(model)); break;
        case 8: read_opset(model.get_message()); break;
        case 25: function = view_of(model); break;
        default: model.skip();
      }
    if (graphs.size() != 1) fail("it holds no graph; is it an ONNX model?");
    if (ir < onnx_ir_first || ir > onnx_ir_last)
      fail("its IR version is " + std::to_string(ir) + "; " + std::to_string(onnx_ir_first) +
           " to " + std::to_string(onnx_ir_last) + " are read");
    if (!function.empty())
      fail(
          "it has functions of its own; export it with inlined functions "
          "(onnx.inliner.inline_local_functions)");
    const auto opset = versions_.find("");
    if (opset != versions_.end() &&
        (opset->second < onnx_opset_first || opset->second > onnx_opset_last))
      fail("its operator set is " + std::to_string(opset->second) + "; " +
           std::to_string(onnx_opset_first) + " to " + std::to_string(onnx_opset_last) +
           " are read (onnx.version_converter converts)");
    network::graph g = read_graph(graphs[0]);
    network::sort_nodes(g);
    return g;
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 42;

  [[noreturn]] static void fail(const std::string& what) { throw argument_error(what); }

  static std::string_view view_of(protozero::pbf_reader& r) {
    const protozero::data_view v = r.get_view();
    return {v.data(), v.size()};
  }

  void read_opset(protozero::pbf_reader r) {
    std::string domain;
    std::int64_t version = 0;
    while (r.next()) switch (r.tag()) {
        case 1: domain = r.get_string(); break;
        case 2: version = r.get_int64(); break;
        default: r.skip();
      }
    if (domain == "ai.onnx") domain.clear();
    if (version < 0 || version > (1 << 20)) fail("version of operator set \"" + domain + "\"");
    versions_[domain] = static_cast<int>(version);
  }

  network::value_id value_of(network::graph& g, const std::string& name) {
    if (name.empty()) return network::no_value;
    const auto [at, is_new] = names_.emplace(name, network::no_value);
    if (is_new) {
      network::value v;
      v.name = name;
      at->second = g.add(std::move(v));
    }
    return at->second;
  }

  network::graph read_graph(std::string_view text) {
    network::graph g;
    protozero::pbf_reader r(text.data(), text.size());
    std::vector<std::string_view> nodes, inputs, outputs, constants;
    while (r.next()) switch (r.tag()) {
        case 1: nodes.push_back(view_of(r)); break;
        case 2: g.name = r.get_string(); break;
        case 5: constants.push_back(view_of(r)); break;
        case 11: inputs.push_back(view_of(r)); break;
        case 12: outputs.push_back(view_of(r)); break;
        case 15: fail("graph " + g.name + " has sparse constants; export it with dense ones");
        default: r.skip();
      }
    for (const std::string_view c : constants) {
      std::string name;
      network::constant data = read_tensor(c, name);
      network::value& v = g.at(value_of(g, need_name(name, "a constant")));
      if (v.data) fail("constant \"" + name + "\" is there twice");
      v.type = data.type();
      v.data = std::move(data);
    }
    // constants may be listed among the inputs, as they were before IR version 4
    for (const std::string_view i : inputs) read_input(g, i);
    for (const std::string_view n : nodes) g.nodes.push_back(read_node(g, n));
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
    return g;
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
        case 2: type = view_of(r); break;
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
          case 1: t.type = element_type(tensor.get_int32(), "input \"" + v.name + "\""); break;
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

  network::node read_node(network::graph& g, std::string_view text) {
    protozero::pbf_reader r(text.data(), text.size());
    network::node n;
    std::vector<std::string_view> attributes;
    while (r.next()) switch (r.tag()) {
        case 1: n.inputs.push_back(value_of(g, r.get_string())); break;
        case 2: n.outputs.push_back(value_of(g, r.get_string())); break;
        case 3: n.name = r.get_string(); break;
        case 4: n.op = r.get_string(); break;
        case 5: attributes.push_back(view_of(r)); break;
        case 7: n.domain = r.get_string(); break;
        default: r.skip();
      }
    if (n.domain == "ai.onnx") n.domain.clear();
    if (n.outputs.empty()) network::fail(n, "it has no outputs");
    if (n.name.empty() && n.outputs[0] != network::no_value) n.name = g.at(n.outputs[0]).name;
    const auto version = versions_.find(n.domain);
    n.version = version == versions_.end() ? onnx_opset_first : version->second;
    for (const std::string_view a : attributes) read_attribute(n, a);
    return n;
  }

  void read_attribute(network::node& n, std::string_view text) {
    protozero::pbf_reader r(text.data(), text.size());
    std::string name, string, none;
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
        case 5: tensor = view_of(r); break;
        case 6: graph = view_of(r); break;
        case 7:
          read_list(
              r, [&] { return r.get_packed_float(); }, [&] { return r.get_float(); }, reals);
          break;
        case 8:
          read_list(
              r, [&] { return r.get_packed_int64(); }, [&] { return r.get_int64(); }, integers);
          break;
        case 9: strings.push_back(r.get_string()); break;
        case 20: kind = r.get_int32(); break;
        default: r.skip();
      }
    need_name(name, "an attribute");
    if (name == "channels_last") return;  // a mark of the passes, which no file may set
    network::attribute& to = n.attributes[name];
    switch (kind) {
      case 1: to = real; break;
      case 2: to = integer; break;
      case 3: to = string; break;
      case 4: to = read_tensor(tensor, none); break;
      case 6: to = reals; break;
      case 7: to = integers; break;
      case 8: to = strings; break;
      default:
        network::fail(n, "attribute " + name + " is of a kind that is not supported (" +
                             std::to_string(kind) + ")");
    }
  }

  /// A repeated field, packed or one by one.
  template <class Packed, class One, class T>
  static void read_list(protozero::pbf_reader& r, Packed packed, One one, std::vector<T>& to) {
    if (r.wire_type() == protozero::pbf_wire_type::length_delimited) {
      for (const auto x : packed()) to.push_back(static_cast<T>(x));
    } else {
      to.push_back(static_cast<T>(one()));
    }
  }

  static dtype element_type(std::int32_t number, const std::string& what) {
    const std::optional<dtype> t = network::type_of_number(number);
    if (!t) fail(what + " has element type " + std::to_string(number) + ", which is not supported");
    return *t;
  }

  /// What a tensor holds besides its raw bytes.
  struct typed_data {
    std::vector<float> f32;
    std::vector<double> f64;
    std::vector<std::int64_t> integers;  // int32_data, int64_data or uint64_data
  };

  network::constant read_tensor(std::string_view text, std::string& name) {
    protozero::pbf_reader r(text.data(), text.size());
    network::tensor_type t;
    std::int32_t number = 0;
    std::string_view raw;
    bool has_raw = false, is_external = false;
    typed_data typed;
    std::map<std::string, std::string> external;
    while (r.next()) switch (r.tag()) {
        case 1:
          read_list(
              r, [&] { return r.get_packed_int64(); }, [&] { return r.get_int64(); }, t.extents);
          break;
        case 2: number = r.get_int32(); break;
        case 4:
          read_list(
              r, [&] { return r.get_packed_float(); }, [&] { return r.get_float(); }, typed.f32);
          break;
        case 5:
          read_list(
              r, [&] { return r.get_packed_int32(); }, [&] { return r.get_int32(); },
              typed.integers);
          break;
        case 7:
          read_list(
              r, [&] { return r.get_packed_int64(); }, [&] { return r.get_int64(); },
              typed.integers);
          break;
        case 8: name = r.get_string(); break;
        case 9:
          raw = view_of(r);
          has_raw = true;
          break;
        case 10:
          read_list(
              r, [&] { return r.get_packed_double(); }, [&] { return r.get_double(); }, typed.f64);
          break;
        case 11:
          read_list(
              r, [&] { return r.get_packed_uint64(); }, [&] { return r.get_uint64(); },
              typed.integers);
          break;
        case 13: read_entry(r.get_message(), external); break;
        case 14: is_external = r.get_int32() == 1; break;
        default: r.skip();
      }
    const std::string what = "constant \"" + name + "\"";
    t.type = element_type(number, what);
    std::int64_t count = 1;
    for (const std::int64_t e : t.extents)
      if (e < 0 || __builtin_mul_overflow(count, e, &count) || count > most_elements)
        fail(what + " has the shape " + network::text_of(t.extents));
    if (t.extents.size() > 8) fail(what + " has more than 8 dimensions");
    if (is_external) return read_external(t, external, what);
    if (has_raw) return of_bytes(t, raw, owner_, what);
    return of_typed(t, typed, what);
  }

  static void read_entry(protozero::pbf_reader r, std::map<std::string, std::string>& to) {
    std::string key, text;
    while (r.next()) switch (r.tag()) {
        case 1: key = r.get_string(); break;
        case 2: text = r.get_string(); break;
        default: r.skip();
      }
    to[key] = text;
  }

  /// The bytes where they lie, or a copy where they are not aligned.
  static network::constant of_bytes(const network::tensor_type& t, std::string_view raw,
                                    const std::shared_ptr<const void>& owner,
                                    const std::string& what) {
    if (static_cast<std::int64_t>(raw.size()) != t.bytes())
      fail(what + " is " + network::text_of(t) + ", which takes " + std::to_string(t.bytes()) +
           " bytes, and has " + std::to_string(raw.size()));
    const auto align = static_cast<std::uintptr_t>(bytes(t.type));
    if (owner && reinterpret_cast<std::uintptr_t>(raw.data()) % align == 0)
      return network::constant(t, raw.data(), owner);
    auto [out, data] = network::constant::make(t);
    if (!raw.empty()) std::memcpy(data, raw.data(), raw.size());
    return out;
  }

  static network::constant of_typed(const network::tensor_type& t, const typed_data& from,
                                    const std::string& what) {
    const auto [out, memory] = network::constant::make(t);
    std::byte* const data = memory;  // a lambda cannot capture the binding
    const auto copy = [&](const auto& list) {
      if (static_cast<std::int64_t>(list.size()) != t.elements())
        fail(what + " is " + network::text_of(t) + ", and has " + std::to_string(list.size()) +
             " elements");
      const auto size = static_cast<std::size_t>(bytes(t.type));
      for (std::size_t k = 0; k < list.size(); ++k)
        std::memcpy(data + k * size, &list[k], size);  // little-endian
    };
    if (t.type == dtype::f32)
      copy(from.f32);
    else if (t.type == dtype::f64)
      copy(from.f64);
    else
      copy(from.integers);  // halves as their bits
    return out;
  }

  network::constant read_external(const network::tensor_type& t,
                                  const std::map<std::string, std::string>& about,
                                  const std::string& what) {
    const auto text = [&](const char* key) {
      const auto at = about.find(key);
      return at == about.end() ? std::string() : at->second;
    };
    const auto number = [&](const char* key, std::uint64_t otherwise) {
      const std::string digits = text(key);
      if (digits.empty()) return otherwise;
      std::uint64_t out = 0;
      for (const char c : digits)
        if (c < '0' || c > '9' || __builtin_mul_overflow(out, std::uint64_t{10}, &out) ||
            __builtin_add_overflow(out, static_cast<std::uint64_t>(c - '0'), &out))
          fail(what + ": " + key + " of its external data is \"" + digits + "\"");
      return out;
    };
    const std::string location = text("location");
    const std::shared_ptr<const support::mapped_file> file = external_file(location, what);
    const std::uint64_t offset = number("offset", 0);
    const auto size = static_cast<std::uint64_t>(t.bytes());
    const std::uint64_t length = number("length", size);
    if (length != size || offset > file->size() || size > file->size() - offset)
      fail(what + " is " + network::text_of(t) + ": " + std::to_string(size) + " bytes at " +
           std::to_string(offset) + " are not in \"" + location + "\" (" +
           std::to_string(file->size()) + " bytes, the model says " + std::to_string(length) + ")");
    return of_bytes(t, {reinterpret_cast<const char*>(file->data()) + offset, size}, file, what);
  }

  /// A file beside the model: never one above its folder, nor one that a link leads out of it to.
  std::shared_ptr<const support::mapped_file> external_file(const std::string& location,
                                                            const std::string& what) {
    namespace fs = std::filesystem;
    auto& known = external_[location];
    if (known) return known;
    const fs::path path(location);
    bool inside = !folder_.empty() && !location.empty() && path.is_relative() &&
                  location.find('\0') == std::string::npos;
    for (const fs::path& part : path) inside = inside && part != "..";
    std::error_code ignored;
    const fs::path folder = fs::weakly_canonical(folder_, ignored);
    const fs::path full = inside ? fs::weakly_canonical(folder / path, ignored) : fs::path();
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), full.begin(), full.end());
    if (!inside || end != folder.end())
      fail(what + " lies in \"" + location +
           "\", which is not in the folder of the model; external data lie beside the file");
    known = std::make_shared<const support::mapped_file>(full.string());
    return known;
  }

  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
  std::string folder_;
  std::map<std::string, int> versions_;  // of operator sets, by domain
  std::map<std::string, network::value_id> names_;
  std::map<std::string, std::shared_ptr<const support::mapped_file>> external_;
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
  std::string folder = std::filesystem::path(path).parent_path().string();
  try {
    return parse_onnx({reinterpret_cast<const char*>(file->data()), file->size()}, file,
                      folder.empty() ? "." : folder);
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
