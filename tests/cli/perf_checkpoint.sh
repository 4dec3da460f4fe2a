#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a checkpoint after every update costs, beside a bare write + fsync + rename + fsync of that size: a small one,
# and one of megabytes.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner
plain="--set=log.report=false --set=log.tensorboard=false --set=train.batch_size=8"

now() { date +%s%N; }
train() { "$QCNN" train -q --fresh $plain "$@" config.yaml; }

# cost NAME UPDATES: UPDATES updates with a checkpoint after each. Turns by turns, so that what else the disk does hits
# both; the median of the ratios counts.
cost() {
	rm -rf size turns
	# The size of one; it lies there until the run has finished.
	"$QCNN" train -q $plain --set=train.epochs=1000000 --set=log.checkpoint_steps=1 --set=log.dir=size config.yaml 2>/dev/null &
	pid=$!
	tap_until 'test -s size/cluster-*/checkpoint/1.bin'
	kill -s KILL $pid
	wait $pid 2>/dev/null
	size=$(wc -c <"$(ls size/cluster-*/checkpoint/1.bin)")
	rm -rf size
	for turn in 1 2 3 4 5 6 7; do
		a=$(now)
		train --set=log.checkpoint_seconds=0 --set=train.epochs=1000 --set=train.max_steps="$2"
		b=$(now)
		train --set=log.checkpoint_seconds=0 --set=train.epochs=1000 --set=train.max_steps="$2" --set=log.checkpoint_steps=1
		c=$(now)
		bare=$("$top_builddir/tests/cli/bare_write" . "$size" "$2")
		awk -v a="$a" -v b="$b" -v c="$c" -v bare="$bare" -v n="$2" 'BEGIN { ours = (c - 2 * b + a) / n / 1e9; printf "%.3f %.9f %.9f\n", ours / bare, ours, bare }' >>turns
		rm -rf runs
	done
	ratio=$(sort -g turns | sed -n '4s/ .*//p')
	tap_ok "a checkpoint of $size bytes after every update, $1: $ratio times the bare write" awk -v r="$ratio" 'BEGIN { exit !(r > 0.2 && r <= 1.3) }'
	sed 's/^/# /' turns
}

cost "four qubits" 400
sed 's/^head .*/head { dense(1000, tanh); dense(600, tanh); dense(1, tanh); }/' cluster.qcnn >large.qcnn && mv large.qcnn cluster.qcnn
plain="$plain --set=data.rounds=300"
cost "a head of 600,000 weights" 40
tap_done
