#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One training by MPI's launcher, of Open MPI or MPICH:  sh mpi.sh 4 config.yaml
# Give it a hostfile by MPIRUN="mpirun --hostfile hosts". No MPI library is used: it starts the processes.
n=$1
shift
# As long as it is stopped early (75), for example since a node was lost: once more, ten times at most.
for try in 1 2 3 4 5 6 7 8 9 10; do
	${MPIRUN:-mpirun} -n "$n" "${QCNN:-qcnn}" train "$@"
	status=$?
	[ $status -eq 75 ] || break
done
exit $status
