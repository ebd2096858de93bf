// What is said to who calls when the database has not got what was asked for.
#include <tilewright/tuned.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "top/product.hpp"

using namespace tilewright;
using namespace products;

TEST_CASE("a call for which nothing is stored says what to write") {
  problem p(17, 9, 25);
  const tuned strict{product, quick(":memory:", mode::miss_error)};
  std::string said;
  try {
    p.right(strict);
  } catch (const argument_error& e) {
    said = e.what();
  }
  CAPTURE(said);
  CHECK(said.find("the options say miss_error; tune M = 17, K = 9, N = 25 before, by warm()") !=
        std::string::npos);
  CHECK(said.find("the same database (:memory:)") != std::string::npos);
  CHECK(said.find("or write mode::off") != std::string::npos);
}

TEST_CASE("what was lost of a damaged file is said to who calls") {
  const folder f;
  problem p;
  CHECK(p.right(tuned{product, quick(f.file())}));
  {
    const auto rest = static_cast<std::size_t>(std::filesystem::file_size(f.file())) - 4096;
    std::fstream file(f.file(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(4096);
    file << std::string(rest, 'x');
  }
  std::string said;
  tuned_options o = quick(f.file());
  o.events = [&](const search::event& e) {
    if (e.what == search::event::kind::remark) said += e.text + "\n";
  };
  CHECK(p.right(tuned{product, o}));
  CHECK(said.find("was damaged") != std::string::npos);
  CHECK(said.find("the old file is kept as " + f.file() + ".damaged") != std::string::npos);
}
