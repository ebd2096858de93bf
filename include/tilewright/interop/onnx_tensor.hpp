// Tensors of ONNX files: where their elements lie, inside the file or beside it.
//
// Nothing in a file is trusted: lengths, shapes, element counts and the place of external data are
// checked before they are used. Elements stay where they are, in the mapped file, where their
// alignment allows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>

#include <tilewright/model/element_number.hpp>
#include <tilewright/model/graph.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/mapped_file.hpp>

namespace tilewright::interop {

/// @cond
namespace onnx_wire {

inline std::string_view view_of(protozero::pbf_reader& r) {
  const protozero::data_view v = r.get_view();
  return {v.data(), v.size()};
}

/// A repeated field, packed or one by one.
template <class Packed, class One, class T>
void read_list(protozero::pbf_reader& r, Packed packed, One one, std::vector<T>& to) {
  if (r.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const auto x : packed()) to.push_back(static_cast<T>(x));
  } else {
    to.push_back(static_cast<T>(one()));
  }
}

inline dtype element_type(std::int32_t number, const std::string& what) {
  const std::optional<dtype> t = network::type_of_number(number);
  if (!t)
    throw argument_error(what + " has element type " + std::to_string(number) +
                         ", which is not supported");
  return *t;
}

}  // namespace onnx_wire

/// Reads the tensors of one model; numbers of fields as in onnx.proto3.
class onnx_tensor_reader {
 public:
  /// @param owner keeps the bytes of the model; null: elements are copied
  /// @param folder where external data lie; empty: there must be none
  onnx_tensor_reader(std::shared_ptr<const void> owner, std::string folder)
      : owner_(std::move(owner)), folder_(std::move(folder)) {}

  /// The elements of a TensorProto, and its name.
  network::constant read(std::string_view text, std::string& name) {
    protozero::pbf_reader r(text.data(), text.size());
    network::tensor_type t;
    std::int32_t number = 0;
    std::string_view raw;
    bool has_raw = false, is_external = false;
    typed_data typed;
    std::map<std::string, std::string> external;
    while (r.next()) switch (r.tag()) {
        case 1:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_int64(); }, [&] { return r.get_int64(); }, t.extents);
          break;
        case 2: number = r.get_int32(); break;
        case 4:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_float(); }, [&] { return r.get_float(); }, typed.f32);
          break;
        case 5:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_int32(); }, [&] { return r.get_int32(); },
              typed.integers);
          break;
        case 7:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_int64(); }, [&] { return r.get_int64(); },
              typed.integers);
          break;
        case 8: name = r.get_string(); break;
        case 9:
          raw = onnx_wire::view_of(r);
          has_raw = true;
          break;
        case 10:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_double(); }, [&] { return r.get_double(); }, typed.f64);
          break;
        case 11:
          onnx_wire::read_list(
              r, [&] { return r.get_packed_uint64(); }, [&] { return r.get_uint64(); },
              typed.integers);
          break;
        case 13: read_entry(r.get_message(), external); break;
        case 14: is_external = r.get_int32() == 1; break;
        default: r.skip();
      }
    const std::string what = "constant \"" + name + "\"";
    t.type = onnx_wire::element_type(number, what);
    std::int64_t count = 1;
    for (const std::int64_t e : t.extents)
      if (e < 0 || __builtin_mul_overflow(count, e, &count) || count > most_elements)
        fail(what + " has the shape " + network::text_of(t.extents));
    if (t.extents.size() > 8) fail(what + " has more than 8 dimensions");
    if (is_external) return read_external(t, external, what);
    if (has_raw) return of_bytes(t, raw, owner_, what);
    return of_typed(t, typed, what);
  }

 private:
  static constexpr std::int64_t most_elements = std::int64_t{1} << 42;

  [[noreturn]] static void fail(const std::string& what) { throw argument_error(what); }

  /// What a tensor holds besides its raw bytes.
  struct typed_data {
    std::vector<float> f32;
    std::vector<double> f64;
    std::vector<std::int64_t> integers;  // int32_data, int64_data or uint64_data
  };

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

  /// A path without links; empty when there is nothing.
  static std::string real_path(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> found(::realpath(path.c_str(), nullptr),
                                                       std::free);
    return found ? std::string(found.get()) : std::string();
  }

  /// A file beside the model: never one above its folder, nor one that a link leads out of it to.
  std::shared_ptr<const support::mapped_file> external_file(const std::string& location,
                                                            const std::string& what) {
    auto& known = external_[location];
    if (known) return known;
    bool inside = !folder_.empty() && !location.empty() && location[0] != '/' &&
                  location.find('\0') == std::string::npos;
    for (std::size_t at = 0; inside && at <= location.size();) {
      const std::size_t end = std::min(location.find('/', at), location.size());
      inside = location.compare(at, end - at, "..") != 0;
      at = end + 1;
    }
    const std::string folder = real_path(folder_), named = folder_ + "/" + location;
    const std::string full = inside ? real_path(named) : std::string();
    const std::string within = folder == "/" ? folder : folder + "/";
    if (!inside || (!full.empty() && full.rfind(within, 0) != 0))
      fail(what + " lies in \"" + location +
           "\", which is not in the folder of the model; external data lie beside the file");
    // what is not there is named by the error of the mapping
    known = std::make_shared<const support::mapped_file>(full.empty() ? named : full);
    return known;
  }

  std::shared_ptr<const void> owner_;
  std::string folder_;
  std::map<std::string, std::shared_ptr<const support::mapped_file>> external_;
};
/// @endcond

}  // namespace tilewright::interop
