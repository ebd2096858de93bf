#include "running.hpp"

#include <cmath>
#include <cstring>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/ir/specialize.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/numbers/float16.hpp>

namespace laws {
namespace {

template <class T>
void write_as(char* at, double value) {
  const T x = static_cast<T>(value);
  std::memcpy(at, &x, sizeof x);
}
template <class T>
double read_as(const char* at) {
  T x;
  std::memcpy(&x, at, sizeof x);
  return static_cast<double>(x);
}

void write_number(dtype type, char* at, double value) {
  switch (type) {
    case dtype::boolean: return write_as<std::uint8_t>(at, value != 0 ? 1 : 0);
    case dtype::i8: return write_as<std::int8_t>(at, value);
    case dtype::i16: return write_as<std::int16_t>(at, value);
    case dtype::i32: return write_as<std::int32_t>(at, value);
    case dtype::i64: return write_as<std::int64_t>(at, value);
    case dtype::u8: return write_as<std::uint8_t>(at, std::abs(value));
    case dtype::u16: return write_as<std::uint16_t>(at, std::abs(value));
    case dtype::u32: return write_as<std::uint32_t>(at, std::abs(value));
    case dtype::u64: return write_as<std::uint64_t>(at, std::abs(value));
    case dtype::f16: return write_as<std::uint16_t>(at, float16(static_cast<float>(value)).bits);
    case dtype::bf16: return write_as<std::uint16_t>(at, bfloat16(static_cast<float>(value)).bits);
    case dtype::f32: return write_as<float>(at, value);
    case dtype::f64: return write_as<double>(at, value);
    case dtype::handle: break;  // no parameter holds pointers
  }
}

/// Elements of the floats that a bound compares; other types are compared as bytes.
double read_float(dtype type, const char* at) {
  return type == dtype::f64 ? read_as<double>(at) : read_as<float>(at);
}

}  // namespace

ir::function concrete(const program& p, const ir::function& f) {
  return p.dims.empty() ? f : ir::specialize(f, p.dims);
}

memory inputs(const program& p, const ir::function& f) {
  memory out;
  for (const ir::param& param : f.params) {
    std::size_t count = 1;
    for (const ir::expr& e : param.buffer->shape) count *= static_cast<std::size_t>(e->integer);
    const auto size = static_cast<std::size_t>(bytes(param.buffer->type));
    out.emplace_back(count * size);
    const auto given = p.data.find(param.buffer->name);
    for (std::size_t i = 0; i < count; ++i) {
      const int small = static_cast<int>((i * 7 + out.size() * 3 + i * i) % 7) - 3;
      double value = p.exact ? small : small * 0.37 + 0.01 * static_cast<double>(i % 5);
      if (given != p.data.end()) value = static_cast<double>(given->second.at(i));
      write_number(param.buffer->type, out.back().data() + i * size, value);
    }
  }
  return out;
}

memory interpreted(const program& p, const ir::function& f, bool check_unwritten) {
  memory out = inputs(p, concrete(p, f));
  std::vector<ir::tensor_view> args;
  for (std::vector<char>& m : out) args.push_back({m.data(), {}});
  ir::interpret_options options;
  options.dims = p.dims;
  options.check_races = true;
  options.check_unwritten = check_unwritten;
  options.check_scopes = false;  // where a buffer is visible is decided when it is placed
  ir::interpret(f, args, options);
  return out;
}

memory compiled(const program& p, const ir::function& lowered, const target::cpu& cpu,
                const backend::executor* threads) {
  memory out = inputs(p, lowered);
  std::vector<void*> data;
  for (std::vector<char>& m : out) data.push_back(m.data());
  const auto code = backend::load(backend::compile(lowered, cpu));
  std::vector<std::byte> workspace(static_cast<std::size_t>(code->workspace_bytes()) + 64);
  std::byte* aligned =
      workspace.data() + (64 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 64) % 64;
  if ((*code)({data.data(), nullptr, aligned, threads, nullptr, nullptr}) != backend::call_done)
    throw build_error("the compiled function did not finish");
  return out;
}

std::string difference(const program& p, const ir::function& f, const memory& a, const memory& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    const ir::buffer_node& buffer = *f.params[k].buffer;
    if (a[k] == b[k]) continue;
    if (a[k].size() != b[k].size()) return buffer.name + " has another size";
    const auto size = static_cast<std::size_t>(bytes(buffer.type));
    for (std::size_t i = 0; i < a[k].size(); i += size) {
      if (std::memcmp(a[k].data() + i, b[k].data() + i, size) == 0) continue;
      const std::string place = buffer.name + " differs at element " + std::to_string(i / size);
      if (p.exact || !is_float(buffer.type) || bytes(buffer.type) < 4) return place;
      const double x = read_float(buffer.type, a[k].data() + i);
      const double y = read_float(buffer.type, b[k].data() + i);
      if (!(std::abs(x - y) <= 1e-3 * std::max(1.0, std::abs(x))))
        return place + ": " + std::to_string(x) + " and " + std::to_string(y);
    }
  }
  return "";
}

}  // namespace laws
