#!/usr/bin/env bash
# mpi.sh TOOL DATA: one search whose candidates the ranks of mpirun compile and time.
set -u
tool=$1 data=$2 failures=0
command -v mpirun >/dev/null || { echo "SKIPPED: no mpirun (Debian: openmpi-bin)"; exit 0; }
"$tool" run "$data/matmul.py" --no-check >/dev/null 2>&1 || { echo "SKIPPED: no LLVM"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launch=(timeout 300 mpirun --oversubscribe --bind-to none --enable-recovery)
tuning=("$tool" tune "$data/matmul.py" --threads 1 --seconds 200 --seed 7 --strategy replay_traces)

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# The traces that were measured do not depend on the number of ranks.
for ranks in 1 2 4; do
  "${launch[@]}" -n $ranks "${tuning[@]}" --trials 12 --json --db "$work/$ranks.db" >"$work/$ranks.out" 2>&1 </dev/null ||
    { fail "$ranks ranks"; cat "$work/$ranks.out"; }
  grep -q '"trials": 12' "$work/$ranks.out" || fail "$ranks ranks made no 12 trials"
  grep -c '"best_seconds".*"checked"' "$work/$ranks.out" | grep -qx 1 || fail "$ranks ranks gave no single summary"
  "$tool" db export - --db "$work/$ranks.db" | grep -o '"trace": *"[^"]*"' | sort -u >"$work/$ranks.traces"
  [ -s "$work/$ranks.traces" ] || fail "$ranks ranks left no traces in the database"
done
cmp -s "$work/1.traces" "$work/2.traces" || fail "two ranks measured other candidates than one"
cmp -s "$work/1.traces" "$work/4.traces" || fail "four ranks measured other candidates than one"

# A rank that is killed costs what it ran, and the others go on.
cat >"$work/rank.sh" <<EOF
#!/bin/sh
[ "\$OMPI_COMM_WORLD_RANK" = 2 ] && echo \$\$ >"$work/victim"
exec "\$@"
EOF
chmod +x "$work/rank.sh"
"${launch[@]}" -n 3 "$work/rank.sh" "${tuning[@]}" --trials 60 --json --db "$work/killed.db" >"$work/killed.out" 2>&1 </dev/null &
running=$!
for _ in $(seq 600); do
  grep -q '"round"' "$work/killed.out" 2>/dev/null && break
  sleep 0.1
done
kill -9 "$(cat "$work/victim")" || fail "the rank to be killed was gone before the session ended"
wait $running
grep -q '"trials": 60' "$work/killed.out" || { fail "a session with a killed rank did not end"; cat "$work/killed.out"; }

[ $failures -eq 0 ] && echo "all passed"
exit $failures
