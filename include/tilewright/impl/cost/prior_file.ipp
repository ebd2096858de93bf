#pragma once

#include <cstdio>
#include <exception>
#include <vector>

#include <tilewright/cost/model_kind.hpp>
#include <tilewright/cost/prior_file.hpp>
#include <tilewright/support/error.hpp>
#include <tilewright/support/hash.hpp>
#include <tilewright/support/numbers/number_text.hpp>

namespace tilewright::cost {
namespace detail {

inline constexpr std::string_view prior_mark = "tilewright-prior 1 ";

inline std::string digest_of(std::string_view text) {
  support::hasher h;
  h.add(text);
  return h.finish().hex();
}

/// The part of `text` up to `end`, which is taken off; all of it where there is none.
inline std::string_view cut(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return out;
}

/// Bytes of a file; empty where it cannot be read or is longer than `most`.
inline std::string file_bytes(const std::string& path, std::size_t most) {
  std::string out;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (!file) return out;
  std::vector<char> buffer(1 << 16);
  std::size_t n = 0;
  while (out.size() <= most && (n = std::fread(buffer.data(), 1, buffer.size(), file)) > 0)
    out.append(buffer.data(), n);
  std::fclose(file);
  if (out.size() > most) out.clear();
  return out;
}

}  // namespace detail

TILEWRIGHT_INLINE std::string prior_text(std::string_view kind, const model& trained) {
  const std::string text = trained.save();
  return std::string(detail::prior_mark) + std::string(kind) + " " + std::to_string(text.size()) +
         " " + detail::digest_of(text) + "\n" + text;
}

TILEWRIGHT_INLINE std::unique_ptr<model> model_of_prior(std::string_view text, std::uint64_t seed) {
  const std::string_view mark = detail::prior_mark;
  if (text.substr(0, mark.size()) != mark)
    throw argument_error("prior: this is no prior of version 1; `tilewright learn` writes one");
  text.remove_prefix(mark.size());
  std::string_view line = detail::cut(text, '\n');
  const std::string_view kind = detail::cut(line, ' '), size = detail::cut(line, ' ');
  const auto bytes = support::read_number<std::size_t>(size);
  if (!bytes || *bytes != text.size() || line != detail::digest_of(text))
    throw argument_error("prior: the file is damaged: its text does not match its first line");
  std::unique_ptr<model> out = make_model(kind, seed);
  out->load(text);
  return out;
}

TILEWRIGHT_INLINE loaded_prior load_prior(const std::string& path, std::uint64_t seed) {
  loaded_prior out;
  const std::string text = detail::file_bytes(path, std::size_t{1} << 26);
  if (text.empty()) {
    out.problem = "prior: " + path + " cannot be read";
    return out;
  }
  try {
    out.model = model_of_prior(text, seed);
  } catch (const error& e) {
    out.problem = path + ": " + e.what();
  }
  return out;
}

}  // namespace tilewright::cost
