#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One training whose states are too large for a node, each split over eight nodes of Slurm:
#     sbatch slurm-split.sh --const n=34 config.yaml
# 34 qubits take 16 GiB of each node in single precision, and 32 GiB for a gradient. RANKS is the number of nodes: a power of two.
# With RANKS=4 on twelve nodes, three groups of four share each batch.
#SBATCH --job-name=qcnn-split
#SBATCH --nodes=8
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=04:00:00
# Two minutes before the time is over, and when it is preempted, qcnn gets USR1 and saves.
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append

RANKS=${RANKS:-${SLURM_JOB_NUM_NODES:-8}}
# This script runs on the first node, and so does the first rank; the others are started by srun.
"${QCNN:-qcnn}" train --set run.split="$RANKS" --ranks="$RANKS" "$@" &
training=$!
trap 'kill -USR1 $training' USR1 TERM
status=0
wait $training || status=$?
while kill -0 $training 2>/dev/null; do    # the signal ended the wait
	status=0
	wait $training || status=$?
done
# 75: stopped early, or a node was lost; saved. The same job, started again, resumes from there.
if [ $status -eq 75 ]; then
	scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
