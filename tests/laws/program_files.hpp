// Small programs written by hand, each for something that primitives tend to forget.
//
// A file holds one function in script form. Comments say what else a run needs: `# dim n = 5` gives
// a symbolic extent, `# data I = 2 0 1` what an index input holds (the file's own promises, such as
// that loaded places differ, have to be true of it), `# twin` adds another algorithm beside it, `# iterations`
// that it is a sparse program, which the function carries, and `# each_kind` says that the loops written `T.serial(4)` are to be tried as parallel and
// thread-bound ones, too.
#pragma once

#include <string>
#include <vector>

#include <laws/random_programs.hpp>

namespace laws {

struct program_file {
  std::string name;  // of the file, without its folder and ".py", and of the kind of its loops
  program content;
};

/// Reads the programs of a folder and of those inside it, in the order of their names, which differ.
/// @throws error for a file that is none
std::vector<program_file> read_programs(const std::string& folder);

}  // namespace laws
