# SPDX-License-Identifier: Apache-2.0
# A training whose states several processes hold, for tests that hurt one of them. Usage: source tap.sh and this;
# `split_open RANKS TRANSPORT UPDATES [WEIGHTS]` in a folder of its own, then `split_start` and `split_end`. All processes of a job have SPLIT_JOB in their environment.

# TRANSPORT: shm, all ranks are on this host; tcp, all but rank 0 are on a host that a program which plays ssh leads to. As there, the end
# of that program ends nothing else.
split_open() {
	cp "$top_srcdir"/examples/cluster/config.yaml "$top_srcdir"/examples/cluster/cluster.qcnn .
	printf '#!/bin/sh\nshift\nsetsid -w sh -c "$*"\n' >agent
	chmod +x agent
	SPLIT_JOB=$PWD
	export SPLIT_JOB
	split_words="config.yaml --set=log.dir=$PWD/runs --set=log.report=false --set=log.tensorboard=false --set=log.checkpoint_steps=7
		--set=train.epochs=1000000 --set=train.max_steps=$3 --set=train.restarts=1 --set=run.split=4 --set=run.threads=1 --no-progress ${QCNN_SPLIT_OPTIONS:-}"
	split_ranks="--ranks=$1"
	[ "$2" = shm ] || split_ranks="$split_ranks --hosts=local,a:$(($1 - 1)) --launcher=exec:$PWD/agent --iface=lo"
	split_want=$4
	[ -n "$4" ] || { split_want=$PWD/want.bin && "$QCNN" train $split_words --fresh -o want.bin 2>err; } || { tap_note "$(cat err)"; return 1; }
	rm -rf runs
}

split_same() { cmp "$split_want" got.bin; }

# split_start OPTION...: in the background, as $split_leader.
split_start() {
	"${SPLIT_QCNN:-$QCNN}" train $split_words $split_ranks -o got.bin "$@" >out 2>err &
	split_leader=$!
}

# Sets split_status, and split_ms, from now to the end of the leader.
split_wait() {
	split_ms=$(($(date +%s%N) / 1000000))
	split_status=0
	wait $split_leader 2>/dev/null || split_status=$?
	split_ms=$(($(date +%s%N) / 1000000 - split_ms))
}

# The processes of the job, but for those that wait to be reaped, whose environment is empty.
split_processes() {
	for split_pid in $(cd /proc && grep -l -s -F -e "SPLIT_JOB=$SPLIT_JOB" [0-9]*/environ 2>/dev/null | sed 's|/.*||'); do
		[ "$split_pid" = $$ ] || case $(cat "/proc/$split_pid/comm" 2>/dev/null) in qcnn | split_faulty | agent) echo "$split_pid" ;; esac
	done
}
# Those that hold a part of a state, but for rank 0: what a launcher or guard started last, by process ID.
split_followers() {
	split_all=" $(split_processes | tr '\n' ' ')"
	ps -eo pid=,ppid=,comm=,args= | awk -v all="$split_all" -v leader="$split_leader" '
		index(all, " " $1 " ") && $1 != leader && $3 != "agent" && /worker --follow/ { parent[$1] = $2 }
		END { for (p in parent) guards[parent[p]] = 1; for (p in parent) if (!(p in guards)) print p }' | sort -n
}
split_gone() { [ -z "$(split_processes)" ]; }

# What a job may leave elsewhere: shared memory, keys, files that were not renamed, a checkpoint that cannot be read.
split_left() {
	ls /dev/shm 2>/dev/null | grep qcnn
	find . -name '.qcnn*'
	split_files=$(find runs -path '*/checkpoint/?.bin' 2>/dev/null)
	for split_file in $split_files; do
		"$QCNN" weights show "$split_file" >/dev/null 2>&1 && return
	done
	[ -z "$split_files" ] || echo "no whole checkpoint among $split_files"
}
