#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The limits that info measures agree with those of a program of another hand, machine_ceiling.c beside the reference numbers.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

source=$QCNN_SHARED/tools/machine_ceiling.c
[ -f "$source" ] || tap_skip_all "no machine_ceiling.c in $QCNN_SHARED/tools"
grep -q -m1 avx512f /proc/cpuinfo || tap_skip_all "this machine lacks AVX-512, which machine_ceiling.c is written for"
[ "$(nproc)" -ge 2 ] || tap_skip_all "machine_ceiling.c wants two processors"
${CC:-cc} -O3 -march=native -fopenmp -o ceiling "$source" || tap_skip_all "machine_ceiling.c does not build"

# Turn by turn: each turn gives the best of its runs, and the median of the turns counts.
turns=7
for turn in $(seq $turns); do
	./ceiling | awk '/scale GB/ { print key = "stream " $2; x = $5 } /GFLOPS/ { key = "fma " $2; x = $4 } x > best[key] { best[key] = x } { x = 0 }
		END { for (key in best) print key, "theirs", best[key] }' >>numbers
	"$QCNN" info --measure --threads 2 --json | tr '{' '\n' | awk -F '[:,]' '/stream_gb_s/ {
		for (k = 1; k < NF; k++) { if ($k ~ /"threads"/) t = $(k + 1) + 0; if ($k ~ /stream_gb_s/) s = $(k + 1); if ($k ~ /gflop_s_single/) f = $(k + 1) }
		print "stream", t, "ours", s; print "fma", t, "ours", f }' >>numbers
done
# median WHAT WHOSE
median() { awk -v what="$1" -v whose="$2" '$1 " " $2 == what && $3 == whose { print $4 }' numbers | sort -g | sed -n "$((turns / 2 + 1))p"; }
for what in "stream 1" "stream 2" "fma 1" "fma 2"; do
	ours=$(median "$what" ours) theirs=$(median "$what" theirs)
	tap_ok "$what: $ours, theirs $theirs, within 5 %" awk -v a="$ours" -v b="$theirs" 'BEGIN { exit !(b > 0 && a / b < 1.05 && b / a < 1.05) }'
done
sed 's/^/# /' numbers
tap_done
