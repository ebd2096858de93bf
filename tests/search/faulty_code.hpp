// Code that misbehaves, for the tests of what runs code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include <doctest/doctest.h>

#include <tilewright/backend/compile.hpp>
#include <tilewright/backend/loader.hpp>
#include <tilewright/impl/backend/elf.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/target/cpu.hpp>

#include "support/sanitizers.hpp"

namespace faulty {

using namespace tilewright;

/// The thread sanitizer does not follow a jump out of a handler.
inline constexpr bool handlers_usable = !sanitizers::thread;

/// A function that reads `reach` elements from a tensor of four, a page apart from end to end at
/// most.
inline ir::function reads_beyond(int reach) {
  const ir::buffer declared = ir::make_buffer("X", dtype::f32, {4}),
                   y = ir::make_buffer("Y", dtype::f32, {reach});
  const ir::var i = ir::make_var("i");
  ir::function f;
  f.params = {{declared, {}}, {y, {}}};
  f.body = ir::make_loop(i, 0, reach, ir::make_store(y, {i}, ir::load(declared, {i * 64})));
  f.attrs["tilewright.lowered"] = 1;
  return f;
}

/// An endless loop as far as a test is concerned: 2^40 additions.
inline ir::function endless() {
  const ir::buffer y = ir::make_buffer("Y", dtype::f32, {1});
  const ir::var i = ir::make_var("i"), j = ir::make_var("j");
  ir::function f;
  f.params = {{y, {}}};
  const ir::expr sum = ir::load(y, {ir::expr(0)}) + ir::real(dtype::f32, 1.0);
  f.body = ir::make_loop(i, 0, 1 << 20,
                         ir::make_loop(j, 0, 1 << 20, ir::make_store(y, {ir::expr(0)}, sum)));
  f.attrs["tilewright.lowered"] = 1;
  return f;
}

/// Writes zero to the first element of one of the parameters of `like`.
inline ir::function writes_parameter(const ir::function& like, std::size_t which) {
  ir::function f;
  f.params = like.params;
  const ir::buffer& x = like.params[which].buffer;
  const std::vector<ir::expr> origin(x->shape.size(), ir::expr(0));
  f.body = ir::make_store(x, origin, ir::real(x->type, 0.0));
  f.attrs["tilewright.lowered"] = 1;
  return f;
}
inline ir::function writes_first_parameter(const ir::function& like) {
  return writes_parameter(like, 0);
}
inline ir::function writes_last_parameter(const ir::function& like) {
  return writes_parameter(like, like.params.size() - 1);
}

/// Writes the last parameter of `like`, 2^40 times.
inline ir::function endless_for(const ir::function& like) {
  ir::function f = writes_last_parameter(like);
  const ir::buffer& y = like.params.back().buffer;
  const std::vector<ir::expr> origin(y->shape.size(), ir::expr(0));
  const ir::expr sum = ir::load(y, origin) + ir::real(y->type, 1.0);
  f.body =
      ir::make_loop(ir::make_var("i"), 0, 1 << 20,
                    ir::make_loop(ir::make_var("j"), 0, 1 << 20, ir::make_store(y, origin, sum)));
  return f;
}

inline backend::artifact artifact_of(const ir::function& f) {
  return backend::compile(f, target::host());
}
/// Code that ends the process that runs it, with exit code 7.
inline backend::artifact ends_process(const ir::function& like) {
  backend::artifact out = artifact_of(writes_first_parameter(like));
  constexpr unsigned char leave[] = {0xb8, 0xe7, 0, 0, 0, 0xbf, 7, 0, 0, 0, 0x0f, 0x05};
  namespace elf = backend::detail::elf;
  const elf::reader object(out.object.data(), out.object.size());
  for (const elf::section_header& s : object.sections()) {
    if (s.type != elf::section_progbits || (s.flags & elf::flag_exec) == 0) continue;
    REQUIRE(s.size >= sizeof leave);
    std::byte* from = out.object.data() + s.offset;
    std::fill_n(from, s.size, std::byte{0x90});  // wherever it is entered, it comes to the end
    std::memcpy(from + s.size - sizeof leave, leave, sizeof leave);
  }
  return out;
}
inline std::shared_ptr<const backend::loaded> code_of(const ir::function& f) {
  return backend::load(artifact_of(f));
}

}  // namespace faulty
