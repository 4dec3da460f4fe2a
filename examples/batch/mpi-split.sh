#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One training whose states are too large for a host, split over eight hosts that MPI's launcher reaches, one process on each.
# With Open MPI, and with MPICH:
#     MPIRUN="mpirun --hostfile hosts --map-by ppr:1:node --bind-to none" sh mpi-split.sh 8 --const n=34 config.yaml
#     MPIRUN="mpiexec -f hosts -ppn 1" sh mpi-split.sh 8 --const n=34 config.yaml
# 34 qubits take 16 GiB of each host in single precision, and 32 GiB for a gradient. The number of processes is a power of two; all
# hosts share the folder of the runs. No MPI library is used: the processes connect by TCP, encrypted. With --transport=mpi before
# config.yaml they exchange amplitudes by MPI, not encrypted; where a process is killed then, the status is the launcher's.
# With RANKS=4 and twelve processes three groups of four hold states, and share each batch.
n=$1
shift
RANKS=${RANKS:-$n}
# As long as it is stopped early (75), for example since a host was lost: once more, ten times at most.
for try in 1 2 3 4 5 6 7 8 9 10; do
	${MPIRUN:-mpirun} -n "$n" "${QCNN:-qcnn}" train --set run.split="$RANKS" --ranks="$RANKS" "$@"
	status=$?
	[ $status -eq 75 ] || break
done
exit $status
