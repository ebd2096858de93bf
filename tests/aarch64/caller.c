// Calls one compiled kernel on arguments from a file and writes what they hold afterwards: the entry ABI
// of backend/call.hpp as a C program that knows nothing of the library.
//
// The file: bytes of the workspace, number of strides, the strides, number of arguments, and for each
// its size and its bytes; numbers of 8 bytes.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct call {
  void* const* data;
  const int64_t* strides;
  void* workspace;
  const void* exec;
  void* stream;
  const int* cancel;
  const void* code;
};

int ENTRY(const struct call*);

static int64_t number(FILE* from) {
  int64_t out = 0;
  if (fread(&out, sizeof out, 1, from) != 1) exit(3);
  return out;
}

static void* memory(int64_t bytes) {
  void* out = aligned_alloc(64, ((size_t)bytes + 127) / 64 * 64);
  if (!out) exit(3);
  return out;
}

int main(int count, char** words) {
  if (count != 3) return 3;
  FILE* in = fopen(words[1], "rb");
  if (!in) return 3;
  const int64_t workspace = number(in), strides = number(in);
  int64_t* stride = memory(8 * strides);
  for (int64_t i = 0; i < strides; ++i) stride[i] = number(in);
  const int64_t arguments = number(in);
  void** data = memory(8 * arguments);
  int64_t* size = memory(8 * arguments);
  for (int64_t i = 0; i < arguments; ++i) {
    size[i] = number(in);
    data[i] = memory(size[i]);
    if (fread(data[i], 1, (size_t)size[i], in) != (size_t)size[i]) return 3;
  }
  fclose(in);
  const struct call c = {data, stride, memory(workspace), NULL, NULL, NULL, NULL};
  const int result = ENTRY(&c);
  FILE* out = fopen(words[2], "wb");
  if (!out) return 3;
  for (int64_t i = 0; i < arguments; ++i)
    if (fwrite(data[i], 1, (size_t)size[i], out) != (size_t)size[i]) return 3;
  return fclose(out) != 0 ? 3 : result;
}
