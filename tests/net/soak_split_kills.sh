#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ranks that hold states together are killed at a hundred random moments: one, the leader, or all. The training ends with 75
# or 69 within 20 s, nothing is left, and the same command, killed again and again, ends with the bits of one process.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/split_job.sh"

kills=${QCNN_KILLS:-100}
# drawn: a number below $1, from a sequence of this test's own.
seed=${QCNN_SEED:-20261125}
draw() { seed=$(((seed * 1103515245 + 12345) % 2147483648)); drawn=$((seed / 65536 % $1)); }

# strike: sets told and expected.
strike() {
	draw 5
	case $drawn in
	0) told="the leader" expected=137; kill -9 $split_leader ;;
	1) told="all" expected=137; kill -9 $split_leader $(split_processes) ;;
	*)
		followers=$(split_followers)
		told="no rank yet" expected=0
		[ -n "$followers" ] || return
		draw "$(echo $followers | wc -w)"
		told="a rank" expected="75 69"
		kill -9 "$(echo $followers | cut -d ' ' -f $((drawn + 1)))" ;;
	esac 2>/dev/null
}

# One kill; the bits where the training has come to its end.
turn() {
	split_start
	draw "$length"
	delay=$drawn
	sleep "$(printf '%d.%03d' $((delay / 1000)) $((delay % 1000)))"
	strike
	split_wait
	case " $expected 0 " in *" $split_status "*) ok=0 ;; *) ok=1 ;; esac
	[ $split_ms -le 20000 ] || ok=1
	tap_until split_gone 15 || { ok=1; told="$told; left: $(ps -o pid=,stat=,args= -p "$(split_processes | paste -s -d ,)")"; kill -9 $(split_processes); }
	left=$(split_left)
	[ -z "$left" ] || ok=1
	[ $split_ms -le $slowest ] || slowest=$split_ms
	tap_result $ok "$where: $told killed after $delay ms: exit status $split_status after $split_ms ms $left" || sed 's/^/# /' err
	[ "$told" = "no rank yet" ] || [ $split_status = 0 ] || ended=$((ended + 1))
	[ $split_status != 0 ] || finish
}
finish() {
	tap_ok "$where: the bits of one process" split_same
	finished=$((finished + 1))
	rm -rf runs got.bin
}

finished=0 slowest=0
for ranks in 2 4; do
	for transport in shm tcp; do
		where="$ranks ranks by $transport"
		mkdir $transport.$ranks && cd $transport.$ranks || exit
		split_open $ranks $transport ${QCNN_UPDATES:-140} || { tap_result 1 "$where: the run of one process"; exit 1; }
		split_start && split_wait
		length=$((split_ms * 3 / 5))
		tap_is "$split_status $(split_same)" "0 " "$where: the uninterrupted run of $split_ms ms"
		rm -rf runs got.bin
		ended=0
		while [ $ended -lt $((kills / 4)) ]; do turn; done
		if [ -d runs ]; then
			split_start && split_wait
			tap_is $split_status 0 "$where: the same command ends the training"
			finish
		fi
		cd ..
	done
done
tap_note "the slowest end $slowest ms after the kill; $finished trainings compared"
tap_done
