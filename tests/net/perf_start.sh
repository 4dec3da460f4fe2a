#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How long it takes until four hosts have computed the first update, beside four `ssh host true` side by side: alternating,
# medians. The time of an update includes the first units of all, their sums and the validation behind it.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"

lab_open 4 || tap_skip_all "$lab_why"
cp "$top_srcdir"/examples/cluster/*.* .
now() { date +%s%N; }
train() {
	(lab_exec 0 "$QCNN" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false --set train.restarts=1 \
		--set train.max_steps=1 --set run.threads=1 --fresh --no-progress -o got.bin "$@" 2>&1) |
		while read -r line; do case $line in *' training: '*) now >end ;; esac; done
}
four_ssh() {
	ssh=
	for k in 1 2 3 4; do
		(lab_exec 0 ssh -x -T -o BatchMode=yes h$k true </dev/null) &
		ssh="$ssh $!"
	done
	wait $ssh
}
for i in $(seq ${QCNN_STARTS:-20}); do
	begin=$(now)
	four_ssh
	echo $((($(now) - begin) / 1000)) >>ssh.us
	begin=$(now)
	train --hosts h1,h2,h3,h4 "$@"
	echo $((($(cat end) - begin) / 1000)) >>qcnn.us
done
median() { sort -n $1 | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
ssh=$(median ssh.us) own=$(median qcnn.us)
tap_ok "the first update of four hosts after $own us; four ssh side by side take $ssh (at most 1.3 of it: $(awk -v a=$own -v b=$ssh 'BEGIN { printf "%.2f", a / b }'))" \
	awk -v a=$own -v b=$ssh 'BEGIN { exit !(a <= 1.3 * b) }'
tap_done
