// What a call that is refused says.
#pragma once

#include <string>

#include <tilewright/support/error.hpp>

namespace test_kernels {

/// Message of the argument_error that `call` throws; empty when it throws none.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const tilewright::argument_error& e) {
    return e.what();
  }
  return {};
}

}  // namespace test_kernels
