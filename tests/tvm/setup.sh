#!/usr/bin/env bash
# setup.sh FOLDER: a Python environment with the TVM that the comparison is written for.
set -eu
folder=$1
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet \
  apache-tvm==0.27.0.post1 apache-tvm-ffi==0.1.14.post1 numpy psutil
"$folder/bin/python" -c "import tvm; print('TVM', tvm.__version__, 'in', '$folder')"
