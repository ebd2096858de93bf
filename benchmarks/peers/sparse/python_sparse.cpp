// SciPy and PyTorch, each in a process of its own that times its products itself.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "sampled_peer.hpp"
#include "sparse_peer.hpp"

namespace bench {
namespace {

std::string python() {
  const char* named = std::getenv("BENCH_PYTHON");
  return named ? named : "python3";
}

/// The script beside this file.
std::string script() { return BENCH_SPARSE_ENGINE; }

/// A folder of arrays that goes when it is done with.
class array_folder {
 public:
  array_folder() {
    char name[] = "/tmp/bench_sparse_XXXXXX";
    const char* made = ::mkdtemp(name);
    if (!made) throw std::runtime_error("no folder for arrays can be made in /tmp");
    path_ = made;
  }
  array_folder(const array_folder&) = delete;
  ~array_folder() {
    for (const char* name : {"offsets", "indices", "values", "b", "x", "c"})
      ::unlink((path_ + "/" + name).c_str());
    ::rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }

  template <class T>
  void write(const char* name, const T* data, std::size_t count) const {
    std::FILE* file = std::fopen((path_ + "/" + name).c_str(), "wb");
    const bool done = file && std::fwrite(data, sizeof(T), count, file) == count;
    if (file) std::fclose(file);
    if (!done) throw std::runtime_error("an array cannot be written to " + path_);
  }
  void read(const char* name, float* data, std::size_t count) const {
    std::FILE* file = std::fopen((path_ + "/" + name).c_str(), "rb");
    const bool done = file && std::fread(data, sizeof(float), count, file) == count;
    if (file) std::fclose(file);
    if (!done) throw std::runtime_error("an array cannot be read from " + path_);
  }

 private:
  std::string path_;
};

/// A process with which lines are exchanged.
class conversation {
 public:
  explicit conversation(std::vector<std::string> words) {
    int to[2], from[2];  // not for processes that are started later, which would keep them open
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0)
      throw std::runtime_error("no pipe can be made");
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      std::vector<char*> arguments;
      for (std::string& w : words) arguments.push_back(w.data());
      arguments.push_back(nullptr);
      ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    ask_ = ::fdopen(to[1], "w");
    answer_ = ::fdopen(from[0], "r");
  }
  conversation(const conversation&) = delete;
  ~conversation() {
    std::fclose(ask_);
    std::fclose(answer_);
    ::waitpid(process_, nullptr, 0);
  }

  std::string ask(const char* line) {
    std::fputs(line, ask_);
    std::fflush(ask_);
    return answer();
  }
  /// The next line; "" when there is none.
  std::string answer() {
    char line[512] = "";
    if (!std::fgets(line, sizeof line, answer_)) return {};
    std::string out = line;
    if (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
  }

 private:
  ::pid_t process_ = -1;
  std::FILE *ask_ = nullptr, *answer_ = nullptr;
};

std::vector<std::string> command(const std::string& engine, const std::string& folder, int rows,
                                 int columns, int n, int threads) {
  return {python(),
          script(),
          engine,
          folder,
          std::to_string(rows),
          std::to_string(columns),
          std::to_string(n),
          std::to_string(threads)};
}

/// The matrix with one element, so that a missing module is found before the first problem.
std::string missing_module(const std::string& engine) {
  const array_folder folder;
  const std::int32_t offsets[] = {0, 1}, indices[] = {0};
  const float one[] = {1};
  folder.write("offsets", offsets, 2);
  folder.write("indices", indices, 1);
  folder.write("values", one, 1);
  folder.write("b", one, 1);
  folder.write("x", one, 1);
  conversation talk(command(engine, folder.path(), 1, 1, 1, 1));
  const std::string first = talk.answer();
  if (first == "ready") return {};
  return first.empty()
             ? python() + " does not run; BENCH_PYTHON names one with the module " + engine
             : first.substr(first.find(':') + 2);
}

/// A process with the matrix and another operand of so many columns, ready to be asked.
/// @param x another one with the matrix's rows; null: there is none
/// @param count elements of the result
std::function<double()> started(const std::string& engine, const sparse_matrix& a, int columns,
                                int threads, const float* b, const float* x, float* c,
                                std::size_t count) {
  const auto folder = std::make_shared<array_folder>();
  const auto n = static_cast<std::size_t>(columns);
  folder->write("offsets", a.offsets.data(), a.offsets.size());
  folder->write("indices", a.indices.data(), a.indices.size());
  folder->write("values", a.values.data(), a.values.size());
  folder->write("b", b, static_cast<std::size_t>(a.columns) * n);
  if (x) folder->write("x", x, static_cast<std::size_t>(a.rows) * n);
  const auto talk = std::make_shared<conversation>(
      command(engine, folder->path(), a.rows, a.columns, columns, threads));
  if (talk->answer() != "ready") throw std::runtime_error(engine + " does not take the problem");
  const auto checked = std::make_shared<bool>(false);
  return [=] {
    const std::string answer = talk->ask(*checked ? "run\n" : "check\n");
    if (!*checked) folder->read("c", c, count);
    *checked = true;
    return std::atof(answer.c_str());
  };
}

std::function<double()> prepare(const std::string& engine, const spmm_problem& p) {
  return started(engine, *p.a, p.columns, p.threads, p.b, nullptr, p.c,
                 static_cast<std::size_t>(p.a->rows) * static_cast<std::size_t>(p.columns));
}

}  // namespace

sparse_peer python_sparse_peer(const std::string& engine) {
  sparse_peer out{engine, missing_module(engine), {}, {}};
  out.threaded = engine == "torch";
  out.prepare_timed = [engine](const spmm_problem& p) { return prepare(engine, p); };
  return out;
}

std::function<double()> sampled_by_torch(const sampled_problem& p, std::string& missing) {
  missing = missing_module("torch_sampled");
  if (!missing.empty()) return {};
  return started("torch_sampled", *p.a, p.depth, 1, p.y, p.x, p.result, p.a->indices.size());
}

}  // namespace bench
