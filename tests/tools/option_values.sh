#!/usr/bin/env bash
# option_values.sh TOOL: every option that the tool's own help says takes a number refuses what is none, or
# is out of its range: exit code 2, a short text that names the option and what was written.
set -u
tool=$1 failures=0 options=0 commands=0

# names of the subcommands that the help of a command lists
subcommands() { "$tool" "$@" --help 2>&1 | sed -n '/^Subcommands:/,$s/^  \([a-z_]\{1,\}\)  *[A-Z].*/\1/p'; }

# lines "OPTION TYPE" of a command, for its numbers
numbers() { "$tool" "$@" --help 2>&1 | sed -nE 's/^  (-[a-z],)?(--[a-z-]+) (INT|UINT|FLOAT)([ :=].*)?$/\2 \3/p'; }

refuses() {  # VALUE OPTION COMMAND...
  local value=$1 option=$2 text status
  shift 2
  text=$(timeout 20 "$tool" "$@" "$option" "$value" 2>&1 </dev/null)
  status=$?
  if [ "$status" -ne 2 ] || [[ "$text" != *"$option"* ]] || [[ "$text" != *"not ${value:-nothing}"* && "$text" != *"$option = $value"* ]] || [ "${#text}" -gt 200 ]; then
    echo "FAILED: $* $option \"$value\" gave $status, wanted 2 and a line about the value:"
    echo "$text" | head -3
    failures=$((failures + 1))
  fi
}

walk() {  # COMMAND...
  local option kind name
  commands=$((commands + 1))
  while read -r option kind; do
    options=$((options + 1))
    for value in nan inf -1 1e400 abc "" "1 2" 0x10; do refuses "$value" "$option" "$@"; done
    if [ "$kind" != FLOAT ]; then
      for value in 99999999999999999999 1e3 0.5; do refuses "$value" "$option" "$@"; done
    fi
  done < <(numbers "$@")
  for name in $(subcommands "$@"); do walk "$@" "$name"; done
}

for name in $(subcommands); do walk "$name"; done
if [ "$commands" -lt 12 ] || [ "$options" -lt 25 ]; then
  echo "FAILED: the help lists $commands commands with $options numbers, which is less than there are"
  failures=$((failures + 1))
fi
[ "$failures" -eq 0 ] && echo "$options options of $commands commands refuse what is no number of theirs"
exit "$failures"
