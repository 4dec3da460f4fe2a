#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Workers and coordinators are killed, stopped and let go on at random moments: the weights are those of the
# uninterrupted run, or training ends with 69 or 75 and the same command finishes it; no process is ever left.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

moments=${QCNN_MOMENTS:-30}
cp "$top_srcdir"/examples/cluster-hybrid/* .

begin=$(date +%s%N)
"$QCNN" train config.yaml --set train.epochs=50 --set train.restarts=1 --fresh -q || exit 1
epochs=$((50 * 4000000000 / ($(date +%s%N) - begin) + 50))
exec_run() {
	exec "$QCNN" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false --set log.checkpoint_seconds=1 \
		--set train.epochs=$epochs --set train.restarts=1 --set run.threads=1 --no-progress "$@"
}
run() { (exec_run "$@"); }
run --fresh -o want.bin 2>err
begin=$(date +%s%N)
run --fresh -o got.bin --hosts local:3 2>err
length=$((($(date +%s%N) - begin) / 1000000))
tap_ok "the uninterrupted run with workers, of $length ms" cmp want.bin got.bin
workers_of() { ps -o pid=,stat= --ppid "$1" 2>/dev/null | awk '$2 !~ /^Z/ { print $1 }'; }

# drawn: a number below $1, from a sequence of this test's own.
seed=20261121
draw() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); drawn=$((seed / 65536 % $1)); }

for moment in $(seq $moments); do
	rm -f got.bin
	exec_run --fresh -o got.bin --hosts local:3 2>err &
	coordinator=$!
	draw $((length * 9 / 10))
	delay=$drawn
	draw 5
	what=$drawn
	sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
	all=$(workers_of $coordinator)
	victim=$(echo $all | cut -d' ' -f$((1 + moment % 3)))
	case $what in
	0) told="a worker is killed"; kill -9 $victim ;;
	1) told="a worker is stopped"; kill -STOP $victim ;;
	2) told="a worker is stopped for 7 s"; kill -STOP $victim; sleep 7; kill -CONT $victim ;;
	3) told="the coordinator is killed"; kill -9 $coordinator ;;
	4) told="the coordinator is stopped for 3 s, then gets TERM"; kill -STOP $coordinator; sleep 3; kill -CONT $coordinator; kill -TERM $coordinator ;;
	esac 2>/dev/null
	wait $coordinator 2>/dev/null
	status=$?
	case $what:$status in [012]:0 | 3:137 | 3:0 | 4:0 | 4:75 | 4:143) ok=0 ;; *) ok=1 ;; esac
	tap_result $ok "$told after $delay ms: exit status $status" || sed 's/^/# /' err
	tap_ok "no worker is left" tap_gone $all || kill -9 $all 2>/dev/null
	if [ ! -f got.bin ]; then
		run -o got.bin --hosts local:2 2>err || sed 's/^/# /' err
	fi
	tap_ok "and the weights are those of the uninterrupted run" cmp want.bin got.bin
done
tap_done
