#!/usr/bin/env bash
# tilewright tune for another architecture, on a worker in an emulator, and what its database gives.
# tool.sh TILEWRIGHT OBJECT_WORKER
set -euo pipefail
tool=$1 worker=$2
for program in qemu-aarch64 aarch64-linux-gnu-objdump; do
  command -v $program >/dev/null || { echo "SKIPPED: $program is missing"; exit 0; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cd "$work"
cat > product.py <<'PROGRAM'
@T.prim_func
def main(A: T.Buffer((24, 32), "float32"), B: T.Buffer((32, 40), "float32"), C: T.Buffer((24, 40), "float32")):
    for i, j, k in T.grid(24, 40, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
PROGRAM
if "$tool" tune product.py --target neoverse-n1 --db one.db --trials 2 > out 2>&1; then
  [ "$(uname -m)" = aarch64 ] || fail "code that nothing here runs was tuned"
else
  grep -q -e "--worker-at" out || fail "nothing is said about workers: $(cat out)"
fi
"$tool" tune product.py --target neoverse-n1 --db one.db --trials 6 --threads 1 --seconds 100 --json \
  --worker-at "qemu-aarch64 -cpu max,sve-default-vector-length=16 $worker" > out 2> said ||
  fail "no session: $(cat out said)"
tail -1 out | grep -q '"trials": 6,' || fail "other trials: $(tail -1 out)"
"$tool" db ls --db one.db --json > records
grep -q '"isa": "aarch64:+dotprod,+fullfp16,+neon:128"' records || fail "records: $(cat records)"
grep -q '"cpu": "AArch64"' records || fail "measured elsewhere: $(cat records)"
key=$(sed -n 's/.*"workload": "\([0-9a-f]*\)".*/\1/p' records | head -1)
"$tool" db code "$key" --db one.db -o kernel > out || fail "no code: $(cat out)"
aarch64-linux-gnu-objdump -d kernel.o > listing  # grep -q would end a pipe before its writer
grep -q 'fmla.*v[0-9]*\.4s' listing || fail "no code with vectors: $(cat listing)"
grep -q 'fmla' kernel.s || fail "no assembly"
echo "PASSED"
