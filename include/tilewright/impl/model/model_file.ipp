#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/model/element_number.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/refusal.hpp>

namespace tilewright::network {

/// Eight lanes, so that no step waits for the one before; each lane is a bijection of its state for a
/// given word, and of the word for a given state.
TILEWRIGHT_INLINE support::hash128 digest_of(const std::byte* bytes, std::size_t size) {
  constexpr std::size_t lanes = 8, step = 8 * lanes;
  std::array<std::uint64_t, lanes> state{};
  for (std::size_t l = 0; l < lanes; ++l) state[l] = 0x9e3779b97f4a7c15u * (l + 1);
  const auto add = [&](const std::byte* at) {
    for (std::size_t l = 0; l < lanes; ++l) {
      std::uint64_t word;
      std::memcpy(&word, at + 8 * l, 8);  // little-endian
      const std::uint64_t x = (state[l] ^ word) * 0x9fb21c651e98df25u;
      state[l] = x ^ (x >> 29);
    }
  };
  std::size_t at = 0;
  for (; size - at >= step; at += step) add(bytes + at);
  std::array<std::byte, step> rest{};
  if (size > at) std::memcpy(rest.data(), bytes + at, size - at);
  add(rest.data());
  support::hasher h;
  h.add(static_cast<std::uint64_t>(size));
  for (const std::uint64_t s : state) h.add(s);
  return h.finish();
}

namespace detail::model_file {

inline constexpr support::refusal<argument_error> refuse{""};

class plan_reader {
 public:
  plan_reader(const std::byte* at, std::size_t size) : at_(at), rest_(size) {}

  std::int64_t word() {
    need(8);
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i) out |= static_cast<std::uint64_t>(at_[i]) << (8 * i);
    take(8);
    return static_cast<std::int64_t>(out);
  }
  /// A number in [0, most].
  std::int64_t number(std::int64_t most) {
    const std::int64_t x = word();
    if (x < 0 || x > most) refuse("the plan of the file holds the number " + std::to_string(x));
    return x;
  }
  std::size_t size() { return static_cast<std::size_t>(number(static_cast<std::int64_t>(rest_))); }
  std::string text() {
    const std::size_t n = size();
    need(n);
    std::string out(reinterpret_cast<const char*>(at_), n);
    take(n);
    return out;
  }
  std::vector<std::byte> blob() {
    const std::size_t n = size();
    need(n);
    std::vector<std::byte> out(at_, at_ + n);
    take(n);
    return out;
  }
  /// Every element takes 8 bytes at least, so a length beyond the rest is none.
  template <class F>
  void list(F each) {
    const std::size_t n = size();
    for (std::size_t k = 0; k < n; ++k) each();
  }
  tensor_type type() {
    tensor_type t;
    const std::int64_t kind = number(255);
    bool is_there = false;
    for (std::int64_t k = 0; k < 32; ++k) {
      const std::optional<dtype> known = type_of_number(k);
      is_there = is_there || (known && static_cast<std::int64_t>(*known) == kind);
    }
    if (!is_there) refuse("the plan of the file holds an element type that does not exist");
    t.type = static_cast<dtype>(kind);
    list([&] { t.extents.push_back(number(std::int64_t{1} << 46)); });
    std::int64_t all = bytes(t.type);
    for (const std::int64_t e : t.extents)
      if (__builtin_mul_overflow(all, std::max<std::int64_t>(e, 1), &all) || all > std::int64_t{1}
                                                                                       << 46)
        refuse("the plan of the file holds the shape " + text_of(t.extents));
    return t;
  }
  saved_argument argument() {
    saved_argument a;
    a.where = static_cast<saved_argument::kind>(number(saved_argument::constant));
    a.number = number(std::int64_t{1} << 46);
    a.at = number(std::int64_t{1} << 46);
    a.bytes = number(std::int64_t{1} << 46);
    return a;
  }
  saved_kernel kernel() {
    saved_kernel k;
    k.name = text();
    k.code = blob();
    k.threads = static_cast<int>(number(1 << 16));
    list([&] { k.arguments.push_back(argument()); });
    list([&] { k.strides.push_back(word()); });
    list([&] {
      launch::index_check c;
      c.param = static_cast<std::size_t>(number(static_cast<std::int64_t>(k.arguments.size()) - 1));
      c.type = type();
      if (!is_integer(c.type.type)) refuse("the plan of the file checks indices that are none");
      list([&] { c.bound.extents.push_back(number(std::int64_t{1} << 46)); });
      if (c.bound.extents.empty() || c.type.bytes() > k.arguments[c.param].bytes)
        refuse("the plan of the file checks indices that are none");
      k.checks.push_back(std::move(c));
    });
    return k;
  }
  saved_plan plan() {
    saved_plan p;
    p.isa = text();
    p.name = text();
    for (auto* ports : {&p.inputs, &p.outputs})
      list([&] {
        network_port x;
        x.name = text();
        x.type = type();
        ports->push_back(std::move(x));
      });
    p.arena_bytes = number(std::int64_t{1} << 46);
    list([&] { p.kernels.push_back(kernel()); });
    list([&] {
      saved_copy c;
      c.from = argument();
      c.output = word();
      p.copies.push_back(c);
    });
    return p;
  }
  std::vector<saved_plan> plans() {
    std::vector<saved_plan> out;
    list([&] { out.push_back(plan()); });
    if (out.empty()) refuse("the file has no plan");
    if (rest_ != 0) refuse("the plan of the file has bytes behind its end");
    return out;
  }

 private:
  void need(std::size_t n) const {
    if (n > rest_) refuse("the plan of the file is cut short");
  }
  void take(std::size_t n) {
    at_ += n;
    rest_ -= n;
  }
  const std::byte* at_;
  std::size_t rest_;
};

/// Whatever a plan names has to be there.
inline void check_places(const saved_plan& p, std::size_t file_size) {
  const auto port = [](const std::vector<network_port>& all, std::int64_t k) {
    return k < static_cast<std::int64_t>(all.size()) ? all[static_cast<std::size_t>(k)].type.bytes()
                                                     : -1;
  };
  const auto check = [&](const saved_argument& a) {
    const std::int64_t size = a.where == saved_argument::input    ? port(p.inputs, a.number)
                              : a.where == saved_argument::output ? port(p.outputs, a.number)
                              : a.where == saved_argument::arena
                                  ? p.arena_bytes
                                  : static_cast<std::int64_t>(file_size);
    if (size < a.at || a.bytes > size - a.at)
      refuse("the plan of the file names memory that is not there");
  };
  for (const saved_kernel& k : p.kernels)
    for (const saved_argument& a : k.arguments) check(a);
  for (const saved_copy& c : p.copies) {
    check(c.from);
    const std::int64_t size = c.output < 0 ? -1 : port(p.outputs, c.output);
    if (size < 0 || c.from.bytes != size)
      refuse("the plan of the file names memory that is not there");
  }
}

}  // namespace detail::model_file

TILEWRIGHT_INLINE std::vector<saved_plan> read_model_file(const std::byte* bytes,
                                                          std::size_t size) {
  namespace d = detail::model_file;
  const std::string_view start(reinterpret_cast<const char*>(bytes), size);
  if (start.substr(0, 7) != model_file_magic.substr(0, 7)) d::refuse("this is no saved model");
  if (size < model_file_header || start.substr(0, 8) != model_file_magic)
    d::refuse("it was saved by another version of this library; save the model again");
  d::plan_reader header(bytes + 8, model_file_header - 8);
  const auto whole = static_cast<std::uint64_t>(header.word());
  const auto plan_size = static_cast<std::uint64_t>(header.word());
  support::hash128 digest;
  digest.hi = static_cast<std::uint64_t>(header.word());
  digest.lo = static_cast<std::uint64_t>(header.word());
  if (whole != size || plan_size > size - model_file_header)
    d::refuse("the file has " + std::to_string(size) + " bytes, and was saved with " +
              std::to_string(whole));
  if (digest_of(bytes + model_file_header, size - model_file_header) != digest)
    d::refuse("the file was altered since it was saved: its digest does not match");
  std::vector<saved_plan> out = d::plan_reader(bytes + model_file_header, plan_size).plans();
  for (const saved_plan& p : out) d::check_places(p, size);
  return out;
}

}  // namespace tilewright::network
