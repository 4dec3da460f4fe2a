#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The times of kinds of matrices in a profile beside the samples that perf takes of the same run, by function: shares
# within a tenth of each other, or within 1 %.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

perf record -o /dev/null true >/dev/null 2>&1 || tap_skip_all "perf does not run here"

# The functions of each kind of matrix: kernels, and what looks up and converts the factors of diagonals.
functions() {
	case $1 in
	dense) echo 'apply|apply_ones|apply_on_zero|apply_table|unapply|anti_hermitian|transition' ;;
	diagonal) echo 'scale|unscale|table_one|table_scale|cpu_step_phases|store|fetch' ;;
	esac
}
# Per cent of the samples.
by_perf() { grep -E "^($(functions "$1")) " symbols | awk '{ s += $2 } END { print s + 0 }'; }
# Per cent of the wall time.
in_profile() {
	python3 - "$1" <<'END'
import json, sys
p = json.load(open("profile.json"))
print(100 * sum(f["seconds"] for f in p["families"] if f["family"].startswith(sys.argv[1])) / p["wall_seconds"])
END
}

for row in "8 qcnn 1024" "20 qcnn 1" "18 qft 1"; do
	set -- $row
	"$QCNN" bench --show --circuit "$2" --qubits "$1" >model.qcnn
	perf record -F 2000 -o perf.data "$QCNN" profile --no-limits --level=matrices --json --seconds 8 --threads 1 \
		--gradient --batch "$3" model.qcnn >profile.json 2>perf.err
	perf report -i perf.data --stdio --no-children -g none 2>/dev/null | awk '$1 ~ /%$/ { print $5, $1 + 0 }' >symbols
	# Of both kinds together: perf samples the start of the program, too.
	for kind in dense diagonal; do
		line=$(echo "$(in_profile dense) $(in_profile diagonal) $(by_perf dense) $(by_perf diagonal)" |
			awk -v k=$kind '{ a = k == "dense" ? $1 : $2; b = k == "dense" ? $3 : $4; print 100 * a / ($1 + $2), 100 * b / ($3 + $4) }')
		ours=${line% *} theirs=${line#* }
		tap_ok "$2, $1 qubits, $kind: $ours % in the profile, $theirs % by perf" \
			awk "BEGIN { d = $ours - $theirs; d = d < 0 ? -d : d; exit !(d <= 1 || d <= 0.1 * $theirs) }"
	done
done
tap_done
