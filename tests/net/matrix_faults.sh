#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The whole matrix of faults: every event, to every process, while a job starts, in a step and while it saves.
[ -n "$own_mounts" ] || ! unshare -m true 2>/dev/null || own_mounts=1 exec unshare -m sh "$0"
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"
. "$top_srcdir/tests/net/held_training.sh"
. "$top_srcdir/tests/net/link_faults.sh"

lab_open ${QCNN_CELLS:-6} || tap_skip_all "$lab_why"
fault_prepare 4000 || tap_note "$(cat err)"
for when in starting step save; do
	for event in KILL STOP CONT; do
		for whom in coordinator worker ssh sshd; do echo $event $whom $when; done
	done
	echo KILL guard $when
	for event in down to from loss; do
		for whom in worker coordinator; do echo $event $whom $when; done
	done
	echo full coordinator $when
done | grep -E "${QCNN_MATRIX:-.}" >cells
fault_cells <cells
tap_note "$(fault_table)"
tap_done
