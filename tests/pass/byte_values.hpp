// What a function of bytes and integers makes of its arguments.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tilewright/ir/interpret/interpret.hpp>
#include <tilewright/support/random.hpp>

namespace programs {

using namespace tilewright;

/// Bytes at random, the ends of their range too; what is in all parameters after the run.
inline std::vector<std::vector<std::uint8_t>> run_bytes(const ir::function& f) {
  support::random draw(3);
  std::vector<std::vector<std::uint8_t>> data;
  std::vector<ir::tensor_view> args;
  for (const ir::param& p : f.params) {
    std::int64_t size = bytes(p.buffer->type);
    for (const ir::expr& e : p.buffer->shape) size *= ir::as_int(e);
    std::vector<std::uint8_t> values(static_cast<std::size_t>(size));
    for (std::uint8_t& x : values)
      x = draw.below(4) == 0 ? 0x80 : static_cast<std::uint8_t>(draw.below(256));
    data.push_back(std::move(values));
  }
  for (auto& values : data) args.push_back({values.data(), {}});
  ir::interpret(f, args, {});
  return data;
}

}  // namespace programs
