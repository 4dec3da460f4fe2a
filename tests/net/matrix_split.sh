#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every fault of a rank that holds a part of states, at every place, with the deadlines that users have. Prints the table of README.md.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/split_job.sh"
. "$top_srcdir/tests/net/split_cells.sh"

# event PLACE: the number of the event.
event() { case $1 in segment) echo 900 ;; exchange) echo 400 ;; readout) echo 300 ;; checkpoint) echo 2 ;; *) echo 1 ;; esac; }

# expected RANK PLACE WHAT: what is expected.
expected() {
	case $1:$2:$3 in
	0:*:kill) echo 137 ;;
	0:open:memory) echo 78 ;; # what this process needs cannot be had
	1:open:memory) echo 69 78 ;;
	*:open:*) echo 69 ;;
	*:end:*) echo 0 ;;
	*) echo 75 ;;
	esac
}

for what in kill stop memory cut mute; do
	for rank in 1 0; do
		for transport in shm tcp; do
			case $what:$transport in cut:shm | mute:shm) continue ;; esac
			for place in open segment exchange readout checkpoint end; do
				case $what:$place:$rank in
				cut:open:* | mute:open:*) ;; # there are no connections yet
				memory:end:0) ;;             # nothing is left to do
				*) echo $transport 2 $rank $place "$(event $place)" $what "$(expected $rank $place $what)" ;;
				esac
			done
		done
	done
done | grep -E "${QCNN_MATRIX:-.}" >cells
split_cells 28 ${QCNN_CELLS:-6} <cells
tap_note "$(split_table <cells)"
tap_done
