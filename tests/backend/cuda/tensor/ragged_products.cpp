// Products whose extents no tile divides, and whose rows begin at no multiple of 16 bytes: what runs unmeasured.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <tilewright/search/measurement/operands.hpp>
#include <tilewright/search/session.hpp>
#include <tilewright/space/gpu.hpp>

#include "backend/cuda/cases.hpp"

using namespace tilewright;

namespace {

/// A product of batches, m rows, n columns and k terms; how A and B lie, "mk" or "km", "kn" or "nk".
struct ragged {
  const char* in = "float16";
  int m = 16, n = 16, k = 16;
  const char *a = "mk", *b = "kn";
  int batches = 1;
  bool residual = false;  // added to the results, which have the type of factors
};

/// A device of so few multiprocessors that small products have tiles as large ones have.
target::gpu few(const char* name = "sm_80") {
  target::gpu out = target::named_gpu(name);
  out.multiprocessors = 2;
  return out;
}

ir::function product(const ragged& p) {
  const auto t = [](int x) { return std::to_string(x); };
  const std::string in = p.in, sum = in == "int8" ? "int32" : "float32";
  const std::string batch = p.batches > 1 ? t(p.batches) + ", " : "",
                    vb = batch.empty() ? "" : "vb, ";
  const std::string out = p.residual ? in : sum, c = p.residual ? "C" : "Y";
  const std::string result = "(" + batch + t(p.m) + ", " + t(p.n) + ")";
  const auto shape = [&](const std::string& lies) {
    std::string s = "(" + batch;
    for (const char d : lies)
      s += t(d == 'm' ? p.m : d == 'n' ? p.n : p.k) + (d == lies[0] ? ", " : ")");
    return s;
  };
  const auto at = [&](const std::string& name, const std::string& lies) {
    std::string s = name + "[" + vb;
    for (const char d : lies)
      s += std::string(d == 'm' ? "vi" : d == 'n' ? "vj" : "vk") + (d == lies[0] ? ", " : "]");
    return in == sum ? s : "T.cast(" + s + ", \"" + sum + "\")";
  };
  std::string text = "@T.prim_func\ndef main(A: T.Buffer(" + shape(p.a) + ", \"" + in +
                     "\"), B: T.Buffer(" + shape(p.b) + ", \"" + in + "\")";
  if (p.residual) text += ", R: T.Buffer(" + result + ", \"" + in + "\")";
  text += ", Y: T.Buffer(" + result + ", \"" + out + "\")):\n";
  if (p.residual) text += "    C = T.alloc_buffer(" + result + ", \"" + sum + "\")\n";
  const std::string loops = batch.empty() ? "i, j" : "b, i, j",
                    kinds = batch.empty() ? "SS" : "SSS";
  const std::string extents = batch + t(p.m) + ", " + t(p.n), here = "[" + vb + "vi, vj]";
  text += "    for " + loops + ", k in T.grid(" + extents + ", " + t(p.k) +
          "):\n        with T.block(\"" + c + "\"):\n            " + vb +
          "vi, vj, vk = T.axis.remap(\"" + kinds + "R\", [" + loops +
          ", k])\n            with T.init():\n                " + c + here + " = " +
          (sum == "int32" ? "0" : "T.float32(0)") + "\n            " + c + here + " = " + c + here +
          " + " + at("A", p.a) + " * " + at("B", p.b) + "\n";
  if (p.residual)
    text += "    for " + loops + " in T.grid(" + extents +
            "):\n        with T.block(\"Y\"):\n            " + vb + "vi, vj = T.axis.remap(\"" +
            kinds + "\", [" + loops + "])\n            Y" + here + " = T.cast(C" + here +
            " + T.cast(R" + here + ", \"" + sum + "\"), \"" + in + "\")\n";
  return ir::parse(text);
}

/// The kernels of what runs unmeasured.
cases::cu::program unmeasured(const ir::function& f, const target::gpu& device) {
  const schedule s = search::default_schedule(f, space::default_gpu(), {&device, 1}, 1);
  return cases::cu::print(pass::lower(s.function(), device), device);
}

bool has(const cases::cu::program& p, const std::string& what) {
  return p.text.find(what) != p.text.npos;
}

void check_emulated(const ir::function& f, const cases::cu::program& p, double tolerance) {
  if (!cases::have_emulator()) return;
  INFO(p.text);
  const cases::cu::emulator kernels(p);
  cases::check_equal(cases::emulated(kernels, f, 1), cases::interpreted(f), tolerance);
}

}  // namespace

TEST_CASE("ragged products: tiles are whole, whatever divides the extents") {
  const target::gpu device = target::named_gpu("sm_90a");
  struct expectation {
    ragged what;
    std::int64_t blocks, threads;  // as many at most, as many at least
  };
  for (const expectation& e : {expectation{{"float16", 4097, 4097, 4097}, 800, 256},
                               {{"bfloat16", 1000, 1000, 1000}, 140, 128},
                               {{"int8", 4097, 4097, 4097}, 800, 256},
                               {{"float16", 129, 50257, 1024, "mk", "nk"}, 700, 128},
                               {{"float32", 4097, 4097, 4097}, 1600, 128},
                               {{"float32", 1023, 1023, 1023}, 300, 128}}) {
    CAPTURE(e.what.in);
    CAPTURE(e.what.m);
    const cases::cu::program p = unmeasured(product(e.what), device);
    REQUIRE(p.kernels.size() == 1);
    const backend::launch& l = p.kernels[0].start;
    CHECK(l.grid[0] <= e.blocks);
    CHECK(l.block[0] * l.block[1] >= e.threads);
    CHECK(has(p, "tw_mma") == (std::string(e.what.in) != "float32"));
  }
}

TEST_CASE(
    "ragged products: rows are copied in the background in vectors as wide as they are aligned") {
  struct expectation {
    int terms, elements;  // of f16 in a vector
  };
  for (const expectation& e : {expectation{200, 8}, {204, 4}, {202, 2}}) {
    CAPTURE(e.terms);
    const cases::cu::program p =
        unmeasured(product({"float16", 70, 90, e.terms, "mk", "nk"}), few());
    INFO(p.text);
    for (const char* from : {"A", "B"})
      CHECK(has(p, "tw_copy_or_zero<" + std::to_string(e.elements) + ">(" + from +
                       "_reindex_pad_shared_dyn"));
    CHECK_FALSE(has(p, "_shared_dyn_lanes["));  // none by elements
  }
  // no device copies single elements of two bytes: these wait in registers beside products
  const cases::cu::program odd = unmeasured(product({"float16", 70, 90, 201, "mk", "nk"}), few());
  CHECK_FALSE(has(odd, "tw_copy_or_zero"));
  CHECK_FALSE(has(odd, "tw_wait_copies"));
  CHECK(has(odd, "_stage"));
}

TEST_CASE("ragged products: operands are copied as they lie, and loaded by whole matrices") {
  for (const char* a : {"mk", "km"})
    for (const char* b : {"kn", "nk"}) {
      CAPTURE(a);
      CAPTURE(b);
      const cases::cu::program p = unmeasured(product({"float16", 72, 136, 72, a, b}), few());
      INFO(p.text);
      for (const char* from : {"A", "B"})
        CHECK(has(p, "tw_copy_or_zero<8>(" + std::string(from) + "_reindex_pad_shared_dyn"));
      CHECK(has(p, "tw_load_transposed(A") == (std::string(a) == "km"));
      CHECK(has(p, "tw_load_transposed(B") == (std::string(b) == "kn"));
    }
}

TEST_CASE("ragged products: parts of few rows are multiplied by tensor cores, and added up") {
  for (const ragged& p : {ragged{"float16", 8, 512, 2048, "mk", "nk"},
                          {"float16", 31, 512, 2048, "mk", "nk", 1, true},
                          {"float32", 31, 130, 1025, "mk", "nk"}}) {
    CAPTURE(p.m);
    const ir::function f = product(p);
    const cases::cu::program kernels = unmeasured(f, target::named_gpu("sm_90a"));
    CHECK(kernels.kernels.size() == 2);
    CHECK(has(kernels, "tw_mma") == (std::string(p.in) == "float16"));
    check_emulated(f, kernels, p.residual ? 4e-3 : 1e-4);
  }
}

TEST_CASE("ragged products: what runs unmeasured computes what was written") {
  for (const ragged& p : {ragged{"float16", 129, 77, 65},
                          {"float16", 31, 50, 127, "mk", "nk"},
                          {"float16", 65, 33, 100, "km", "kn"},
                          {"float16", 50, 66, 33, "km", "nk", 1, true},
                          {"float16", 77, 77, 64, "mk", "nk", 2, true},
                          {"bfloat16", 77, 64, 77, "mk", "kn", 2},
                          {"bfloat16", 7, 100, 250, "mk", "nk"},
                          {"int8", 127, 65, 129},
                          {"int8", 33, 100, 130, "mk", "nk"},
                          {"int8", 65, 33, 100, "km", "nk"},
                          {"float32", 127, 129, 67},
                          {"float32", 67, 31, 129, "km", "nk"}}) {
    CAPTURE(p.in);
    CAPTURE(p.m);
    CAPTURE(p.k);
    const ir::function f = product(p);
    check_emulated(f, unmeasured(f, few()), p.residual ? 4e-3 : 1e-4);
  }
}
