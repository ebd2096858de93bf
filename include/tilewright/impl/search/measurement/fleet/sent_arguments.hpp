// Arguments of a function as one side of a connection sends them to the other: where they lie, and
// what they hold.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <tilewright/impl/search/measurement/worker_message.hpp>
#include <tilewright/search/measurement/argument_memory.hpp>
#include <tilewright/support/error.hpp>

namespace tilewright::search::detail {

/// Sealed arguments, as they were before any call.
inline void write_arguments(message& m, const argument_memory& arguments) {
  write(m, arguments.places());
  for (std::size_t i = 0; i < arguments.places().size(); ++i)
    m.add(arguments.sealed(i), arguments.places()[i].bytes);
}

/// Places that lie in what comes with them. @throws build_error
inline void check_place(const argument_place& p, std::size_t bytes) {
  const bool sane = p.bytes == bytes && p.element0 < p.bytes &&
                    std::has_single_bit(p.at.alignment) && p.at.alignment <= 4096 &&
                    p.at.beyond < p.at.alignment;
  if (!sane) throw build_error("a request describes no arguments");
}

/// The same arguments in guarded memory of this process, sealed. @throws build_error
inline std::unique_ptr<argument_memory> read_arguments(message_reader& r) {
  std::vector<argument_place> places = read_places(r);
  std::vector<std::vector<std::byte>> contents;
  for (const argument_place& p : places) {
    contents.push_back(r.bytes());
    check_place(p, contents.back().size());
  }
  auto out = std::make_unique<argument_memory>(std::move(places));
  for (std::size_t i = 0; i < contents.size(); ++i)
    std::copy(contents[i].begin(), contents[i].end(), out->buffer(i).data());
  out->seal();
  return out;
}

/// What calls have left in the arguments that they write.
inline void write_outputs(message& m, const argument_memory& arguments) {
  for (std::size_t i = 0; i < arguments.places().size(); ++i)
    if (arguments.places()[i].written)
      m.add(arguments.buffer(i).data(), arguments.places()[i].bytes);
}

/// Puts it into the memory of this side, which has equal places. @throws build_error
inline void read_outputs(message_reader& r, const argument_memory& arguments) {
  for (std::size_t i = 0; i < arguments.places().size(); ++i) {
    if (!arguments.places()[i].written) continue;
    const std::vector<std::byte> bytes = r.bytes();
    if (bytes.size() != arguments.places()[i].bytes)
      throw build_error("an answer has outputs of another size");
    std::memcpy(arguments.buffer(i).data(), bytes.data(), bytes.size());
  }
}

}  // namespace tilewright::search::detail
