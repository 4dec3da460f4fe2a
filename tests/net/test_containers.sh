#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# qcnn as process 1, as in a container: the kernel drops signals that such a process has no handler for. Commands, ranks that wait
# for rank 0, workers and the second INT of a training end all the same, with the status that they have elsewhere.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/ports.sh"

for user in "" "--user --map-root-user"; do
	unshare $user --pid --fork --kill-child true 2>/dev/null && break
	user=none
done
[ "$user" != none ] || { tap_skip "no process namespaces of one's own"; tap_done; exit; }
# LeakSanitizer cannot stop the threads of a process 1, and takes what they hold for lost.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
take_ports || tap_note "no ports are free"
cp "$top_srcdir"/examples/cluster/cluster.qcnn "$top_srcdir"/examples/cluster/config.yaml .
"$QCNN" worker --new-key key
few="--set log.report=false --set log.tensorboard=false --no-progress --set train.restarts=1 --set train.epochs=1000000"

# unshare of util-linux 2.37, as on Ubuntu 22.04, leaves TERM ignored.
default=
! env --default-signal=TERM true 2>/dev/null || default="env --default-signal=TERM"
# contain NAME COMMAND...: runs it as process 1; $of_NAME: its number here; NAME.out, NAME.err.
contain() {
	of=$1
	shift
	unshare $user --pid --fork --kill-child $default sh -c 'exec "$@"' process-1 "$@" >$of.out 2>$of.err </dev/null &
	outer=$!
	tap_until "ps -o comm= --ppid $outer | grep -q qcnn"
	eval "outer_$of=$outer of_$of=$(ps -o pid= --ppid $outer | tr -d ' ')"
}
# ended NAME...: waits for their ends; $statuses.
ended() {
	statuses=
	for of; do
		eval "tap_gone \$of_$of >late || kill -9 \$of_$of; wait \$outer_$of"
		statuses="$statuses $?"
	done
}
# catches PID NUMBER: it has a handler for that signal.
catches() { [ $((0x$(awk '/^SigCgt/ { print substr($2, 9) }' /proc/$1/status) >> $(($2 - 1)) & 1)) = 1 ]; }

# ---- any command ----
for signal in "TERM 15 143" "INT 2 130" "HUP 1 129"; do
	set -- $signal
	mkfifo stay.$1
	contain any sh -c 'exec 3<>"$1"; exec "$2" check - <&3' any stay.$1 "$QCNN"
	tap_until "catches $of_any $2"
	kill -$1 $of_any
	ended any
	tap_is "$statuses" " $3" "$1 ends a command"
done

# ---- ranks ----
environment="MASTER_ADDR=127.0.0.1 MASTER_PORT=$((port + 1)) WORLD_SIZE=3"
rank() { # NAME RANK
	contain $1 env $environment JOB_COMPLETION_INDEX=$2 "$QCNN" train --key-file key --fresh $few config.yaml
}
rank early 1
tap_until "catches $of_early 10"
kill -TERM $of_early
ended early
tap_is "$statuses" " 75" "TERM ends a rank that waits for rank 0"
for k in 0 1 2; do rank rank$k $k; done
lines() { cat runs/*/metrics.jsonl 2>/dev/null | wc -l; }
tap_until '[ $(lines) -gt 0 ]' || tap_note "$(cat rank?.err)"
kill -TERM $of_rank2
ended rank2
tap_is "$statuses" " 75" "TERM ends a rank that works"
tap_is "$(cat rank2.err)" "qcnn worker: ended by TERM" "it says why"
had=$(lines)
tap_ok "the others go on" tap_until "[ \$(cat runs/*/metrics.jsonl | wc -l) -gt $had ]"
kill -TERM $of_rank0
ended rank0 rank1
tap_is "$statuses" " 75 75" "TERM for rank 0 ends both"

# ---- the second INT, while a command that ignores signals runs: a second later the training kills it and ends by the first one ----
for try in 1 2 3 4 5 6 7 8 9; do
	rm -f began
	contain twice "$QCNN" train --fresh $few --set "train.callbacks=[{command: {run: 'trap \"\" INT TERM; : >began; sleep 1000', on: epoch}}]" config.yaml
	tap_until '[ -e began ]'
	kill -INT $of_twice
	tap_until "grep -q '^ShdPnd:.*0000000000000000' /proc/$of_twice/status || [ ! -e /proc/$of_twice ]"
	kill -INT $of_twice 2>/dev/null
	ended twice
	[ "$statuses" = " 75" ] || break
done
tap_is "$statuses" " 130" "a second INT ends a training at once"
tap_done
