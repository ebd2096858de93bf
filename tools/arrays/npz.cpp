#include "npz.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>

#include "../command.hpp"
#include "npy.hpp"

#if defined(TILEWRIGHT_TOOL_ZIP)
#include <zip.h>
#endif

namespace tool {
#if defined(TILEWRIGHT_TOOL_ZIP)
namespace {

using namespace tilewright;

/// An archive in memory.
class archive {
 public:
  archive(const std::string& path, std::string_view bytes, const npz_limits& limits)
      : path_(path), limits_(limits) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    zip_t* opened = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
    if (source && !opened) zip_source_free(source);
    const std::string why = opened ? "" : zip_error_strerror(&error);
    zip_error_fini(&error);
    if (!opened) throw input_error(path, "no .npz archive: " + why);
    zip_.reset(opened);
  }

  /// The bytes of a member; what the archive says of its size is not believed.
  std::string member(const std::string& name) const {
    const std::string file = name + ".npy";
    const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> open(
        zip_fopen(zip_.get(), file.c_str(), 0), zip_fclose);
    if (!open)
      throw input_error(path_, "there is no " + file + ", which scipy.sparse.save_npz writes");
    std::string out;
    std::vector<char> part(std::size_t{1} << 16);
    for (;;) {
      const zip_int64_t read = zip_fread(open.get(), part.data(), part.size());
      if (read < 0)
        throw input_error(path_,
                          file + " is damaged: " +
                              std::string(zip_error_strerror(zip_file_get_error(open.get()))));
      if (read == 0) return out;
      out.append(part.data(), static_cast<std::size_t>(read));
      if (out.size() > limits_.member_bytes)
        throw input_error(
            path_, file + " takes more than " + std::to_string(limits_.member_bytes) + " bytes");
    }
  }

  std::string name_of(const std::string& member) const { return path_ + ", " + member + ".npy"; }

  /// Elements of a member of one dimension, each as a number of type T.
  template <class T>
  std::vector<T> numbers(const std::string& name) const {
    const std::string bytes = member(name), where = name_of(name);
    const dtype type = type_of(where, npy_element(where, bytes));
    if (std::is_integral_v<T> && is_float(type))
      throw input_error(where, "holds floats; numbers of rows and columns are integers");
    const npy_array array = parse_npy(where, bytes, type);
    if (array.shape.size() != 1)
      throw input_error(where,
                        "has " + std::to_string(array.shape.size()) + " dimensions instead of 1");
    std::vector<T> out;
    const auto count = static_cast<std::size_t>(array.shape[0]);
    out.reserve(count);
    for (std::size_t at = 0; at < count; ++at)
      out.push_back(element<T>(
          type, array.bytes.data() + at * static_cast<std::size_t>(tilewright::bytes(type))));
    return out;
  }

 private:
  static dtype type_of(const std::string& where, const std::string& element) {
    static constexpr std::pair<const char*, dtype> known[] = {
        {"f2", dtype::f16}, {"f4", dtype::f32}, {"f8", dtype::f64},    {"i1", dtype::i8},
        {"i2", dtype::i16}, {"i4", dtype::i32}, {"i8", dtype::i64},    {"u1", dtype::u8},
        {"u2", dtype::u16}, {"u4", dtype::u32}, {"b1", dtype::boolean}};
    const bool here = !element.empty() && (element[0] == '<' || element[0] == '|');
    for (const auto& [name, type] : known)
      if (here && element.compare(1, std::string::npos, name) == 0) return type;
    throw input_error(where, "elements of type " + element +
                                 "; a sparse matrix has real numbers or integers, little-endian");
  }

  template <class T>
  static T element(dtype type, const std::byte* at) {
    const auto as = [&](auto value) {
      std::memcpy(&value, at, sizeof value);
      return static_cast<T>(value);
    };
    switch (type) {
      case dtype::f16: {
        float16 half;
        std::memcpy(&half, at, sizeof half);
        return static_cast<T>(static_cast<float>(half));
      }
      case dtype::f32: return as(float{});
      case dtype::f64: return as(double{});
      case dtype::i8: return as(std::int8_t{});
      case dtype::i16: return as(std::int16_t{});
      case dtype::i32: return as(std::int32_t{});
      case dtype::i64: return as(std::int64_t{});
      case dtype::u16: return as(std::uint16_t{});
      case dtype::u32: return as(std::uint32_t{});
      default: return as(std::uint8_t{});
    }
  }

  struct closing {
    void operator()(zip_t* z) const { zip_discard(z); }
  };
  std::string path_;
  npz_limits limits_;
  std::unique_ptr<zip_t, closing> zip_;
};

/// "csr", as an array of one string of bytes or of code points of four bytes.
std::string format_of(const archive& from) {
  const std::string bytes = from.member("format"), where = from.name_of("format");
  const std::string element = npy_element(where, bytes);
  const bool wide = element.size() > 1 && element[1] == 'U';
  if (!wide && (element.size() < 2 || element[1] != 'S'))
    throw input_error(where, "elements of type " + element + " instead of a string");
  const std::size_t letters = 3, size = letters * (wide ? 4 : 1);
  if (bytes.size() < size) throw input_error(where, "the file is cut off");
  std::string out;
  for (std::size_t at = bytes.size() - size; at < bytes.size(); at += wide ? 4 : 1)
    out += bytes[at];
  return out;
}

/// For each element the row, or column, that offsets put it into.
std::vector<std::int64_t> spread(const archive& from, std::int64_t groups, std::size_t elements) {
  const std::vector<std::int64_t> offsets = from.numbers<std::int64_t>("indptr");
  const std::string where = from.name_of("indptr");
  if (offsets.size() != static_cast<std::size_t>(groups) + 1)
    throw input_error(where, "there are " + std::to_string(offsets.size()) + " offsets; " +
                                 std::to_string(groups) +
                                 " rows or columns have one more than that");
  std::vector<std::int64_t> out;
  out.reserve(elements);
  for (std::size_t g = 0; g + 1 < offsets.size(); ++g) {
    const std::int64_t begin = offsets[g], end = offsets[g + 1];
    if ((g == 0 && begin != 0) || end < begin || end > static_cast<std::int64_t>(elements))
      throw input_error(where, "element " + std::to_string(g + 1) + " is " + std::to_string(end) +
                                   " after " + std::to_string(begin) +
                                   "; offsets begin with 0, never decrease, and end with the " +
                                   std::to_string(elements) + " elements");
    out.insert(out.end(), static_cast<std::size_t>(end - begin), static_cast<std::int64_t>(g));
  }
  if (out.size() != elements)
    throw input_error(where, "the last offset is " + std::to_string(out.size()) +
                                 ", but there are " + std::to_string(elements) + " elements");
  return out;
}

}  // namespace

stored_matrix parse_npz(const std::string& path, std::string_view bytes, const npz_limits& limits) {
  const archive from(path, bytes, limits);
  const std::string format = format_of(from);
  const std::vector<std::int64_t> shape = from.numbers<std::int64_t>("shape");
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > limits.rows ||
      shape[1] > limits.rows)
    throw input_error(from.name_of("shape"),
                      "no matrix of at most " + std::to_string(limits.rows) + " rows and columns");
  if (format != "csr" && format != "csc" && format != "coo")
    throw input_error(
        from.name_of("format"),
        "\"" + format + "\" is not read; save the matrix as csr, csc or coo, with A.tocsr()");
  const std::vector<double> values = from.numbers<double>("data");
  std::vector<std::int64_t> row_of, column_of;
  if (format == "coo") {
    row_of = from.numbers<std::int64_t>("row");
    column_of = from.numbers<std::int64_t>("col");
  } else if (format == "csr") {
    row_of = spread(from, shape[0], values.size());
    column_of = from.numbers<std::int64_t>("indices");
  } else {
    row_of = from.numbers<std::int64_t>("indices");
    column_of = spread(from, shape[1], values.size());
  }
  try {
    return {shape[0], shape[1], row_of, column_of, values, duplicates::summed};
  } catch (const argument_error& e) {
    throw input_error(path, e.what());
  }
}

#else

stored_matrix parse_npz(const std::string& path, std::string_view, const npz_limits&) {
  throw tilewright::argument_error(path +
                                   ": this program was built without libzip, which reads .npz "
                                   "(Debian: libzip-dev); a Matrix Market file needs none");
}

#endif
}  // namespace tool
