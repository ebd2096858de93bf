#include "npy.hpp"

#include <cstring>
#include <fstream>
#include <limits>

#include <tilewright/ir/text/literal.hpp>

#include "../command.hpp"

namespace tool {
namespace {

using tilewright::dtype;

/// NumPy's name of an element type, byte order first.
std::string description(dtype t) {
  if (t == dtype::boolean) return "|b1";
  if (t == dtype::bf16) return "<V2";
  if (tilewright::is_narrow_float(t)) return "|V1";  // their bits, as ml_dtypes writes them
  t = tilewright::stored_as(t);
  const char kind = tilewright::is_float(t) ? 'f' : tilewright::is_unsigned(t) ? 'u' : 'i';
  const int size = tilewright::bytes(t);
  return std::string(size == 1 ? "|" : "<") + kind + std::to_string(size);
}

bool describes(std::string text, dtype t) {
  if (!text.empty() && text[0] == '|') text[0] = '<';
  std::string own = description(t);
  if (own[0] == '|') own[0] = '<';
  return text == own;
}

std::int64_t element_count(const std::string& path, const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0 ||
        (extent > 0 && count > (std::numeric_limits<std::int64_t>::max() >> 8) / extent))
      throw input_error(path, "an extent is negative or too large");
    count *= extent;
  }
  return count;
}

/// Element order from the first dimension fastest to the last one fastest.
std::vector<std::byte> from_column_major(const npy_array& a, std::size_t size) {
  std::vector<std::byte> out(a.bytes.size());
  std::vector<std::int64_t> index(a.shape.size(), 0);
  for (std::size_t to = 0; to < out.size(); to += size) {
    std::int64_t from = 0, stride = 1;
    for (std::size_t d = 0; d < index.size(); stride *= a.shape[d], ++d) from += index[d] * stride;
    std::memcpy(&out[to], &a.bytes[static_cast<std::size_t>(from) * size], size);
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == a.shape[d];) index[d] = 0;
  }
  return out;
}

/// The header is a Python literal with a tuple for the shape.
struct npy_header {
  std::string element;
  bool column_major = false;
  std::vector<std::int64_t> shape;
  std::size_t end = 0;  // where the elements begin
};

npy_header parse_header(const std::string& path, std::string_view header) {
  tilewright::ir::attr value;
  try {
    value = tilewright::ir::parse_attr(header);
  } catch (const tilewright::ir::parse_error& e) {
    throw input_error(path, std::string("the header of the array is malformed: ") + e.what());
  }
  const auto* dict = std::get_if<tilewright::ir::attr::dict>(&value.value);
  const auto field = [&](const char* key) -> const tilewright::ir::attr& {
    if (!dict || !dict->count(key))
      throw input_error(path, std::string("the header of the array lacks ") + key);
    return dict->at(key);
  };
  const auto* descr = std::get_if<std::string>(&field("descr").value);
  const auto* order = std::get_if<std::int64_t>(&field("fortran_order").value);
  const auto* shape = std::get_if<tilewright::ir::attr::list>(&field("shape").value);
  if (!descr || !order || !shape) throw input_error(path, "the header of the array is malformed");
  npy_header out;
  out.element = *descr;
  for (const auto& extent : *shape) {
    const auto* n = std::get_if<std::int64_t>(&extent.value);
    if (!n) throw input_error(path, "an extent is no integer");
    out.shape.push_back(*n);
  }
  out.column_major = *order != 0;
  return out;
}

npy_header header_of(const std::string& path, std::string_view file) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(file[i]));
  };
  if (file.size() < 12 || file.compare(0, 6, "\x93NUMPY") != 0 || byte(6) < 1 || byte(6) > 3)
    throw input_error(path, "no .npy file of version 1 to 3");
  const bool wide = byte(6) > 1;
  const std::size_t start = wide ? 12 : 10;
  std::size_t length = byte(8) | byte(9) << 8;
  if (wide) length |= byte(10) << 16 | byte(11) << 24;
  if (length > file.size() - start) throw input_error(path, "the file is cut off");
  npy_header out = parse_header(path, file.substr(start, length));
  out.end = start + length;
  return out;
}

}  // namespace

npy_array parse_npy(const std::string& path, std::string_view file, dtype wanted) {
  npy_header header = header_of(path, file);
  if (!describes(header.element, wanted))
    throw input_error(path,
                      "elements of type " + header.element + "; wanted is " + description(wanted));
  npy_array out;
  out.type = wanted;
  out.shape = std::move(header.shape);
  const auto size = static_cast<std::size_t>(tilewright::bytes(wanted));
  const auto bytes = static_cast<std::size_t>(element_count(path, out.shape)) * size;
  if (file.size() - header.end < bytes) throw input_error(path, "the file is cut off");
  out.bytes.resize(bytes);
  if (bytes != 0) std::memcpy(out.bytes.data(), &file[header.end], bytes);
  if (header.column_major) out.bytes = from_column_major(out, size);
  return out;
}

std::string npy_element(const std::string& path, std::string_view file) {
  return header_of(path, file).element;
}

npy_array read_npy(const std::string& path, dtype wanted) {
  return parse_npy(path, read_file(path), wanted);
}

void write_npy(const std::string& path, const npy_array& array) {
  std::string header =
      "{'descr': '" + description(array.type) + "', 'fortran_order': False, 'shape': (";
  for (std::int64_t extent : array.shape) header += std::to_string(extent) + ", ";
  header += "), }";
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  std::ofstream out(path, std::ios::binary);
  const char prefix[] = {'\x93',
                         'N',
                         'U',
                         'M',
                         'P',
                         'Y',
                         1,
                         0,
                         static_cast<char>(header.size() & 255),
                         static_cast<char>(header.size() >> 8)};
  out.write(prefix, sizeof prefix);
  out << header;
  out.write(reinterpret_cast<const char*>(array.bytes.data()),
            static_cast<std::streamsize>(array.bytes.size()));
  out.close();
  if (!out) throw input_error(path, "the file cannot be written");
}

}  // namespace tool
