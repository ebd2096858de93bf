#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include <tilewright/model/graph.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::network {
namespace detail {

template <class T>
T element_at(const constant& c, std::int64_t k) {
  T out;
  std::memcpy(&out, c.data() + k * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return out;
}

template <class T>
const T& attribute_as(const node& n, std::string_view name, const attribute& a, const char* kind) {
  if (const T* there = std::get_if<T>(&a)) return *there;
  fail(n, "attribute " + std::string(name) + " is not " + kind);
}

}  // namespace detail

TILEWRIGHT_INLINE std::int64_t elements_of(const shape& s) {
  std::int64_t out = 1;
  for (const std::int64_t e : s) out *= e;
  return out;
}

TILEWRIGHT_INLINE std::string text_of(const shape& s) {
  std::string out = "(";
  for (std::size_t d = 0; d < s.size(); ++d) out += (d ? ", " : "") + std::to_string(s[d]);
  return out + ")";
}

TILEWRIGHT_INLINE std::string text_of(const tensor_type& t) {
  return std::string(name(t.type)) + " " + text_of(t.extents);
}

TILEWRIGHT_INLINE std::pair<constant, std::byte*> constant::make(tensor_type type) {
  constexpr std::align_val_t line{64};
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(type.bytes(), 1));
  auto* const bytes = static_cast<std::byte*>(::operator new(size, line, std::nothrow));
  if (!bytes)
    throw argument_error("a tensor " + text_of(type) + " takes " + std::to_string(size) +
                         " bytes, which is more memory than there is");
  const std::shared_ptr<std::byte> memory(bytes, [](std::byte* p) { ::operator delete(p, line); });
  return {constant(std::move(type), bytes, memory), bytes};
}

TILEWRIGHT_INLINE constant constant::of_integers(const std::vector<std::int64_t>& numbers) {
  auto [out, data] = make({dtype::i64, {static_cast<std::int64_t>(numbers.size())}});
  if (!numbers.empty()) std::memcpy(data, numbers.data(), numbers.size() * sizeof numbers[0]);
  return out;
}

TILEWRIGHT_INLINE double constant::number(std::int64_t k) const {
  switch (type_.type) {
    case dtype::f32: return static_cast<double>(detail::element_at<float>(*this, k));
    case dtype::f64: return detail::element_at<double>(*this, k);
    case dtype::f16: return static_cast<double>(detail::element_at<float16>(*this, k));
    case dtype::bf16: return static_cast<double>(detail::element_at<bfloat16>(*this, k));
    case dtype::u64: return static_cast<double>(detail::element_at<std::uint64_t>(*this, k));
    default: return static_cast<double>(integer(k));
  }
}

TILEWRIGHT_INLINE std::int64_t constant::integer(std::int64_t k) const {
  switch (type_.type) {
    case dtype::boolean: return detail::element_at<std::uint8_t>(*this, k) != 0;
    case dtype::i8: return detail::element_at<std::int8_t>(*this, k);
    case dtype::i16: return detail::element_at<std::int16_t>(*this, k);
    case dtype::i32: return detail::element_at<std::int32_t>(*this, k);
    case dtype::i64: return detail::element_at<std::int64_t>(*this, k);
    case dtype::u8: return detail::element_at<std::uint8_t>(*this, k);
    case dtype::u16: return detail::element_at<std::uint16_t>(*this, k);
    case dtype::u32: return detail::element_at<std::uint32_t>(*this, k);
    case dtype::u64: return static_cast<std::int64_t>(detail::element_at<std::uint64_t>(*this, k));
    default:
      throw argument_error("a constant is " + std::string(name(type_.type)) +
                           " where integers are needed");
  }
}

TILEWRIGHT_INLINE constant constant::reshaped(shape extents) const {
  return constant({type_.type, std::move(extents)}, data_, owner_);
}

TILEWRIGHT_INLINE std::string text_of(const node& n) {
  return "node " + (n.name.empty() ? "without a name" : n.name) + " (" + n.op + ")";
}

TILEWRIGHT_INLINE const graph* body_of(const node& n) {
  if (n.domain != "tilewright") return nullptr;
  const auto at = n.attributes.find("body");
  const auto* body =
      at == n.attributes.end() ? nullptr : std::get_if<std::shared_ptr<const graph>>(&at->second);
  return body ? body->get() : nullptr;
}

TILEWRIGHT_INLINE void fail(const node& n, const std::string& what) {
  throw argument_error(text_of(n) + ": " + what);
}

TILEWRIGHT_INLINE bool node::has(std::string_view attribute_name) const {
  return attributes.find(attribute_name) != attributes.end();
}

TILEWRIGHT_INLINE std::int64_t node::integer(std::string_view attribute_name,
                                             std::int64_t otherwise) const {
  const auto at = attributes.find(attribute_name);
  if (at == attributes.end()) return otherwise;
  return detail::attribute_as<std::int64_t>(*this, attribute_name, at->second, "an integer");
}

TILEWRIGHT_INLINE double node::real(std::string_view attribute_name, double otherwise) const {
  const auto at = attributes.find(attribute_name);
  if (at == attributes.end()) return otherwise;
  return detail::attribute_as<double>(*this, attribute_name, at->second, "a float");
}

TILEWRIGHT_INLINE std::string node::text(std::string_view attribute_name,
                                         std::string_view otherwise) const {
  const auto at = attributes.find(attribute_name);
  if (at == attributes.end()) return std::string(otherwise);
  return detail::attribute_as<std::string>(*this, attribute_name, at->second, "a string");
}

TILEWRIGHT_INLINE std::vector<std::int64_t> node::integers(
    std::string_view attribute_name, std::vector<std::int64_t> otherwise) const {
  const auto at = attributes.find(attribute_name);
  if (at == attributes.end()) return otherwise;
  return detail::attribute_as<std::vector<std::int64_t>>(*this, attribute_name, at->second,
                                                         "a list of integers");
}

TILEWRIGHT_INLINE std::vector<double> node::reals(std::string_view attribute_name) const {
  const auto at = attributes.find(attribute_name);
  if (at == attributes.end()) return {};
  return detail::attribute_as<std::vector<double>>(*this, attribute_name, at->second,
                                                   "a list of floats");
}

TILEWRIGHT_INLINE const tensor_type& graph::type_of(value_id v) const {
  const value& x = at(v);
  if (!x.type) throw internal_error("value " + x.name + " has no type yet");
  return *x.type;
}

TILEWRIGHT_INLINE void sort_nodes(graph& g) {
  std::vector<int> maker(g.values.size(), -1);  // node, or -1
  const auto names = [&](value_id v) { return "value \"" + g.at(v).name + "\""; };
  std::set<value_id> given(g.inputs.begin(), g.inputs.end());
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    for (const value_id v : g.nodes[k].outputs) {
      if (v == no_value) continue;
      if (maker.at(static_cast<std::size_t>(v)) >= 0 || given.count(v) || g.at(v).data)
        fail(g.nodes[k], names(v) + " is made twice; give one of the two another name");
      maker[static_cast<std::size_t>(v)] = static_cast<int>(k);
    }
  }
  const auto is_there = [&](value_id v) {
    return v == no_value || given.count(v) || g.at(v).data.has_value();
  };
  // nodes whose inputs are all made, smallest position first, so that an ordered graph stays as it is
  std::vector<int> waits(g.nodes.size(), 0);
  std::map<value_id, std::vector<int>> readers;
  std::set<int> ready;
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    std::set<value_id> needed;
    for (const value_id v : g.nodes[k].inputs) {
      if (is_there(v)) continue;
      if (maker.at(static_cast<std::size_t>(v)) < 0)
        fail(g.nodes[k], names(v) +
                             " is read, but no node makes it, and it is no input and no "
                             "initializer");
      needed.insert(v);
    }
    for (const value_id v : needed) readers[v].push_back(static_cast<int>(k));
    waits[k] = static_cast<int>(needed.size());
    if (needed.empty()) ready.insert(static_cast<int>(k));
  }
  std::vector<node> sorted;
  std::vector<bool> placed(g.nodes.size(), false);
  while (!ready.empty()) {
    const int k = *ready.begin();
    ready.erase(ready.begin());
    placed[static_cast<std::size_t>(k)] = true;
    for (const value_id v : g.nodes[static_cast<std::size_t>(k)].outputs)
      for (const int reader : readers[v])
        if (--waits[static_cast<std::size_t>(reader)] == 0) ready.insert(reader);
    sorted.push_back(g.nodes[static_cast<std::size_t>(k)]);
  }
  for (std::size_t k = 0; k < g.nodes.size(); ++k)
    if (!placed[k]) fail(g.nodes[k], "it is part of a cycle: its inputs depend on its outputs");
  for (const value_id v : g.outputs)
    if (!is_there(v) && maker.at(static_cast<std::size_t>(v)) < 0)
      throw argument_error("output \"" + g.at(v).name + "\" of graph " + g.name +
                           " is made by no node");
  g.nodes = std::move(sorted);
}

namespace detail {

template <class T, class Text>
std::string text_of_list(const std::vector<T>& list, const Text& text) {
  std::string out = "[";
  for (std::size_t k = 0; k < list.size(); ++k) out += (k ? ", " : "") + text(list[k]);
  return out + "]";
}

inline std::string text_of_real(double x) { return support::general_text(x, 6); }

struct attribute_text {
  std::string operator()(std::int64_t x) const { return std::to_string(x); }
  std::string operator()(double x) const { return text_of_real(x); }
  std::string operator()(const std::string& x) const { return "\"" + x + "\""; }
  std::string operator()(const std::vector<std::int64_t>& x) const {
    return text_of_list(x, [](std::int64_t e) { return std::to_string(e); });
  }
  std::string operator()(const std::vector<double>& x) const {
    return text_of_list(x, text_of_real);
  }
  std::string operator()(const std::vector<std::string>& x) const {
    return text_of_list(x, [](const std::string& e) { return "\"" + e + "\""; });
  }
  std::string operator()(const constant& x) const { return text_of(x.type()); }
  std::string operator()(const std::shared_ptr<const graph>& x) const {
    std::string out = "{\n", line;
    for (const char c : print(*x)) {
      if (line.empty()) line = "    ";
      line += c;
      if (c != '\n') continue;
      out += line;
      line.clear();
    }
    return out + "  }";
  }
};

inline std::string text_of_value(const graph& g, value_id v) {
  return v == no_value ? std::string("-") : "%" + g.at(v).name;
}

inline std::string typed_text(const graph& g, value_id v) {
  if (v == no_value) return "-";
  const value& x = g.at(v);
  return "%" + x.name + (x.type ? ": " + text_of(*x.type) : "");
}

}  // namespace detail

TILEWRIGHT_INLINE std::string print(const graph& g) {
  using namespace detail;
  std::string out = "graph " + g.name + "(";
  const auto list = [&](const std::vector<value_id>& all, const auto& text) {
    for (std::size_t k = 0; k < all.size(); ++k) out += (k ? ", " : "") + text(g, all[k]);
  };
  list(g.inputs, typed_text);
  out += ")\n";
  for (const node& n : g.nodes) {
    out += "  ";
    list(n.outputs, typed_text);
    out += " = " + (n.domain.empty() ? "" : n.domain + ".") + n.op + "(";
    list(n.inputs, text_of_value);
    out += ")";
    for (const auto& [name, a] : n.attributes)
      out += " " + name + "=" + std::visit(attribute_text{}, a);
    out += "\n";
  }
  out += "  return ";
  list(g.outputs, text_of_value);
  return out + "\n";
}

}  // namespace tilewright::network
