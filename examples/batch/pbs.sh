#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One training on several nodes of PBS:  qsub -v CONFIG=config.yaml pbs.sh
# The nodes are in PBS_NODEFILE; workers are started there by ssh.
#PBS -N qcnn
#PBS -l select=2:ncpus=8
#PBS -l walltime=04:00:00
#PBS -r y

cd "$PBS_O_WORKDIR" || exit 1
seconds=${QCNN_SECONDS:-14280}    # two minutes less than the walltime: PBS itself only kills
trap 'kill -USR1 $qcnn' TERM USR1
"${QCNN:-qcnn}" train "${CONFIG:-config.yaml}" &
qcnn=$!
(sleep "$seconds"; kill -USR1 $qcnn) 2>/dev/null &
watch=$!
# A signal ends `wait`, not qcnn: wait until it has saved.
while wait $qcnn; status=$?; [ $status -gt 128 ] && kill -0 $qcnn 2>/dev/null; do :; done
kill $watch 2>/dev/null
# 75: stopped early, saved; the same job, started again, resumes from there.
if [ $status -eq 75 ]; then
	qrerun "$PBS_JOBID"
fi
exit $status
