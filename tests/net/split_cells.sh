# SPDX-License-Identifier: Apache-2.0
# One fault of one rank of a training whose states two or four processes hold, at a counted event (split_faulty.c). Usage: source
# tap.sh, split_job.sh and this; `split_cells UPDATES JOBS` with lines `TRANSPORT RANKS RANK PLACE N WHAT STATUS...` on the standard
# input. Every cell ends with one of these statuses, $split_end_s after the fault at most, and names a rank where it is 69 or 75; nothing is
# left $split_gone_s after that; and the same command ends with the bits of one process.

split_end_s=20 split_gone_s=15           # what users are promised; more where other tests run besides

cell_told() { printf '%s %s\n' "$1" "$cell_name: $2" >>result; }

# A leader that is stopped for good cannot say anything: it runs again when the others have given up.
cell_resume_leader() {
	case "$cell_rank $cell_what" in "0 stop") ;; *) return ;; esac
	tap_until '[ -e struck ] && [ -z "$(split_followers)" ]' 60
	cell_told $? "the others end without the leader"
	touch struck
	kill -CONT $split_leader
}

cell_run() {
	split_open $cell_ranks $cell_transport $split_updates $split_all/want.bin
	FAULT="$cell_rank $cell_place $cell_n $cell_what" SPLIT_QCNN=$top_builddir/tests/net/split_faulty
	export FAULT
	split_start
	unset FAULT SPLIT_QCNN
	cell_resume_leader
	split_wait
	if [ ! -e struck ]; then
		cell_told 1 "comes to the event"
		return
	fi
	cell_ms=$((($(date +%s%N) - $(date -r struck +%s%N)) / 1000000))
	case " $cell_status " in *" $split_status "*) [ $cell_ms -le $((1000 * split_end_s)) ] ;; *) false ;; esac
	cell_told $? "ends with $split_status after $cell_ms ms (expected: $cell_status)"
	case $split_status in
	69 | 75)
		case $cell_what:$cell_rank in
		memory:0) grep -q 'memory.*; the same command goes on from the last checkpoint' err; cell_told $? "what is missing is named, and what to do" ;;
		*) grep -q 'rank [0-9]' err; cell_told $? "a rank is named: $(grep error err | tail -1)" ;;
		esac
		;;
	esac
	case $cell_place:$cell_what:$cell_rank in
	open:kill:[1-9]) grep -q 'ended before it was ready' err; cell_told $? "its end is noticed, and not its silence" ;;
	esac
	case $cell_what:$cell_rank:$split_status in
	memory:[1-9]:75) grep -qiE 'out of memory|no memory' err; cell_told $? "and why it ended: $(grep -iE 'out of memory|no memory' err)" ;;
	esac
	tap_until split_gone $split_gone_s
	cell_told $? "nothing is left $(split_left)"
	[ -z "$(split_left)" ] || cell_told 1 "left: $(split_left)"
	[ $split_status = 0 ] || { split_start && split_wait; }
	cell_told $split_status "the same command goes on to the end: $(tail -1 err)"
	split_same >cmp.out 2>&1
	cell_told $? "the bits of one process"
}

# What all cells have found.
cell_report() {
	for cell_folder in cell.*; do
		cell_bad=0
		while read -r cell_status cell_text; do
			tap_result "$cell_status" "$cell_text" || cell_bad=1
		done <"$cell_folder/result"
		[ -s "$cell_folder/result" ] || { tap_result 1 "$cell_folder has an end"; cell_bad=1; }
		[ $cell_bad = 0 ] || sed 's/^/# err: /' "$cell_folder/err" | tail -5
	done
}
# A row for each fault, rank and transport, a column for each place, for cells as they were given to split_cells.
split_table() {
	while read -r cell_transport cell_ranks cell_rank cell_place cell_n cell_what cell_status; do
		printf '%s | %s | %s ' $cell_what $cell_rank $cell_transport
		sed -n 's/.* ends with \([0-9]*\) after \([0-9]*\) ms.*/\1 \2/p' "cell.$cell_transport.$cell_ranks.$cell_rank.$cell_place.$cell_what/result" |
			awk -v place=$cell_place '{ print "|" place "|" ($1 == 0 ? "same bits" : $1 == 137 ? "was killed" : sprintf("%d after %.0f s", $1, $2 / 1000)) }'
	done | awk -F'[|]' '{ row = $1 "|" $2 "|" $3; if (!(row in seen)) { seen[row] = 1; order[++n] = row } cell[row, $4] = $5 }
		END { for (i = 1; i <= n; i++) { printf "| %s", order[i]
			for (k = split("open segment exchange readout checkpoint end", place, " ") * 0 + 1; k <= 6; k++) printf "| %s ", cell[order[i], place[k]]
			print "|" } }'
}

split_cells() {
	split_updates=$1 split_jobs=$2 split_all=$PWD split_n=0
	split_open 1 shm $split_updates || return
	while read -r cell_transport cell_ranks cell_rank cell_place cell_n cell_what cell_status; do
		cell_name="$cell_ranks ranks by $cell_transport, $cell_what to rank $cell_rank, $cell_place"
		mkdir "cell.$cell_transport.$cell_ranks.$cell_rank.$cell_place.$cell_what"
		(cd "cell.$cell_transport.$cell_ranks.$cell_rank.$cell_place.$cell_what" && cell_run) </dev/null &
		split_n=$((split_n + 1))
		[ $((split_n % split_jobs)) != 0 ] || wait
	done
	wait
	cell_report
}
