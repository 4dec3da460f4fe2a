# SPDX-License-Identifier: Apache-2.0
# Killing trainings again and again, for test_resume.sh and soak_resume.sh.

# A model that learns, in the place of that of files.sh, trained on one thread.
make_learner() {
	printf '%s\n' 'QCNN 1;' 'qubit[4] q;' 'input float[4] x;' 'param float[4] t;' 'param float[4] s;' 'rx(each x) on q;' 'ry(each t) on q;' \
		'cz on cycle(q);' 'rx(each s) on q;' 'observe z(q[0])*z(q[1])*z(q[2])*z(q[3]), z(q[0]);' 'head { dense(1, tanh); }' >cluster.qcnn
	sed -e 's/seed: 7,/seed: 7, threads: 1,/' -e 's/learning_rate: 0.02/learning_rate: 0.05/' config.yaml >one.yaml && mv one.yaml config.yaml
}

no_times() { sed 's/, *"seconds": *[^,}]*//; s/, *"samples_per_second": *[^,}]*//' "$1"; }
tags() { LC_ALL=C find "$1" -name 'events.out.*' -exec grep -a -o -h "$2" {} + | wc -l | tr -d ' '; }

# Nothing is left to do: a kill after that changes nothing.
has_finished() { grep -q '"state": "finished"' killed/cluster-*/run.json 2>/dev/null; }

# How many checkpoints are whole.
whole_checkpoints() {
	whole=0
	for whole_file in "$1"/checkpoint/?.bin; do "$QCNN" weights show "$whole_file" >/dev/null 2>&1 && whole=$((whole + 1)); done
	echo $whole
}
# What else is in a run's folder: weights and all that callbacks wrote. (The kill may come after the run has finished,
# before its checkpoints are removed.)
other_files() {
	(cd "$1" && find . -type f ! -name 'events.out.*' ! -name run.json ! -name config.yaml ! -name report.html ! -name metrics.jsonl \
		! -name history.csv ! -name state.bin ! -path './checkpoint/?.bin' ! -path ./checkpoint/lock \
		-exec cksum {} + | sort -k 3)
}

# A program for train.callbacks.command, with which a short training does not end before something has happened to it: from its ninth
# epoch on it waits for the file `open`.
make_gate() {
	printf '#!/bin/sh\nwhile [ $QCNN_EPOCH -ge 9 ] && [ ! -e open ] && kill -0 $PPID 2>/dev/null; do sleep 0.05; done\n' >gate
	chmod +x gate
}

# killed TIMES NAME OPTIONS...: an uninterrupted run, and one that is killed at TIMES moments, up to 64 ms after its newest
# checkpoint, or in the next one; each leaves a whole checkpoint, and both runs must have left the same.
killed() {
	killed_times=$1
	killed_name=$2
	shift 2
	: >open
	"$QCNN" train -q "$@" --set=log.dir=calm -o calm.bin config.yaml
	tap_result $? "$killed_name: an uninterrupted run"
	rm -rf killed killed.bin
	killed_seen=0
	killed_bare=0
	rm open
	for killed_turn in $(seq "$killed_times"); do
		: >err
		killed_old=$(cksum killed/cluster-*/checkpoint/?.bin 2>/dev/null)
		"$QCNN" train --no-progress "$@" --set=log.dir=killed -o killed.bin config.yaml 2>err &
		pid=$!
		# A further checkpoint, and a while.
		tap_until '[ "$(cksum killed/cluster-*/checkpoint/?.bin 2>/dev/null)" != "$killed_old" ] || [ -z "$(tap_left $pid)" ]'
		sleep "0.0$(awk -v s="$killed_turn$$" 'BEGIN { srand(s); printf "%04d", 6400 * rand() }')"
		kill -s KILL $pid 2>/dev/null
		wait $pid 2>/dev/null
		[ $? -eq 137 ] && killed_seen=$((killed_seen + 1))
		: >open
		! has_finished || break
		# Whether it was killed again before it could save another one: those from before are there.
		[ -n "$killed_old" ] || [ -f "$(echo killed/cluster-*/checkpoint/?.bin | cut -d ' ' -f 1)" ] || continue
		[ "$(whole_checkpoints killed/cluster-*)" -gt 0 ] || killed_bare=$((killed_bare + 1))
	done
	tap_ok "$killed_name: killed $killed_seen times" test $killed_seen -gt 0
	tap_is $killed_bare 0 "$killed_name: each left a checkpoint that is whole"
	if ! has_finished; then
		tap_exit 0 "$killed_name: it goes on to its end" "$QCNN" train "$@" --set=log.dir=killed -o killed.bin config.yaml
		tap_has err "resuming killed/cluster-" "$killed_name: and says so"
		case $* in *restarts=*) tap_has err "best of " "$killed_name: the best start is told" ;; esac
	fi
	tap_is "$(ls -d killed/cluster-* | wc -l | tr -d ' ')" 1 "$killed_name: all in one folder"
	tap_same killed.bin calm.bin "$killed_name: the same weights"
	tap_is "$(no_times killed/latest/metrics.jsonl)" "$(no_times calm/latest/metrics.jsonl)" "$killed_name: the same metrics"
	tap_is "$(sed 's/,[^,]*,[^,]*$//' killed/latest/history.csv)" "$(sed 's/,[^,]*,[^,]*$//' calm/latest/history.csv)" \
		"$killed_name: the same history"
	tap_is "$(other_files "$(tap_run killed)"/)" "$(other_files "$(tap_run calm)"/)" "$killed_name: the same of all other files"
	for killed_tag in batch_loss epoch_loss /histogram epoch_gradient_norm session_start_info session_end_info 'rx(each s)'; do
		tap_is "$(tags "$(tap_run killed)"/ "$killed_tag")" "$(tags "$(tap_run calm)"/ "$killed_tag")" "$killed_name: $killed_tag, none twice, none lost"
	done
	tap_is "$(grep -c 'Gradient' killed/latest/report.html)" "$(grep -c 'Gradient' calm/latest/report.html)" "$killed_name: the report has all its figures"
	rm -rf calm killed
}
