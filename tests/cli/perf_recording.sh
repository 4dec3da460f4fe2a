#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What it costs to record, and to be ready to: the median over pairs of calls with and without.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

recording=$top_builddir/tests/bench/recording

# most NAME: per cent that it may cost
most() {
	case $1 in
	off) echo 0.5 ;;
	attachable) echo 1 ;;
	phases | layers) echo 2 ;;
	matrices) echo 10 ;;
	esac
}

for row in 8:1024 20:1; do
	qubits=${row%:*} batch=${row#*:}
	"$QCNN" bench --show --circuit qcnn --qubits "$qubits" >model.qcnn
	"$recording" model.qcnn "$batch" 1 30 >out
	for name in off attachable phases layers matrices; do
		line=$(grep "^$name" out)
		cost=$(echo "$line" | sed 's/.*median \([0-9.]*\) .*/\1/')
		tap_ok "$qubits qubits, batch $batch: at most $(most $name) %: $line" \
			awk "BEGIN { exit !(($cost - 1) * 100 <= $(most $name)) }"
	done
done
tap_done
