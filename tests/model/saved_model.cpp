// A saved network computes what it was saved from, and no other file is run.
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <tilewright/backend/artifact.hpp>
#include <tilewright/backend/cuda/available.hpp>
#include <tilewright/impl/model/model_file.hpp>
#include <tilewright/impl/model/plan_writer.hpp>
#include <tilewright/impl/search/database/fewer_threads.hpp>
#include <tilewright/interop/onnx.hpp>
#include <tilewright/model/saved_model.hpp>
#include <tilewright/search/database/database.hpp>
#include <tilewright/search/measurement/builder.hpp>

#include "model/array_file.hpp"

using namespace tilewright;
using namespace network_tests;

namespace {

/// A folder that only this user may write.
struct own_folder {
  std::filesystem::path path =
      std::filesystem::current_path() / ("saved_model_" + std::to_string(::getpid()));
  own_folder() {
    std::filesystem::create_directories(path);
    ::chmod(path.c_str(), 0700);
  }
  ~own_folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

model_options quick() {
  model_options o;
  o.database = ":memory:";
  o.mode = mode::off;
  o.threads = 1;
  return o;
}

std::vector<float> floats(const network::constant& c) {
  std::vector<float> out(static_cast<std::size_t>(c.type().elements()));
  std::memcpy(out.data(), c.data(), out.size() * sizeof(float));
  return out;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  ::chmod(path.c_str(), 0600);
}

std::string refusal(const std::string& path) {
  try {
    load_model(path);
  } catch (const argument_error& e) {
    return e.what();
  }
  return "none";
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("saved model: the same numbers, by order and by name, from several threads") {
  const own_folder folder;
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  std::vector<float> expected(5);
  {
    const model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
    m(x, expected);
    m.save(folder.file("a.twm"));
  }
  const saved_model m = load_model(folder.file("a.twm"));
  CHECK(m.name() == "tiny_cnn");
  REQUIRE(m.inputs().size() == 1);
  CHECK(m.inputs()[0].name == "x");
  CHECK(m.inputs()[0].type == network::tensor_type{dtype::f32, {1, 3, 13, 11}});
  std::vector<float> y(5), named(5);
  m(x, y);
  CHECK(y == expected);
  m.run({{"x", x}}, {{"y", named}});
  CHECK(named == expected);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      std::vector<float> own(5);
      for (int k = 0; k < 50; ++k) {
        m(x, own);
        wrong[t] += own != expected;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4, 0));
  std::vector<float> few(3);
  CHECK_THROWS_WITH(m(few, y), "input \"x\" is float32 (1, 3, 13, 11), and gets float32 (3)");
  std::vector<float> shared(429);
  CHECK_THROWS_WITH(m(shared, view(shared.data() + 8, {1, 5})), "output \"y\" overlaps \"x\"");
}

TEST_CASE("saved model: several outputs, integers, and extents that were bound") {
  const own_folder folder;
  model_options o = quick();
  o.extents = {{"batch", 2}};
  load_onnx(data_folder + "tiny_attention.onnx", o).save(folder.file("a.twm"));
  const saved_model m = load_model(folder.file("a.twm"));
  const std::vector<float> x = floats(read_array("tiny_attention.x.npy"));
  std::vector<float> mean(16), padded(80);
  std::vector<std::int64_t> position(20);
  m(view(x.data(), {2, 6, 8}), view(mean.data(), {2, 8}), view(padded.data(), {2, 4, 10}),
    view(position.data(), {2, 10}));
  const std::vector<float> expected = floats(read_array("tiny_attention.mean.npy"));
  for (std::size_t k = 0; k < 16; ++k) CHECK(mean[k] == doctest::Approx(expected[k]).epsilon(1e-5));
  const network::constant p = read_array("tiny_attention.position.npy");
  for (std::size_t k = 0; k < 20; ++k)
    CHECK(position[k] == p.integer(static_cast<std::int64_t>(k)));
}

TEST_CASE("saved model: a file that was cut, altered, or that others may write is not run") {
  const own_folder folder;
  const std::string path = folder.file("a.twm");
  load_onnx(data_folder + "tiny_cnn.onnx", quick()).save(path);
  const std::string whole = bytes_of(path);
  REQUIRE(refusal(path) == "none");
  for (std::size_t k = 0; k < whole.size(); k += whole.size() / 200 + 1) {
    std::string bytes = whole;
    bytes[k] = static_cast<char>(bytes[k] ^ 4);
    write(path, bytes);
    CHECK(has(refusal(path), path + ": "));
    write(path, whole.substr(0, k));
    CHECK(refusal(path) != "none");
  }
  std::string last = whole;
  last.back() = static_cast<char>(last.back() ^ 1);
  write(path, last);
  CHECK(has(refusal(path), "the file was altered since it was saved"));
  write(path, "anything");
  CHECK(has(refusal(path), "this is no saved model"));
  write(path, whole);
  ::chmod(path.c_str(), 0666);
  CHECK(has(refusal(path), "can be written by others"));
  CHECK(has(refusal(folder.file("none.twm")), "none.twm: No such file"));
}

TEST_CASE(
    "saved model: a plan that names what is not there is refused, though its digest is right") {
  const own_folder folder;
  const std::string path = folder.file("a.twm");
  load_onnx(data_folder + "tiny_cnn.onnx", quick()).save(path);
  std::string bytes = bytes_of(path);
  std::uint64_t plan_size = 0;
  std::memcpy(&plan_size, bytes.data() + 16, 8);
  int refused = 0, tried = 0;
  for (std::size_t at = network::model_file_header;
       at + 8 <= network::model_file_header + plan_size; at += 41) {
    std::string changed = bytes;
    const std::uint64_t large = std::uint64_t{1} << 45;
    std::memcpy(changed.data() + at, &large, 8);
    const auto* data = reinterpret_cast<const std::byte*>(changed.data());
    const support::hash128 digest = network::digest_of(data + network::model_file_header,
                                                       changed.size() - network::model_file_header);
    std::memcpy(changed.data() + 24, &digest.hi, 8);
    std::memcpy(changed.data() + 32, &digest.lo, 8);
    ++tried;
    try {
      network::read_model_file(reinterpret_cast<const std::byte*>(changed.data()), changed.size());
    } catch (const argument_error&) {
      ++refused;
    }
  }
  CHECK(tried > 100);
  CHECK(refused > 0);
}

TEST_CASE("saved model: files that may not grow are an error, and leave nothing behind") {
  const own_folder folder;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
  m.save(folder.file("a.twm"));
  const std::string before = bytes_of(folder.file("a.twm"));
  const rlimit limit{4096, RLIM_INFINITY}, none{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  std::string said;
  try {
    m.save(folder.file("a.twm"));
  } catch (const argument_error& e) {
    said = e.what();
  }
  setrlimit(RLIMIT_FSIZE, &none);
  CHECK(has(said, "a.twm: File too large"));
  CHECK(bytes_of(folder.file("a.twm")) == before);
  const std::filesystem::directory_iterator all(folder.path);
  CHECK(std::distance(begin(all), end(all)) == 1);
}

TEST_CASE("saved model: what is no saved model is not replaced, and is refused at once") {
  const own_folder folder;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
  const auto saving = [&](const char* name) -> std::string {
    try {
      m.save(folder.file(name));
    } catch (const argument_error& e) {
      return e.what();
    }
    return "none";
  };
  write(folder.file("script.py"), "print('mine')\n");
  CHECK(has(saving("script.py"), "script.py is no saved model and is left as it is"));
  CHECK(bytes_of(folder.file("script.py")) == "print('mine')\n");
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(has(saving("pipe"), "pipe is no saved model and is left as it is"));
  CHECK(std::filesystem::is_fifo(folder.file("pipe")));
  CHECK(has(refusal(folder.file("pipe")), "this is no regular file"));
  std::filesystem::create_directory(folder.file("sub"));
  CHECK(has(saving("sub"), "sub is no saved model and is left as it is"));
  CHECK(has(saving("none/a.twm"), "No such file or directory"));
  write(folder.file("empty"), "");
  CHECK(saving("empty") == "none");
  CHECK(saving("empty") == "none");  // a saved model now
  std::filesystem::create_symlink("empty", folder.file("link"));
  CHECK(saving("link") == "none");
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(refusal(folder.file("link")) == "none");
}

TEST_CASE("saved model: threads that write one file leave one of theirs") {
  const own_folder folder;
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
  std::vector<model> more;
  for (int k = 0; k < 3; ++k) more.push_back(load_onnx(data_folder + "tiny_cnn.onnx", quick()));
  std::vector<std::thread> threads;
  for (const model& one : more)
    threads.emplace_back([&] {
      for (int k = 0; k < 3; ++k) one.save(folder.file("a.twm"));
    });
  for (std::thread& t : threads) t.join();
  CHECK(refusal(folder.file("a.twm")) == "none");
}

namespace {

/// A file of one plan without constants.
std::vector<std::byte> file_of(const network::saved_plan& plan) {
  network::detail::model_file::plan_writer w;
  w.plans({plan});
  std::vector<std::byte> file(network::model_file_header);
  file.insert(file.end(), w.bytes.begin(), w.bytes.end());
  const support::hash128 digest =
      network::digest_of(file.data() + network::model_file_header, w.bytes.size());
  const std::uint64_t words[4] = {file.size(), w.bytes.size(), digest.hi, digest.lo};
  std::memcpy(file.data(), network::model_file_magic.data(), 8);
  std::memcpy(file.data() + 8, words, sizeof words);
  return file;
}

}  // namespace

TEST_CASE("saved model: an element type that does not exist") {
  network::saved_plan plan;
  plan.inputs.push_back({"x", {static_cast<dtype>(77), {2}}});
  const std::vector<std::byte> file = file_of(plan);
  CHECK_THROWS_WITH(network::read_model_file(file.data(), file.size()),
                    "the plan of the file holds an element type that does not exist");
}

TEST_CASE("saved model: one for a GPU where none is") {
  if (cuda::available().state != cuda::state::no_driver) return;
  const own_folder folder;
  network::saved_plan plan;
  plan.isa = "nvidia:sm_90a";
  const std::vector<std::byte> file = file_of(plan);
  write(folder.file("a.twm"), {reinterpret_cast<const char*>(file.data()), file.size()});
  const std::string said = refusal(folder.file("a.twm"));
  CHECK(has(said, "a.twm: it was made for sm_90a, and "));
  CHECK(has(said, "libcuda.so.1"));
  CHECK(has(said, "; save the model on a machine like this one, or for one"));
}

namespace {

/// Bytes with the digest that they need.
void seal(std::string& bytes) {
  const support::hash128 digest = network::digest_of(
      reinterpret_cast<const std::byte*>(bytes.data()) + network::model_file_header,
      bytes.size() - network::model_file_header);
  std::memcpy(bytes.data() + 24, &digest.hi, 8);
  std::memcpy(bytes.data() + 32, &digest.lo, 8);
}

std::vector<network::saved_plan> plans_in(const std::string& bytes) {
  return network::read_model_file(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
}

/// An instruction set of the same length that no machine has.
std::string unknown(std::string isa) {
  const std::size_t plus = isa.find('+'), end = isa.find_first_of(",:", plus);
  for (std::size_t k = plus + 1; k < end; ++k) isa[k] = 'q';
  return isa;
}

void replace_all(std::string& in, const std::string& from, const std::string& to) {
  for (std::size_t at = in.find(from); at != std::string::npos; at = in.find(from, at + 1))
    in.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("saved model: code for instructions that are not here") {
  const own_folder folder;
  const std::string path = folder.file("a.twm");
  load_onnx(data_folder + "tiny_cnn.onnx", quick()).save(path);
  std::string bytes = bytes_of(path);
  const std::string isa = plans_in(bytes).at(0).isa;
  REQUIRE(isa.find('+') != std::string::npos);
  const std::size_t where = bytes.find(isa);
  std::string other = bytes;
  other.replace(where, isa.size(), unknown(isa));
  seal(other);
  write(path, other);
  CHECK(has(refusal(path), "which this machine lacks; save the model on a machine like this one"));
  // a plan whose kernels are for another instruction set than its own
  bytes.replace(bytes.find(isa, where + 1), isa.size(), unknown(isa));
  seal(bytes);
  write(path, bytes);
  CHECK(refusal(path) != "none");
}

TEST_CASE(
    "saved model: what one thread has found is saved for two, as long as these are not tuned") {
  const own_folder folder;
  model_options o = quick();
  o.database = folder.file("t.db");
  model one = load_onnx(data_folder + "tiny_cnn.onnx", o);
  one.tune(1, "host");
  o.threads = 2;
  const model two = load_onnx(data_folder + "tiny_cnn.onnx", o);
  two.save(folder.file("a.twm"));
  const std::vector<network::saved_plan> plans = plans_in(bytes_of(folder.file("a.twm")));
  const auto db = search::database::shared(o.database);
  const network::executable& program = *two.program();
  REQUIRE(plans.at(0).kernels.size() == program.launches().size());
  std::size_t met = 0;
  for (std::size_t k = 0; k < program.launches().size(); ++k) {
    search::workload w = program.task(k);
    const auto spread = search::detail::spread_over_threads(w, *db, 1, o.seed);
    if (spread.empty()) continue;
    ++met;
    const std::vector<std::byte>& code = plans[0].kernels[k].code;
    CHECK(plans[0].kernels[k].threads == 2);
    CHECK(backend::deserialize(code.data(), code.size()).object ==
          search::build(spread[0].scheduled.function(), w.machine).artifact.object);
  }
  CHECK(met > 0);
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  const std::vector<float> expected = floats(read_array("tiny_cnn.y.npy"));
  std::vector<float> y(5);
  load_model(folder.file("a.twm"), {.threads = 2})(x, y);
  for (std::size_t k = 0; k < 5; ++k) CHECK(y[k] == doctest::Approx(expected[k]).epsilon(1e-5));
}

TEST_CASE("saved model: code for several instruction sets, of which the machine takes one") {
  const target::cpu narrow = target::named("x86-64");
  if (narrow.isa_key() == target::host().isa_key() || !target::runs_on(narrow, target::host()))
    return;
  const own_folder folder;
  const std::string path = folder.file("a.twm");
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  const std::vector<float> expected = floats(read_array("tiny_cnn.y.npy"));
  const auto is_right = [&] {
    std::vector<float> y(5);
    load_model(path)(x, y);
    for (std::size_t k = 0; k < 5; ++k) CHECK(y[k] == doctest::Approx(expected[k]).epsilon(1e-5));
  };
  {
    model m = load_onnx(data_folder + "tiny_cnn.onnx", quick());
    m.tune(1, "x86-64");
    m.save(path, {"x86-64", "host", "x86-64"});
    CHECK_THROWS_WITH(m.save(path, {}), "a saved model needs one target at least");
    CHECK_THROWS_AS(m.save(path, {"pdp11"}), argument_error);
  }
  const std::string whole = bytes_of(path);
  const std::vector<network::saved_plan> plans = plans_in(whole);
  REQUIRE(plans.size() == 2);
  CHECK(plans[0].isa == target::host().isa_key());
  CHECK(plans[1].isa == narrow.isa_key());
  is_right();
  // on a machine without the first one's instructions the second runs
  std::string other = whole;
  replace_all(other, plans[0].isa, unknown(plans[0].isa));
  seal(other);
  write(path, other);
  is_right();
  // and on one without both, none
  std::string none = other;
  const std::size_t second = none.find(plans[1].isa);
  REQUIRE(second != std::string::npos);
  none[second] = 'a';  // another processor than x86-64
  seal(none);
  write(path, none);
  CHECK(has(refusal(path), "which this machine lacks; and it was made for \"a86-64:"));
}

TEST_CASE("saved model: a stored schedule of another version counts as none") {
  const own_folder folder;
  const std::vector<float> x = floats(read_array("tiny_cnn.x.npy"));
  std::vector<float> expected(5), out(5);
  model_options o = quick();
  o.database = folder.file("tuned.db");
  {
    model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
    m(x, expected);
    m.tune(0.5);
  }
  {
    search::database db(o.database);
    const std::vector<search::record> chosen =
        db.all([](const search::record& r) { return r.chosen; });
    REQUIRE_FALSE(chosen.empty());
    for (search::record r : chosen) {
      r.trace = "b0 = sch.get_block(name=\"C\", func_name=\"main\")\nsch.fold_in_time(block=b0)";
      db.add(r);
    }
  }
  const model m = load_onnx(data_folder + "tiny_cnn.onnx", o);
  m.save(folder.file("a.twm"));
  load_model(folder.file("a.twm"))(x, out);
  for (std::size_t k = 0; k < out.size(); ++k)
    CHECK(out[k] == doctest::Approx(expected[k]).epsilon(1e-5));
}
