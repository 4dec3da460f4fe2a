# SPDX-License-Identifier: Apache-2.0
# Each kind of fault of a rank that holds a part of states, with a short deadline; `make check-net` plays all of them with that of users.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/split_job.sh"
. "$top_srcdir/tests/net/split_cells.sh"
split_end_s=60 split_gone_s=60

FAULT_DEADLINE_MS=3000
export FAULT_DEADLINE_MS
# Sanitizers cannot do without memory.
sed "${QCNN_SANITIZED:+/memory/d}" >cells <<END
shm 2 1 end 1 stop 0
shm 2 1 open 1 kill 69
tcp 2 1 open 1 kill 69
shm 2 1 segment 900 kill 75
tcp 4 2 segment 900 kill 75
shm 4 3 exchange 400 kill 75
tcp 2 1 exchange 400 kill 75
shm 2 1 readout 300 kill 75
tcp 2 1 checkpoint 2 kill 75
shm 2 0 exchange 400 kill 137
tcp 2 0 checkpoint 2 kill 137
shm 2 1 exchange 400 stop 75
tcp 2 1 checkpoint 2 stop 75
tcp 2 1 end 1 stop 0
tcp 2 0 checkpoint 2 stop 75
shm 2 1 segment 900 memory 75
tcp 2 1 readout 300 memory 75
shm 2 0 segment 900 memory 75
tcp 2 0 exchange 400 memory 75
tcp 2 0 segment 10 memory 78
tcp 4 1 exchange 400 cut 75
tcp 2 1 segment 900 mute 75
END
split_cells 28 10 <cells

# A basis of batch_rank is reserved in the first step of each process: here of one that goes on.
mkdir basis
cd basis || exit 1
QCNN_SPLIT_OPTIONS="${QCNN_SPLIT_OPTIONS:-} --set=train.batch_size=112"
split_open 2 shm 20
SPLIT_QCNN=$top_builddir/tests/net/split_faulty
FAULT="0 checkpoint 2 kill" split_start
split_wait
FAULT="1 answer 2 kill" split_start
split_wait
tap_is $split_status 75 "a rank that is lost while a basis is reserved"
tap_has err "step 2 (epoch 2): the state was lost: gather" "is named, with the step"
tap_has err "rank 1 ended with signal 9 (Killed) (if no user has killed it, its host had no memory left" "and with the signal"
unset SPLIT_QCNN
split_start
split_wait
tap_has err "9 states instead of 112 in every batch" "the same command uses the basis"
split_same >cmp.out 2>&1
tap_is $? 0 "and gives the bits of one process"
tap_done
