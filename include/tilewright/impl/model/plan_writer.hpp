// The plans of a saved network as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tilewright/impl/model/model_file.hpp>

namespace tilewright::network::detail::model_file {

class plan_writer {
 public:
  void word(std::int64_t x) {
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(x) >> (8 * i)) & 0xff));
  }
  void size(std::size_t n) { word(static_cast<std::int64_t>(n)); }
  void text(const std::string& t) {
    size(t.size());
    for (const char c : t) bytes.push_back(static_cast<std::byte>(c));
  }
  template <class T, class F>
  void list(const std::vector<T>& all, F each) {
    size(all.size());
    for (const T& x : all) each(x);
  }
  void type(const tensor_type& t) {
    word(static_cast<std::int64_t>(t.type));
    list(t.extents, [&](std::int64_t e) { word(e); });
  }
  void argument(const saved_argument& a) {
    word(a.where);
    word(a.number);
    word(a.at);
    word(a.bytes);
  }
  void kernel(const saved_kernel& k) {
    text(k.name);
    size(k.code.size());
    bytes.insert(bytes.end(), k.code.begin(), k.code.end());
    word(k.threads);
    list(k.arguments, [&](const saved_argument& a) { argument(a); });
    list(k.strides, [&](std::int64_t s) { word(s); });
    list(k.checks, [&](const launch::index_check& c) {
      size(c.param);
      type(c.type);
      list(c.bound.extents, [&](std::int64_t e) { word(e); });
    });
  }
  void plan(const saved_plan& p) {
    text(p.isa);
    text(p.name);
    for (const auto* ports : {&p.inputs, &p.outputs})
      list(*ports, [&](const network_port& x) {
        text(x.name);
        type(x.type);
      });
    word(p.arena_bytes);
    list(p.kernels, [&](const saved_kernel& k) { kernel(k); });
    list(p.copies, [&](const saved_copy& c) {
      argument(c.from);
      word(c.output);
    });
  }

  void plans(const std::vector<saved_plan>& all) {
    list(all, [&](const saved_plan& p) { plan(p); });
  }

  std::vector<std::byte> bytes;
};

}  // namespace tilewright::network::detail::model_file
