#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A thousand starts of workers on four hosts, and some of 24 through one sshd as it is delivered: none may fail.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"

lab_open 4 || tap_skip_all "$lab_why"
starts=${QCNN_STARTS:-1000}
cp "$top_srcdir"/examples/cluster/* .
train() {
	(lab_exec 0 "$QCNN" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false --set train.restarts=1 \
		--set train.max_steps=1 --set run.threads=1 --fresh --no-progress -o "$@" >out 2>err)
}
# several N HOSTS: as many starts, each of which is right; leaves the seconds that they took.
several() {
	failed=0 n=0
	: >seconds
	while [ $n -lt $1 ]; do
		n=$((n + 1))
		rm -rf runs got.bin
		train got.bin --hosts "$2" && cmp -s want.bin got.bin || {
			failed=$((failed + 1))
			tap_note "start $n of --hosts $2: $(grep -v 'relayed' err | tail -3 | tr '\n' ' ')"
		}
		sed -n 's/.*ready after \([0-9.]*\) s.*/\1/p' err >>seconds
	done
	tap_is $failed 0 "$1 starts of --hosts $2"
	sort -n seconds | awk '{ v[NR] = $1 } END { if (NR) printf "# ready after %s s (median; %s to %s)\n", v[int((NR + 1) / 2)], v[1], v[NR] }'
}
train want.bin
several $starts h1,h2,h3,h4
several $((starts / 20)) h1:24
tap_is "$(lab_processes 1 | wc -l | tr -d ' ')" "$(lab_processes 2 | wc -l | tr -d ' ')" "nothing is left"
tap_done
