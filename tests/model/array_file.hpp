// Arrays of float32 and int64 from NumPy's files, as far as the tests need them.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>

#include <tilewright/model/graph.hpp>

namespace network_tests {

namespace network = tilewright::network;

inline const std::string data_folder = "tests/model/data/";

inline network::constant read_array(const std::string& name) {
  std::ifstream file(data_folder + name, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), name);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t begin = text.find("\n") + 1;
  const std::string head = text.substr(0, begin);
  network::tensor_type t;
  t.type = head.find("<i8") != std::string::npos ? tilewright::dtype::i64 : tilewright::dtype::f32;
  const std::size_t open = head.find('(');
  for (const char* at = head.c_str() + open + 1; *at != ')';) {
    char* end = nullptr;
    t.extents.push_back(std::strtoll(at, &end, 10));
    for (at = end; *at == ',' || *at == ' ';) ++at;
  }
  REQUIRE(static_cast<std::int64_t>(text.size() - begin) == t.bytes());
  auto [out, data] = network::constant::make(t);
  std::memcpy(data, text.data() + begin, text.size() - begin);
  return out;
}

/// Largest difference, relative to the largest element of `a`.
inline double difference(const network::constant& a, const network::constant& b) {
  REQUIRE(a.type() == b.type());
  double largest = 0, apart = 0;
  for (std::int64_t k = 0; k < a.type().elements(); ++k) {
    largest = std::max(largest, std::abs(a.number(k)));
    apart = std::max(apart, std::abs(a.number(k) - b.number(k)));
  }
  return apart == 0 ? 0 : apart / largest;
}

}  // namespace network_tests
