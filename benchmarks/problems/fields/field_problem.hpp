// A kernel of one of six fields with its data, as a kernel for Tilewright and as a plain nest in C.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tilewright/tilewright.hpp>

namespace bench {

/// A parameter without its type; f32 and f64 are double where a nest is compiled with -DREFERENCE.
struct field_argument {
  std::string name, type;  // f32, f64, u8, i8, u64 or i32
  std::vector<std::int64_t> extents;
  double low = -1, high = 1;  // of what is drawn
  bool written = false;
};

/// One kernel. All engines take the addresses of `arguments` in this order.
struct field_problem {
  using addresses = void* const*;

  std::string name;  // FIELD/KERNEL
  std::vector<field_argument> arguments;
  std::string nest;  // a text for compiled_nest
  /// A call of the kernel as it is tuned.
  std::function<std::function<void()>(addresses, const tilewright::tuned_options&)> tuned;
  std::function<void(addresses)> eigen;  // empty: its users would not take Eigen
};

namespace fields {

/// A tensor of `Rank` dimensions, or a number.
template <class T, std::size_t Rank>
struct parameter {
  const char* name;
  std::int64_t extents[Rank == 0 ? 1 : Rank];
  double low, high;
  bool written;
};

struct range {
  double low = -1, high = 1;
};

template <class T, class... E>
parameter<T, sizeof...(E)> drawn(const char* name, range r, E... extents) {
  return {name, {extents...}, r.low, r.high, false};
}
template <class T, class... E>
parameter<T, sizeof...(E)> result(const char* name, E... extents) {
  return {name, {extents...}, 0, 0, true};
}

template <class T, std::size_t Rank>
field_argument described(const parameter<T, Rank>& p) {
  const char* type = std::is_same_v<T, float>           ? "f32"
                     : std::is_same_v<T, double>        ? "f64"
                     : std::is_same_v<T, std::uint8_t>  ? "u8"
                     : std::is_same_v<T, std::int8_t>   ? "i8"
                     : std::is_same_v<T, std::uint64_t> ? "u64"
                                                        : "i32";
  return {p.name, type, {p.extents, p.extents + Rank}, p.low, p.high, p.written};
}

template <class T, std::size_t Rank>
decltype(auto) passed(const parameter<T, Rank>& p, void* at) {
  if constexpr (Rank == 0)
    return *static_cast<T*>(at);
  else
    return tw::view(static_cast<T*>(at), p.extents);
}

/// The text of a nest: `body` finds a parameter X as an array of C (a number by its address), and the
/// extents of X as X_0, X_1 and so on.
std::string nest_text(const std::vector<field_argument>& arguments, const std::string& body);

template <class Kernel, class... Parameters>
field_problem make(std::string name, const Kernel& kernel, const std::string& body,
                   std::function<void(field_problem::addresses)> eigen, Parameters... p) {
  field_problem out{std::move(name), {described(p)...}, {}, {}, std::move(eigen)};
  out.nest = nest_text(out.arguments, body);
  out.tuned = [=](field_problem::addresses at, const tilewright::tuned_options& o) {
    const auto op = std::make_shared<decltype(tw::tuned(kernel, o))>(kernel, o);
    return std::function<void()>([=] {
      [&]<std::size_t... I>(std::index_sequence<I...>) { (*op)(passed(p, at[I])...); }
      (std::index_sequence_for<Parameters...>{});
    });
  };
  return out;
}

std::vector<field_problem> hpc();
std::vector<field_problem> signal();
std::vector<field_problem> scans();
std::vector<field_problem> robotics();
std::vector<field_problem> games();
std::vector<field_problem> finance();
std::vector<field_problem> inference();

}  // namespace fields
}  // namespace bench
