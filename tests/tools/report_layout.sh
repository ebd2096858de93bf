#!/bin/sh
# The page of `report` in a browser: schedules stand side by side, and nothing has to be scrolled sideways.
#     report_layout.sh TOOL DATABASE
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "SKIPPED: no chromium is installed"
  exit 0
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$2" "$work/t.db" && "$1" report --db "$work/t.db" -o "$work/page.html" || exit 1
cat >> "$work/page.html" <<'SCRIPT'
<script>
const boxes = [...document.querySelectorAll('.pair')]
  .map(pair => [...pair.children].map(child => child.getBoundingClientRect()));
const beside = boxes.length > 0 && boxes.every(([a, b]) => Math.abs(a.top - b.top) < 1 && a.right <= b.left);
const scrolls = e => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1;
const bars = [...document.querySelectorAll('.pair pre')]
  .filter(e => scrolls(e) && getComputedStyle(e).overflow !== 'visible').length;
const page = document.documentElement.scrollWidth > innerWidth;
document.body.append(`layout at ${innerWidth}: beside ${beside}, bars ${bars}, page scrolls ${page};`);
</script>
SCRIPT
status=0
look() {  # WIDTH BESIDE
  found=$(timeout 100 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" \
    --window-size="$1,900" --dump-dom "file://$work/page.html" 2> "$work/log" |
    grep -o "layout at [^;]*;" | tail -n 1)
  if [ -z "$found" ]; then
    echo "SKIPPED: the browser shows nothing: $(tail -n 1 "$work/log")"
    exit 0
  fi
  echo "$found"
  [ "$found" = "layout at $1: beside $2, bars 0, page scrolls false;" ] || status=1
}
look 1440 true
look 1000 true
look 500 false
exit $status
