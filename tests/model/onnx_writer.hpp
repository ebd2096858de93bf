// Graphs as ONNX files, and arrays as NumPy's, so that other programs can run what tests draw.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>
#include <variant>

#include <protozero/pbf_writer.hpp>

#include <tilewright/model/element_number.hpp>
#include <tilewright/model/graph.hpp>

namespace network_tests {

namespace network = tilewright::network;

inline std::int64_t onnx_type(tilewright::dtype t) {
  for (std::int64_t k = 0; k < 32; ++k)
    if (network::type_of_number(k) == t) return k;
  return 0;
}

inline std::string onnx_tensor(const network::constant& c, const std::string& name) {
  std::string out;
  protozero::pbf_writer w(out);
  for (const std::int64_t e : c.type().extents) w.add_int64(1, e);
  w.add_int32(2, static_cast<std::int32_t>(onnx_type(c.type().type)));
  if (!name.empty()) w.add_string(8, name);
  w.add_bytes(9, reinterpret_cast<const char*>(c.data()),
              static_cast<std::size_t>(c.type().bytes()));
  return out;
}

inline std::string onnx_value(const network::value& v) {
  std::string out, tensor, extents, holder;
  protozero::pbf_writer s(extents);
  for (const std::int64_t e : v.type->extents) {
    std::string dim;
    protozero::pbf_writer(dim).add_int64(1, e);
    s.add_message(1, dim);
  }
  protozero::pbf_writer t(tensor);
  t.add_int32(1, static_cast<std::int32_t>(onnx_type(v.type->type)));
  t.add_message(2, extents);
  protozero::pbf_writer(holder).add_message(1, tensor);
  protozero::pbf_writer w(out);
  w.add_string(1, v.name);
  w.add_message(2, holder);
  return out;
}

/// Numbers, texts and lists of integers; drawn graphs have no others.
inline std::string onnx_attribute(const std::string& name, const network::attribute& a) {
  std::string out;
  protozero::pbf_writer w(out);
  w.add_string(1, name);
  if (const auto* i = std::get_if<std::int64_t>(&a)) {
    w.add_int64(3, *i);
    w.add_enum(20, 2);
  } else if (const auto* f = std::get_if<double>(&a)) {
    w.add_float(2, static_cast<float>(*f));
    w.add_enum(20, 1);
  } else if (const auto* s = std::get_if<std::string>(&a)) {
    w.add_bytes(4, *s);
    w.add_enum(20, 3);
  } else {
    for (const std::int64_t x : std::get<std::vector<std::int64_t>>(a)) w.add_int64(8, x);
    w.add_enum(20, 7);
  }
  return out;
}

/// @param g before inference and passes
inline std::string onnx_text(const network::graph& g, int opset) {
  const auto name = [&](network::value_id v) {
    return v == network::no_value ? std::string() : g.at(v).name;
  };
  std::string graph;
  protozero::pbf_writer w(graph);
  for (const network::node& n : g.nodes) {
    std::string node;
    protozero::pbf_writer out(node);
    for (const network::value_id v : n.inputs) out.add_string(1, name(v));
    for (const network::value_id v : n.outputs) out.add_string(2, name(v));
    out.add_string(3, n.name);
    out.add_string(4, n.op);
    for (const auto& [key, a] : n.attributes) out.add_message(5, onnx_attribute(key, a));
    w.add_message(1, node);
  }
  w.add_string(2, g.name);
  for (const network::value& v : g.values)
    if (v.data) w.add_message(5, onnx_tensor(*v.data, v.name));
  for (const network::value_id v : g.inputs) w.add_message(11, onnx_value(g.at(v)));
  for (const network::value_id v : g.outputs) w.add_message(12, onnx_value(g.at(v)));
  std::string set, model;
  protozero::pbf_writer(set).add_int64(2, opset);
  protozero::pbf_writer m(model);
  m.add_int64(1, 10);
  m.add_message(7, graph);
  m.add_message(8, set);
  return model;
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// In NumPy's format, version 1.
inline std::string npy_text(const network::constant& c) {
  const tilewright::dtype t = c.type().type;
  const char kind = t == tilewright::dtype::boolean ? 'b'
                    : tilewright::is_float(t)       ? 'f'
                    : tilewright::is_unsigned(t)    ? 'u'
                                                    : 'i';
  std::string head = "{'descr': '" + std::string(kind == 'b' ? "|" : "<") + kind +
                     std::to_string(tilewright::bytes(t)) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t e : c.type().extents) head += std::to_string(e) + ",";
  head += ")}";
  while ((head.size() + 11) % 64 != 0) head += ' ';
  head += '\n';
  std::string out = "\x93NUMPY\x01";
  out += '\0';
  out += static_cast<char>(head.size() & 0xff);
  out += static_cast<char>(head.size() >> 8);
  return out + head +
         std::string(reinterpret_cast<const char*>(c.data()),
                     static_cast<std::size_t>(c.type().bytes()));
}

}  // namespace network_tests
