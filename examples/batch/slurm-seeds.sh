#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Eight trainings that differ in their seed, each on one node:  sbatch slurm-seeds.sh config.yaml
# Each has a folder for its runs, and is requeued on its own.
#SBATCH --job-name=qcnn-seeds
#SBATCH --array=1-8
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=04:00:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append

trap : TERM USR1
# srun takes this number from the job no longer (Slurm 22.05), and might give one core.
[ -z "$SLURM_CPUS_PER_TASK" ] || export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
srun "${QCNN:-qcnn}" train --set run.seed="$SLURM_ARRAY_TASK_ID" --set log.dir="runs/seed-$SLURM_ARRAY_TASK_ID" "$@"
status=$?
if [ $status -eq 75 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit $status
