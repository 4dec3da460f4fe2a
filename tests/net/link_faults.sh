# SPDX-License-Identifier: Apache-2.0
# What happens to one process or link of a job with workers, at one moment: `fault_prepare`, then `fault_cells` with lines
# `EVENT WHOM WHEN`, each of which has a host of the lab for itself.
#   EVENT  KILL; STOP, for good; CONT, stopped for ten seconds; down, the link is; to, from: nothing reaches, or comes
#          from, the host; loss: one packet in twenty; full: the disk is
#   WHOM   coordinator, worker; on the way between them ssh, sshd, and the guard that looks after a worker of another host;
#          of a link: worker when others are left, coordinator when none is
#   WHEN   starting, step, save
# The oracle: the uninterrupted run's bits; or an exit status within 20 s that says "rerun", with the first cause named, and the bits
# after the same command again.  No process is left 15 s after the end.

fault_last_s=200                         # for what has no limit of its own, on a busy machine

# Leaves want.WHEN.bin, of trainings of $1 updates; of an eighth of them where each is saved.
fault_prepare() {
	cp "$top_srcdir"/examples/cluster/*.* .
	release_training
	fault_updates=$1 fault_disk=.
	for fault_when in step save; do
		fault_words
		"$QCNN" train $fault_words --fresh -o want.$fault_when.bin 2>err || return 1
	done
	cp want.step.bin want.starting.bin
}
# The training that all speak of.
fault_words() {
	case $fault_when in save) hold_options $((fault_updates / 8)) ;; *) hold_options $fault_updates ;; esac
	fault_words="config.yaml --set log.dir=$fault_disk/runs --set log.report=false --set log.tensorboard=false --set run.threads=1 \
		--set cluster.start_seconds=$fault_last_s --no-progress $hold_options"
	[ $fault_when != save ] || fault_words="$fault_words --set log.checkpoint_steps=1"
}

# The cell's processes, "PID PPID COMMAND" a line: all have its folder among their words.
fault_processes() { ps -eo pid=,ppid=,stat=,comm=,args= | awk -v at="$PWD/" '$3 !~ /^Z/ && index($0, at) && $4 != "sshd" && $4 != "awk" { print $1, $2, $4 }'; }
# The worker: a qcnn on the host whose parent is none, or a qcnn that looks after it.
fault_worker() {
	fault_processes | awk -v not="$fault_pid" '$3 == "qcnn" && $1 != not && $2 != not { parent[$1] = $2 }
		END { for (p in parent) if (parent[p] in parent) { print p; exit } for (p in parent) { print p; exit } }'
}
fault_parent() { ps -o ppid= -p "$1" | tr -d ' '; }
fault_ssh() { ps -o pid=,comm= --ppid $fault_pid | awk '$2 == "ssh" { print $1; exit }'; }
fault_told() { printf '%s %s\n' "$1" "$fault_name: $2" >>result; }
fault_until() { # SECONDS COMMAND...
	fault_end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -le $fault_end ] || return 1
		sleep 0.1
	done
}
fault_gone() { [ -z "$(fault_processes)" ]; }
fault_ended() { ! kill -0 $fault_pid 2>/dev/null || [ "$(ps -o stat= -p $fault_pid | cut -c1)" = Z ]; }
fault_started() { case $fault_when in starting) [ -d lock ] && [ -n "$(fault_worker)" ] && [ -n "$(fault_ssh)" ] && fault_shakes ;; *) grep -q 'ready after' err ;; esac; }
# The worker is through with the handshake: it has a connection.
fault_shakes() { [ -n "$(find "/proc/$(fault_worker)/fd" -lname 'socket:*' 2>/dev/null | sed 1q)" ]; }

fault_begin_run() {
	fault_remote=$PWD/qcnn
	fault_hosts=h$fault_k,local
	case $fault_event:$fault_whom in down:coordinator | to:coordinator | from:coordinator) fault_hosts=h$fault_k ;; esac
	ln -s "$QCNN" qcnn
	if [ $fault_when = starting ]; then  # the second worker of the host comes late, and the start waits for it
		printf '#!/bin/sh\nmkdir "%s" 2>/dev/null || until [ -e "%s" ]; do sleep 0.1; done\nexec "%s" "$@"\n' "$PWD/lock" "$PWD/open" "$PWD/qcnn" >late
		chmod +x late
		fault_remote=$PWD/late fault_hosts=h$fault_k:2
	fi
	fault_words
	(lab_exec 0 "$QCNN" train $fault_words -o "$PWD/$fault_disk/got.bin" --hosts "$fault_hosts" --remote-path "$fault_remote" \
		--fresh >out 2>err) &
	fault_pid=$!
}

fault_strike() {
	case $fault_whom in coordinator) fault_victim=$fault_pid ;; worker) fault_victim=$(fault_worker) ;; ssh) fault_victim=$(fault_ssh) ;;
	guard) fault_victim=$(fault_parent "$(fault_worker)") ;;
	sshd) fault_victim=$(fault_parent "$(fault_parent "$(fault_worker)")") ;;
	esac
	case $fault_event in
	KILL) kill -9 $fault_victim ;;
	STOP)
		kill -STOP $fault_victim
		[ $fault_whom != coordinator ] || { sleep 3; kill -9 $fault_victim; } ;;
	CONT)
		kill -STOP $fault_victim
		sleep 10
		kill -CONT $fault_victim ;;
	down) lab_link $fault_k down ;;
	to | from) lab_drop $fault_k $fault_event 100 ;;
	loss) lab_drop $fault_k to 5 && lab_drop $fault_k from 5 ;;
	full) dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null ;;
	esac
	return 0
}
fault_mend() {
	case $fault_event in
	down) lab_link $fault_k up ;;
	to | from | loss) lab_undrop $fault_k ;;
	full) rm -f disk/filler ;;
	esac
}

# The first cause names host and rank: of a worker that was lost, or of a start that failed.
fault_named() { grep -q "h$fault_k\[[0-9]\]\|without [0-9] workers* of h$fault_k" err; }

fault_judge() {
	case $fault_event:$fault_whom in KILL:coordinator | STOP:coordinator) fault_killed=1 ;; *) fault_killed= ;; esac
	case $fault_status${fault_killed:+k} in
	0 | 0k) fault_told 0 "ends with 0 after $fault_took s" ;;
	137k) fault_told 0 "was killed" ;;
	69 | 75) [ $fault_took -le 20 ]; fault_told $? "ends with $fault_status after $fault_took s (at most 20)"
		fault_named; fault_told $? "the first cause is named: $(grep error err | head -1)" ;;
	73 | 74) [ $fault_event = full ]; fault_told $? "ends with $fault_status, the disk is full" ;;
	*) fault_told 1 "ends with $fault_status after $fault_took s" ;;
	esac
	case $fault_status:$fault_event:$fault_whom in
	0:KILL:worker | 0:KILL:ssh | 0:KILL:sshd | 0:KILL:guard | 0:STOP:worker | 0:down:* | 0:from:*) fault_named; fault_told $? "who was lost is named" ;;
	esac
}

# fault_cell K EVENT WHOM WHEN: writes `result` in a folder of its own; returns at its end.
fault_cell() {
	fault_k=$1 fault_event=$2 fault_whom=$3 fault_when=$4 fault_name="$2, $3, $4" fault_disk=.
	mkdir "cell.$fault_event.$fault_whom.$fault_when" && cd "cell.$fault_event.$fault_whom.$fault_when" || return
	cp ../*.yaml ../*.qcnn ../*.csv . 2>/dev/null
	: >err >result
	if [ $fault_event = full ]; then
		fault_disk=disk
		mkdir disk && mount -t tmpfs -o size=2m none disk || { fault_told 1 "no disk"; return; }
	fi
	fault_begin_run
	fault_until $fault_last_s fault_started || fault_told 1 "has not come to the moment"
	[ $fault_when = starting ] || sleep 0.05
	fault_begin=$(date +%s)
	fault_strike
	release_training
	fault_until $fault_last_s fault_ended || { fault_told 1 "has no end"; kill -9 $fault_pid; }
	fault_status=0
	wait $fault_pid 2>/dev/null || fault_status=$?
	fault_took=$(($(date +%s) - fault_begin))
	[ $fault_event:$fault_whom:$fault_status = CONT:$fault_whom:0 ] && fault_took=$((fault_took - 10))
	fault_judge
	fault_until 15 fault_gone
	fault_told $? "no process is left$(fault_processes | sed 's/^/ /' | tr '\n' ';')"
	fault_processes | while read -r fault_p fault_rest; do kill -9 $fault_p; done
	fault_mend
	if [ $fault_status != 0 ]; then
		"$QCNN" train $fault_words -o "$PWD/$fault_disk/got.bin" >>out 2>again
		fault_told $? "the same command goes on to the end"
	fi
	cmp -s ../want.$fault_when.bin $fault_disk/got.bin
	fault_told $? "the uninterrupted run's bits"
	[ $fault_disk = . ] || umount disk
}

# Can it be played here?  Leaves why not.
fault_lacks() {
	fault_why=
	case $1 in
	full) [ -n "$own_mounts" ] || fault_why="no mount namespace of one's own" ;;
	down) [ $lab_kind = net ] || fault_why=$lab_why ;;
	to | from | loss) [ $lab_kind = net ] && { [ -n "$fault_drops" ] || { lab_drop 1 to 0 && fault_drops=1 && lab_undrop 1; }; } || fault_why="the kernel loses no packets for us" ;;
	esac
	[ -n "$fault_why" ]
}

# Lines `EVENT WHOM WHEN` from the standard input: as many at a time as there are hosts; then what they have found.
fault_cells() {
	fault_k=0 fault_running=
	while read -r fault_event fault_whom fault_when; do
		fault_lacks "$fault_event" && { tap_skip "$fault_event, $fault_whom, $fault_when: $fault_why"; continue; }
		fault_k=$((fault_k + 1))
		(trap - EXIT; fault_cell $fault_k "$fault_event" "$fault_whom" "$fault_when") </dev/null &
		fault_running="$fault_running $!"
		[ $fault_k -lt $lab_n ] || { wait $fault_running; fault_k=0 fault_running=; }
	done
	[ -z "$fault_running" ] || wait $fault_running
	fault_report
}

# A row for each event and process, a column for each moment: how the job ended, and how long after the event.
fault_table() {
	for fault_f in cell.*; do
		sed -n "s/.* \\(ends with [0-9]*\\|was killed\\)\\( after [0-9]* s\\)*.*/\\1\\2/p" "$fault_f/result" | sed "1!d; s/^/$fault_f./; s/ends with 0.*/same bits/; s/ends with //"
	done | awk -F. '{ row = $2 " | " $3; if (!(row in seen)) { seen[row] = 1; order[++n] = row } cell[row, $4] = $5 }
		END { for (i = 1; i <= n; i++) printf "| %s | %s | %s | %s |\n", order[i], cell[order[i], "starting"], cell[order[i], "step"], cell[order[i], "save"] }'
}

# What all cells have found.
fault_report() {
	for fault_f in cell.*; do
		fault_bad=0
		while read -r fault_status fault_text; do
			tap_result "$fault_status" "$fault_text" || fault_bad=1
		done <"$fault_f/result"
		[ -s "$fault_f/result" ] || { tap_result 1 "$fault_f has an end"; fault_bad=1; }
		[ $fault_bad = 0 ] || sed 's/^/# err: /' "$fault_f/err" | tail -25
	done
}
