#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One of each kind of fault, on hosts of a lab, all at the same time; `make check-net` runs the whole matrix.
[ -n "$own_mounts" ] || ! unshare -m true 2>/dev/null || own_mounts=1 exec unshare -m sh "$0"
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"
. "$top_srcdir/tests/net/held_training.sh"
. "$top_srcdir/tests/net/link_faults.sh"

lab_open 9 || tap_skip_all "$lab_why"
fault_prepare $([ -n "${QCNN_SANITIZED:-}" ] && echo 500 || echo 1200) || tap_note "$(cat err)"
fault_cells <<END
KILL worker step
KILL ssh starting
KILL coordinator save
STOP worker step
CONT worker step
down worker step
from worker step
loss worker save
full coordinator save
END
tap_done
