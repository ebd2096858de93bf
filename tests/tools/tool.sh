#!/usr/bin/env bash
# tool.sh TOOL DATA: runs the command-line tool and checks exit codes and parts of the output.
set -u
tool=$1 data=$2 failures=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect CODE PART ARGUMENT...: the exit code, and a part of what is printed on either stream
expect() {
  local code=$1 part=$2 text status
  shift 2
  text=$("$tool" "$@" 2>&1 </dev/null)
  status=$?
  if [ "$status" -ne "$code" ] || [[ "$text" != *"$part"* ]]; then
    echo "FAILED: $* gave $status, wanted $code and \"$part\":"
    echo "$text"
    failures=$((failures + 1))
  fi
}

expect 0 "workload" check "$data/matmul.py"
expect 0 'T.axis.remap("SSR", [i, j, k])' check --print "$data/matmul.py"
expect 2 "cannot be opened" check "$work/missing.py"
expect 2 "expected 'def', found the end of the text" check -
expect 2 "FILE is required" check
expect 2 "it is a directory" check "$data"
expect 2 "ubcommand" frobnicate
expect 0 "check" --help
{ printf '\357\273\277'; cat "$data/matmul.py"; } > "$work/mark.py"
expect 0 "workload" check "$work/mark.py"
iconv -t UTF-16 "$data/matmul.py" > "$work/wide.py"
expect 2 "wide.py: line 1, column 1: expected text in UTF-8, found the first bytes of a text in UTF-16" check "$work/wide.py"
sed 's/T.axis.remap/T.axis.rempa/' "$data/matmul.py" > "$work/broken.py"
expect 2 "broken.py: line 7, column 33: expected remap" check "$work/broken.py"

expect 0 "for j in T.vectorized(64):" apply "$data/matmul.py" "$data/tiled.trace"
expect 0 "" apply "$data/matmul.py" "$data/tiled.trace" --expect "$data/tiled.py"
sed 's/T.block/Ts.sblock/; s/@T.prim_func/@Ts.function/; s/T.axis/Ts.axis/; s/vi/v_i/g' "$data/tiled.py" > "$work/newer.py"
expect 0 "" apply "$data/matmul.py" "$data/tiled.trace" --expect "$work/newer.py" --tvm
(echo "import tvm"; echo "def apply_trace(sch: tvm.tir.Schedule) -> None:"; sed 's/^/  /; s/get_block/get_sblock/' "$data/tiled.trace") > "$work/wrapped.trace"
expect 0 "" apply "$data/matmul.py" "$work/wrapped.trace" --expect "$data/tiled.py"
expect 1 "differs" apply "$data/matmul.py" "$data/tiled.trace" --expect "$data/matmul.py"
expect 1 '"status": "different"' apply "$data/matmul.py" "$data/tiled.trace" --expect "$data/matmul.py" --json
# Of a module the function that --function names, else the one whose blocks the trace gets.
{
  echo '@I.ir_module'
  echo 'class Module:'
  sed -n '/@T.prim_func/,$p' "$data/scale.py" | sed 's/^/    /'
  sed -n '/@T.prim_func/,$p' "$data/matmul.py" | sed 's/def main/def product/; s/^/    /'
} > "$work/module.py"
sed 's/"main"/"product"/' "$data/tiled.trace" > "$work/product.trace"
sed 's/def main/def product/' "$data/tiled.py" > "$work/product.py"
expect 0 "" apply "$work/module.py" "$work/product.trace" --expect "$work/product.py"
expect 0 "" apply "$work/module.py" "$data/tiled.trace" --function product --expect "$work/product.py"
expect 3 'no block is called "C"' apply "$work/module.py" "$work/product.trace" --function scale
(cat "$work/product.trace"; echo 'b9 = sch.get_block(name="Y", func_name="scale")') > "$work/two.trace"
expect 2 'gets blocks of functions "product" and "scale"; a schedule is one of one function' apply "$work/module.py" "$work/two.trace"
sed 's/"main"/"absent"/' "$data/tiled.trace" > "$work/absent.trace"
expect 2 'absent' apply "$work/module.py" "$work/absent.trace"
expect 0 "product" check "$work/module.py" --function product
printf 'v0 = sch.sample_categorical(candidates=[1, 2], probs=[0.5, 0.5], decision=7)\n' > "$work/beyond.trace"
expect 2 "beyond.trace: instruction 0, v0 = sch.sample_categorical" apply "$data/matmul.py" "$work/beyond.trace"
expect 3 "instruction 2, sch.parallel(loop=l3)" apply "$data/matmul.py" "$data/refused.trace"
expect 3 "for i, j, k in T.grid(128, 64, 96):  # <-- loop k" apply "$data/matmul.py" "$data/refused.trace"
expect 3 '"primitive": "parallel"' apply "$data/matmul.py" "$data/refused.trace" --json
expect 2 "matmul.py: line 3, column 1: expected" apply "$data/matmul.py" "$data/matmul.py"
expect 2 '"status": "bad input"' apply "$work/missing.py" "$data/tiled.trace" --json

expect 0 "C float32 (128, 64)" run "$data/matmul.py" --engine interp --out "C=$work/c.npy"
expect 0 "largest difference" run "$data/matmul.py" --engine interp --trace "$data/tiled.trace"
cat > "$work/threads.py" <<'EOF'
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i_0 in T.thread_binding(2, thread="blockIdx.x"):
        for i_1 in T.thread_binding(32, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(64, i_0 * 32 + i_1)
                B[vi] = A[vi] * T.float32(2)
EOF
if command -v c++ >/dev/null; then
  expect 0 "largest difference 0" run "$work/threads.py" --engine emulate
fi
expect 2 "GPU \"sm_13\" is not known" run "$work/threads.py" --engine emulate --gpu sm_13
cat > "$work/race.py" <<'EOF'
@T.prim_func
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32")):
    for i in T.parallel(4):
        B[0] = A[i]
EOF
expect 4 "race: two parallel iterations touch B[0]" run "$work/race.py" --engine interp
expect 2 "no value; give --dim n=" run "$data/scale.py" --engine interp
expect 0 "Y float32 (3, 4)" run "$data/scale.py" --engine interp --dim n=3 --dim alpha=0 --out "Y=$work/zero.npy"
expect 0 "Y float32 (3, 4) sum 0 " run "$data/scale.py" --engine interp --dim n=3 --in "X=$work/zero.npy"
expect 2 "the shape differs" run "$data/scale.py" --engine interp --dim n=4 --in "X=$work/zero.npy"
expect 2 "no buffer parameter" run "$data/scale.py" --engine interp --dim n=3 --in "Q=$work/zero.npy"
expect 2 "has no symbolic extent" run "$data/scale.py" --engine interp --dim n=3 --dim q=1
# sizes beyond their types, beyond memory, and beyond patience
expect 2 "n = 4294967299 does not fit into int32" run "$data/scale.py" --dim n=4294967299
expect 2 "n = 4294967299 does not fit into int32" tune "$data/scale.py" --dim n=4294967299 --db :memory:
expect 2 "extent n = -3 is negative" run "$data/scale.py" --dim n=-3
expect 2 "extent n = -3 is negative" tune "$data/scale.py" --dim n=-3 --db :memory:
sed 's/int32()/int64()/' "$data/scale.py" > "$work/scale64.py"
for command in run tune explain; do
  expect 2 "n = 4611686018427387904: buffer" $command "$work/scale64.py" --dim n=4611686018427387904
done
cat > "$work/endless.py" <<'EOT'
@T.prim_func
def main(B: T.Buffer((1,), "float32")):
    for j in range(T.int64(4611686018427387904)):
        with T.block("B"):
            vj = T.axis.reduce(T.int64(4611686018427387904), j)
            with T.init():
                B[0] = T.float32(0)
            B[0] = B[0] + T.float32(1)
EOT
for command in run tune explain; do
  expect 2 "endless.py: loops j of 4611686018427387904 run more often" $command "$work/endless.py"
done
sed 's/4611686018427387904/9007199254740992/' "$work/endless.py" > "$work/long.py"
expect 2 "which takes more than an hour" tune "$work/long.py" --db :memory: --seconds 1
head -c 100 "$work/zero.npy" > "$work/cut.npy"
expect 2 "cut off" run "$data/scale.py" --engine interp --dim n=3 --in "X=$work/cut.npy"

# Every element type is read; vectors are a dimension more of what is given and written.
expect 0 "workload" check "$data/element_types.py"
expect 0 'S = T.alloc_buffer((8,), "float32", axis_separators=[0])' apply "$data/element_types.py" "$data/element_types.trace"
# sparse matrices: those of tests/tools/data/npz are by scipy.sparse.save_npz, five of them spoiled or of another kind
printf '%%%%MatrixMarket matrix coordinate real general\n3 4 3\n1 2 0.5\n3 1 -2\n3 4 8\n' > "$work/m.mtx"
expect 0 "Y float32 (3, 8)" run "$data/product.py" --engine interp --matrix "A=$work/m.mtx"
cat > "$work/rows.trace" <<'EOF'
b0 = sch.get_block(name="Y_o", func_name="product")
l1, = sch.get_loops(block=b0)
sch.bind(loop=l1, thread_axis="blockIdx.x")
b2 = sch.get_block(name="Y", func_name="product")
l3, l4 = sch.get_loops(block=b2)
sch.reorder(l4, l3)
sch.bind(loop=l4, thread_axis="threadIdx.x")
EOF
if command -v c++ >/dev/null; then  # a row a block, an empty one among them
  expect 0 "largest difference 0" run "$data/product.py" --engine emulate --matrix "A=$work/m.mtx" --trace "$work/rows.trace"
fi
expect 2 "dimension 0 of the parameter has extent 7" run "$data/product.py" --dim m=7 --matrix "A=$work/m.mtx"
expect 2 "no buffer parameter" run "$data/product.py" --matrix "Q=$work/m.mtx"
sed -i 's/^3 4 3$/3 4 9999/' "$work/m.mtx"
expect 2 "the number of elements is 9999" run "$data/product.py" --matrix "A=$work/m.mtx"
if "$tool" run "$data/product.py" --engine interp --matrix "A=$data/npz/csr.npz" 2>&1 | grep -q "without libzip"; then
  echo "SKIPPED: .npz, the tool was built without libzip"
else
  for format in csr csc coo; do
    expect 0 "Y float32 (20, 8)" run "$data/product.py" --engine interp --matrix "A=$data/npz/$format.npz" --out "Y=$work/$format.npy"
    cmp "$work/csr.npy" "$work/$format.npy" || failures=$((failures + 1))
  done
  expect 2 'backwards.npz, indptr.npy: element 3 is 0 after 12' run "$data/product.py" --matrix "A=$data/npz/backwards.npz"
  expect 2 "cut.npz: no .npz archive" run "$data/product.py" --matrix "A=$data/npz/cut.npz"
  expect 2 "data.npy is damaged: CRC error" run "$data/product.py" --matrix "A=$data/npz/damaged.npz"
  expect 2 "lies.npz, data.npy: the file is cut off" run "$data/product.py" --matrix "A=$data/npz/lies.npz"
  expect 2 '"dia" is not read' run "$data/product.py" --matrix "A=$data/npz/dia.npz"
fi
expect 0 "Y float32 (2, 4)" run "$data/element_types.py" --engine interp --out "Y=$work/y.npy"
expect 0 "largest difference 0" run "$data/element_types.py" --engine interp --in "B=$work/y.npy" --trace "$data/element_types.trace"

expect 2 "started by programs that tune" worker
expect 2 "or a GPU, cuda, sm_80" tune "$data/matmul.py" --target sm_99 --db :memory:
export TILEWRIGHT_CUDA_DRIVER=/nonexistent/libcuda.so.1
if [[ $("$tool" tune "$data/matmul.py" --target sm_80 --db :memory: --trials 0 2>&1) == *"NVRTC"*"cannot be opened"* ]]; then
  echo "skipped: without NVRTC nothing is built for a GPU"
else
  expect 0 "no GPU: nothing was timed" tune "$data/matmul.py" --target sm_90a --db :memory: --trials 2 --seconds 60
  expect 0 '"best_seconds": null, "built": ' tune "$data/matmul.py" --target cuda --db :memory: --trials 2 --seconds 60 --json
fi
unset TILEWRIGHT_CUDA_DRIVER
expect 2 "--seconds: a number of 0 or more is wanted, not -1" tune "$data/matmul.py" --db :memory: --seconds -1
expect 2 "--threads: a whole number from 0 to 2147483647 is wanted, not -1" explain "$data/matmul.py" --db :memory: --threads -1
expect 2 "--seconds: a number of 0 or more" model tune none.onnx --seconds -1
expect 2 "colld is none of cold, rotating, warm" tune "$data/matmul.py" --caches colld
expect 0 "warm, cold, rotating" tune --help
expect 0 "haswell" explain --help
expect 0 "sm_90a" run --help
expect 2 "--seconds" tune "$data/matmul.py" --db :memory: --seconds nan
expect 2 "--trials" tune "$data/matmul.py" --db :memory: --trials -1
expect 2 "--gain" tune "$data/matmul.py" --db :memory: --gain nan
expect 2 "--threads" run "$data/matmul.py" --threads -1
expect 2 "--threads" explain "$data/matmul.py" --threads -2
expect 2 'no record of a workload that starts with "nosuchkey", and there is no file' db why nosuchkey --db :memory:
expect 0 "s.vectorize(" explain "$data/matmul.py" --db :memory: --target haswell --cpp
expect 2 "sandybridgee" explain "$data/matmul.py" --db :memory: --target sandybridgee
expect 2 "--weights wants one number for each of the 1 files" tune "$data/matmul.py" --db :memory: --weights 1,2
expect 0 "metaschedule_cuda" space ls
expect 0 '{"space": "metaschedule_cpu", "summary"' space ls --json
expect 0 "post_order(module(inline_constant_scalars{}))" space show metaschedule_cpu
expect 0 "a function of C++" space show default_cpu
expect 0 "loop i of 128 in 4 factors, the last one at most 64" space show metaschedule_cpu "$data/matmul.py" --target haswell
expect 0 "sch.sample_perfect_tile(loop=" space show metaschedule_cpu "$data/matmul.py" --target haswell --traces
expect 0 '"count": 119, "exact": true, "fixed": false' space show metaschedule_cpu "$data/matmul.py" --target haswell --json
expect 2 "--dim m=1,2,3 has 3 extents, another one 2; give lists of one length" tune "$data/scale.py" --dim n=1,2 --dim m=1,2,3 --db :memory:
expect 2 "takes one FILE" tune "$data/matmul.py" "$data/scale.py" --dim n=1,2 --db :memory:
expect 2 "--weights wants one number for each of the 2 extents" tune "$data/scale.py" --dim n=1,2 --weights 1 --db :memory:
expect 2 "leave out --worker" tune "$data/scale.py" --dim n=1,2 --worker --db :memory:
expect 2 "reductions in order are for CPUs" tune "$data/matmul.py" --reductions in_order --target sm_80 --db :memory: --count
expect 2 "backwards is none of any_order, in_order" tune "$data/matmul.py" --reductions backwards
expect 2 'no space "nosuch"; there are default_cpu, default_gpu, metaschedule_cpu' space show nosuch
expect 2 'no space "nosuch"; there are default_cpu, default_gpu, metaschedule_cpu' tune "$data/matmul.py" --space nosuch --db :memory:
expect 2 "extent n" space show metaschedule_cpu "$data/scale.py"
expect 2 "metaschedule_cuda makes schedules for GPUs, and the target is a CPU" tune "$data/matmul.py" --space metaschedule_cuda --db :memory:
expect 2 "metaschedule_cpu makes schedules for CPUs, and the target is a GPU" tune "$data/matmul.py" --space metaschedule_cpu --target sm_80 --db :memory:
expect 0 "more than 50 programs of 50 members in 3 sketches; 0 refused" tune "$data/matmul.py" --space metaschedule_cpu --count --count-limit 50 --db :memory:
expect 0 '"members": 50' tune "$data/matmul.py" --space metaschedule_cpu --count --count-limit 50 --json --db :memory:
expect 2 "lukewarm" tune "$data/matmul.py" --db :memory: --caches lukewarm

expect 0 "+     for i_0, i_1, j, k in T.grid(" explain "$data/matmul.py" --trace "$data/tiled.trace"
expect 0 "the default schedule; nothing is recorded" explain "$data/matmul.py" --db :memory:
expect 0 "s.vectorize(" explain "$data/matmul.py" --trace "$data/tiled.trace" --cpp
expect 2 "--dim wants NAME=EXTENT, not n=x" explain "$data/scale.py" --dim n=x
expect 3 "parallel" explain "$data/matmul.py" --trace "$data/refused.trace"

expect 2 "no record to report on" report --db :memory: -o "$work/none.html"

# What is no database stays as it is, and what only looks makes nothing.
cp "$data/matmul.py" "$work/mine.py"
before=$(ls -A "$work")
for command in "db ls" "db show k" "db best k" "db why k" "db why $data/matmul.py" "db export -" "db import $data/matmul.py" "report -o $work/none.html" "explain $data/matmul.py" "tune $data/matmul.py"; do
  expect 2 "mine.py is a file without the first bytes of an SQLite database: it is no tuning database and is left as it is" $command --db "$work/mine.py"
done
export TILEWRIGHT_DB="$work/mine.py"
for command in "db ls" "db why k" "report -o $work/none.html" "explain $data/matmul.py"; do expect 2 "left as it is" $command; done
TILEWRIGHT_DB="$work/no/such/t.db"
expect 0 "nothing has been tuned yet: not read: there is no file $work/no/such/t.db" db ls
expect 0 "the default schedule; nothing is recorded" explain "$data/matmul.py"
expect 2 "no record to report on" report -o "$work/none.html"
TILEWRIGHT_DB=":memory:"
expect 0 "nothing has been tuned yet: the records of :memory: end with their process" db ls
TILEWRIGHT_DB=":$work/team.db"
expect 2 "the list \":$work/team.db\" begins with ':'" db ls
unset TILEWRIGHT_DB
expect 2 "there is no file $work/no/such/t.db" db ls --db "$work/no/such/t.db"
expect 2 "is a directory" db ls --db "$work"
cmp -s "$data/matmul.py" "$work/mine.py" || { echo "FAILED: a script was changed"; failures=$((failures + 1)); }
[ "$before" = "$(ls -A "$work")" ] || { echo "FAILED: a command that looks has made a file"; ls -A "$work"; failures=$((failures + 1)); }

# Where an LLVM can be opened, compiled code agrees with the interpreter.
if "$tool" run "$data/matmul.py" --no-check >/dev/null 2>&1; then
  expect 0 "largest difference" run "$data/matmul.py" --trace "$data/tiled.trace"
  expect 0 "largest difference 0" run "$data/element_types.py" --trace "$data/element_types.trace"
  expect 0 "us of processor time" run "$data/scale.py" --dim n=5 --time --threads 1
  expect 0 '"best_seconds"' tune "$data/matmul.py" --trials 3 --seconds 2 --threads 1 --json --db "$work/t.db"
  expect 0 '"trials": 2' tune "$data/matmul.py" --db :memory: --trials 2 --seconds 60 --worker --json
  expect 0 '"trials": 2' tune "$data/matmul.py" --db :memory: --trials 2 --seconds 60 --caches cold --json
  expect 0 '"trials": 10' tune "$data/matmul.py" --db :memory: --trials 10 --seconds 60 --strategy bayesian --cost-model ensemble --json
  examples=$(dirname "$0")/../../examples
  if command -v python3 >/dev/null; then
    outside=(tune "$data/matmul.py" --db :memory: --threads 1 --seconds 60 --json --proposer)
    expect 0 '"trials": 12' "${outside[@]}" "python3 '$examples/proposer.py'" --trials 12
    if [[ $("$tool" "${outside[@]}" "python3 '$examples/proposer.py'" --trials 12 2>&1) == *"was left"* ]]; then
      echo "FAILED: the proposer of the examples was left"
      failures=$((failures + 1))
    fi
  fi
  expect 0 'was left, and draws went on: it ended' tune "$data/matmul.py" --db :memory: --trials 2 --seconds 60 --proposer false
  expect 2 "--strategy excludes --proposer" tune "$data/matmul.py" --db :memory: --proposer false --strategy local
  expect 0 'scale.py", "trace"' tune "$data/matmul.py" "$data/scale.py" --dim n=3 --weights 3,1 --order round_robin --db "$work/s.db" --trials 4 --seconds 60 --json
  expect 0 'n=8: best ' tune "$data/scale.py" --dim n=4,8 --trials 2 --seconds 60 --db "$work/j.db"
  expect 0 'extents 4 ' db ls --db "$work/j.db"
  expect 0 '"file": "n=4"' tune "$data/scale.py" --dim n=4,8 --traces 2 --trials 2 --seconds 60 --json --db :memory:
  expect 0 '"trials": 2' tune "$data/matmul.py" --reductions in_order --trials 2 --seconds 60 --json --db :memory:
  expect 0 '"profile": {"sketch": ' tune "$data/matmul.py" --trials 2 --seconds 60 --profile --json --db :memory:
  expect 0 "compile " tune "$data/matmul.py" --trials 2 --seconds 60 --profile --db :memory:
  expect 2 "exhaustive" tune "$data/matmul.py" --strategy nosuch
  expect 0 '"end": "the budget of 3 trials is used"' tune "$data/matmul.py" --trials 3 --seconds 60 --threads 1 --json --db :memory:
  expect 2 "bayesian" tune "$data/matmul.py" --strategy nosuch
  for strategy in annealing droplet stages portfolio ppo adaptive; do
    expect 0 '"trials": 4' tune "$data/matmul.py" --db :memory: --trials 4 --seconds 60 --strategy $strategy --json
  done
  expect 0 '"trials": 12' tune "$data/matmul.py" --trials 12 --seconds 60 --threads 1 --json --db "$work/l.db"
  expect 0 "trees of " learn --db "$work/l.db" -o "$work/team.prior"
  expect 0 '"trials": 3' tune "$data/matmul.py" --trials 3 --seconds 60 --threads 1 --json --db :memory: --prior "$work/team.prior"
  for kind in graph_network mlp trace_network; do
    expect 0 "$kind of 1" learn --db "$work/l.db" -o "$work/$kind.prior" --kind $kind
    expect 0 '"trials": 3' tune "$data/matmul.py" --trials 3 --seconds 60 --threads 1 --json --db :memory: --prior "$work/$kind.prior"
  done
  expect 2 "there is no file" learn --db "$work/empty.db" -o "$work/no.prior"
  head -c 100 "$work/team.prior" >"$work/cut.prior"
  expect 0 '"trials": 3' tune "$data/matmul.py" --trials 3 --seconds 60 --threads 1 --json --db :memory: --prior "$work/cut.prior"
  expect 2 "token" worker --listen 127.0.0.1:0
  expect 2 "is no address" tune "$data/matmul.py" --worker-at nowhere
  # a shell in the place of ssh
  expect 0 '"trials": 6' tune "$data/matmul.py" --db :memory: --trials 6 --seconds 60 --threads 1 --json --worker-at "exec \"$tool\" worker" --worker-at "exec \"$tool\" worker"
  expect 4 "no worker of the fleet can be used; false 1: it does not greet" tune "$data/matmul.py" --db :memory: --trials 2 --worker-at "false 1"
  expect 0 'matmul.py: best' tune "$data/matmul.py" "$data/scale.py" --dim n=3 --db "$work/s.db" --trials 4 --seconds 60
  expect 0 "measured on" explain "$data/matmul.py" --threads 1 --db "$work/t.db"
  expect 0 "extents 128" db ls --db "$work/t.db"
  key=$("$tool" db ls --db "$work/t.db" | cut -c1-12)
  expect 0 "inner loop: " explain "$key" --db "$work/t.db"
  expect 0 "family: " explain "$key" --db "$work/t.db"
  expect 0 "bound: " explain "$key" --db "$work/t.db"
  expect 2 "leave --dim, --target and --threads out" explain "$key" --db "$work/t.db" --dim M=3
  expect 2 "no record of a workload that starts with" explain ffffffffffff --db "$work/t.db"
  expect 0 "instructions are multiply-adds" db code "$key" --db "$work/t.db" -o "$work/winner"
  [ "$(head -c 4 "$work/winner.o" | tail -c 3)" = ELF ] && grep -q "retq" "$work/winner.s" || { echo "FAILED: db code wrote no object and assembly"; failures=$((failures + 1)); }
  expect 2 "no record of a workload" db code zzz --db "$work/t.db"
  expect 0 "" db export "$work/t.jsonl" --db "$work/t.db"
  expect 0 "were there" db import "$work/t.jsonl" --db "$work/u.db"
  expect 0 "0 records added" db merge "$work/u.db" --db "$work/t.db"
  expect 0 '"digest"' db export - --db "$work/u.db"
  head -c 60000 "$work/t.db" > "$work/cut.db"
  cp "$work/cut.db" "$work/same.db"
  expect 0 "is damaged and left as it is" db import "$work/cut.db" --db "$work/fresh.db"
  cmp -s "$work/cut.db" "$work/same.db" && [ ! -e "$work/cut.db.damaged" ] || { echo "FAILED: an import changed its source"; failures=$((failures + 1)); }
  expect 0 "tuned key" report --db "$work/u.db:$work/t.db" -o "$work/both.html"
  grep -q "u.db, $work/t.db" "$work/both.html" || { echo "FAILED: the report names one of two files"; failures=$((failures + 1)); }
  expect 0 "1 tuned key" report --db "$work/t.db" -o "$work/r.html"
  for part in "1 tuned key, written" "<svg" "Convergence" "Before" "No candidate failed" "</html>"; do
    grep -q "$part" "$work/r.html" || { echo "FAILED: the report has no $part"; failures=$((failures + 1)); }
  done
  if grep -qE "https?://|src=|@import" "$work/r.html"; then echo "FAILED: the report needs a network"; failures=$((failures + 1)); fi
  expect 0 "a schedule is stored" db why "$data/matmul.py" --threads 1 --db "$work/t.db"
  expect 0 "threads: 7 wanted, 1 stored" db why "$data/matmul.py" --threads 7 --db "$work/t.db"
  expect 0 "number 1 is dense, dimensions from slow to fast 10, row-major in the record" db why "$data/matmul.py" --threads 1 --layouts "r d10 r" --db "$work/t.db"
  expect 0 "number 1 is dense" db why "$data/matmul.py" --threads 1 --layouts "A:r B:d10 C:r" --db "$work/t.db"
  expect 0 "another program" db why "$data/scale.py" --dim n=3 --db "$work/t.db"
  tvm=$data/../../search/data/tvm/dense_relu
  expect 0 "12 schedules of TVM apply to main, 12 kept" db import "$tvm/database_tuning_record.json" --threads 1 --db "$work/v.db"
  expect 0 "; TVM's own best time is " db import "$tvm/database_tuning_record.json" --threads 1 --db "$work/v.db"
  expect 0 "12 kept with TVM's times, 0 were there; 0 do not apply" db import "$tvm/database_tuning_record.json" --unmeasured --threads 2 --db "$work/w.db"
  expect 0 "extents 64 48 48 96 64 96" db ls --db "$work/v.db"
  cp "$tvm/database_tuning_record.json" "$work/alone.json"
  expect 2 "name the function with --script FILE" db import "$work/alone.json" --db "$work/v.db"
  expect 0 "12 were there" db import "$work/alone.json" --script "$tvm/script.py" --unmeasured --threads 1 --db "$work/v.db"
  expect 2 "no record applies" db import "$work/alone.json" --script "$data/matmul.py" --db "$work/v.db"
  expect 2 "there is no line 9" db import "$tvm/database_tuning_record.json" --workload 9 --db "$work/v.db"
  echo "{}" > "$work/bad.jsonl"
  expect 2 "line 1: \"workload\" is missing" db import "$work/bad.jsonl" --db "$work/u.db"
  expect 2 "no record of a workload" db show zzz --db "$work/u.db"
else
  echo "SKIPPED: the llvm engine, $("$tool" run "$data/matmul.py" --no-check 2>&1 | head -1)"
fi

networks="$data/../../model/data"
if "$tool" model info "$networks/tiny_cnn.onnx" >/dev/null 2>&1; then
  mkdir "$work/expected"
  cp "$networks/tiny_cnn.y.npy" "$work/expected/y.npy"
  run=(model run "$networks/tiny_cnn.onnx" --in "x=$networks/tiny_cnn.x.npy" --db :memory: --threads 1)
  expect 0 "Conv 4" model info "$networks/tiny_cnn.onnx"
  expect 0 "12 kernels" model info "$networks/tiny_cnn.onnx"
  expect 0 '"unsupported": []' model info "$networks/tiny_cnn.onnx" --json
  expect 0 "Conv_Add_Relu" model info "$networks/tiny_cnn.onnx" --print
  expect 0 "before all passes:" model info "$networks/tiny_cnn.onnx" --passes
  expect 0 "after replace_nan: the same" model info "$networks/tiny_cnn.onnx" --passes
  expect 0 "after fuse:" model info "$networks/tiny_cnn.onnx" --passes
  expect 0 "y float32 (1, 5)" "${run[@]}" --out "y=$work/y.npy"
  expect 0 "largest difference" "${run[@]}" --expect "$work/expected"
  expect 0 "largest difference" "${run[@]}" --expect "$work/expected" --plain
  expect 0 "for sm_90a: " model info "$networks/tiny_cnn.onnx" --target sm_90a --db :memory:
  expect 0 '"gpu": {"architecture": "sm_80", "starts": ' model info "$networks/tiny_cnn.onnx" --target sm_80 --db :memory: --json
  emulate=(model run "$networks/tiny_cnn.onnx" --in "x=$networks/tiny_cnn.x.npy" --db :memory: --target sm_90a --engine emulate)
  expect 0 "largest difference" "${emulate[@]}" --expect "$work/expected"
  expect 2 "nothing can be tuned in the emulator" "${emulate[@]}" --seconds 1
  expect 2 "kernels of GPUs are emulated" "${run[@]}" --engine emulate
  expect 2 "a model cannot be made for sm_1; targets: host, cuda, sm_80" "${run[@]}" --target sm_1
  expect 2 "a GPU stands alone" model tune "$networks/tiny_cnn.onnx" --db :memory: --target host --target sm_80
  save=(model save "$networks/tiny_cnn.onnx" --to "$work/g.twm" --db :memory: --target sm_80)
  expect 2 "a GPU stands alone" "${save[@]}" --target x86-64-v3
  if [[ $("$tool" "${save[@]}" 2>&1) == *"NVRTC"*"cannot be opened"* ]]; then
    echo "skipped: without NVRTC no network is saved for a GPU"
  else
    expect 0 "for nvidia:sm_80: " model info "$work/g.twm"
    saved=(model run "$work/g.twm" --in "x=$networks/tiny_cnn.x.npy")
    TILEWRIGHT_CUDA_DRIVER="$work/none" expect 2 "g.twm: it was made for sm_80, and " "${saved[@]}"
    expect 2 "which is not emulated" "${saved[@]}" --engine emulate
    expect 2 "leave --target out" "${saved[@]}" --target sm_80
  fi
  TILEWRIGHT_CUDA_DRIVER="$work/none" expect 4 "model tiny_cnn is for cuda, which cannot be used here: " "${run[@]}" --target cuda
  expect 2 'input "x" is missing' model run "$networks/tiny_cnn.onnx" --db :memory:
  report=(model report "$networks/tiny_cnn.onnx" --db :memory: --threads 1)
  expect 0 "% of the roofline  untuned  " "${report[@]}"
  expect 0 '{"kernels": [{"operator": "' "${report[@]}" --json
  expect 0 '"origin": "untuned"}], "seconds": ' "${report[@]}" --json
  expect 2 "the extents batch of graph tiny_attention are open" model info "$networks/tiny_attention.onnx"
  expect 0 "kernels" model info "$networks/tiny_attention.onnx" --extent batch=3
  expect 2 "damaged or no ONNX model" model info "$data/matmul.py"
  expect 2 "--extent batch=1e3: not a number" model info "$networks/tiny_attention.onnx" --extent batch=1e3
  expect 2 "extent batch is -1; extents are positive" model info "$networks/tiny_attention.onnx" --extent batch=-1
  expect 2 "bytes, which is more memory than there is" model info "$networks/tiny_attention.onnx" --extent batch=100000000000
  if "$tool" model save "$networks/tiny_cnn.onnx" --to "$work/m.twm" --db :memory: --threads 1 >/dev/null 2>&1; then
    cp "$work/m.twm" "$work/renamed.onnx"
    for file in m.twm renamed.onnx; do
      expect 0 ": 12 kernels, " model info "$work/$file"
      expect 0 "  output y float32 (1, 5)" model info "$work/$file"
      expect 0 '"saved_model": "tiny_cnn", "file_bytes": ' model info "$work/$file" --json
      expect 0 "y float32 (1, 5)" model run "$work/$file" --in "x=$networks/tiny_cnn.x.npy"
      for command in tune report "save --to $work/n.twm"; do
        expect 2 "a saved model, whose kernels are fixed; give the ONNX file" model $command "$work/$file" --db :memory:
      done
    done
    head -c 5000 "$work/m.twm" > "$work/cut.twm"
    expect 2 "cut.twm: " model info "$work/cut.twm"
    expect 2 "the extents of a saved model are fixed" model info "$work/m.twm" --extent batch=2
  fi
  save=(model save "$networks/tiny_cnn.onnx" --db :memory: --threads 1)
  expect 0 "bytes" "${save[@]}" --to "$work/a.twm" --target host --target x86-64
  expect 0 "largest difference" model run "$work/a.twm" --in "x=$networks/tiny_cnn.x.npy" --expect "$work/expected"
  expect 2 'target "pdp11" is not known' "${save[@]}" --to "$work/b.twm" --target pdp11
  cp "$networks/tiny_cnn.x.npy" "$work/expected/y.npy"
  expect 2 "its shape is" "${run[@]}" --expect "$work/expected"
else
  echo "SKIPPED: tilewright model, $("$tool" model info "$networks/tiny_cnn.onnx" 2>&1 | head -1)"
fi

[ "$failures" -eq 0 ] && echo "the tool behaves"
exit "$failures"
