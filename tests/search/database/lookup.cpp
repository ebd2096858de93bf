#include <tilewright/search/database/lookup.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tilewright::search;

namespace {

constexpr const char* avx2 = "x86-64:+avx2,+fma:256";
constexpr const char* avx512 = "x86-64:+avx2,+avx512f,+avx512vl,+fma:512";

record chosen(const std::string& workload, const std::string& isa, int threads) {
  record r;
  r.key = {workload, isa, "r r", threads};
  r.family = "matmul";
  r.extents = {64, 32};
  r.trace = "t";
  r.seconds = {1.5e-5};
  r.from = {"cpu one", "19.1", "2026-01-31T12:00:00Z", 3};
  r.chosen = true;
  return r;
}

record wanted() {
  record r = chosen("w", avx2, 2);
  r.trace.clear();
  r.seconds.clear();
  r.from.llvm.clear();
  return r;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string only_difference(const record& stored) {
  database db(":memory:");
  db.add(stored);
  const auto near = nearest_records(db, wanted(), 5);
  REQUIRE(near.size() == 1);
  REQUIRE(near[0].differences.size() == 1);
  return near[0].differences[0];
}

}  // namespace

TEST_CASE("each field of a key says in its own words how it differs") {
  CHECK(only_difference(chosen("w", avx2, 8)) == "threads: 2 wanted, 8 stored");
  CHECK(only_difference(chosen("w", avx512, 2)) ==
        "instruction set: the stored schedule was made for +avx512f +avx512vl, which is not there; "
        "vector registers have 256 bits, 512 in the record");
  CHECK(only_difference(chosen("w", "x86-64:+avx2:256", 2)) ==
        "instruction set: +fma is there, and the stored schedule was made without");
  CHECK(only_difference(chosen("w", "TVM: llvm", 2)) ==
        std::string("instruction set: \"") + avx2 + "\" is wanted, \"TVM: llvm\" is stored");
  record column = chosen("w", avx2, 2);
  column.key.arguments = "r d10";
  CHECK(only_difference(column) ==
        "arguments: number 1 is row-major, dense, dimensions from slow to fast 10 in the record");
  column.key.arguments = "u1 r";
  CHECK(only_difference(column) ==
        "arguments: number 0 is row-major, padded, stride 1 in dimension 1 in the record");
  column.key.arguments = "r";
  CHECK(only_difference(column) == "arguments: \"r r\" is wanted, \"r\" is stored");
  CHECK(has(only_difference(chosen("v", avx2, 2)), "a kernel of the same names with another body"));
  record larger = chosen("v", avx2, 2);
  larger.extents = {128, 32};
  CHECK(only_difference(larger) ==
        "workload: the same kernel at other extents, [64 32] is wanted, [128 32] is stored");
  record other = chosen("v", avx2, 2);
  other.family = "softmax";
  CHECK(has(only_difference(other), "workload: another program"));
}

TEST_CASE("the nearest key comes first, and the nearer provenance among equals") {
  database db(":memory:");
  record other = chosen("a", avx2, 2);
  other.family = "softmax";
  db.add(other);
  record far = chosen("b", avx2, 2);
  far.extents = {4096, 32};
  db.add(far);
  record near = chosen("c", avx2, 2);
  near.extents = {128, 32};
  db.add(near);
  db.add(chosen("w", avx512, 8));  // two fields
  record elsewhere = chosen("w", avx2, 4);
  elsewhere.from.cpu = "cpu two";
  db.add(elsewhere);
  db.add(chosen("w", avx2, 8));
  record measured = chosen("w", avx2, 16);
  measured.chosen = false;
  db.add(measured);
  const auto all = nearest_records(db, wanted(), 100);
  REQUIRE(all.size() == 6);
  CHECK(all[0].stored.key.threads == 8);
  CHECK(all[0].distance == 1);
  CHECK(all[1].stored.from.cpu == "cpu two");
  CHECK(all[1].distance == 1);
  CHECK(all[2].differences.size() == 2);
  CHECK(all[3].stored.key.workload == "c");
  CHECK(all[3].distance == doctest::Approx(3));
  CHECK(all[4].stored.key.workload == "b");
  CHECK(all[5].stored.family == "softmax");
  CHECK(nearest_records(db, wanted(), 2).size() == 2);

  const std::string text = explain_lookup(db, wanted());
  CHECK(has(text, "no schedule is stored for this key"));
  CHECK(has(text,
            "1. 15 us, measured 2026-01-31T12:00:00Z on cpu one with LLVM 19.1, lowering "
            "revision 3\n     threads: 2 wanted, 8 stored"));
  CHECK(text.find("cpu one") < text.find("cpu two"));
  CHECK_FALSE(has(text, "softmax"));  // three are shown
}

TEST_CASE("among equal distances and machines the newest comes first") {
  database db(":memory:");
  record old = chosen("w", avx2, 8), fresh = chosen("w", avx2, 4);
  old.from.date = "2025-01-01T00:00:00Z";
  db.add(fresh);
  db.add(old);
  record same_revision = chosen("w", avx2, 16);
  same_revision.from.revision = 2;
  db.add(same_revision);
  const auto near = nearest_records(db, wanted(), 3);
  CHECK(near[0].stored.key.threads == 4);
  CHECK(near[1].stored.key.threads == 8);
  CHECK(near[2].stored.from.revision == 2);
}

TEST_CASE("a key that was measured but never decided says so, with its failures") {
  database db(":memory:");
  record r = chosen("w", avx2, 2);
  r.chosen = false;
  db.add(r);
  db.add(r);
  db.add_failures(r.key, {"timeout", 3, "slow"});
  const std::string text = explain_lookup(db, wanted());
  CHECK(has(text, "2 measurements are stored for it and none is chosen"));
  CHECK(has(text, "3 candidates failed (timeout)"));
  CHECK(has(text, "the database holds no chosen schedule"));
}

TEST_CASE("a hit says where it was measured, and what becomes of its code") {
  database db(":memory:");
  const record r = chosen("w", avx2, 2);
  db.add(r);
  record here = wanted();
  here.from.revision = 4;
  CHECK(has(explain_lookup(db, here), "a schedule is stored: best 15 us, measured 2026"));
  CHECK(has(explain_lookup(db, here),
            "its code has to be made again: no code is stored for this "
            "schedule\n"));
  db.add_code(r.key, r.trace, r.from, {std::byte{1}});
  here.from.cpu = "cpu two";
  const std::string other_cpu = explain_lookup(db, here);
  CHECK(has(other_cpu, "another CPU model: \"cpu two\" is wanted, \"cpu one\" is stored"));
  here.from.revision = 3;
  CHECK(has(explain_lookup(db, here), "its code is stored for lowering revision 3"));
  CHECK(explain_lookup(db, wanted()).find("another CPU") == std::string::npos);
}

TEST_CASE("an empty database, and one that cannot be read, say so") {
  CHECK(has(explain_lookup(database(":memory:"), wanted()), "holds no chosen schedule"));
  const database nowhere("/proc/tilewright/t.db");
  CHECK(has(explain_lookup(nowhere, wanted()), "/proc/tilewright/t.db"));
}

TEST_CASE("a record of a GPU is explained in the words of GPUs") {
  const auto of = [](const char* isa, const char* device) {
    record r;
    r.key = {"a", isa, on_device("r", 32), 1};
    r.family = "f";
    r.extents = {4};
    r.seconds = {1e-5};
    r.from = {device, "NVRTC 13.0, driver 13.0", "2026-01-01T00:00:00Z", 3};
    r.chosen = true;
    return r;
  };
  database db(":memory:");
  db.add(of("nvidia:sm_90a", "NVIDIA H100"));
  const record here = of("nvidia:sm_90a", "NVIDIA H200");
  const std::string text = explain_lookup(db, here);
  CHECK(text.find("on NVIDIA H100 with NVRTC 13.0, driver 13.0") != std::string::npos);
  CHECK(text.find("measured on another GPU: \"NVIDIA H200\" is wanted") != std::string::npos);
  record wide = here;
  wide.key.arguments = on_device("r", 64);
  const std::vector<near_record> near = nearest_records(db, wide, 1);
  REQUIRE(near.size() == 1);
  CHECK(near[0].differences[0].find("the width of indices, 64 bits, the width of indices, 32 bits "
                                    "in the record") != std::string::npos);
}
