#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whatever is printed, as JSON, CSV, JSON lines or NPY, reads back to the same bits; weights survive
# every conversion; derivatives agree whatever computes them, for all examples.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# Three samples of n numbers and a label.
make_data() {
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < n; i++) printf "x%d,", i
		print "label"
		for (s = 0; s < 3; s++) { for (i = 0; i < n; i++) printf "%.6f,", sin(1 + 7 * s + 3 * i); print s % 2 ? 1 : -1 }
	}'
}
# Numbers one on a line, at full precision: of JSON, of the last columns of CSV, of NPY (float64). Some awks read -0 as 0, and -0.0 not.
of_json() { tr -c '0-9eE.+-' '\n' | grep -E '^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$' | awk '{ printf "%.17g\n", $1 + 0 }'; }
of_csv() { awk -F, -v from="$1" 'NR > 1 { for (i = from; i <= NF; i++) printf "%.17g\n", $i + 0 }'; }
of_npy() {
	header=$(od -An -tu2 -j8 -N2 "$1")
	od -An -v -tf8 -w8 -j$((10 + header)) "$1" | awk '{ printf "%.17g\n", $1 + 0 }'
}

for model in cluster/cluster cluster-hybrid/hybrid cluster-three-filters/three-filters cluster-legacy/legacy digits/digits; do
	name=${model#*/}
	file=$top_srcdir/examples/$model.qcnn
	columns=$("$QCNN" check --json "$file" | sed 's/.*"inputs": *{[^}]*"shape": *\[\([0-9]*\)\].*/\1/')
	make_data "$columns" | sed 's/,[^,]*$//' >data.csv
	run() { "$QCNN" run -q --data=data.csv "$@" "$file"; }

	for emit in outputs readouts jacobian readout-jacobian state probabilities; do
		case $name-$emit in
		three-filters-state | three-filters-probabilities) continue ;; # several circuits, several arrays
		esac
		case $emit in outputs | readouts) from=2 ;; *) from=3 ;; esac
		for precision in single double; do
			same=0
			run --precision=$precision --emit=$emit >json &&
				run --precision=$precision --emit=$emit --format=csv >csv &&
				run --precision=$precision --emit=$emit --format=npy -o npy || same=1
			of_csv $from <csv >want
			[ -s want ] || same=1
			of_npy npy | cmp -s - want || same=1
			if [ $emit = state ]; then # JSON has all real parts first
				sed 's/.*"re": *\(.*\), *"im".*/\1/' json | of_json >re
				sed 's/.*"im": *//' json | of_json >im
				paste -d '\n' re im | cmp -s - want || same=1
			else
				sed 's/"schema": *1//' json | of_json | cmp -s - want || same=1
			fi
			tap_result $same "$name: $emit, $precision: JSON, CSV and NPY have the same bits"
		done
	done

	# ref, every instruction set and every method against ref's adjoint.
	run --emit=jacobian --format=csv --device=ref | of_csv 3 >want
	for device in ref baseline avx2 avx512; do
		option="--device=cpu --isa=$device"
		[ $device != ref ] || option=--device=ref
		if ! run $option >/dev/null 2>&1; then
			tap_skip "this machine lacks $device"
			continue
		fi
		for method in adjoint shift difference; do
			run $option --precision=double --emit=jacobian --format=csv --gradient=$method | of_csv 3 >got
			paste got want | awk -v most="$([ $method = difference ] && echo 1e-6 || echo 1e-12)" '
				NF != 2 || !(($1 - $2) ^ 2 <= most ^ 2) { bad = 1 } END { exit bad || NR == 0 }'
			tap_result $? "$name: derivatives by $method on $device"
		done
		run $option --emit=outputs --format=csv | of_csv 2 >got
		run --device=ref --emit=outputs --format=csv | of_csv 2 >exact
		paste got exact | awk 'NF != 2 || !(($1 - $2) ^ 2 <= 2e-6 ^ 2) { bad = 1 } END { exit bad || NR == 0 }'
		tap_result $? "$name: outputs in single on $device"
	done

	# Weights through .npz and .json and back: a run from each gives the same bits.
	make_data "$columns" >train.csv
	cat >config.yaml <<-END
	model: {file: '$file'}
	data: {train: train.csv}
	train: {epochs: 2, batch_size: 2}
	END
	"$QCNN" train -q -o w.bin config.yaml || tap_result 1 "$name trains"
	run --emit=jacobian --precision=double --weights=w.bin >want
	for ending in npz json; do
		"$QCNN" weights convert w.bin w.$ending
		run --emit=jacobian --precision=double --weights=w.$ending >got
		tap_ok "$name: weights as .$ending give the same bits" cmp got want
	done
	"$QCNN" weights show --json w.bin | grep -o '"params": {.*}, "metadata"' | sed 's/"shape": *\[[0-9, ]*\]//g; s/"[^"]*"//g' | of_json >values
	tap_ok "$name: show prints numbers" test -s values
	awk 'BEGIN { printf "[" } { printf "%s%s", (NR > 1 ? ", " : ""), $1 } END { print "]" }' values >flat.json
	run --emit=jacobian --precision=double --weights=flat.json >got
	tap_ok "$name: what show prints, as a flat list, gives the same bits" cmp got want

	# What infer writes, in each form, and what it prints, in 6 digits.
	for ending in npy csv jsonl; do
		"$QCNN" infer --split=train -o "o.$ending" w.bin >/dev/null
	done
	of_npy o.npy >want
	# csv_outputs SEPARATOR FILE: the columns `output`.
	csv_outputs() { awk -F"$1" -v f="$3" '$1 == "sample" { for (i = 1; i <= NF; i++) o[i] = $i ~ /^output/ }
		$1 ~ /^[0-9]/ { for (i = 1; i <= NF; i++) if (o[i]) printf f "\n", $i }' "$2"; }
	same=0
	csv_outputs , o.csv %.17g | cmp -s - want || same=1
	"$QCNN" infer --split=train w.bin >out
	csv_outputs '	' out %.6g >short
	awk '{ printf "%.6g\n", $1 }' want | cmp -s - short || same=1
	sed 's/"labels".*//; s/"class".*//; s/"sample": *[0-9]*//' o.jsonl | of_json | cmp -s - want || same=1
	"$QCNN" infer --split=train --json w.bin | sed 's/"labels".*//; s/"schema": *1//' | of_json | cmp -s - want || same=1
	tap_result $same "$name: infer's outputs have the same bits in all forms"
done
tap_done
