#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Workers of one job are killed at random two hundred times while it gets on, and started again by it: its weights are
# those of the uninterrupted run, and as many work units counted.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

kills=${QCNN_KILLS:-200}
cp "$top_srcdir"/examples/cluster-hybrid/* .
exec_run() {
	exec "$QCNN" train config.yaml --set log.dir="$PWD/$1" --set log.report=false --set log.tensorboard=false --set train.restarts=1 \
		--set run.threads=1 --no-progress --fresh --set train.epochs=$epochs -o $1.bin --hosts local:4 --set cluster.replacements=1000
}
units() { grep -o '"units": [0-9]*' "$1"/latest/run.json | awk -F: '{ n += $2 } END { print n }'; }
lines() { cat killed/*/metrics.jsonl 2>/dev/null | wc -l; }

epochs=100
begin=$(date +%s%N)
(exec_run calm) >out 2>err || sed 's/^/# /' err
epochs=$((100 * kills * 1000000000 / ($(date +%s%N) - begin) + kills))
begin=$(date +%s)
(exec_run calm) >out 2>err
tap_result $? "the uninterrupted run of $epochs epochs, $(($(date +%s) - begin)) s"

exec_run killed >out 2>err &
pid=$!
workers() { ps -o pid=,stat= --ppid $pid | awk '$2 !~ /^Z/ { print $1 }'; }
seed=20261122 done=0
while [ $done -lt $kills ] && kill -0 $pid 2>/dev/null; do
	if [ "$(lines)" -ge $(((done + 1) * epochs * 9 / 10 / kills)) ]; then
		seed=$(((seed * 1103515245 + 12345) % 2147483648))
		all=$(workers)
		n=$(echo $all | wc -w)
		[ "$n" = 0 ] || { kill -9 $(echo $all | cut -d' ' -f$((seed / 65536 % n + 1))) && done=$((done + 1)); }
	fi 2>/dev/null
	sleep 0.05
done
wait $pid
tap_is $? 0 "the run with kills ends well" || sed 's/^/# /' err | tail -20
tap_is $done $kills "kills"
tap_note "losses: $(grep -c 'is lost' err), started again: $(grep -c 'has been restarted' err)"
tap_ok "the same weights" cmp calm.bin killed.bin
tap_is "$(units killed)" "$(units calm)" "as many units counted, each once"
tap_is "$(workers)" "" "no worker is left"
tap_done
