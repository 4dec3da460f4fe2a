# SPDX-License-Identifier: Apache-2.0
# Trainings with a fault at a chosen call to the file system, for test_faults.sh and soak_resume.sh; after resume.sh.

# The training of both: an update is a step to the disk, with all files that there can be.
faulty_more="--set=log.checkpoint_steps=1 --set=train.epochs=2 --set=train.batch_size=8 --set=log.histograms=1"
faulty_callbacks="--set=train.callbacks={checkpoint: {path: 'best/{epoch}.bin', keep: 1}, csv: {}}"

# faulty_train FAULT DIR OPTIONS...
faulty_train() {
	faulty_what=$1
	faulty_dir=$2
	shift 2
	FAULT=$faulty_what "$top_builddir/tests/cli/faulty" train --no-progress --set=log.dir="$faulty_dir" -o "$faulty_dir.bin" "$@" config.yaml
}

# Runs in DIR that have finished; the link to the newest may be missing where there was no room.
finished_run() { dirname "$(grep -l '"state": "finished"' "$1"/cluster-*/run.json | tail -n 1)"; }

# What two finished runs do not have in common, in words.
differences() {
	cmp -s "$1.bin" "$2.bin" || printf ' --output'
	differences_one "$(finished_run "$1")" "$(finished_run "$2")"
	[ -z "$(find "$(finished_run "$1")" -name '*.tmp*')" ] || printf ' temporary-file'
}
differences_one() {
	cmp -s "$1/weights.bin" "$2/weights.bin" || printf ' weights.bin'
	[ "$(no_times "$1/metrics.jsonl")" = "$(no_times "$2/metrics.jsonl")" ] || printf ' metrics.jsonl'
	[ "$(sed 's/,[^,]*,[^,]*$//' "$1/history.csv")" = "$(sed 's/,[^,]*,[^,]*$//' "$2/history.csv")" ] || printf ' history.csv'
	# A callback's file that found no room is told, and gone.
	[ "$(other_files "$1/")" = "$(other_files "$2/")" ] || grep -q 'train.callbacks.checkpoint: cannot' err ||
		printf ' others(%s)' "$(cd "$1/" && ls | tr '\n' ' ')"
	for difference_tag in batch_loss epoch_loss /histogram epoch_gradient_norm _vs_iterations session_start_info session_end_info; do
		[ "$(tags "$1/" $difference_tag)" = "$(tags "$2/" $difference_tag)" ] || printf ' %s' $difference_tag
	done
	[ "$(grep -c Gradient "$1/report.html" 2>/dev/null)" = "$(grep -c Gradient "$2/report.html")" ] ||
		grep -q 'there is no report.html' err || printf ' report.html'
}

# A run that was left: is a checkpoint whole, where there is one?
has_whole() {
	[ ! -e "$(echo fault/cluster-*/checkpoint/?.bin | cut -d ' ' -f 1)" ] || [ "$(whole_checkpoints fault/cluster-*)" -gt 0 ]
}

# faults WHAT STATUSES EVERY FIRST NAME OPTIONS...: WHAT ("kill", "full 1") at calls FIRST, FIRST + EVERY, ...; it ends with
# one of STATUSES, and the same command then with what the uninterrupted run left. A fault that ends with 0 has left that itself. How
# many of them end the training depends on which calls they meet; that some met one is tested.
faults() {
	fault_kind=${1% *}
	fault_count=${1#"$fault_kind"}
	fault_statuses=$2
	fault_every=$3
	fault_at=$4
	fault_name=$5
	shift 5
	rm -rf calm calm.bin
	FAULT_CALLS=$PWD/calls faulty_train "kill 0" calm "$@" 2>/dev/null
	tap_result $? "$fault_name: an uninterrupted run of $(cat calls) calls"
	fault_bad=
	fault_met=0
	while [ "$fault_at" -le "$(cat calls)" ]; do
		rm -rf fault fault.bin met
		FAULT_MET=$PWD/met faulty_train "$fault_kind $fault_at$fault_count" fault "$@" >out 2>err
		fault_status=$?
		fault_what=
		case " $fault_statuses " in *" $fault_status "*) ;; *) fault_what=" status $fault_status" ;; esac
		[ "$(grep -c 'training continues' err)" -le 1 ] || fault_what="$fault_what notes"
		[ ! -e met ] || fault_met=$((fault_met + 1))
		if [ $fault_status -ne 0 ]; then
			has_whole || fault_what="$fault_what no-checkpoint"
			"$QCNN" train --no-progress --set=log.dir=fault -o fault.bin "$@" config.yaml 2>err.again || fault_what="$fault_what again:$?"
		fi
		fault_what="$fault_what$(differences fault calm)"
		[ -z "$fault_what" ] || fault_bad="$fault_bad$fault_kind $fault_at:$fault_what [$(tail -n 1 err)]; "
		fault_at=$((fault_at + fault_every))
	done
	tap_ok "$fault_name: $fault_met faults met a call" test $fault_met -gt 0
	tap_is "$fault_bad" "" "$fault_name: the end is that of the uninterrupted run"
	rm -rf fault calm
}
