#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a checkpoint after every update costs, beside a bare write + fsync + rename + fsync of that size.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner

now() { date +%s%N; }
train() { "$QCNN" train -q --fresh --set=train.epochs=100 --set=log.report=false --set=log.tensorboard=false "$@" config.yaml; }

# The size of one; it lies there until the run has finished.
sh -c "exec '$QCNN' train -q --set=train.epochs=1000000 --set=log.checkpoint_steps=1 --set=log.dir=size config.yaml" 2>/dev/null &
pid=$!
tap_until 'test -s size/cluster-*/checkpoint/1.bin'
kill -s KILL $pid
size=$(wc -c <"$(ls size/cluster-*/checkpoint/1.bin)")

# Turns by turns, so that what else the disk does hits both; 400 updates each. The median of the ratios counts.
for turn in 1 2 3 4 5 6 7; do
	a=$(now)
	train --set=log.checkpoint_seconds=0
	b=$(now)
	train --set=log.checkpoint_seconds=0 --set=log.checkpoint_steps=1
	c=$(now)
	bare=$("$top_builddir/tests/cli/bare_write" . "$size" 400)
	awk -v a="$a" -v b="$b" -v c="$c" -v bare="$bare" 'BEGIN { ours = (c - 2 * b + a) / 400e9; printf "%.3f %.9f %.9f\n", ours / bare, ours, bare }' >>turns
done
ratio=$(sort -g turns | sed -n '4s/ .*//p')
tap_ok "a checkpoint of $size bytes after every update: $ratio times the bare write" awk -v r="$ratio" 'BEGIN { exit !(r > 0.2 && r <= 1.3) }'
sed 's/^/# /' turns
tap_done
