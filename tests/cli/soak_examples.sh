#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The examples over many seeds: how often a start of `cluster` succeeds, and the medians of the models with heads.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

examples=$top_srcdir/examples

# results EXAMPLE LAST [options]: loss and validation accuracy of seeds 1 to LAST, a line each.
results() {
	name=$1 last=$2
	shift 2
	seed=1
	while [ $seed -le "$last" ]; do
		"$QCNN" train "$examples/$name/config.yaml" --set log.dir="$PWD/runs" --set run.seed=$seed -q "$@" || return 1
		sed -n 's/.*"metrics": {.*"loss": \([-0-9.e]*\).*"val_loss".*"val_sign_accuracy": \([0-9.]*\).*/\1 \2/p' runs/latest/run.json
		rm -rf runs
		seed=$((seed + 1))
	done
}

median() { sort -n | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }
between() { awk -v x="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(x != "" && x >= a && x <= b) }'; }

results cluster 200 --set train.restarts=1 >one
tap_is "$(wc -l <one | tr -d ' ')" 200 "cluster: 200 seeds with one start ran"
share=$(awk '$1 < 0.35 { n++ } END { print n / NR }' one)
tap_ok "cluster: share below 0.35 with one start is $share, between 0.40 and 0.58" between "$share" 0.40 0.58

results cluster 200 >many
tap_is "$(wc -l <many | tr -d ' ')" 200 "cluster: 200 seeds as shipped ran"
share=$(awk '$1 < 0.35 { n++ } END { print n / NR }' many)
tap_ok "cluster: share below 0.35 as shipped is $share, at least 0.95" between "$share" 0.95 1

for example in 'cluster-hybrid 0.155 0.215' 'cluster-three-filters 0.144 0.204'; do
	set -- $example
	results "$1" 50 >head
	loss=$(awk '{ print $1 }' head | median) accuracy=$(awk '{ print $2 }' head | median)
	tap_ok "$1: median training loss $loss over 50 seeds, between $2 and $3" between "$loss" "$2" "$3"
	tap_ok "$1: median validation accuracy $accuracy, at least 0.95" between "$accuracy" 0.95 1
done

tap_done
