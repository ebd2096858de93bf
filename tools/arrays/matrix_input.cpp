#include "matrix_input.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include <tilewright/interop/matrix_market.hpp>
#include <tilewright/sparse/lower.hpp>
#include <tilewright/sparse/storage.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>

#include "../assignments.hpp"
#include "../command.hpp"

namespace tool {
namespace {

using namespace tilewright;

stored_matrix read_matrix(const std::string& path) {
  const std::string file = read_file(path);
  if (file.compare(0, 2, "PK") == 0) return parse_npz(path, file);
  try {
    return parse_matrix_market<double, std::int64_t>(file, {duplicates::summed});
  } catch (const argument_error& e) {
    throw input_error(path, e.what());
  }
}

dtype index_type(const stored_matrix& m) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return m.nonzeros() > most || m.rows() >= most || m.columns() >= most ? dtype::i64 : dtype::i32;
}

const ir::buffer_node& matrix_parameter(const ir::function& f, const std::string& name) {
  for (const ir::param& p : f.params)
    if (p.buffer && p.buffer->name == name) {
      if (p.buffer->shape.size() == 2) return *p.buffer;
      throw argument_error("--matrix " + name + ": the parameter has " +
                           std::to_string(p.buffer->shape.size()) + " dimensions, a matrix has 2");
    }
  throw argument_error("--matrix " + name + ": no buffer parameter has that name");
}

template <class To, class From>
std::vector<std::byte> packed(const std::vector<From>& from) {
  std::vector<std::byte> out(from.size() * sizeof(To));
  for (std::size_t at = 0; at < from.size(); ++at) {
    To value;
    if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>)
      value = To(static_cast<float>(from[at]));
    else
      value = static_cast<To>(from[at]);
    std::memcpy(&out[at * sizeof(To)], &value, sizeof value);
  }
  return out;
}

std::vector<std::byte> packed_as(dtype type, const std::string& name,
                                 const std::vector<double>& values) {
  switch (type) {
    case dtype::f16: return packed<float16>(values);
    case dtype::bf16: return packed<bfloat16>(values);
    case dtype::f32: return packed<float>(values);
    case dtype::f64: return values.empty() ? std::vector<std::byte>{} : packed<double>(values);
    case dtype::i32: return packed<std::int32_t>(values);
    case dtype::i64: return packed<std::int64_t>(values);
    default:
      throw argument_error("--matrix " + name +
                           ": the parameter has elements of a type that no matrix is read as");
  }
}

std::vector<std::byte> packed_indices(dtype type, const std::vector<std::int64_t>& values) {
  return type == dtype::i64 ? packed<std::int64_t>(values) : packed<std::int32_t>(values);
}

}  // namespace

matrix_inputs::matrix_inputs(const std::vector<std::string>& given) {
  for (const auto& [name, path] : split_assignments(given, "--matrix"))
    matrices_.emplace(name, read_matrix(path));
}

void matrix_inputs::bind(const ir::function& f,
                         std::map<std::string, std::int64_t>& extents) const {
  for (const auto& [name, m] : matrices_) {
    const ir::buffer_node& b = matrix_parameter(f, name);
    const std::int64_t shape[] = {m.rows(), m.columns()};
    for (std::size_t d = 0; d < 2; ++d) {
      const ir::expr& extent = b.shape[d];
      std::int64_t known = shape[d];
      if (ir::is_int(extent)) known = ir::as_int(extent);
      if (ir::is_var(extent)) known = extents.emplace(extent->name, shape[d]).first->second;
      if (known != shape[d])
        throw argument_error("--matrix " + name + ": the matrix is " + std::to_string(shape[0]) +
                             " x " + std::to_string(shape[1]) + ", but dimension " +
                             std::to_string(d) + " of the parameter has extent " +
                             std::to_string(known));
    }
  }
}

ir::function matrix_inputs::stored(const ir::function& f) const {
  if (matrices_.empty()) return f;
  std::vector<sparse::stored_parameter> formats;
  for (const auto& [name, m] : matrices_) formats.push_back({name, m.nonzeros(), index_type(m)});
  return sparse::lower(sparse::with_storage(f, formats));
}

void matrix_inputs::fill(const std::vector<search::operand>& operands,
                         search::given_values& to) const {
  for (const auto& [name, m] : matrices_)
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const search::operand& o = operands[i];
      if (o.name == sparse::indptr_name(name)) to[i] = packed_indices(o.type, m.offsets());
      if (o.name == sparse::indices_name(name)) to[i] = packed_indices(o.type, m.indices());
      if (o.name == name) to[i] = packed_as(o.type, name, m.values());
    }
}

}  // namespace tool
