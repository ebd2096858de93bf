// What a tuning session says while it runs and at its end, as text or as lines of JSON.
#pragma once

#include <map>
#include <string>

#include <tilewright/search/session.hpp>

namespace tool {

/// How it is written.
struct output_form {
  bool json = false, profile = false;  // profile: with the stages of its time
};

/// `{"build": 2, "timeout": 1}`
std::string failures_json(const std::map<tilewright::search::failure, int>& failures);
void print_round(const tilewright::search::progress& p, bool as_json);
/// @param file of several, or what else tells sessions apart
void print_summary(const tilewright::search::tuning_result& r, output_form form,
                   const std::string& file = {});

}  // namespace tool
