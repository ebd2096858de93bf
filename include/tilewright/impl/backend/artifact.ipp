#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/hash.hpp>

namespace tilewright::backend {

TILEWRIGHT_INLINE bool operator==(const launch& a, const launch& b) {
  return a.symbol == b.symbol && a.grid == b.grid && a.block == b.block && a.cluster == b.cluster &&
         a.shared_bytes == b.shared_bytes && a.arguments == b.arguments &&
         a.registers == b.registers && a.spilled_bytes == b.spilled_bytes &&
         a.tensor_maps == b.tensor_maps;
}

TILEWRIGHT_INLINE bool operator==(const artifact& a, const artifact& b) {
  return a.object == b.object && a.symbol == b.symbol && a.workspace_bytes == b.workspace_bytes &&
         a.isa == b.isa && a.packed_bytes == b.packed_bytes && a.preparation == b.preparation &&
         a.launches == b.launches;
}
namespace detail::artifact_format {

// File = magic[8], words of 8 bytes little-endian: format, workspace, sizes of symbol, isa, object,
// checksum hi and lo over everything after; then the three byte ranges. Format 2 has two files of
// format 1 after its magic: word 1 is the size of the first one, words 2 and following are the
// number of packed buffers and their bytes, the checksum of all, then main and preparation. Format 3
// is a file of format 1 or 2 with launches: after the magic, word 1 is the size of the launches, words
// 2 and 3 the checksum of all that follows; then the launches, then that file. Format 4 is format 3 where
// launches have tensor maps, which follow the arguments of each launch.
inline constexpr std::string_view magic = "TWKERNEL";
inline constexpr std::uint64_t format = 1, pair_format = 2, launch_format = 3, map_format = 4;
inline constexpr std::size_t header_words = 7;
inline constexpr std::size_t header_bytes = 8 + header_words * 8;

inline void put_word(std::vector<std::byte>& out, std::uint64_t word) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>((word >> (8 * i)) & 0xff));
}

inline std::uint64_t get_word(const std::byte* at) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= static_cast<std::uint64_t>(at[i]) << (8 * i);
  return word;
}

inline std::string_view as_text(const std::byte* at, std::size_t size) {
  return {reinterpret_cast<const char*>(at), size};
}

inline support::hash128 checksum(std::uint64_t workspace, std::string_view symbol,
                                 std::string_view isa, std::string_view object) {
  support::hasher h;
  h.add(workspace);
  h.add(symbol);
  h.add(isa);
  h.add(object);
  return h.finish();
}

}  // namespace detail::artifact_format

namespace detail::artifact_format {

inline std::vector<std::byte> write_one(const artifact& a) {
  std::vector<std::byte> out;
  out.reserve(header_bytes + a.symbol.size() + a.isa.size() + a.object.size());
  for (char c : magic) out.push_back(static_cast<std::byte>(c));
  const auto workspace = static_cast<std::uint64_t>(a.workspace_bytes);
  const support::hash128 sum =
      checksum(workspace, a.symbol, a.isa, as_text(a.object.data(), a.object.size()));
  for (std::uint64_t word :
       {format, workspace, std::uint64_t{a.symbol.size()}, std::uint64_t{a.isa.size()},
        std::uint64_t{a.object.size()}, sum.hi, sum.lo})
    put_word(out, word);
  for (const std::string* text : {&a.symbol, &a.isa})
    for (char c : *text) out.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), a.object.begin(), a.object.end());
  return out;
}

inline artifact read_one(const std::byte* bytes, std::size_t size) {
  if (size < header_bytes) throw build_error("stored kernel is too short to be one");
  std::array<std::uint64_t, header_words> word;
  for (std::size_t i = 0; i < word.size(); ++i) word[i] = get_word(bytes + 8 + 8 * i);
  if (as_text(bytes, magic.size()) != magic || word[0] != format)
    throw build_error("stored kernel has another format version");
  std::uint64_t rest = size - header_bytes;
  for (std::size_t i = 2; i < 5; ++i) {
    if (word[i] > rest) throw build_error("stored kernel is cut short");
    rest -= word[i];
  }
  if (rest != 0) throw build_error("stored kernel has bytes after its end");
  const std::byte* at = bytes + header_bytes;
  artifact out;
  out.workspace_bytes = static_cast<std::int64_t>(word[1]);
  out.symbol = as_text(at, word[2]);
  at += word[2];
  out.isa = as_text(at, word[3]);
  at += word[3];
  out.object.assign(at, at + word[4]);
  const support::hash128 sum =
      checksum(word[1], out.symbol, out.isa, as_text(out.object.data(), out.object.size()));
  if (sum.hi != word[5] || sum.lo != word[6])
    throw build_error("stored kernel has a wrong checksum");
  if (out.workspace_bytes < 0) throw build_error("stored kernel wants a negative workspace");
  return out;
}

/// What precedes the two files of format 2, up to the checksum.
inline std::vector<std::byte> pair_header(const artifact& a, std::size_t main_size) {
  std::vector<std::byte> out;
  for (char c : magic) out.push_back(static_cast<std::byte>(c));
  put_word(out, pair_format);
  put_word(out, main_size);
  put_word(out, a.packed_bytes.size());
  for (std::int64_t b : a.packed_bytes) put_word(out, static_cast<std::uint64_t>(b));
  return out;
}

inline support::hash128 pair_checksum(const std::byte* bytes, std::size_t size) {
  support::hasher h;
  h.add(as_text(bytes, size));
  return h.finish();
}

inline artifact read_pair(const std::byte* bytes, std::size_t size) {
  if (size < 8 + 3 * 8) throw build_error("stored kernel is too short to be one");
  const std::uint64_t main_size = get_word(bytes + 16), packed = get_word(bytes + 24);
  if (packed > size / 8) throw build_error("stored kernel is cut short");
  const std::size_t head = 32 + packed * 8 + 16;
  if (head > size || main_size > size - head) throw build_error("stored kernel is cut short");
  const support::hash128 sum = pair_checksum(bytes, head - 16);
  if (sum.hi != get_word(bytes + head - 16) || sum.lo != get_word(bytes + head - 8))
    throw build_error("stored kernel has a wrong checksum");
  artifact out = read_one(bytes + head, main_size);
  for (std::uint64_t i = 0; i < packed; ++i) {
    out.packed_bytes.push_back(static_cast<std::int64_t>(get_word(bytes + 32 + 8 * i)));
    if (out.packed_bytes.back() < 0) throw build_error("stored kernel wants a negative buffer");
  }
  out.preparation.push_back(read_one(bytes + head + main_size, size - head - main_size));
  return out;
}

inline bool have_maps(const std::vector<launch>& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const launch& l) { return !l.tensor_maps.empty(); });
}

inline void write_map(const tensor_map& m, std::vector<std::byte>& out) {
  put_word(out, static_cast<std::uint64_t>(m.from));
  put_word(out, static_cast<std::uint64_t>(m.index));
  put_word(out, static_cast<std::uint64_t>(m.what.type));
  put_word(out, static_cast<std::uint64_t>(m.what.swizzle));
  put_word(out, m.what.extents.size());
  for (const auto* list : {&m.what.extents, &m.what.strides, &m.what.box})
    for (const std::int64_t n : *list) put_word(out, static_cast<std::uint64_t>(n));
}

inline std::vector<std::byte> write_launches(const std::vector<launch>& all) {
  std::vector<std::byte> out;
  put_word(out, all.size());
  for (const launch& l : all) {
    put_word(out, l.symbol.size());
    for (char c : l.symbol) out.push_back(static_cast<std::byte>(c));
    for (const auto* sides : {&l.grid, &l.block, &l.cluster})
      for (std::uint32_t side : *sides) put_word(out, side);
    put_word(out, static_cast<std::uint64_t>(l.shared_bytes));
    put_word(out, static_cast<std::uint64_t>(l.registers));
    put_word(out, static_cast<std::uint64_t>(l.spilled_bytes));
    put_word(out, l.arguments.size());
    for (const launch_argument& a : l.arguments) {
      put_word(out, static_cast<std::uint64_t>(a.from) | std::uint64_t{a.bytes} << 8);
      put_word(out, static_cast<std::uint64_t>(a.index));
    }
    if (!have_maps(all)) continue;
    put_word(out, l.tensor_maps.size());
    for (const tensor_map& m : l.tensor_maps) write_map(m, out);
  }
  return out;
}

/// Reads words and text, and refuses to read beyond the end.
class launch_reader {
 public:
  /// @param maps  launches have tensor maps
  launch_reader(const std::byte* at, std::size_t size, bool maps)
      : at_(at), rest_(size), maps_(maps) {}

  std::vector<launch> read() {
    std::vector<launch> out(count(8 * 15));
    for (launch& l : out) l = read_launch();
    if (rest_ != 0) throw build_error("stored kernel has bytes after its launches");
    return out;
  }

 private:
  std::uint64_t word() {
    if (rest_ < 8) throw build_error("stored kernel is cut short");
    const std::uint64_t out = get_word(at_);
    at_ += 8;
    rest_ -= 8;
    return out;
  }
  /// A number of entries that take `each` bytes at least.
  std::size_t count(std::size_t each) {
    const std::uint64_t n = word();
    if (n > rest_ / each) throw build_error("stored kernel is cut short");
    return static_cast<std::size_t>(n);
  }
  std::int64_t number(std::int64_t most, const char* what) {
    const std::uint64_t n = word();
    if (n > static_cast<std::uint64_t>(most))
      throw build_error(std::string("stored kernel has a launch with a wrong ") + what);
    return static_cast<std::int64_t>(n);
  }

  launch read_launch() {
    launch out;
    const std::size_t size = count(1);
    out.symbol = as_text(at_, size);
    at_ += size;
    rest_ -= size;
    constexpr std::int64_t most = 0x7fffffff;
    for (auto* sides : {&out.grid, &out.block, &out.cluster})
      for (std::uint32_t& side : *sides) {
        side = static_cast<std::uint32_t>(number(most, "size"));
        if (side == 0) throw build_error("stored kernel has a launch with a wrong size");
      }
    out.shared_bytes = number(most, "size of shared memory");
    out.registers = static_cast<std::int32_t>(number(most, "number of registers"));
    out.spilled_bytes = number(most, "number of spilled bytes");
    out.arguments.resize(count(16));
    for (launch_argument& a : out.arguments) {
      const std::int64_t head = number(0xffff, "argument");
      const int kind = static_cast<int>(head & 0xff), bytes = static_cast<int>(head >> 8);
      const auto last =
          maps_ ? launch_argument::kind::tensor_map : launch_argument::kind::workspace;
      if (kind > static_cast<int>(last) || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        throw build_error("stored kernel has a launch with a wrong argument");
      a.from = static_cast<launch_argument::kind>(kind);
      a.bytes = static_cast<std::uint8_t>(bytes);
      a.index = number(std::numeric_limits<std::int64_t>::max(), "argument");
    }
    if (maps_) read_maps(out);
    return out;
  }

  void read_maps(launch& out) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    out.tensor_maps.resize(count(7 * 8));
    for (tensor_map& m : out.tensor_maps) {
      const std::int64_t from =
          number(static_cast<std::int64_t>(launch_argument::kind::workspace), "tensor map");
      m.from = static_cast<launch_argument::kind>(from);
      m.index = number(most, "tensor map");
      m.what.type = static_cast<dtype>(
          number(static_cast<std::int64_t>(dtype::handle), "type of a tensor map"));
      m.what.swizzle = number(most, "tensor map");
      const auto rank = static_cast<std::size_t>(
          number(static_cast<std::int64_t>(target::tensor_box::max_rank), "tensor map"));
      if (rank == 0) throw build_error("stored kernel has a launch with a wrong tensor map");
      m.what.extents.resize(rank);
      m.what.strides.resize(rank - 1);
      m.what.box.resize(rank);
      for (auto* list : {&m.what.extents, &m.what.strides, &m.what.box})
        for (std::int64_t& n : *list) n = number(most, "tensor map");
      const bool of_memory =
          m.from == launch_argument::kind::buffer || m.from == launch_argument::kind::workspace;
      if (const std::string why = m.what.why_not(); !of_memory || !why.empty())
        throw build_error("stored kernel has a launch with a wrong tensor map" +
                          (why.empty() ? std::string() : ": " + why));
    }
    for (const launch_argument& a : out.arguments)
      if (a.from == launch_argument::kind::tensor_map &&
          static_cast<std::uint64_t>(a.index) >= out.tensor_maps.size())
        throw build_error("stored kernel has a launch with an argument that is no tensor map");
  }

  const std::byte* at_;
  std::uint64_t rest_;
  bool maps_;
};

inline constexpr std::size_t launch_header = 8 + 4 * 8;

inline artifact read_plain(const std::byte* bytes, std::size_t size) {
  if (size < header_bytes) throw build_error("stored kernel is too short to be one");
  return get_word(bytes + 8) == pair_format ? read_pair(bytes, size) : read_one(bytes, size);
}

inline artifact read_with_launches(const std::byte* bytes, std::size_t size) {
  const std::uint64_t launches = get_word(bytes + 16);
  if (launches > size - launch_header) throw build_error("stored kernel is cut short");
  support::hasher h;
  if (get_word(bytes + 8) == map_format) h.add(map_format);
  h.add(launches);
  h.add(as_text(bytes + launch_header, size - launch_header));
  const support::hash128 sum = h.finish();
  if (sum.hi != get_word(bytes + 24) || sum.lo != get_word(bytes + 32))
    throw build_error("stored kernel has a wrong checksum");
  const std::size_t head = launch_header + static_cast<std::size_t>(launches);
  artifact out = read_plain(bytes + head, size - head);
  const bool maps = get_word(bytes + 8) == map_format;
  out.launches =
      launch_reader(bytes + launch_header, static_cast<std::size_t>(launches), maps).read();
  for (const launch& l : out.launches) {
    for (const tensor_map& m : l.tensor_maps)
      if (m.from == launch_argument::kind::workspace && m.index > out.workspace_bytes)
        throw build_error("stored kernel has a launch with a tensor map outside the workspace");
    for (const launch_argument& a : l.arguments)
      if (a.from == launch_argument::kind::workspace && a.index > out.workspace_bytes)
        throw build_error("stored kernel has a launch with an argument outside the workspace");
  }
  return out;
}

}  // namespace detail::artifact_format

TILEWRIGHT_INLINE std::vector<std::byte> serialize(const artifact& a) {
  namespace f = detail::artifact_format;
  if (!a.launches.empty()) {
    artifact plain = a;
    plain.launches.clear();
    const std::vector<std::byte> image = serialize(plain);
    std::vector<std::byte> body = f::write_launches(a.launches), out;
    const std::uint64_t size = body.size();
    body.insert(body.end(), image.begin(), image.end());
    support::hasher h;
    if (f::have_maps(a.launches)) h.add(f::map_format);
    h.add(size);
    h.add(f::as_text(body.data(), body.size()));
    const support::hash128 sum = h.finish();
    for (char c : f::magic) out.push_back(static_cast<std::byte>(c));
    const std::uint64_t format = f::have_maps(a.launches) ? f::map_format : f::launch_format;
    for (std::uint64_t word : {format, size, sum.hi, sum.lo}) f::put_word(out, word);
    out.insert(out.end(), body.begin(), body.end());
    return out;
  }
  const std::vector<std::byte> main = f::write_one(a);
  if (a.preparation.empty()) return main;
  std::vector<std::byte> out = f::pair_header(a, main.size());
  const support::hash128 sum = f::pair_checksum(out.data(), out.size());
  f::put_word(out, sum.hi);
  f::put_word(out, sum.lo);
  out.insert(out.end(), main.begin(), main.end());
  const std::vector<std::byte> once = f::write_one(a.preparation.front());
  out.insert(out.end(), once.begin(), once.end());
  return out;
}

TILEWRIGHT_INLINE artifact deserialize(const std::byte* bytes, std::size_t size) {
  namespace f = detail::artifact_format;
  if (size < f::header_bytes) throw build_error("stored kernel is too short to be one");
  if (f::as_text(bytes, f::magic.size()) != f::magic)
    throw build_error("stored kernel has another format");
  const std::uint64_t format = f::get_word(bytes + 8);
  return format == f::launch_format || format == f::map_format ? f::read_with_launches(bytes, size)
                                                               : f::read_plain(bytes, size);
}

}  // namespace tilewright::backend
