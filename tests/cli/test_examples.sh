#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every example shows the result that its file `expect` states; the digits over ten seeds.
. "$top_srcdir/tests/tap.sh"

examples=$top_srcdir/examples

# json FILE KEY: the number of a key in one line of JSON.
json() { sed -n "s/.*\"$2\": *\\([-0-9.e+]*\\).*/\\1/p" "$1" | tail -1; }

# fact KEY: a value of the run that just ended.
fact() {
	case $1 in
	weights) "$QCNN" weights show --json weights.bin | tr '{' '\n' | sed -n 's/.*"shape": *\[\([0-9, ]*\)\].*/\1/p' |
		awk -F, '{ n = 1; for (i = 1; i <= NF; i++) if ($i != "") n *= $i; sum += n } END { print sum }' ;;
	train_*) json runs/latest/metrics.jsonl "${1#train_}" ;;
	infer_*) json infer.json "${1#infer_}" ;;
	esac
}

holds() { awk -v a="$1" -v b="$3" "BEGIN { exit !(a != \"\" && a $2 b) }"; }

# check_expect NAME: each line of its `expect`.
check_expect() {
	while read -r key comparison number; do
		case $key in '' | '#'*) continue ;; esac
		[ "$comparison" = = ] && comparison===
		value=$(fact "$key")
		tap_ok "$1: $key is $value, $comparison $number" holds "$value" "$comparison" "$number"
	done <"$examples/$1/expect"
}

for dir in "$examples"/*/; do
	name=$(basename "$dir")
	for file in README.md config.yaml expect; do
		tap_ok "$name has $file" test -f "$dir/$file"
	done
	tap_ok "$name trains" "$QCNN" train "$dir/config.yaml" --set log.dir="$PWD/runs" -o weights.bin -q
	# the best start's line is last where there is one start; else the record of the run has it
	[ "$(wc -l <runs/latest/metrics.jsonl)" -gt 0 ] || tap_result 1 "$name: metrics.jsonl has lines"
	"$QCNN" infer weights.bin --data-dir "$dir" --json >infer.json 2>infer.err
	tap_result $? "$name infers" || sed 's/^/# /' infer.err
	sed -n 's/.*"metrics":{\([^}]*\)}.*/{\1}/p' runs/latest/run.json >best.json
	train_loss=$(json best.json loss)
	echo "{\"loss\": $train_loss, \"sign_accuracy\": $(json best.json sign_accuracy)}" >>runs/latest/metrics.jsonl
	check_expect "$name"
	# what training said of the validation samples, inference says to the last digit
	"$QCNN" infer weights.bin --data-dir "$dir" --split validation --json >infer.json 2>/dev/null
	tap_is "$(json infer.json loss)" "$(json best.json val_loss)" "$name: infer prints training's validation loss, to the last digit"
	rm -rf runs weights.bin
done

# Many seeds are about numbers, not about memory.
[ -z "${QCNN_SANITIZED:-}" ] || tap_done

# Handwritten digits: test accuracy over seeds 1 to 10.
for seed in 1 2 3 4 5 6 7 8 9 10; do
	"$QCNN" train "$examples/digits/config.yaml" --set log.dir="$PWD/runs" --set run.seed=$seed -o digits.bin -q &&
		"$QCNN" infer digits.bin --data-dir "$examples/digits" --json >infer.json && json infer.json sign_accuracy
done | sort -n >accuracy
tap_is "$(wc -l <accuracy | tr -d ' ')" 10 "digits: ten seeds ran"
tap_ok "digits: worst test accuracy $(head -1 accuracy) >= 0.95" holds "$(head -1 accuracy)" '>=' 0.95
median=$(awk '{ a[NR] = $1 } END { print (a[5] + a[6]) / 2 }' accuracy)
tap_ok "digits: median test accuracy $median >= 0.97" holds "$median" '>=' 0.97

# The cluster example as shipped, ten seeds: a good start is found.
for seed in 1 2 3 4 5 6 7 8 9 10; do
	"$QCNN" train "$examples/cluster/config.yaml" --set log.dir="$PWD/runs" --set run.seed=$seed -q &&
		sed -n 's/.*"metrics":{\([^}]*\)}.*/{\1}/p' runs/latest/run.json >best.json && json best.json loss
done >losses
good=$(awk '$1 < 0.35 { n++ } END { print n + 0 }' losses)
tap_ok "cluster: $good of 10 seeds reach a loss below 0.35 (at least 9)" test "$good" -ge 9

tap_done
