// The arguments of a case: random values on the host and on the device, and how far results are off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tilewright/backend/cuda/device.hpp>
#include <tilewright/ir/interpret/evaluate.hpp>
#include <tilewright/ir/stmt.hpp>
#include <tilewright/support/dtype.hpp>

#include "checks/freivalds.hpp"

namespace gpu_case {

namespace cu = tilewright::backend::cuda;
using tilewright::dtype;
using byte_list = std::vector<std::byte>;

/// Values in [-1, 1), of bytes any: never zeros, on which a device draws less power.
void fill_random(byte_list& bytes, dtype type, std::uint64_t seed);

/// Memory of one parameter.
struct argument {
  dtype type = dtype::f32;
  byte_list host;
  cu::device_memory device;
};

/// What parameters hold that are not random, by their names.
using given_arguments = std::map<std::string, byte_list>;

/// The arguments of a function with literal extents, random unless given, and the same at both places.
class case_memory {
 public:
  case_memory(const cu::device& on, const tilewright::ir::function& f, std::uint64_t seed,
              const given_arguments& given = {});

  std::vector<argument>& all() noexcept { return all_; }
  /// Of the arguments on the device, as a start takes them.
  std::vector<void*> addresses() const;
  /// Sets what the function writes to 0xff on the device.
  void poison() const;
  /// What a start left in an argument.
  byte_list result(std::size_t i) const;
  /// Runs the function on the host by the interpreter.
  void interpret();
  /// Largest difference of the device's memory from the host's, relative to 1 + |value|; infinite where
  /// integers differ at all.
  double difference() const;
  /// Largest difference from f64 at 4,096 points of each output, or at all where there are fewer, relative to 1 + |value|,
  /// beyond what rounding may do; infinite where random sums over all elements show that one is wrong (freivalds.hpp). What is right
  /// is computed once, of the inputs that stand on the host.
  double difference_in_double();
  /// Of how many outputs all elements are in random sums: those of products, and of what else has a form.
  std::size_t outputs_in_sums();

 private:
  struct point {
    std::size_t at;  // element
    tilewright::ir::point_value right;
  };
  /// What is right of an output.
  struct expectation {
    std::size_t parameter;
    std::vector<point> points;
    bool complete = true;  // every point has a value
    std::optional<freivalds> sums;
  };

  const std::vector<expectation>& expected();
  void expect_points(expectation& e, const std::vector<tilewright::ir::tensor_view>& views) const;

  const cu::device& on_;
  const tilewright::ir::function& f_;
  std::vector<argument> all_;
  std::optional<std::vector<expectation>> expected_;
};

}  // namespace gpu_case
